"""Above and below differentiation: results stay as they are, and the calls of a backward pass are told apart."""

import numpy as np
import pytest

import moonxi as mx
from moonxi.losses import cross_entropy
from moonxi.nn.models import LeNet


def loss[T: mx.ImageModelTensor](model: LeNet[T], batch: mx.Labelled[T], mode: mx.Mode) -> T:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


def names(times: mx.Profile, direction: str) -> dict[str, int]:
    return {row.operation: row.calls for row in times.rows if row.direction == direction}


def test_the_backward_pass_of_differentiation_above_is_told_apart() -> None:
    times = mx.Profile()
    x, y = (mx.variable(mx.profile(mx.numpy(mx.F64).ones((2, 2)), into=times)) for _ in range(2))
    total = (x @ y).sum()
    assert names(times, "forward") == {"matmul": 1, "sum": 1}
    assert names(times, "backward") == {}
    times.clear()
    total.backward()
    assert names(times, "forward") == {}
    found = names(times, "backward")
    assert found.pop("full") == 1  # the seed
    assert found == {"reshape": 1, "broadcast_to": 1, "matmul": 2, "transpose": 2, "sum_to": 2}


def test_the_backward_pass_is_over_when_it_has_failed() -> None:
    times = mx.Profile()
    x = mx.profile(mx.numpy(mx.F64).ones(()), into=times)

    def fail(_: object) -> mx.ImageProfiled[mx.NpArray[mx.F64]]:
        raise ZeroDivisionError

    result = mx.ImageGrad(x, ((mx.variable(x), fail),))
    with pytest.raises(ZeroDivisionError):
        result.backward()
    x.exp()
    assert names(times, "backward") == {"full": 1}
    assert names(times, "forward") == {"exp": 1}


def test_the_second_derivative_is_a_backward_pass_too() -> None:
    times = mx.Profile()
    inner = mx.variable(mx.profile(mx.numpy(mx.F64).full((), 3.0), into=times))
    outer = mx.variable(inner)
    slope = (outer * outer * outer).backward().of(outer)
    times.clear()
    assert slope.backward().of(inner).item() == 18.0
    assert names(times, "backward")["multiply"] > 0
    assert set(names(times, "forward")) == {"item"}


def test_operations_under_differentiation_are_timed_from_above() -> None:
    times = mx.Profile()
    x = mx.profile(mx.variable(mx.numpy(mx.F64).ones((3,))), into=times)
    y = (x * 2.0).exp()
    assert names(times, "forward") == {"multiply": 1, "exp": 1}
    assert y.value.sum().backward().of(x.value).shape == (3,)


def same_bits[T: mx.ImageModelTensor](one: mx.Module[T], other: mx.Module[mx.ImageProfiled[T]]) -> bool:
    pairs = zip(one.parameters(), other.parameters(), strict=True)
    return all(x.to_host().tobytes() == y.value.to_host().tobytes() for x, y in pairs)


def test_training_is_bit_for_bit_the_same_with_and_without() -> None:
    times = mx.Profile()
    plain = mx.numpy()
    timed = mx.profile(plain, into=times)

    def step[T: mx.ImageModelTensor](like: T) -> tuple[float, LeNet[T]]:
        model = LeNet.init(like=like, key=mx.Key(0))
        optimizer = mx.Sgd(lr=0.1, momentum=0.9)
        state = optimizer.init(model)
        value = float("nan")
        for number in range(2):
            batch = mx.Labelled(like.normal((4, 1, 28, 28), mx.Key(number)), like.labels(np.arange(4)))
            found, gradients = mx.value_and_grad(loss, model, batch, mx.Train(mx.Key(number)))
            model, state = optimizer.update(model, gradients, state)
            value = found.item()
        return value, model

    expected, plain_model = step(plain)
    found, timed_model = step(timed)
    assert found == expected
    assert same_bits(plain_model, timed_model)
    assert names(times, "forward")["conv2d"] == 4
    assert names(times, "backward")["conv2d_weight_grad"] == 4
