"""Every optimizer runs on every interpreter: shapes only, under differentiation, profiled, in float32."""

from dataclasses import dataclass

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim

OPTIMIZERS: dict[str, optim.Optimizer | optim.Muon] = {
    "sgd": optim.Sgd(lr=optim.cosine(0.1, optim.Steps(10)), momentum=0.9, nesterov=True, clip_value=1.0, clip_norm=1.0),
    "adam": optim.Adam(lr=optim.one_cycle(0.1, optim.Steps(10))),
    "adamw": optim.AdamW(
        lr=optim.join(
            (optim.warm_up(0.1, optim.Steps(2), 0.05), optim.polynomial(0.1, optim.Steps(9))), at=(optim.Steps(2),)
        )
    ),
    "rmsprop": optim.RmsProp(
        lr=optim.chain(optim.constant(0.5), optim.exponential(0.1, 0.9, every=optim.Steps(1))), centred=True
    ),
    "adagrad": optim.Adagrad(lr=0.1, weight_decay=0.1),
    "nadam": optim.NAdam(lr=0.1),
    "lion": optim.Lion(lr=0.1),
    "lamb": optim.Lamb(lr=0.1),
    "lbfgs": optim.Lbfgs(lr=0.1, history=2),
    "muon": optim.Muon(lr=0.1, rest=optim.AdamW(lr=0.1)),
    "grouped": optim.Grouped(groups=(optim.Group(optim.matrices, optim.Lamb(lr=0.1)),), rest=optim.Lbfgs(history=2)),
}
each = pytest.mark.parametrize("name", OPTIMIZERS)


@dataclass(frozen=True)
class Net[T: mx.MlpTensor](nn.Module[T]):
    layer: nn.Linear[T]
    kernel: T


def net[T: mx.MlpTensor](like: T) -> Net[T]:
    return Net(nn.Linear.init(3, 2, like=like, key=mx.Key(0)), like.normal((2, 2, 2), mx.Key(1)))


def twice[T: mx.MlpTensor](optimizer: optim.Optimizer | optim.Muon, like: T) -> Net[T]:
    model = gradients = net(like)
    state = optimizer.init(model)
    for _ in range(2):
        model, state = optimizer.update(model, gradients, state)
    return model


@each
def test_shapes_are_updated_to_the_same_shapes(name: str) -> None:
    after = twice(OPTIMIZERS[name], mx.ShapeTensor(()))
    assert [one.shape for one in after.parameters()] == [(3, 2), (2,), (2, 2, 2)]


@each
def test_a_profiled_backend_gives_the_same_bits(name: str) -> None:
    plain = twice(OPTIMIZERS[name], mx.numpy())
    profiled = twice(OPTIMIZERS[name], mx.profile(mx.numpy(), into=mx.Profile()))
    for one, other in zip(plain.parameters(), profiled.parameters(), strict=True):
        assert one.to_host().tobytes() == other.to_host().tobytes()


@each
def test_an_update_can_be_differentiated(name: str) -> None:
    optimizer = OPTIMIZERS[name]
    like = mx.numpy(mx.F64)
    start = net(like)

    def size_after[T: mx.MlpTensor](scale: T) -> T:
        model = start_of(scale)
        gradients = model.map(lambda one: one * scale)
        state = optimizer.init(model)
        for _ in range(2):
            model, state = optimizer.update(model, gradients, state)
        return model.layer.weight.square().sum() + model.kernel.square().sum()

    def start_of[T: mx.MlpTensor](scale: T) -> Net[T]:
        host = [one.to_host() for one in start.parameters()]
        weight, bias, kernel = (scale.from_host(one) * 1.0 for one in host)
        return Net(nn.Linear(weight, bias), kernel)

    mx.check_gradients(size_after, like.from_host(np.array(0.3)))
