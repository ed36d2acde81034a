"""The hole through whatever can be called: values, callbacks, methods, objects."""

import asyncio
import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Protocol

import moonxi as mx
from moonxi import F32, GpuTensor, NpArray, Tensor

type Host = NpArray[F32]
type Device = GpuTensor[F32]


def dot[T: Tensor](x: T, y: T) -> float:
    return (x * y).sum().item()


def one() -> Host:
    return mx.numpy().ones((2,))


def wrong_function_in_a_variable(host: Host, device: Device) -> None:
    measure = dot
    measure(host, device)  # E: [tensor-mix] "measure" mixes tensor classes


def right_function_in_a_variable() -> None:
    measure = dot
    assert measure(one(), one()) == 2.0


def wrong_function_in_a_table(host: Host, device: Device) -> None:
    measures = {"dot": dot}
    measures["dot"](host, device)  # E: [tensor-mix] "dot" mixes tensor classes


def right_function_in_a_table() -> None:
    assert {"dot": dot}["dot"](one(), one()) == 2.0


def logged[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    return function


@logged
def cosine[T: Tensor](x: T, y: T) -> float:
    return dot(x, y) / math.sqrt(dot(x, x) * dot(y, y))


def wrong_decorated_function(host: Host, device: Device) -> None:
    cosine(x=host, y=device)  # E: [tensor-mix] "cosine" mixes tensor classes


def right_decorated_function() -> None:
    assert cosine(x=one(), y=one()) == 1.0


def wrong_partial_of_nothing(host: Host, device: Device) -> None:
    partial(dot)(host, device)  # E: [tensor-mix] "dot" mixes tensor classes


def right_partial_of_nothing() -> None:
    assert partial(dot)(one(), one()) == 2.0


def wrong_partial_of_one_operand(host: Host, device: Device) -> None:
    with_host = partial(dot, host)
    with_host(device)  # E: [arg-type] expected "NpArray[F32]"


def right_partial_of_one_operand() -> None:
    with_one = partial(dot, one())
    assert with_one(one()) == 2.0


def wrong_map_over_two_lists(hosts: list[Host], devices: list[Device]) -> None:
    print(list(map(dot, hosts, devices)))  # E: [tensor-mix] NpArray[F32] (x) and GpuTensor[F32] (y)


def right_map_over_two_lists() -> None:
    assert list(map(dot, [one()], [one()])) == [2.0]


def total[T: Tensor](x: T, y: T) -> T:
    return x + y


def wrong_reduce_from_a_start(devices: list[Device], host: Host) -> None:
    reduce(total, devices, host)  # E: [arg-type] # E: [tensor-mix] NpArray[F32] (x) and GpuTensor[F32] (y)


def right_reduce_from_a_start() -> None:
    assert reduce(total, [one(), one()], one()).sum().item() == 6.0


def wrong_lambda(host: Host, device: Device) -> None:
    (lambda x, y: dot(x, y))(host, device)  # E: [tensor-mix] "dot" mixes tensor classes


def right_lambda() -> None:
    assert (lambda x, y: dot(x, y))(one(), one()) == 2.0


def wrong_lambda_that_closes_over_another(hosts: list[Host], device: Device) -> None:
    nearest = min(hosts, key=lambda x: dot(x, device))  # E: [tensor-mix] NpArray[F32] (x) and GpuTensor[F32] (y)
    print(nearest)


def right_lambda_that_closes_over_another() -> None:
    assert min([one()], key=lambda x: dot(x, one())).shape == (2,)


def wrong_comprehension(hosts: list[Host], devices: list[Device]) -> None:
    print({dot(x, y) for x, y in zip(hosts, devices, strict=True)})  # E: [tensor-mix] NpArray[F32] (x)


def right_comprehension() -> None:
    assert {dot(x, y) for x, y in zip([one()], [one()], strict=True)} == {2.0}


def measure_of[T: Tensor]() -> Callable[[T, T], float]:
    return dot


def wrong_function_from_a_function(host: Host, device: Device) -> None:
    measure_of()(host, device)  # E: [tensor-mix] NpArray[F32] and GpuTensor[F32]


def right_function_from_a_function() -> None:
    assert measure_of()(one(), one()) == 2.0


class Metric:
    """Something with generic methods of every kind."""

    def of[T: Tensor](self, prediction: T, target: T) -> float:
        return dot(prediction, target)

    @classmethod
    def named[T: Tensor](cls, prediction: T, target: T) -> str:
        return f"{cls.__name__}: {dot(prediction, target)}"

    @staticmethod
    def pure[T: Tensor](prediction: T, target: T) -> T:
        return prediction * target

    def __call__[T: Tensor](self, prediction: T, target: T) -> float:
        return dot(prediction, target)

    def __matmul__[T: Tensor](self, both: tuple[T, T]) -> float:
        return dot(*both)


def wrong_method(metric: Metric, host: Host, device: Device) -> None:
    metric.of(host, device)  # E: [tensor-mix] "of" of "Metric" mixes tensor classes for T: NpArray[F32] (prediction)


def right_method() -> None:
    assert Metric().of(one(), one()) == 2.0


def wrong_classmethod(host: Host, device: Device) -> None:
    Metric.named(host, device)  # E: [tensor-mix] "named" of "Metric"


def right_classmethod() -> None:
    assert Metric.named(one(), one()) == "Metric: 2.0"


def wrong_staticmethod(metric: Metric, host: Host, device: Device) -> None:
    metric.pure(prediction=host, target=device)  # E: [tensor-mix] "pure" of "Metric"


def right_staticmethod() -> None:
    assert Metric.pure(one(), one()).shape == (2,)


def wrong_callable_object(metric: Metric, host: Host, device: Device) -> None:
    metric(host, device)  # E: [tensor-mix] "__call__" of "Metric"


def right_callable_object() -> None:
    assert Metric()(one(), one()) == 2.0


def wrong_own_operator(metric: Metric, host: Host, device: Device) -> None:
    metric @ (host, device)  # E: [tensor-mix] "__matmul__" of "Metric"


def right_own_operator() -> None:
    assert Metric() @ (one(), one()) == 2.0


def applied[A, B](function: Callable[[A, B], float], a: A, b: B) -> float:
    return function(a, b)


def wrong_callback(host: Host, device: Device) -> None:
    applied(dot, host, device)  # E: [tensor-mix] "dot" mixes tensor classes for T: NpArray[F32] (x) and GpuTensor[F32]


def right_callback() -> None:
    assert applied(dot, one(), one()) == 2.0


def wrong_callable_object_as_a_callback(metric: Metric, host: Host, device: Device) -> None:
    applied(metric, host, b=device)  # E: [tensor-mix] "__call__" of "Metric"


def right_callable_object_as_a_callback() -> None:
    assert applied(Metric(), one(), b=one()) == 2.0


def wrong_arguments_passed_on(host: Host, device: Device) -> None:
    asyncio.run(asyncio.to_thread(dot, host, device))  # E: [tensor-mix] "dot" mixes tensor classes


def right_arguments_passed_on() -> None:
    assert asyncio.run(asyncio.to_thread(dot, one(), one())) == 2.0


class Across(Protocol):
    """A function from the host to the device: no function of one tensor class is that."""

    def __call__(self, host: Host, device: Device, /) -> float: ...


def measured(across: Across) -> Across:
    return across


def wrong_callback_of_two_classes() -> None:
    measured(dot)  # E: [tensor-mix] NpArray[F32] (x) and GpuTensor[F32] (y)


def right_callback_of_two_classes() -> None:
    def across(host: Host, device: Device, /) -> float:
        return dot(host, host.from_host(device.to_host()))

    assert measured(across) is across


def all_pairs[T: Tensor](xs: Sequence[T], measure: Callable[[T, T], float]) -> list[float]:
    return [measure(x, y) for x in xs for y in xs]


def wrong_callback_for_another_class(hosts: list[Host]) -> None:
    def on_device(x: Device, y: Device) -> float:
        return dot(x, y)

    all_pairs(hosts, on_device)  # E: [arg-type]


def right_callback_for_another_class() -> None:
    assert all_pairs([one()], dot) == [2.0]
