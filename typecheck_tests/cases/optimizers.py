"""Optimizers, groups, schedules and averages of weights, given what is not theirs."""

from dataclasses import replace

import numpy as np

import moonxi as mx
from moonxi import F32, F64, GpuTensor, Grad, NpArray, nn, optim
from moonxi.data import Labelled
from moonxi.losses import Logits, cross_entropy
from moonxi.traits import Shape

type Host = NpArray[F32]
type Double = NpArray[F64]
type Device = GpuTensor[F32]


def model() -> nn.Linear[Host]:
    return nn.Linear.init(4, 3, like=mx.numpy(), key=mx.Key(0))


# -- what an update gets -----------------------------------------------------------------------------------------


def wrong_gradients_of_a_sequence(network: nn.Linear[Host], other: nn.Sequential[Host]) -> None:
    optimizer = optim.AdamW(lr=1e-3)
    optimizer.update(network, other, optimizer.init(network))  # E: [misc]  # E: [tensor-unused] dropped


def right_gradients_of_a_sequence() -> None:
    optimizer = optim.AdamW(lr=1e-3)
    after, _ = optimizer.update(model(), model(), optimizer.init(model()))
    assert after.inputs == 4


def wrong_state_of_another_model(network: nn.Linear[Host], other: nn.Sequential[Host]) -> None:
    optimizer = optim.Lion(lr=1e-3)
    optimizer.update(network, network, optimizer.init(other))  # E: [misc]  # E: [tensor-unused] dropped


def right_state_of_another_model() -> None:
    optimizer = optim.Lion(lr=1e-3)
    _ = optimizer.update(model(), model(), optimizer.init(model()))


def evaluated(network: nn.Linear[Host]) -> tuple[Host, nn.Linear[Host]]:
    return network.weight.sum(), network


def wrong_search_of_another_model(network: nn.Sequential[Host], value: Host) -> None:
    lbfgs = optim.Lbfgs()
    lbfgs.search(evaluated, network, value, network, lbfgs.init(network))  # E: [arg-type]  # E: [tensor-unused] dropped


def right_search_of_another_model() -> None:
    lbfgs = optim.Lbfgs()
    value, gradients = evaluated(model())
    after, _, _, _ = lbfgs.search(evaluated, model(), value, gradients, lbfgs.init(model()))
    assert after.inputs == 4


def wrong_average_as_the_state(network: nn.Linear[Host]) -> None:
    optimizer = optim.RmsProp(lr=1e-3)
    _ = optimizer.update(network, network, optim.Ema().init(network))  # E: [arg-type]


def right_average_as_the_state() -> None:
    optimizer = optim.RmsProp(lr=1e-3)
    _ = optimizer.update(model(), model(), optimizer.init(model()))


def wrong_optimizer_as_the_state(network: nn.Linear[Host]) -> None:
    optimizer = optim.NAdam(lr=1e-3)
    _ = optimizer.update(network, network, optimizer)  # E: [arg-type]


def right_optimizer_as_the_state() -> None:
    optimizer = optim.NAdam(lr=1e-3)
    _ = optimizer.update(model(), model(), optimizer.init(model()))


def wrong_gradients_of_another_element_type(network: nn.Linear[Host], double: nn.Linear[Double]) -> None:
    optimizer = optim.Lamb(lr=1e-3)
    optimizer.update(network, double, optimizer.init(network))  # E: [tensor-mix] NpArray[F32] and NpArray[F64]
    # E: [misc] "M"  # E: [misc] "T"  # E: [tensor-unused] dropped


def right_gradients_of_another_element_type() -> None:
    optimizer = optim.Lamb(lr=1e-3)
    double = nn.Linear.init(4, 3, like=mx.numpy(F64), key=mx.Key(0))
    _ = optimizer.update(double, double, optimizer.init(double))


def wrong_order_of_the_results(network: nn.Linear[Host]) -> nn.Linear[Host]:
    optimizer = optim.Adagrad(lr=0.1)
    _, after = optimizer.update(network, network, optimizer.init(network))
    return after  # E: [return-value]


def right_order_of_the_results() -> nn.Linear[Host]:
    optimizer = optim.Adagrad(lr=0.1)
    after, _ = optimizer.update(model(), model(), optimizer.init(model()))
    return after


def wrong_tensor_without_matrices_for_muon(network: nn.Linear[Host], x: nn.Module[Grad[Host]]) -> None:
    optim.Muon(lr=0.02, rest=optim.AdamW(lr=1e-3)).init(x)  # E: [type-var]  # E: [tensor-unused] dropped


def right_tensor_without_matrices_for_muon() -> None:
    assert optim.Muon(lr=0.02, rest=optim.AdamW(lr=1e-3)).init(model()).names == ("weight", "bias")


def wrong_muon_within_muon() -> None:
    optim.Muon(lr=0.02, rest=optim.Muon(lr=0.1, rest=optim.Sgd(lr=0.1)))  # E: [arg-type]


def right_muon_within_muon() -> None:
    optim.Muon(lr=0.02, rest=optim.Sgd(lr=0.1))


def wrong_muon_without_a_rest() -> None:
    optim.Muon(lr=0.02)  # E: [call-arg]


def right_muon_without_a_rest() -> None:
    assert optim.Muon(lr=0.02, rest=optim.AdamW(lr=1e-3)).nesterov


def wrong_betas_as_a_pair() -> None:
    optim.AdamW(lr=1e-3, betas=(0.9, 0.99))  # E: [call-arg]


def right_betas_as_a_pair() -> None:
    assert optim.AdamW(lr=1e-3, beta1=0.9, beta2=0.99).weight_decay == 0.01


def wrong_word_for_the_size_of_a_step() -> None:
    optim.Muon(lr=0.02, rest=optim.Sgd(lr=0.1), adjust="rms")  # E: [arg-type]


def right_word_for_the_size_of_a_step() -> None:
    optim.Muon(lr=0.02, rest=optim.Sgd(lr=0.1), adjust="match_rms_adamw")


def loss[T: mx.MlpTensor](network: nn.Linear[T], batch: Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(Logits(network.forward(batch.x)), batch.labels)


def wrong_average_as_the_optimizer(network: nn.Linear[Host]) -> None:
    mx.Trainer(network, loss, optim.Ema(), key=mx.Key(0))  # E: [arg-type] Argument 3 to "Trainer"


def right_average_as_the_optimizer() -> None:
    trainer = mx.Trainer(model(), loss, optim.Muon(lr=0.02, rest=optim.AdamW(lr=1e-3)), key=mx.Key(0))
    like = mx.numpy()
    trainer.step(Labelled(like.ones((2, 4)), like.labels(np.array([0, 2]))))


# -- groups ------------------------------------------------------------------------------------------------------


def wrong_predicate_of_the_tensor() -> None:
    def large(parameter: Host) -> bool:
        return parameter.shape[0] > 10

    optim.Group(large, optim.Sgd(lr=0.1))  # E: [arg-type]


def right_predicate_of_the_tensor() -> None:
    def large(path: str, shape: Shape) -> bool:
        return shape[0] > 10

    assert not optim.Group(large, optim.Sgd(lr=0.1)).where("weight", (3,))


def wrong_predicate_that_gives_a_word() -> None:
    optim.AdamW(lr=1e-3, decay_where=lambda path, shape: path)  # E: [arg-type]  # E: [return-value]


def right_predicate_that_gives_a_word() -> None:
    optim.AdamW(lr=1e-3, decay_where=lambda path, shape: path.endswith("weight"))


def wrong_name_as_the_predicate() -> None:
    optim.Group("bias", optim.Sgd(lr=0.1))  # E: [arg-type]


def right_name_as_the_predicate() -> None:
    optim.Group(optim.named("bias"), optim.Sgd(lr=0.1))


def wrong_settings_as_a_dict() -> None:
    optim.Group(optim.matrices, {"lr": 0.1})  # E: [arg-type]


def right_settings_as_a_dict() -> None:
    optim.Group(optim.matrices, replace(optim.Sgd(lr=0.3), lr=0.1))


def wrong_groups_without_a_rest() -> None:
    optim.Grouped(groups=(optim.Group(optim.matrices, optim.Sgd(lr=0.1)),))  # E: [call-arg]


def right_groups_without_a_rest() -> None:
    optim.Grouped(groups=(optim.Group(optim.matrices, optim.Sgd(lr=0.1)),), rest=optim.Adam(lr=1e-3))


# -- schedules ---------------------------------------------------------------------------------------------------


def halved(step: float) -> float:
    return 0.5 * step


def wrong_schedule_that_is_a_function_of_numbers() -> None:
    optim.AdamW(lr=halved)  # E: [arg-type]


def right_schedule_that_is_a_function_of_numbers() -> None:
    optim.AdamW(lr=optim.exponential(1.0, 0.5, every=optim.Steps(1)))


def of_host(step: Host) -> Host:
    return step * 0.1


def wrong_schedule_of_one_backend() -> None:
    optim.Lbfgs(lr=of_host)  # E: [arg-type]


def of_any[T: mx.Tensor](step: T) -> T:
    return step * 0.1


def right_schedule_of_one_backend() -> None:
    optim.Lbfgs(lr=of_any)


def wrong_number_among_the_chained() -> None:
    optim.chain(optim.cosine(0.1, optim.Steps(100)), 0.5)  # E: [arg-type]


def right_number_among_the_chained() -> None:
    optim.chain(optim.cosine(0.1, optim.Steps(100)), optim.constant(0.5))


def wrong_joined_one_by_one() -> None:
    warm, rest = optim.Steps(5), optim.Steps(95)
    optim.join(optim.warm_up(0.1, warm), optim.cosine(0.1, rest), at=(warm,))  # E: [misc]
    # E: [arg-type] "warm_up"  # E: [arg-type] "cosine"


def right_joined_one_by_one() -> None:
    optim.join((optim.warm_up(0.1, optim.Steps(5)), optim.cosine(0.1, optim.Steps(95))), at=(optim.Steps(5),))


def wrong_step_as_a_number() -> None:
    optim.cosine(0.1, optim.Steps(100))(3)  # E: [type-var]


def right_step_as_a_number() -> None:
    assert optim.cosine(0.1, optim.Steps(100))(mx.numpy().full((), 3.0)).shape == ()


def wrong_plateau_as_a_schedule() -> None:
    optim.Sgd(lr=optim.Plateau(lr=0.1))  # E: [arg-type]


def right_plateau_as_a_schedule() -> None:
    plateau = optim.Plateau(lr=0.1)
    assert optim.Sgd(lr=plateau.after(plateau.init(), 1.0).lr).lr == 0.1


def wrong_tensor_as_the_metric(loss: Host) -> None:
    plateau = optim.Plateau(lr=0.1)
    _ = plateau.after(plateau.init(), loss)  # E: [arg-type]


def right_tensor_as_the_metric() -> None:
    plateau = optim.Plateau(lr=0.1)
    _ = plateau.after(plateau.init(), mx.numpy().ones(()).item())


# -- averages ----------------------------------------------------------------------------------------------------


def wrong_average_of_another_model(network: nn.Linear[Host], other: nn.Sequential[Host]) -> None:
    ema = optim.Ema(decay=0.99)
    ema.update(network, ema.init(other))  # E: [misc]  # E: [tensor-unused] dropped


def right_average_of_another_model() -> None:
    ema = optim.Ema(decay=0.99)
    _ = ema.update(model(), ema.init(model()))


def wrong_average_of_a_model_elsewhere(network: nn.Linear[Host], moved: nn.Linear[Device]) -> nn.Linear[Host]:
    ema = optim.Ema(decay=0.99)
    return ema.averaged(network, ema.init(moved))  # E: [arg-type]


def right_average_of_a_model_elsewhere() -> nn.Linear[Host]:
    ema = optim.Ema(decay=0.99)
    return ema.averaged(model(), ema.init(model()))


def score(network: nn.Linear[Host]) -> float:
    return network.forward(mx.numpy().ones((2, 4))).sum().item()


def wrong_state_used_as_the_averaged_model(network: nn.Linear[Host]) -> float:
    state = optim.Ema().init(network)
    return score(state)  # E: [arg-type]


def right_state_used_as_the_averaged_model() -> float:
    state = optim.Ema().init(model())
    return score(optim.Ema().averaged(model(), state))


def wrong_parts_without_their_numbers(network: nn.Linear[Host]) -> None:
    _ = optim.mean_gradients([network, network])  # E: [arg-type]


def right_parts_without_their_numbers() -> None:
    assert optim.mean_gradients([(model(), 3), (model(), 1)]).inputs == 4


def wrong_number_of_examples_as_a_tensor(network: nn.Linear[Host], examples: Host) -> None:
    _ = optim.mean_gradients([(network, examples)])  # E: [list-item]


def right_number_of_examples_as_a_tensor() -> None:
    _ = optim.mean_gradients([(model(), int(mx.numpy().full((), 3.0).item()))])


def wrong_parts_of_two_models(network: nn.Linear[Host], other: nn.Sequential[Host]) -> None:
    _ = optim.mean_gradients([(network, 1), (other, 1)])  # E: [list-item] "tuple[Linear  # E: [list-item] "tuple[Seq


def right_parts_of_two_models() -> None:
    _ = optim.mean_gradients([(model(), 1), (model(), 1)])


# -- loss scales -----------------------------------------------------------------------------------------------------

SCALED = optim.LossScaled(optimizer=optim.Sgd(lr=0.1))


def wrong_scale_of_a_schedule() -> None:
    optim.LossScaled(optimizer=optim.cosine(0.1, optim.Steps(9)))  # E: [arg-type]


def right_scale_of_a_schedule() -> None:
    assert optim.LossScaled(optimizer=optim.Sgd(lr=optim.cosine(0.1, optim.Steps(9)))).every == 2000


def wrong_scale_of_gradients_elsewhere(network: nn.Linear[Host], double: nn.Linear[Double]) -> None:
    _ = SCALED.update(network, double, SCALED.init(network))  # E: [tensor-mix] NpArray[F32] and NpArray[F64]


def right_scale_of_gradients_elsewhere() -> None:
    after, _ = SCALED.update(model(), model(), SCALED.init(model()))
    assert after.inputs == 4


def loss_of[T: mx.MlpTensor](network: nn.Linear[T], batch: Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(Logits(network.forward(batch.x)), batch.labels)


def wrong_scale_of_another_element_type(network: nn.Linear[Double], batch: Labelled[Double], scale: Host) -> None:
    _ = nn.value_and_grad(loss_of, network, batch, nn.Eval(), scale=scale)  # E: [tensor-mix] and NpArray[F32] (scale)


def right_scale_of_another_element_type() -> None:
    like = mx.numpy()
    batch = Labelled(like.ones((2, 4)), like.labels(np.array([0, 2])))
    scale = SCALED.scale(SCALED.init(model()))
    _, gradients = nn.value_and_grad(loss_of, model(), batch, nn.Eval(), scale=scale)
    assert gradients.inputs == 4
