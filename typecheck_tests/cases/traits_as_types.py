"""A trait as the type of a value, and classes that do not have the trait."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import moonxi as mx
from moonxi import F32, Grad, MlpTensor, NpArray, Tensor, nn

type Host = NpArray[F32]


def wrong_parameter(x: Tensor) -> float:  # E: [tensor-mix] "Tensor" is a trait
    return x.sum().item()


def right_parameter() -> float:
    def total[T: Tensor](x: T) -> float:
        return x.sum().item()

    return total(mx.numpy().ones((2,)))


def wrong_result() -> Tensor:  # E: [tensor-mix] "Tensor" is a trait: as the type of a value it forgets the tensor class
    return mx.numpy().zeros((2,))


def right_result() -> Host:
    return mx.numpy().zeros((2,))


def wrong_local_variable() -> None:
    x: MlpTensor = mx.numpy()  # E: [tensor-mix] "MlpTensor" is a trait
    print(x.matmul(x))  # E: [tensor-mix] "matmul" gets MlpTensor for Self


def right_local_variable() -> None:
    x: Host = mx.numpy().ones((2, 2))
    assert x.matmul(x).shape == (2, 2)


def wrong_list_of_a_trait(xs: list[Tensor]) -> None:  # E: [tensor-mix] "Tensor" is a trait
    print(xs[0].shape)


def right_list_of_a_trait() -> None:
    def shapes[T: Tensor](xs: list[T]) -> list[tuple[int, ...]]:
        return [x.shape for x in xs]

    assert shapes([mx.numpy()]) == [()]


def wrong_function_of_a_trait(step: Callable[[Tensor], float]) -> None:  # E: [tensor-mix] "Tensor" is a trait
    print(step(mx.numpy()))


def right_function_of_a_trait() -> None:
    def once[T: Tensor](step: Callable[[T], float], x: T) -> float:
        return step(x)

    assert once(lambda x: x.item(), mx.numpy()) == 0.0


def wrong_optional_trait(mask: Tensor | None = None) -> None:  # E: [tensor-mix] "Tensor" is a trait
    print(mask is None)


def right_optional_trait() -> None:
    def given[T: Tensor](mask: T | None = None) -> bool:
        return mask is not None

    assert given(mx.numpy())


def total[T: Tensor](x: T, y: T) -> T:
    return x + y


def wrong_narrowed_to_a_trait(x: object, host: Host) -> None:
    if isinstance(x, Tensor):
        total(x, host)  # E: [tensor-mix] Tensor (x) and NpArray[F32] (y)


def right_narrowed_to_a_trait() -> None:
    x: object = mx.numpy()
    if isinstance(x, NpArray):
        assert total(x, x).item() == 0.0


@dataclass(frozen=True)
class Bare(nn.Module[Tensor]):
    """A model that forgets its tensor class."""

    weight: Tensor  # E: [tensor-mix] "Tensor" is a trait


def wrong_field(bare: Bare, host: Host) -> None:
    total(bare.weight, host)  # E: [tensor-mix] Tensor (x) and NpArray[F32] (y)


@dataclass(frozen=True)
class Whole[T: Tensor](nn.Module[T]):
    weight: T


def right_field() -> None:
    assert total(Whole(mx.numpy()).weight, mx.numpy()).item() == 0.0


class Halves:
    """A tensor class of somebody else's, without most of the trait."""

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def exp(self) -> Self:
        return self


def first[T: Tensor](xs: Sequence[T]) -> T:
    return xs[0]


def wrong_backend_without_the_trait(halves: Halves) -> None:
    first([halves])  # E: [type-var]


def right_backend_without_the_trait() -> None:
    assert first([mx.numpy()]).item() == 0.0


def wrong_declaration_of_a_backend() -> None:
    checked: type[Tensor] = Halves  # E: [assignment]
    print(checked)


def right_declaration_of_a_backend() -> None:
    checked: type[Tensor] = NpArray[F32]
    assert checked is not None


def wrong_capability(x: Grad[Host]) -> None:
    nn.Linear(x, None)  # E: [type-var] Value of type variable "T" of "Linear" cannot be "Grad[NpArray[F32]]"


def right_capability() -> None:
    assert nn.Linear(mx.variable(mx.numpy().ones((2, 2))), None).outputs == 2


def wrong_class_under_differentiation(x: Grad[Halves]) -> None:  # E: [type-var]
    print(x)


def right_class_under_differentiation() -> None:
    x: Grad[Host] = Grad.variable(mx.numpy())
    assert x.item() == 0.0
