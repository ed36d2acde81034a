"""Operations of somebody else: a trait of their own, and their class of tensors under differentiation."""

from dataclasses import dataclass
from typing import Protocol, Self, override, runtime_checkable

import numpy as np

import moonxi as mx
from moonxi import F32, GpuTensor, ImageGrad, ImageModelTensor, Labelled, NpArray, nn
from moonxi.dtypes import Floating


@runtime_checkable
class SignTensor(ImageModelTensor, Protocol):
    def signum(self) -> Self: ...


class SignArray[D: Floating](NpArray[D]):
    __slots__ = ()

    def signum(self) -> Self:
        return type(self)(np.sign(self.data))


class SignGrad[T: SignTensor](ImageGrad[T], SignTensor):
    __slots__ = ()

    @override
    def signum(self) -> Self:
        return type(self)(self.value.signum())


@dataclass(frozen=True)
class Signs[T: SignTensor](nn.Module[T]):
    scale: T

    def forward(self, x: T) -> T:
        return x.signum() * self.scale


type Host = SignArray[F32]
_ZERO = SignArray[F32](np.zeros((), np.float32))


def loss[T: SignTensor](model: Signs[T], batch: Labelled[T], mode: nn.Mode) -> T:
    return model.forward(batch.x).mean()


def signed[T: SignTensor](x: T) -> T:
    return x * x.signum()


def data() -> Labelled[Host]:
    return Labelled(_ZERO.ones((2, 3)), _ZERO.labels(np.array([0, 1])))


def wrong_array_without_the_operation(plain: NpArray[F32]) -> None:
    SignGrad.variable(plain)  # E: [type-var] NpArray[F32]


def right_array_without_the_operation() -> None:
    assert signed(SignGrad.variable(_ZERO.ones((2,)))).shape == (2,)


def wrong_device_without_the_operation(model: Signs[Host], device: Labelled[GpuTensor[F32]]) -> None:
    mx.value_and_grad(loss, model, device, nn.Eval(), variable=SignGrad.variable)  # E: [tensor-mix] SignArray
    # E: [misc] "T"


def right_device_without_the_operation() -> None:
    value, gradient = mx.value_and_grad(loss, Signs(_ZERO.ones(())), data(), nn.Eval(), variable=SignGrad.variable)
    assert (value.item(), gradient.scale.item()) == (1.0, 1.0)


def wrong_differentiation_without_the_operation(x: Host) -> None:
    mx.check_gradients(signed, x)  # E: [arg-type] BlasGrad[SignArray[F32]]


def right_differentiation_without_the_operation() -> None:
    x = _ZERO.full((2,), 3.0)
    mx.check_gradients(signed, x, variable=SignGrad.variable)


def wrong_batches_of_a_trainer(model: Signs[Host], batch: Labelled[NpArray[F32]]) -> None:
    trainer = mx.Trainer(model, loss, mx.Sgd(lr=0.1), key=mx.Key(0), variable=SignGrad.variable)
    trainer.step(batch)  # E: [arg-type]


def right_batches_of_a_trainer() -> None:
    model = Signs(_ZERO.ones(()))
    trainer = mx.Trainer(model, loss, mx.Sgd(lr=0.5), key=mx.Key(0), variable=SignGrad.variable)
    assert trainer.step(data()) == {"loss": 1.0}
    assert trainer.model.scale.item() == 0.5
