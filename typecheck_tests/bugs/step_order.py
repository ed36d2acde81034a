"""The parts of a step in another order. Here an update is one function, and the learning rate is one of its step."""

from collections.abc import Iterable

import numpy as np

import moonxi as mx
from moonxi import F32, NpArray, nn, optim
from moonxi.data import DataLoader, LabelledArrays
from moonxi.losses import Logits, cross_entropy

type Host = NpArray[F32]


def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(Logits(model.forward(batch.x)), batch.labels)


def linear() -> nn.Linear[Host]:
    return nn.Linear.init(4, 3, like=mx.numpy(), key=mx.Key(0))


def batch() -> mx.Labelled[Host]:
    like = mx.numpy()
    return mx.Labelled(like.normal((3, 4), mx.Key(1)), like.labels(np.array([0, 2, 1])))


def data() -> DataLoader[mx.Labelled[Host]]:
    return DataLoader(LabelledArrays(mx.numpy(), np.ones((6, 4)), np.arange(6) % 3), batch_size=3)


def wrong_b098_epochs_for_steps(train: DataLoader[mx.Labelled[Host]]) -> None:
    """A schedule that was meant in epochs makes a step for each batch, and the rate is soon next to nothing.

    PyTorch notices: never
    """
    schedule = optim.step_decay(0.1, every=30)  # E: [arg-type] expected "Steps"
    trainer = mx.Trainer(linear(), loss, optim.Sgd(lr=schedule), key=mx.Key(0))
    trainer.fit(train, epochs=90)


def right_b098_epochs_for_steps() -> None:
    train = data()
    schedule = optim.step_decay(0.1, every=train.steps(epochs=2))
    trainer = mx.Trainer(linear(), loss, optim.Sgd(lr=schedule), key=mx.Key(0))
    trainer.fit(train, epochs=3, progress=False)
    rates = [schedule(mx.numpy().full((), float(step))).item() for step in range(6)]
    assert np.allclose(rates, [0.1, 0.1, 0.1, 0.1, 0.01, 0.01])


def impossible_b099_schedule_before_the_update() -> None:
    """The schedule makes its step before the optimizer makes its own, and the first learning rate is left out.

    PyTorch notices: warns
    """
    model, sgd = linear(), optim.Sgd(lr=optim.exponential(0.5, 0.1, every=optim.Steps(1)))
    state = sgd.init(model)
    for rate in (0.5, 0.05):
        _, gradients = nn.value_and_grad(loss, model, batch(), nn.Eval())
        before, (model, state) = model, sgd.update(model, gradients, state)
        by_hand = before.weight - rate * gradients.weight
        assert np.allclose(model.weight.to_host(), by_hand.to_host(), atol=1e-6)


def wrong_b101_clipping_after_the_update(model: nn.Linear[Host], data: Iterable[mx.Labelled[Host]]) -> None:
    """The gradients are clipped after the optimizer has made its step with them.

    PyTorch notices: never
    """
    sgd = optim.Sgd(lr=0.1)
    state = sgd.init(model)
    for one in data:
        _, gradients = nn.value_and_grad(loss, model, one, nn.Eval())
        model, state = sgd.update(model, gradients, state)
        optim.clip_by_global_norm(gradients.parameters(), 1.0)  # E: [tensor-unused] "clip_by_global_norm" changes


def right_b101_clipping_after_the_update() -> None:
    model, sgd = linear(), optim.Sgd(lr=1.0, clip_norm=0.01)
    state = sgd.init(model)
    _, gradients = nn.value_and_grad(loss, model, batch(), nn.Eval())
    after, state = sgd.update(model, gradients, state)
    moved = [x - y for x, y in zip(after.parameters(), model.parameters(), strict=True)]
    assert np.isclose(optim.global_norm(moved).item(), 0.01, rtol=1e-3)


def wrong_b102_clipping_before_there_are_gradients(model: nn.Linear[Host], one: mx.Labelled[Host]) -> nn.Linear[Host]:
    """What belongs to the parameters is clipped before the backward pass has made any gradients.

    PyTorch notices: never
    """
    adam = optim.Adam(lr=1e-3)
    state = adam.init(model)
    optim.clip_by_value(model.parameters(), 1.0)  # E: [tensor-unused] what it gives is dropped here
    _, gradients = nn.value_and_grad(loss, model, one, nn.Eval())
    model, state = adam.update(model, gradients, state)
    return model


def right_b102_clipping_before_there_are_gradients() -> None:
    model, adam = linear(), optim.Adam(lr=1e-3, clip_value=1.0)
    state = adam.init(model)
    _, gradients = nn.value_and_grad(loss, model, batch(), nn.Eval())
    model, state = adam.update(model, gradients, state)
    assert state.step.item() == 1.0


def impossible_b104_clipping_of_scaled_gradients() -> None:
    """The loss is scaled for half precision, and the gradients are clipped before they are scaled back.

    PyTorch notices: never
    """
    model, sgd = linear(), optim.Sgd(lr=1.0, clip_norm=0.01)
    moved = []
    for scale in (1.0, 1024.0):
        _, gradients = nn.value_and_grad(loss, model, batch(), nn.Eval(), scale=scale)
        assert optim.global_norm(gradients.parameters()).item() < 10.0
        after, _ = sgd.update(model, gradients, sgd.init(model))
        moved.append((after.weight - model.weight).to_host())
    assert np.allclose(moved[0], moved[1], rtol=1e-4)
