"""The moving average of weights, and the gradient of a large batch from its parts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import moonxi as mx
from moonxi import nn, optim
from moonxi.errors import ModuleError, OptionError, ShapeError
from moonxi.losses import Logits, cross_entropy

type Array = mx.NpArray[mx.F64]

LIKE = mx.numpy(mx.F64)


@dataclass(frozen=True)
class Averaged[T: mx.Tensor](nn.Module[T]):
    weight: T
    mean: mx.State[T]


def averaged(weight: float, mean: float) -> Averaged[Array]:
    return Averaged(LIKE.full((2,), weight), mx.State(LIKE.full((), mean)))


# -- the moving average of weights -------------------------------------------------------------------------------


@given(st.lists(st.floats(-10.0, 10.0), min_size=1, max_size=12), st.floats(0.0, 0.999))
def test_the_average_is_the_weighted_sum_of_all_weights_so_far(weights: list[float], decay: float) -> None:
    ema = optim.Ema(decay=decay)
    state = ema.init(averaged(weights[0], 0.0))
    for weight in weights[1:]:
        state = ema.update(averaged(weight, 0.0), state)
    n = len(weights) - 1
    shares = [decay**n] + [(1.0 - decay) * decay ** (n - k) for k in range(1, n + 1)]
    expected = sum(share * weight for share, weight in zip(shares, weights, strict=True))
    found = ema.averaged(averaged(weights[-1], 0.0), state).weight.to_host()
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)
    assert state.step.item() == n


def test_with_warm_up_the_first_weights_are_soon_forgotten() -> None:
    ema = optim.Ema(decay=0.5, warm_up=True)
    state = ema.init(averaged(0.0, 0.0))
    expected = 0.0
    for step in range(1, 20):
        decay = min(0.5, (1 + step) / (10 + step))
        expected = expected * decay + float(step) * (1.0 - decay)
        state = ema.update(averaged(float(step), 0.0), state)
        assert state.averages["weight"].to_host() == pytest.approx(expected, rel=1e-14)


def test_the_averages_swapped_in_leave_the_model_its_state_and_both_as_they_were() -> None:
    ema = optim.Ema(decay=0.5)
    model = averaged(3.0, 7.0)
    state = ema.update(model, ema.init(averaged(1.0, 0.0)))
    swapped = ema.averaged(model, state)
    assert type(swapped) is Averaged
    assert swapped.weight.to_host().tolist() == [2.0, 2.0]
    assert swapped.mean.value.item() == 7.0
    assert model.weight.to_host().tolist() == [3.0, 3.0]
    assert state.averages["weight"].to_host().tolist() == [2.0, 2.0]


def test_the_averages_of_another_model_are_refused() -> None:
    ema = optim.Ema()
    linear = nn.Linear(LIKE.ones((2, 2)), LIKE.ones((2,)))
    wide = nn.Linear(LIKE.ones((3, 2)), LIKE.ones((2,)))
    bare = nn.Linear(LIKE.ones((2, 2)), None)
    text = r"the state belongs to another model \(it differs in {}\): make one with ema\.init\(model\)$"
    with pytest.raises(ModuleError, match=r"^Ema\.update: Linear: " + text.format("weight")):
        ema.update(wide, ema.init(linear))
    with pytest.raises(ModuleError, match=r"^Ema\.averaged: Linear: " + text.format("bias")):
        ema.averaged(bare, ema.init(linear))


def test_a_decay_of_one_and_a_model_without_parameters_are_refused() -> None:
    with pytest.raises(OptionError, match=r"^Ema: decay=1.0: must be at least 0 and less than 1$"):
        optim.Ema(decay=1.0)
    with pytest.raises(ModuleError, match=r"^Ema\.init: Sequential has no parameters to average$"):
        optim.Ema().init(nn.Sequential[Array]())


# -- the gradient of a large batch -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Net[T: mx.MlpTensor](nn.Module[T]):
    hidden: nn.Linear[T]
    out: nn.Linear[T]

    def forward(self, x: T) -> T:
        return self.out.forward(self.hidden.forward(x).tanh())


@dataclass(frozen=True, eq=False)
class Examples[T: mx.Tensor]:
    x: T
    labels: mx.Labels[T]

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Examples[U]":
        return Examples(f(self.x), self.labels.map(f))


def loss[T: mx.MlpTensor](model: Net[T], batch: Examples[T], mode: mx.Mode) -> T:
    return cross_entropy(Logits(model.forward(batch.x)), batch.labels)


def net() -> Net[Array]:
    keys = mx.Key(3)
    return Net(
        nn.Linear.init(5, 4, like=LIKE, key=keys.fold(0)),
        nn.Linear.init(4, 3, like=LIKE, key=keys.fold(1)),
    )


def examples(count: int) -> Examples[Array]:
    rng = np.random.default_rng(count)
    return Examples(LIKE.from_host(rng.normal(size=(count, 5))), LIKE.labels(rng.integers(0, 3, count)))


@given(st.lists(st.integers(1, 7), min_size=1, max_size=6))
def test_the_mean_gradient_of_parts_of_any_sizes_is_that_of_the_whole_batch(sizes: list[int]) -> None:
    model, batch = net(), examples(sum(sizes))
    _, whole = mx.value_and_grad(loss, model, batch, mx.Eval())
    ends = np.cumsum(sizes)
    parts = [
        Examples(batch.x[int(end) - size : int(end)], batch.labels[int(end) - size : int(end)])
        for size, end in zip(sizes, ends, strict=True)
    ]
    found = optim.mean_gradients(
        (mx.value_and_grad(loss, model, part, mx.Eval())[1], size) for part, size in zip(parts, sizes, strict=True)
    )
    assert type(found) is Net
    for one, other in zip(found.parameters(), whole.parameters(), strict=True):
        np.testing.assert_allclose(one.to_host(), other.to_host(), rtol=0.0, atol=1e-12)


def test_twenty_steps_with_parts_are_twenty_steps_with_the_whole_batch() -> None:
    optimizer = optim.Adam(lr=0.05)
    batch = examples(12)
    whole = parted = net()
    whole_state = parted_state = optimizer.init(whole)
    for _ in range(20):
        _, gradients = mx.value_and_grad(loss, whole, batch, mx.Eval())
        whole, whole_state = optimizer.update(whole, gradients, whole_state)
        small = optim.mean_gradients(
            (
                mx.value_and_grad(loss, parted, Examples(batch.x[at : at + 5], batch.labels[at : at + 5]), mx.Eval())[
                    1
                ],
                n,
            )
            for at, n in ((0, 5), (5, 5), (10, 2))
        )
        parted, parted_state = optimizer.update(parted, small, parted_state)
    for one, other in zip(parted.parameters(), whole.parameters(), strict=True):
        np.testing.assert_allclose(one.to_host(), other.to_host(), rtol=0.0, atol=1e-12)


def test_the_state_fields_are_those_of_the_last_part_and_the_weights_are_the_numbers_of_examples() -> None:
    mean = optim.mean_gradients([(averaged(1.0, 5.0), 1), (averaged(4.0, 6.0), 2)])
    assert mean.weight.to_host().tolist() == [3.0, 3.0]
    assert mean.mean.value.item() == 6.0


def test_parts_of_different_models_no_parts_and_empty_parts_are_refused() -> None:
    linear = nn.Linear(LIKE.ones((2, 2)), LIKE.ones((2,)))
    with pytest.raises(ModuleError, match=r"^mean_gradients: the parts are of different models: only one of two has b"):
        optim.mean_gradients([(linear, 1), (nn.Linear(LIKE.ones((2, 2)), None), 1)])
    with pytest.raises(ShapeError, match=r"^mean_gradients \(weight\): \(2, 2\) and \(1, 2\): the shapes must"):
        optim.mean_gradients([(linear, 1), (nn.Linear(LIKE.ones((1, 2)), LIKE.ones((2,))), 1)])
    with pytest.raises(OptionError, match=r"^mean_gradients: examples=0: must be at least 1$"):
        optim.mean_gradients([(linear, 0)])
    with pytest.raises(OptionError, match=r"^mean_gradients: no parts: give the gradients of at least one, with its n"):
        optim.mean_gradients(list[tuple[nn.Linear[Array], int]]())


def test_averages_of_another_element_type_are_refused() -> None:
    ema = optim.Ema()
    wide: Any = nn.Linear(mx.numpy(mx.F64).ones((2, 2)), None)
    narrow: Any = nn.Linear(mx.numpy().ones((2, 2)), None)
    text = r"the average of weight is NpArray\[F32\], the parameter NpArray\[F64\]: expected the same class"
    with pytest.raises(ModuleError, match=r"^Ema\.update: Linear: " + text):
        ema.update(wide, ema.init(narrow))
    with pytest.raises(ModuleError, match=r"^Ema\.averaged: Linear: " + text):
        ema.averaged(wide, ema.init(narrow))
