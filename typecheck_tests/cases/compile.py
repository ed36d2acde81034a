"""Compiled steps: of the type that they have without."""

from collections.abc import Callable

import moonxi as mx
from moonxi import F32, F64, NpArray, Tensor

type Host = NpArray[F32]
type Double = NpArray[F64]


@mx.compile
def scaled(x: Host, rate: float) -> Host:
    return x * rate


@mx.compile
def difference[T: Tensor](x: T, y: T) -> T:
    return x - y


def wrong_element_type(x: Double) -> None:
    scaled(x, 0.5)  # E: [arg-type]


def right_element_type() -> None:
    assert scaled(mx.numpy().ones((2,)), 0.5).shape == (2,)


def wrong_number_of_arguments(x: Host) -> None:
    scaled(x)  # E: [call-arg]


def right_number_of_arguments() -> None:
    assert scaled(mx.numpy().ones(()), 0.5).item() == 0.5


def wrong_name(x: Host) -> None:
    scaled(x, factor=0.5)  # E: [call-arg]


def right_name() -> None:
    assert scaled(mx.numpy().ones(()), rate=0.5).item() == 0.5


def wrong_use_of_the_result(x: Host) -> Double:
    return scaled(x, 0.5)  # E: [return-value]


def right_use_of_the_result() -> None:
    found: Host = scaled(mx.numpy().ones(()), 0.5)
    assert found.item() == 0.5


def wrong_mixture_in_a_generic_step(x: Host, y: Double) -> None:
    print(difference(x, y))  # E: [tensor-mix] NpArray[F32] (x) and NpArray[F64] (y)


def right_mixture_in_a_generic_step() -> None:
    cpu = mx.numpy(F64)
    assert difference(cpu.ones(()), cpu.ones(())).item() == 0.0


def wrong_step(x: Host) -> None:
    mx.compile(x)  # E: [type-var]


def right_step() -> None:
    assert mx.compile(scaled)(mx.numpy().ones(()), 2.0).item() == 2.0


def wrong_pass(step: Callable[[Host], Host]) -> None:
    mx.compile(step, without=("dead_cod",))  # E: [arg-type]


def right_pass() -> None:
    def square(x: Host) -> Host:
        return x.square()

    assert mx.compile(square, without=("dead_code",))(mx.numpy().ones(())).item() == 1.0


def wrong_report(x: Host) -> None:
    mx.compile_report(x)  # E: [arg-type]


def right_report() -> None:
    def square(x: Host) -> Host:
        return x.square()

    assert str(mx.compile_report(mx.compile(square))) == "not traced yet"
