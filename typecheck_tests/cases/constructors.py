"""The hole in constructors: one object that holds tensors of two classes."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import moonxi as mx
from moonxi import F32, GpuTensor, NpArray, Tensor

type Host = NpArray[F32]
type Device = GpuTensor[F32]


@dataclass(frozen=True)
class Affine[T: Tensor]:
    scale: T
    shift: T

    def __call__(self, x: T) -> T:
        return x * self.scale + self.shift


def one() -> Host:
    return mx.numpy().ones(())


def wrong_dataclass(host: Host, device: Device) -> None:
    Affine(host, device)  # E: [tensor-mix] "Affine" mixes tensor classes for T: NpArray[F32] (scale) and GpuTensor[F32]


def right_dataclass() -> None:
    assert Affine(one(), one())(one()).item() == 2.0


def wrong_keywords(host: Host, device: Device) -> None:
    print(Affine(shift=device, scale=host))  # E: [tensor-mix] NpArray[F32] (scale) and GpuTensor[F32] (shift)


def right_keywords() -> None:
    assert Affine(shift=one(), scale=one())(one()).item() == 2.0


def wrong_replaced_field(affine: Affine[Host], device: Device) -> None:
    replace(affine, shift=device)  # E: [arg-type]


def right_replaced_field() -> None:
    assert replace(Affine(one(), one()), shift=one() * 3.0)(one()).item() == 4.0


def wrong_declared_class(host: Host, device: Device) -> None:
    affine: Affine[Host] = Affine(host, device)  # E: [arg-type]
    affine(host)


def right_declared_class() -> None:
    affine: Affine[Host] = Affine(one(), one())
    assert affine(one()).item() == 2.0


def wrong_class_applied_to_a_trait(host: Host, device: Device) -> None:
    Affine[Tensor](host, device)  # E: [tensor-mix] "Tensor" is a trait


def right_class_applied_to_a_trait() -> None:
    assert Affine[Host](one(), one())(one()).item() == 2.0


class Statistics[T: Tensor](NamedTuple):
    mean: T
    variance: T


def wrong_named_tuple(host: Host, device: Device) -> None:
    mean, variance = Statistics(host.mean(), device.mean())  # E: [tensor-mix] "Statistics" mixes tensor classes
    print(mean.shape, variance.shape)


def right_named_tuple() -> None:
    assert Statistics(one(), one()).mean.item() == 1.0


Shorter = Affine


def wrong_alias_of_a_class(host: Host, device: Device) -> None:
    Shorter(host, shift=device)  # E: [tensor-mix] "Affine" mixes tensor classes


def right_alias_of_a_class() -> None:
    assert Shorter(one(), shift=one())(one()).item() == 2.0


class Buffer[T: Tensor]:
    """A class with an ``__init__`` written by hand."""

    def __init__(self, first: T, *more: T) -> None:
        self.items = [first, *more]

    def push(self, x: T) -> None:
        self.items.append(x)


def wrong_init_by_hand(host: Host, device: Device) -> None:
    Buffer(host, host, device)  # E: [tensor-mix] NpArray[F32] (first) and GpuTensor[F32] (more)


def right_init_by_hand() -> None:
    assert len(Buffer(one(), one()).items) == 2


def wrong_later_addition(buffer: Buffer[Host], device: Device) -> None:
    buffer.push(device)  # E: [arg-type]


def right_later_addition() -> None:
    buffer = Buffer(one())
    buffer.push(one())
    assert len(buffer.items) == 2


@dataclass(frozen=True)
class Chain[T: Tensor]:
    first: Affine[T]
    second: Affine[T]


def wrong_nested_objects(on_host: Affine[Host], on_device: Affine[Device]) -> None:
    Chain(on_host, on_device)  # E: [misc] Cannot infer  # E: [tensor-mix] NpArray[F32] (first)


def right_nested_objects() -> None:
    assert Chain(Affine(one(), one()), Affine(one(), one())).second.scale.item() == 1.0


def wrong_nested_constructors(host: Host, device: Device) -> None:
    a, b = Affine(host, host), Affine(device, device)
    print(Chain(a, second=b))  # E: [misc] Cannot infer  # E: [tensor-mix] NpArray[F32] (first)


def right_nested_constructors() -> None:
    affine = Affine(one(), one())
    assert Chain(affine, replace(affine, scale=one())).first is affine


def chained[T: Tensor](chain: Chain[T], x: T) -> T:
    return chain.second(chain.first(x))


def wrong_object_with_an_operand(chain: Chain[Host], device: Device) -> None:
    chained(chain, device)  # E: [misc] Cannot infer  # E: [tensor-mix] NpArray[F32] (chain)


def right_object_with_an_operand() -> None:
    affine = Affine(one(), one())
    assert chained(Chain(affine, affine), one()).item() == 3.0
