"""The parts of a step in another order. Here an update is one function, and the learning rate is one of its step."""

from collections.abc import Iterable

import numpy as np

import moonxi as mx
from moonxi import F32, NpArray, nn, optim
from moonxi.losses import Logits, cross_entropy

type Host = NpArray[F32]


def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(Logits(model.forward(batch.x)), batch.labels)


def linear() -> nn.Linear[Host]:
    return nn.Linear.init(4, 3, like=mx.numpy(), key=mx.Key(0))


def batch() -> mx.Labelled[Host]:
    like = mx.numpy()
    return mx.Labelled(like.normal((3, 4), mx.Key(1)), like.labels(np.array([0, 2, 1])))


def impossible_b099_schedule_before_the_update() -> None:
    """The schedule makes its step before the optimizer makes its own, and the first learning rate is left out.

    PyTorch notices: warns
    """
    model, sgd = linear(), optim.Sgd(lr=optim.exponential(0.5, 0.1))
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
