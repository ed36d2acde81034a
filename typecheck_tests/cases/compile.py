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


type Moving = tuple[Host, Host, Host]


def moves(model: Host, state: Host, batch: Double, key: mx.Key) -> Moving:
    return model, state, model.uniform((), key)


def wrong_data_of_a_repeated_step(x: Host) -> None:
    mx.repeat(moves, 3)(x, x, x, mx.Key(0))  # E: [arg-type]


def right_data_of_a_repeated_step() -> None:
    x = mx.numpy().ones(())
    model, _, _ = mx.repeat(moves, 3)(x, x, mx.numpy(F64).ones((3,)), mx.Key(0))
    assert model is x


def wrong_use_of_a_repeated_step(x: Host, data: Double) -> Double:
    return mx.repeat(moves, 3)(x, x, data, mx.Key(0))[2]  # E: [return-value]


def right_use_of_a_repeated_step() -> None:
    x = mx.numpy().ones(())
    drawn: Host = mx.repeat(moves, 3)(x, x, mx.numpy(F64).ones((3,)), mx.Key(0))[2]
    assert drawn.item() < 1.0


def wrong_results_to_repeat() -> None:
    def step(model: Host, state: Double, batch: Host, key: mx.Key) -> tuple[Double, Host]:
        return state, model

    mx.repeat(step, 3)  # E: [misc] Cannot infer value of type parameter "M" of "repeat"
    # E: [misc] Cannot infer value of type parameter "S" of "repeat"


def right_results_to_repeat() -> None:
    def step(model: Host, state: Double, batch: Host, key: mx.Key) -> tuple[Host, Double]:
        return model, state

    assert mx.repeat(mx.compile(step), 3) is not None


def wrong_arguments_to_repeat() -> None:
    def step(model: Host, state: Host, batch: Host) -> tuple[Host, Host]:
        return model, state

    mx.repeat(step, 3)  # E: [arg-type]


def right_arguments_to_repeat() -> None:
    def step(model: Host, state: Host, batch: Host, key: mx.Key) -> tuple[Host, Host]:
        return model, state

    x = mx.numpy().ones((3,))
    assert mx.repeat(step, 3)(x, x, x, mx.Key(0))[0] is x


def wrong_mixture_in_a_repeated_generic_step(x: Host, y: Double) -> None:
    def step[T: Tensor](model: T, state: T, batch: T, key: mx.Key) -> tuple[T, T]:
        return model + batch, state

    print(mx.repeat(step, 3)(x, x, y, mx.Key(0)))  # E: [tensor-mix] NpArray[F32] and NpArray[F64]


def right_mixture_in_a_repeated_generic_step() -> None:
    def step[T: Tensor](model: T, state: T, batch: T, key: mx.Key) -> tuple[T, T]:
        return model + batch.sum(), state

    x = mx.numpy(F64).ones(())
    assert mx.repeat(step, 3)(x, x, x, mx.Key(0))[0].item() == 4.0
