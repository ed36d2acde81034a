"""Losses, gradients, optimizers, data and the trainer, given what is not theirs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import moonxi as mx
from moonxi import F32, F64, GpuTensor, Labels, NpArray, nn, optim
from moonxi.data import DataLoader, Labelled, LabelledArrays
from moonxi.losses import Logits, LogProbs, Probs, cross_entropy, mse

type Host = NpArray[F32]
type Device = GpuTensor[F32]
type Lifted = mx.ImageGrad[Host]


def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(Logits(model.forward(batch.x)), batch.labels)


def model() -> nn.Linear[Host]:
    return nn.Linear.init(4, 3, like=mx.numpy(), key=mx.Key(0))


def batch() -> Labelled[Host]:
    like = mx.numpy()
    return Labelled(like.ones((2, 4)), like.labels(np.array([0, 2])))


def dataset() -> LabelledArrays[Host]:
    return LabelledArrays(mx.numpy(), np.ones((6, 4)), np.arange(6) % 3)


# -- losses ------------------------------------------------------------------------------------------------------


def wrong_probabilities_as_logits(probabilities: Probs[Host], labels: Labels[Host]) -> None:
    cross_entropy(probabilities, labels)  # E: [arg-type]


def right_probabilities_as_logits() -> None:
    assert cross_entropy(Logits(mx.numpy().ones((2, 3))), batch().labels).shape == ()


def wrong_log_probabilities_as_logits(logits: Logits[Host], labels: Labels[Host]) -> Host:
    return cross_entropy(logits.log_probs(), labels) * 2.0  # E: [arg-type]


def right_log_probabilities_as_logits() -> Host:
    logits = Logits(mx.numpy().ones((2, 3)))
    return cross_entropy(logits, batch().labels) * 2.0


def wrong_softmax_before_the_loss(scores: Host, labels: Labels[Host]) -> None:
    cross_entropy(scores.softmax(1), labels)  # E: [arg-type]


def right_softmax_before_the_loss() -> None:
    scores = mx.numpy().ones((2, 3))
    assert cross_entropy(Logits(scores), batch().labels).item() > 0.0


def wrong_floats_as_labels(logits: Logits[Host], targets: Host) -> None:
    print(cross_entropy(logits, targets).item())  # E: [arg-type]


def right_floats_as_labels() -> None:
    targets = mx.numpy().labels(np.array([1, 0]))
    print(cross_entropy(Logits(mx.numpy().ones((2, 3))), targets).item())


def wrong_float_array_as_labels(like: Host) -> Labels[Host]:
    return like.labels(np.zeros(2))  # E: [arg-type]


def right_float_array_as_labels() -> Labels[Host]:
    return mx.numpy().labels(np.zeros(2, np.int64))


def wrong_mask_as_labels(logits: Logits[Host], x: Host) -> None:
    loss = cross_entropy(logits, x > 0.0)  # E: [arg-type]
    print(loss)


def right_mask_as_labels() -> None:
    x = mx.numpy().ones((2, 3))
    assert cross_entropy(Logits(x), x.argmax(1)).shape == ()


def wrong_host_labels_beside_device_logits(logits: Logits[Device], labels: Labels[Host]) -> None:
    cross_entropy(logits, labels)  # E: [misc] "T"  # E: [tensor-mix] GpuTensor[F32] and NpArray[F32]


def right_host_labels_beside_device_logits() -> None:
    logits = Logits(mx.numpy().ones((2, 3)))
    assert cross_entropy(logits, logits.predicted()).shape == ()


def wrong_plain_labels_beside_lifted_logits(logits: Logits[Lifted], labels: Labels[Host]) -> Lifted:
    return cross_entropy(logits, labels)  # E: [arg-type]


def right_plain_labels_beside_lifted_logits() -> Lifted:
    logits = Logits(mx.variable(mx.numpy().ones((2, 3))))
    return cross_entropy(logits, batch().labels.map(mx.constant))


def wrong_target_on_the_device(prediction: Host, target: Device) -> None:
    mse(prediction, target)  # E: [tensor-mix] NpArray[F32]


def right_target_on_the_device() -> None:
    assert mse(mx.numpy().ones((2, 1)), mx.numpy().zeros((2, 1))).item() == 1.0


def wrong_labels_to_compute_with(labels: Labels[Host]) -> None:
    labels * 2  # E: [operator]


def right_labels_to_compute_with() -> None:
    assert (batch().labels.map(lambda carrier: carrier).to_host() * 2).sum() == 4


def wrong_probabilities_for_their_logarithms(logits: Logits[Host]) -> LogProbs[Host]:
    return logits.probs()  # E: [return-value]


def right_probabilities_for_their_logarithms() -> LogProbs[Host]:
    return Logits(mx.numpy().ones((2, 3))).log_probs()


# -- gradients ---------------------------------------------------------------------------------------------------


def wrong_batch_of_another_backend(network: nn.Linear[Host], samples: Labelled[Device]) -> None:
    nn.value_and_grad(loss, network, samples, nn.Eval())  # E: [tensor-mix] NpArray[F32] and GpuTensor
    # E: [misc] "T"


def right_batch_of_another_backend() -> None:
    value, _ = nn.value_and_grad(loss, model(), batch(), nn.Eval())
    assert value.shape == ()


def plain_loss(network: nn.Linear[Host], samples: Labelled[Host], mode: nn.Mode) -> Host:
    return cross_entropy(Logits(network.forward(samples.x)), samples.labels)


def wrong_loss_that_is_not_lifted(network: nn.Linear[Host], samples: Labelled[Host]) -> None:
    print(nn.value_and_grad(plain_loss, network, samples, nn.Eval()))  # E: [misc] "LossModel"
    # E: [arg-type]  # E: [misc] "LossBatch"


def right_loss_that_is_not_lifted() -> None:
    print(nn.value_and_grad(loss, model(), batch(), nn.Eval()))


def wrong_batch_lifted_by_hand(network: nn.Linear[Host], samples: Labelled[Host]) -> None:
    _value, _ = nn.value_and_grad(loss, network, samples.map(mx.constant), nn.Eval())  # E: [tensor-mix] constant(x)
    # E: [misc] "T"


def right_batch_lifted_by_hand() -> None:
    value, _ = nn.value_and_grad(loss, model(), batch(), nn.Train(mx.Key(0)))
    assert value.item() > 0.0


def loss_without_mode[T: mx.MlpTensor](network: nn.Linear[T], batch: Labelled[T]) -> T:
    return cross_entropy(Logits(network.forward(batch.x)), batch.labels)


def wrong_loss_without_mode(network: nn.Linear[Host], samples: Labelled[Host]) -> None:
    nn.value_and_grad(loss_without_mode, network, samples, nn.Eval())  # E: [arg-type] Eval], ImageGrad[NpArray[F32]]]"


def right_loss_without_mode() -> None:
    nn.value_and_grad(loss, model(), batch(), nn.Eval())


def wrong_trainer_of_a_loss_without_mode(network: nn.Linear[Host]) -> None:
    mx.Trainer(network, loss_without_mode, optim.Sgd(lr=0.1), key=mx.Key(0))  # E: [arg-type] Train | Eval], ImageGrad


def right_trainer_of_a_loss_without_mode() -> None:
    mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0)).step(batch())


def loss_and_scores[T: mx.MlpTensor](network: nn.Linear[T], batch: Labelled[T], mode: nn.Mode) -> tuple[T, Logits[T]]:
    scores = Logits(network.forward(batch.x))
    return cross_entropy(scores, batch.labels), scores


def wrong_scores_beside_a_loss(network: nn.Linear[Host]) -> None:
    print(mx.Trainer(network, loss_and_scores, optim.Adam(lr=0.1), key=mx.Key(0)).steps)  # E: [arg-type] Argument 2


def right_scores_beside_a_loss() -> None:
    def loss_and_mean[T: mx.MlpTensor](
        network: nn.Linear[T], batch: Labelled[T], mode: nn.Mode
    ) -> tuple[T, dict[str, T]]:
        value, scores = loss_and_scores(network, batch, mode)
        return value, {"mean": scores.value.mean()}

    assert "mean" in mx.Trainer(model(), loss_and_mean, optim.Adam(lr=0.1), key=mx.Key(0)).step(batch())


def wrong_class_of_an_optimizer(network: nn.Linear[Host]) -> None:
    mx.Trainer(network, loss, optim.Sgd, key=mx.Key(5))  # E: [arg-type] Argument 3 to "Trainer"


def right_class_of_an_optimizer() -> None:
    mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(5))


def wrong_mode_as_a_word(network: nn.Linear[Host], samples: Labelled[Host]) -> None:
    nn.value_and_grad(loss, network, samples, "train")  # E: [arg-type]


def right_mode_as_a_word() -> None:
    nn.value_and_grad(loss, model(), batch(), nn.Train(mx.Key(3)))


def wrong_loss_kept_as_a_number(x: Lifted) -> float:
    total = 0.0
    total += x.square().sum()  # E: [assignment]
    return total


def right_loss_kept_as_a_number() -> float:
    total = 0.0
    total += mx.variable(mx.numpy().ones((3,))).square().sum().item()
    return total


def wrong_gradient_of_a_plain_tensor(x: Host) -> None:
    x_lifted = mx.variable(x)
    x_lifted.square().sum().backward().of(x)  # E: [arg-type]


def right_gradient_of_a_plain_tensor() -> None:
    x = mx.variable(mx.numpy().ones((3,)))
    assert x.square().sum().backward().of(x).shape == (3,)


def wrong_seed_of_another_level(x: Lifted) -> None:
    x.exp().backward(x)  # E: [arg-type]


def right_seed_of_another_level() -> None:
    x = mx.variable(mx.numpy().ones((3,)))
    assert x.exp().backward(x.value).of(x).shape == (3,)


def wrong_state_of_a_gradient_ignored(x: Lifted) -> Host:
    state = x.sum().backward().state(x)
    return state.gradient  # E: [union-attr] "Untracked"  # E: [union-attr] "Zero"


def right_state_of_a_gradient_ignored() -> Host:
    x = mx.variable(mx.numpy().ones((3,)))
    return x.sum().backward().of(x)


# -- optimizers --------------------------------------------------------------------------------------------------


def wrong_gradients_of_another_class(network: nn.Linear[Host], other: nn.Sequential[Host]) -> None:
    optimizer = optim.Sgd(lr=0.1)
    optimizer.update(network, other, optimizer.init(network))  # E: [misc]  # E: [tensor-unused] dropped


def right_gradients_of_another_class() -> None:
    optimizer = optim.Sgd(lr=0.1)
    _, gradients = nn.value_and_grad(loss, model(), batch(), nn.Eval())
    after, _ = optimizer.update(model(), gradients, optimizer.init(model()))
    assert after.inputs == 4


def wrong_gradients_still_lifted(network: nn.Linear[Host]) -> None:
    optimizer = optim.Adam(lr=1e-3)
    state = optimizer.init(network)
    optimizer.update(network, network.map(mx.variable), state)  # E: [tensor-mix] constant(x)
    # E: [misc] "T"  # E: [misc] "M"  # E: [tensor-unused] dropped


def right_gradients_still_lifted() -> None:
    optimizer = optim.Adam(lr=1e-3)
    state = optimizer.init(model())
    _, gradients = nn.value_and_grad(loss, model(), batch(), nn.Eval())
    _ = optimizer.update(model(), gradients, state)


def wrong_optimizer_made_before_the_move(network: nn.Linear[Host], moved: nn.Linear[Device]) -> None:
    state = optim.Sgd(lr=0.1, momentum=0.9).init(network)
    optim.Sgd(lr=0.1, momentum=0.9).update(moved, moved, state)  # E: [tensor-mix] GpuTensor[F32] and NpArray[F32]
    # E: [misc] "M"  # E: [misc] "T"  # E: [tensor-unused] dropped


def right_optimizer_made_before_the_move() -> None:
    double = nn.Linear.init(4, 3, like=mx.numpy(F64), key=mx.Key(0))
    state = optim.Sgd(lr=0.1, momentum=0.9).init(double)
    _ = optim.Sgd(lr=0.1, momentum=0.9).update(double, double, state)


def wrong_optimizer_for_a_tensor(x: Host) -> None:
    _ = optim.Sgd(lr=0.1).init(x)  # E: [arg-type]


def right_optimizer_for_a_tensor() -> None:
    assert optim.Sgd(lr=0.1).init(model()).names == ("weight", "bias")


def half(step: int) -> float:
    return 0.5**step


def wrong_schedule_of_plain_numbers() -> None:
    optim.Sgd(lr=half)  # E: [arg-type]


def right_schedule_of_plain_numbers() -> None:
    assert optim.Sgd(lr=optim.step_decay(0.1, every=optim.Steps(10))).momentum == 0.0


# -- data --------------------------------------------------------------------------------------------------------


def wrong_loader_of_another_backend(network: nn.Linear[Host], loader: DataLoader[Labelled[Device]]) -> None:
    trainer = mx.Trainer(network, loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    trainer.fit(loader, epochs=1)  # E: [arg-type]


def right_loader_of_another_backend() -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    trainer.fit(DataLoader(dataset(), batch_size=3), epochs=1, progress=False)


def wrong_element_type_of_the_test_data(network: nn.Linear[Host], double: DataLoader[Labelled[NpArray[F64]]]) -> None:
    mx.Trainer(network, loss, optim.Sgd(lr=0.1), key=mx.Key(0)).evaluate(double)  # E: [arg-type]


def right_element_type_of_the_test_data() -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    assert trainer.evaluate(DataLoader(dataset(), batch_size=4))["loss"] > 0.0


def wrong_labels_of_another_class() -> None:
    LabelledArrays(mx.numpy(), np.ones((6, 4)), np.ones(6))  # E: [arg-type]


def right_labels_of_another_class() -> None:
    assert len(LabelledArrays(mx.numpy(), np.ones((6, 4)), np.zeros(6, np.int64))) == 6


def wrong_batch_with_labels_elsewhere(x: Host, labels: Labels[Device]) -> None:
    Labelled(x, labels)  # E: [misc] "T"  # E: [tensor-mix] NpArray[F32] (x) and GpuTensor[F32] (labels)


def right_batch_with_labels_elsewhere() -> None:
    x = mx.numpy().ones((2, 4))
    assert Labelled(x, x.argmax(1)).size == 2


# -- trainer -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pairs[T: mx.Tensor]:
    x: T
    y: T

    @property
    def size(self) -> int:
        return self.x.shape[0]

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Pairs[U]":
        return Pairs(f(self.x), f(self.y))


def distance[T: mx.MlpTensor](network: nn.Linear[T], pairs: Pairs[T], mode: nn.Mode) -> T:
    return mse(network.forward(pairs.x), pairs.y)


def wrong_batches_of_another_loss(network: nn.Linear[Host], samples: Labelled[Host]) -> None:
    trainer = mx.Trainer(network, distance, optim.Adam(lr=0.01), key=mx.Key(0))
    trainer.step(samples)  # E: [arg-type]


def right_batches_of_another_loss() -> None:
    trainer = mx.Trainer(model(), distance, optim.Adam(lr=0.01), key=mx.Key(0))
    trainer.step(Pairs(mx.numpy().ones((2, 4)), mx.numpy().ones((2, 3))))


def pair_loss[T: mx.MlpTensor](network: nn.Linear[T], pair: tuple[T, Labels[T]], mode: nn.Mode) -> T:
    return cross_entropy(Logits(network.forward(pair[0])), pair[1])


def wrong_tuple_as_a_batch(network: nn.Linear[Host], data: DataLoader[tuple[Host, Labels[Host]]]) -> None:
    trainer = mx.Trainer(network, pair_loss, optim.Adam(lr=0.02), key=mx.Key(0))
    trainer.fit(data, epochs=1)  # E: [arg-type]


def right_tuple_as_a_batch() -> None:
    trainer = mx.Trainer(model(), loss, optim.Adam(lr=0.02), key=mx.Key(0))
    trainer.fit(DataLoader(dataset(), batch_size=3), epochs=1, progress=False)


def wrong_dict_as_a_batch(network: nn.Linear[Host], samples: dict[str, Host]) -> None:
    trainer = mx.Trainer(network, loss, optim.Adam(lr=0.02), key=mx.Key(0))
    trainer.step(samples)  # E: [arg-type]


def right_dict_as_a_batch() -> None:
    trainer = mx.Trainer(model(), loss, optim.Adam(lr=0.02), key=mx.Key(0))
    trainer.step(batch())


def wrong_data_set_without_a_loader(network: nn.Linear[Host], data: LabelledArrays[Host]) -> None:
    trainer = mx.Trainer(network, loss, optim.Adam(lr=0.03), key=mx.Key(0))
    trainer.fit(data, epochs=1)  # E: [arg-type]


def right_data_set_without_a_loader() -> None:
    trainer = mx.Trainer(model(), loss, optim.Adam(lr=0.03), key=mx.Key(0))
    trainer.fit(DataLoader(dataset(), batch_size=3), epochs=1, progress=False)


def wrong_trainer_without_a_key(network: nn.Linear[Host]) -> None:
    mx.Trainer(network, loss, optim.Sgd(lr=0.1))  # E: [call-arg] Missing named argument "key" for "Trainer"


def right_trainer_without_a_key() -> None:
    assert mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0)).steps == 0


def wrong_pass_names_to_compile_a_trainer(network: nn.Linear[Host]) -> None:
    mx.Trainer(network, loss, mx.Sgd(lr=0.1), key=mx.Key(0), compile="fusion")  # E: [arg-type] "compile"


def right_pass_names_to_compile_a_trainer() -> None:
    trainer = mx.Trainer(model(), loss, mx.Sgd(lr=0.1), key=mx.Key(0), compile=True)
    assert trainer.step(batch())["loss"] > 0.0
    assert len(trainer.compile_reports()["update"].traces) == 1


def wrong_rate_in_place_of_the_optimizer(network: nn.Linear[Host]) -> None:
    trainer = mx.Trainer(network, loss, 0.1, key=mx.Key(0))  # E: [arg-type] Argument 3 to "Trainer"
    trainer.step(batch())


def right_rate_in_place_of_the_optimizer() -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    trainer.step(batch())


def wrong_loss_and_optimizer_exchanged(network: nn.Linear[Host]) -> None:
    mx.Trainer(network, optim.Adam(lr=0.1), loss, key=mx.Key(1))  # E: [arg-type] Argument 3 to "Trainer"


def right_loss_and_optimizer_exchanged() -> None:
    assert mx.Trainer(model(), loss, optim.Adam(lr=0.1), key=mx.Key(1)).steps == 0


def wrong_seed_in_place_of_a_key(network: nn.Linear[Host]) -> None:
    mx.Trainer(network, loss, optim.Lion(lr=1e-4), key=5)  # E: [arg-type] Argument "key" to "Trainer"


def right_seed_in_place_of_a_key() -> None:
    assert mx.Trainer(model(), loss, optim.Lion(lr=1e-4), key=mx.Key(5)).steps == 0


def wrong_name_of_an_option(network: nn.Linear[Host]) -> None:
    mx.Trainer(network, loss, optim.Sgd(lr=0.2), key=mx.Key(2), compiled=True)  # E: [call-arg] did you mean "compile"?


def right_name_of_an_option() -> None:
    assert mx.Trainer(model(), loss, optim.Sgd(lr=0.2), key=mx.Key(2), compile=True).steps == 0


def wrong_host_batches_for_a_model_on_the_device(network: nn.Linear[Device], data: DataLoader[Labelled[Host]]) -> None:
    trainer = mx.Trainer(network, loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    trainer.fit(data, epochs=1)  # E: [arg-type]


def right_host_batches_for_a_model_on_the_device() -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    trainer.fit(DataLoader(dataset(), batch_size=3), epochs=1, progress=False)


def wrong_host_batches_to_evaluate_a_model_on_the_device(
    network: nn.Linear[Device], data: DataLoader[Labelled[Host]]
) -> dict[str, float]:
    trainer = mx.Trainer(network, loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    return trainer.evaluate(data)  # E: [arg-type]


def right_host_batches_to_evaluate_a_model_on_the_device() -> dict[str, float]:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    return trainer.evaluate(DataLoader(dataset(), batch_size=3))


def wrong_element_type_alone_for_the_passes(network: nn.Linear[Host]) -> None:
    mx.Trainer(network, loss, optim.Sgd(lr=0.1), key=mx.Key(0), passes=F64)  # E: [call-overload]


def right_element_type_alone_for_the_passes() -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0), passes=mx.numpy(F64))
    trainer.fit(DataLoader(dataset(), batch_size=3), epochs=1, progress=False)


def wrong_batches_in_the_type_of_the_passes(network: nn.Linear[Host], data: DataLoader[Labelled[NpArray[F64]]]) -> None:
    trainer = mx.Trainer(network, loss, optim.Sgd(lr=0.1), key=mx.Key(0), passes=mx.numpy(F64))
    trainer.fit(data, epochs=1)  # E: [arg-type]


def right_batches_in_the_type_of_the_passes() -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0), passes=mx.numpy(F64))
    assert trainer.evaluate(DataLoader(dataset(), batch_size=3))["loss"] > 0.0


def wrong_names_as_frozen_parts(network: nn.Linear[Host]) -> optim.Predicate:
    return optim.within(network, "weight")  # E: [arg-type]


def right_names_as_frozen_parts() -> None:
    frozen = optim.named("bias")
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0), frozen=frozen, ema=optim.Ema())
    assert trainer.averaged.weight.shape == (4, 3)


def wrong_frozen_layer_of_a_sequential_elsewhere(network: nn.Sequential[Host], other: nn.Sequential[Device]) -> None:
    print(optim.within(network, other.layers[0]))  # E: [misc] "T"  # E: [tensor-mix] NpArray[F32] and GpuTensor


def right_frozen_layer_of_a_sequential_elsewhere() -> None:
    network = nn.Sequential(model(), nn.Relu(), nn.Linear.init(3, 3, like=mx.numpy(), key=mx.Key(1)))
    print(optim.within(network, network.layers[0]))


def wrong_gradients_of_a_part_of_another_model(network: nn.Linear[Host], other: nn.Sequential[Host]) -> None:
    optimizer, frozen = optim.Sgd(lr=0.1), optim.named("bias")
    state = optimizer.init(optim.Unfrozen(network, frozen))
    optimizer.update(optim.Unfrozen(other, frozen), optim.Unfrozen(network, frozen), state)  # E: [misc] "M"
    # E: [tensor-unused] dropped


def right_gradients_of_a_part_of_another_model() -> None:
    optimizer, frozen, network = optim.Sgd(lr=0.1), optim.named("bias"), model()
    state = optimizer.init(optim.Unfrozen(network, frozen))
    _, gradients = mx.value_and_grad(loss, network, batch(), mx.Eval(), frozen=frozen)
    after, state = optimizer.update(optim.Unfrozen(network, frozen), optim.Unfrozen(gradients, frozen), state)
    assert after.bias is network.bias


def wrong_model_of_the_trainer_elsewhere(network: nn.Linear[Host]) -> nn.Linear[Device]:
    trainer = mx.Trainer(network, loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    return trainer.model  # E: [return-value]


def right_model_of_the_trainer_elsewhere() -> nn.Linear[Host]:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    return trainer.model


def wrong_dropout_without_mode(x: Host) -> None:
    nn.Dropout(0.5).forward(x)  # E: [call-arg]


def right_dropout_without_mode() -> None:
    assert nn.Dropout(0.5).forward(mx.numpy().ones((3,)), nn.Train(mx.Key(0))).shape == (3,)


def wrong_seed_as_the_key_of_a_step() -> nn.Mode:
    return nn.Train(0)  # E: [arg-type]


def right_seed_as_the_key_of_a_step() -> nn.Mode:
    return nn.Train(mx.Key(0).fold(7))


def wrong_update_of_state_in_evaluation(running: nn.State[Host], x: Host) -> None:
    mode: nn.Mode = nn.Eval() if x.shape else nn.Train(mx.Key(0))
    mode.update(running, x)  # E: [union-attr]


def right_update_of_state_in_evaluation() -> None:
    mode = nn.Train(mx.Key(0))
    assert mode.update.__name__ == "update"


def wrong_weights_into_another_model(network: nn.Linear[Host]) -> nn.Sequential[Host]:
    return nn.load(network, "weights.safetensors")  # E: [arg-type]


def right_weights_into_another_model() -> nn.Linear[Host]:
    return model().with_parameters(model().parameters())
