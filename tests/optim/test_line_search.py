"""L-BFGS with a line search against PyTorch's, from references/line_search.npz, and what the search promises."""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import moonxi as mx
from moonxi import nn, optim
from moonxi.errors import OptionError
from moonxi.losses import mse
from moonxi.optim.wolfe import Point, strong_wolfe

LIKE = mx.numpy(mx.F64)
with np.load(Path(__file__).parent / "references" / "line_search.npz") as stored:
    REFERENCES: dict[str, NDArray[np.float64]] = dict(stored)


@dataclass(frozen=True, eq=False)
class Data[T: mx.Tensor]:
    x: T
    y: T

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Data[U]":
        return Data(f(self.x), f(self.y))


@dataclass(frozen=True)
class Place[T: mx.Tensor](nn.Module[T]):
    at: T


@dataclass(frozen=True)
class Network[T: mx.MlpTensor](nn.Module[T]):
    first: T
    second: T


DATA = Data(LIKE.from_host(REFERENCES["x"]), LIKE.from_host(REFERENCES["y"]))


def rosenbrock[T: mx.Tensor](model: Place[T], data: Data[T], mode: mx.Mode) -> T:
    x = model.at
    return ((x[1:] - x[:-1].square()).square() * 100.0 + (1.0 - x[:-1]).square()).sum()


def fit[T: mx.MlpTensor](model: Network[T], data: Data[T], mode: mx.Mode) -> T:
    return mse((data.x @ model.first).tanh() @ model.second, data.y)


def of_place(model: Place[mx.NpArray[mx.F64]]) -> tuple[mx.NpArray[mx.F64], Place[mx.NpArray[mx.F64]]]:
    return mx.value_and_grad(rosenbrock, model, DATA, mx.Eval())


def of_network(model: Network[mx.NpArray[mx.F64]]) -> tuple[mx.NpArray[mx.F64], Network[mx.NpArray[mx.F64]]]:
    return mx.value_and_grad(fit, model, DATA, mx.Eval())


def close(name: str, step: int, parameters: tuple[mx.NpArray[mx.F64], ...]) -> None:
    found = np.concatenate([one.to_host().reshape(-1) for one in parameters])
    expected = REFERENCES[f"{name}/after"][step]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-8 * np.abs(expected).max(), err_msg=f"step {step}")


@pytest.mark.parametrize(
    ("name", "optimizer"),
    [
        ("rosenbrock", optim.Lbfgs()),
        ("rosenbrock_long_first_steps", optim.Lbfgs(lr=8.0, history=3)),
        ("rosenbrock_short_first_steps", optim.Lbfgs(lr=optim.constant(1e-3), history=5)),
    ],
)
def test_the_steps_on_rosenbrocks_function_are_those_of_pytorch(name: str, optimizer: optim.Lbfgs) -> None:
    model = Place(LIKE.from_host(REFERENCES["start"]))
    calls: list[int] = []

    def evaluate(model: Place[mx.NpArray[mx.F64]]) -> tuple[mx.NpArray[mx.F64], Place[mx.NpArray[mx.F64]]]:
        calls.append(1)
        return of_place(model)

    value, gradients = of_place(model)
    state = optimizer.init(model)
    for step in range(30):
        before = value.item()
        model, value, gradients, state = optimizer.search(evaluate, model, value, gradients, state)
        close(name, step, model.parameters())
        assert value.item() < before
        assert value.item() == of_place(model)[0].item()
    # PyTorch looks once more at the point where each of its steps begins.
    assert len(calls) + 30 == REFERENCES[f"{name}/evaluations"]


def test_the_steps_of_a_network_are_those_of_pytorch() -> None:
    model = Network(LIKE.from_host(REFERENCES["w1"]), LIKE.from_host(REFERENCES["w2"]))
    optimizer = optim.Lbfgs()
    value, gradients = of_network(model)
    state = optimizer.init(model)
    for step in range(30):
        model, value, gradients, state = optimizer.search(of_network, model, value, gradients, state)
        close("network", step, model.parameters())


def test_at_a_minimum_nothing_moves() -> None:
    model = Place(LIKE.ones((4,)))
    value, gradients = of_place(model)
    after, same, _, state = optim.Lbfgs().search(of_place, model, value, gradients, optim.Lbfgs().init(model))
    assert same.item() == 0.0
    assert after.at.to_host().tolist() == [1.0] * 4
    assert state.step.item() == 1.0


def quartic(step: float) -> Point[None]:
    """(t - 2)**2 + 4 with a wall of NaN behind 5."""
    return Point(step, (step - 2.0) ** 2 + 4.0 if step <= 5.0 else nan, 2.0 * (step - 2.0), None)


@pytest.mark.parametrize("first", [1e-6, 0.1, 2.0, 4.9, 5.1, 1e6])
def test_the_search_meets_both_conditions_from_any_first_step(first: float) -> None:
    start = quartic(0.0)
    end = strong_wolfe(quartic, start, first, longest=1.0, least=1e-9, most=60)
    assert end.loss <= start.loss + 1e-4 * end.step * start.slope
    assert abs(end.slope) <= 0.9 * abs(start.slope)


def test_a_search_that_finds_nothing_better_stays_where_it_began() -> None:
    def rising(step: float) -> Point[None]:
        return Point(step, step, -1.0, None)  # a slope that is a lie

    assert strong_wolfe(rising, rising(0.0), 1.0, longest=1.0, least=1e-9, most=25).step == 0.0


def test_a_search_of_clipped_gradients_is_refused() -> None:
    model = Place(LIKE.ones((4,)))
    value, gradients = of_place(model)
    clipping = optim.Lbfgs(clip_norm=1.0)
    text = r"^Lbfgs\.search: clipping: a line search needs the gradient of the loss as it is$"
    with pytest.raises(OptionError, match=text):
        clipping.search(of_place, model, value, gradients, clipping.init(model))
    with pytest.raises(OptionError, match=r"^Lbfgs\.search: evaluations=0: must be at least 1$"):
        optim.Lbfgs().search(of_place, model, value, gradients, clipping.init(model), evaluations=0)
