"""Functions generic in the tensor class, given two classes: the hole that only moonxi's plugin closes."""

import asyncio
from typing import Protocol, Self, TypeVar, overload

import moonxi as mx
from moonxi import F32, F64, BlasGrad, BlasTensor, GpuTensor, NpArray, Tensor

type Host = NpArray[F32]
type Device = GpuTensor[F32]


def total[T: Tensor](x: T, y: T) -> T:
    return x + y


def distance[T: Tensor](x: T, y: T) -> float:
    return (x - y).square().sum().item()


def compare[T: Tensor](x: T, y: T) -> None:
    assert distance(x, y) < 1e-6


def wrong_result_is_a_tensor(host: Host, device: Device) -> None:
    total(host, device)  # E: [tensor-mix] "total" mixes tensor classes for T: NpArray[F32] (x) and GpuTensor[F32] (y)


def right_result_is_a_tensor() -> None:
    assert total(mx.numpy().ones((2,)), mx.numpy().ones((2,))).sum().item() == 4.0


def wrong_result_is_a_number(host: Host, device: Device) -> None:
    loss: float = distance(device, host)  # E: [tensor-mix] GpuTensor[F32] (x) and NpArray[F32] (y); move one of them
    print(loss)


def right_result_is_a_number() -> None:
    assert distance(mx.numpy().ones((2,)), mx.numpy().zeros((2,))) == 2.0


def wrong_no_result(lifted: BlasGrad[Host], host: Host) -> None:
    compare(lifted, host)  # E: [tensor-mix] BlasGrad[NpArray[F32]] (x) and NpArray[F32] (y); bring the plain one in


def right_no_result() -> None:
    x = mx.numpy().ones((2,))
    compare(mx.variable(x), mx.constant(x))


def wrong_element_types(single: NpArray[F32], double: NpArray[F64]) -> None:
    x = single.exp()
    print(total(x, double.exp()).item())  # E: [tensor-mix] NpArray[F32] (x) and NpArray[F64] (y); convert one


def right_element_types() -> None:
    single, double = mx.numpy().ones(()), mx.numpy(F64).ones(())
    assert total(single, single.from_host(double.to_host())).item() == 2.0


def wrong_levels_of_differentiation(outer: BlasGrad[BlasGrad[Host]], inner: BlasGrad[Host]) -> None:
    y = outer * 2.0
    total(y, y * total(y, inner))  # E: [tensor-mix] BlasGrad[BlasGrad[NpArray[F32]]] (x)


def right_levels_of_differentiation() -> None:
    inner = mx.variable(mx.numpy().ones(()))
    outer = mx.variable(inner)
    assert total(outer, mx.constant(inner)).item() == 2.0


def weighted[T: Tensor](x: T, y: T, *, weight: T) -> T:
    return x * weight + y * (1.0 - weight)


def wrong_keyword(host: Host, device: Device) -> None:
    weighted(host, host, weight=device)  # E: [tensor-mix] NpArray[F32] (x) and GpuTensor[F32] (weight)


def right_keyword() -> None:
    one = mx.numpy().ones(())
    assert weighted(one, one, weight=one.zeros(())).item() == 1.0


def stacked_sum[T: Tensor](*parts: T) -> T:
    out = parts[0]
    for part in parts[1:]:
        out = out + part
    return out


def wrong_any_number_of_operands(host: Host, device: Device) -> None:
    stacked_sum(host, host, device, host)  # E: [tensor-mix] NpArray[F32] (parts) and GpuTensor[F32] (parts)


def right_any_number_of_operands() -> None:
    assert stacked_sum(*[mx.numpy().ones(())] * 3).item() == 3.0


def wrong_operands_of_a_tuple(host: Host, device: Device) -> None:
    both = (host, device)
    stacked_sum(*both)  # E: [tensor-mix] NpArray[F32] (parts) and GpuTensor[F32] (parts)


def right_operands_of_a_tuple() -> None:
    both = (mx.numpy().ones(()), mx.numpy().zeros(()))
    assert stacked_sum(*both).item() == 1.0


def named_sums[T: Tensor](**parts: T) -> dict[str, float]:
    return {name: part.sum().item() for name, part in parts.items()}


def wrong_named_operands(host: Host, device: Device) -> None:
    named_sums(weight=host, bias=device)  # E: [tensor-mix] NpArray[F32] (parts) and GpuTensor[F32] (parts)


def right_named_operands() -> None:
    assert named_sums(weight=mx.numpy().ones((2,))) == {"weight": 2.0}


def shifted[T: Tensor](x: T, by: T | None = None) -> T:
    return x if by is None else x + by


def wrong_optional_operand(host: Host, on_device: Device | None) -> None:
    shifted(host, on_device)  # E: [tensor-mix] NpArray[F32] (x) and GpuTensor[F32] (by)


def right_optional_operand() -> None:
    assert shifted(mx.numpy().ones(())).item() == 1.0


def wrong_two_type_variables[T: Tensor, U: Tensor](x: T, y: U) -> None:
    total(x, y)  # E: [tensor-mix] T (x) and U (y); one type variable stands for one class


def right_two_type_variables() -> None:
    def twice[T: Tensor](x: T, y: T) -> T:
        return total(x, y) + total(y, x)

    assert twice(mx.numpy().ones(()), mx.numpy().ones(())).item() == 4.0


def scaled_sum[T: Tensor](like: T, count: int) -> float:
    return like.ones((count,)).sum().item()


def wrong_backend_left_open(use_gpu: bool) -> None:
    like = mx.gpu() if use_gpu else mx.numpy()
    scaled_sum(like, 3)  # E: [tensor-mix] GpuTensor[F32] | NpArray[F32] for T, which is no single tensor class


def right_backend_left_open() -> None:
    use_gpu = False
    assert (scaled_sum(mx.gpu(), 3) if use_gpu else scaled_sum(mx.numpy(), 3)) == 3.0


def wrong_choice_between_operands(host: Host, device: Device, flag: bool) -> None:
    total(host, device if flag else host)  # E: [tensor-mix] GpuTensor[F32] | NpArray[F32] for T


def right_choice_between_operands() -> None:
    one, flag = mx.numpy().ones(()), bool(mx.numpy().shape)
    assert total(one, one * 3.0 if flag else one * 2.0).item() == 3.0


@overload
def power[T: Tensor](base: T, exponent: T) -> T: ...
@overload
def power[T: Tensor](base: T, exponent: float) -> T: ...
def power[T: Tensor](base: T, exponent: T | float) -> T:
    return base**exponent


def wrong_overload(host: Host, device: Device) -> None:
    power(power(host, 2.0), device)  # E: [tensor-mix] "power" mixes tensor classes for T: NpArray[F32] (base)


def right_overload() -> None:
    two = mx.numpy().full((), 2.0)
    assert power(power(two, 2.0), two).item() == 16.0


async def fetched[T: Tensor](x: T, y: T) -> float:
    return distance(x, y)


def wrong_coroutine(host: Host, device: Device) -> None:
    asyncio.run(fetched(host, device))  # E: [tensor-mix] "fetched" mixes tensor classes


def right_coroutine() -> None:
    assert asyncio.run(fetched(mx.numpy(), mx.numpy())) == 0.0


class Attention(Tensor, BlasTensor, Protocol):
    """An intersection of traits that a user has made."""


def scores[T: Attention](queries: T, keys: T) -> T:
    return queries @ keys.transpose()


def wrong_own_intersection(host: Host, device: Device) -> None:
    scores(queries=host, keys=device)  # E: [tensor-mix] NpArray[F32] (queries) and GpuTensor[F32] (keys)


def right_own_intersection() -> None:
    assert scores(mx.numpy().ones((2, 3)), mx.numpy().ones((4, 3))).shape == (2, 4)


class Spectral(Protocol):
    """A trait of another package, which inherits none of moonxi's."""

    def filtered(self, by: Self, /) -> Self: ...


class SpectralArray(NpArray[F32]):
    def filtered(self, by: Self, /) -> Self:
        return self * by


class SpectralTensor(GpuTensor[F32]):
    def filtered(self, by: Self, /) -> Self:
        return self * by


def filtered[T: Spectral](x: T, by: T) -> T:
    return x.filtered(by)


def wrong_trait_of_another_package(on_host: SpectralArray, on_device: SpectralTensor) -> None:
    filtered(on_host, on_device)  # E: [tensor-mix] SpectralArray (x) and SpectralTensor (by)


def right_trait_of_another_package() -> None:
    x = SpectralArray(mx.numpy().ones((2,)).to_host())
    assert filtered(x, x).sum().item() == 2.0


Old = TypeVar("Old", bound=Tensor)


def first(x: Old, y: Old) -> Old:  # noqa: UP047  # as code from before Python 3.12 has it
    return x


def wrong_type_variable_of_the_old_kind(host: Host, device: Device) -> None:
    first(first(host, host), device)  # E: [tensor-mix] for Old: NpArray[F32] (x) and GpuTensor[F32] (y)


def right_type_variable_of_the_old_kind() -> None:
    assert first(mx.numpy().ones(()), mx.numpy()).item() == 1.0


def either[T: NpArray[F32] | GpuTensor[F32]](x: T, y: T) -> tuple[T, T]:
    return x, y


def wrong_bound_that_is_a_union(host: Host, device: Device) -> None:
    print(either(device, host)[0].shape)  # E: [tensor-mix] GpuTensor[F32] (x) and NpArray[F32] (y)


def right_bound_that_is_a_union() -> None:
    assert either(mx.numpy(), mx.numpy())[0].shape == ()


class Named(NpArray[F32]):
    """A subclass of one backend: with its base it is no mix."""


def wrong_subclasses_of_two_backends(named: Named, device: Device) -> None:
    total(x=named, y=device)  # E: [tensor-mix] Named (x) and GpuTensor[F32] (y)


def right_subclasses_of_two_backends() -> None:
    named = Named(mx.numpy().ones(()).to_host())
    result: NpArray[F32] = total(named, mx.numpy())
    assert result.item() == 1.0
