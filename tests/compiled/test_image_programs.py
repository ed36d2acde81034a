"""Random programs on images: eager = each pass alone = all passes, on values and on the gradients of all weights."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import moonxi as mx
from moonxi import nn
from moonxi.compiled import Pass

type Host = mx.NpArray[mx.F64]
type Program = tuple[tuple[str, int], ...]
type Outcome = tuple[tuple[Host, ...], Weights[Host]]

CHANNELS: Final = 16
SHAPE: Final = (3, CHANNELS, 6, 4)
PASSES: Final[tuple[Pass, ...]] = get_args(Pass.__value__)
ALONE: Final[tuple[Pass, ...]] = (
    "packing",
    "relu_masks",
    "convolutions",
    "normalisations",
    "poolings",
    "sums_of_squares",
)
WITHOUT: Final[tuple[tuple[Pass, ...], ...]] = (
    *(tuple(other for other in PASSES if other != one) for one in ALONE),
    (),
)


@dataclass(frozen=True)
class Weights[T: mx.ImageModelTensor](nn.Module[T]):
    large: T
    small: T
    offset: T
    scale: T

    if TYPE_CHECKING:

        def map[U: mx.ImageModelTensor](self, f: Callable[[T], U], /) -> "Weights[U]": ...


@dataclass(frozen=True)
class Operations[T: mx.ImageModelTensor]:
    """Operations on images of one shape; ``before`` is what an earlier one gave."""

    weights: Weights[T]

    def apply(self, name: str, x: T, before: T) -> T:
        operation: Callable[[T, T], T] = getattr(self, name)
        return operation(x, before)

    def conv(self, x: T, before: T) -> T:
        return x.conv2d(self.weights.large, self.weights.offset, padding=1)

    def conv_without_offset(self, x: T, before: T) -> T:
        return x.conv2d(self.weights.large, padding=1)

    def wide_conv(self, x: T, before: T) -> T:
        return x.conv2d(self.weights.large, padding=3)[:, :, 2:-2, 2:-2]

    def spread_out_conv(self, x: T, before: T) -> T:
        return x.conv2d(self.weights.large, padding=2, dilation=2)

    def strided_conv(self, x: T, before: T) -> T:
        return x.conv2d(self.weights.large, stride=2, padding=1).upsample_nearest2d(SHAPE[2:])

    def conv_at_points(self, x: T, before: T) -> T:
        return x.conv2d(self.weights.small)

    def conv_in_groups(self, x: T, before: T) -> T:
        return x.conv2d(self.weights.large[:, :4], padding=1, groups=4)

    def transposed_conv(self, x: T, before: T) -> T:
        return x.conv_transpose2d(self.weights.large, padding=1)

    def norm(self, x: T, before: T) -> T:
        return x.batch_norm(self.weights.scale, self.weights.offset)[0]

    def norm_and_relu(self, x: T, before: T) -> T:
        return x.batch_norm(self.weights.scale, self.weights.offset)[0].relu()

    def norm_added_and_relu(self, x: T, before: T) -> T:
        return (x.batch_norm(self.weights.scale, self.weights.offset)[0] + before).relu()

    def two_norms_added_and_relu(self, x: T, before: T) -> T:
        one, _, _ = x.batch_norm(self.weights.scale, self.weights.offset)
        other, _, _ = before.batch_norm(self.weights.offset, self.weights.scale)
        return (one + other).relu()

    def norm_used_twice(self, x: T, before: T) -> T:
        y, mean, variance = x.batch_norm(self.weights.scale, self.weights.offset)
        return y + y.relu() * (mean + variance).reshape((CHANNELS, 1, 1))

    def norm_after_offset(self, x: T, before: T) -> T:
        return self.norm_and_relu(self.conv(x, before), before)

    def block(self, x: T, before: T) -> T:
        return self.norm_added_and_relu(self.conv(self.norm_and_relu(self.conv(x, before), before), before), x)

    def relu(self, x: T, before: T) -> T:
        return x.relu()

    def add(self, x: T, before: T) -> T:
        return x + before

    def pool(self, x: T, before: T) -> T:
        return x.max_pool2d(3, stride=1, padding=1)

    def strided_pool(self, x: T, before: T) -> T:
        return x.max_pool2d(2).upsample_nearest2d(SHAPE[2:])

    def mean(self, x: T, before: T) -> T:
        return x * 0.5 + x.avg_pool2d(3, stride=1, padding=1)

    def normed(self, x: T, before: T) -> T:
        return x / (1.0 + x.square().sum() + before.square().sum()).sqrt()


NAMES: Final = sorted(
    name for name in vars(Operations) if not name.startswith("_") and name not in ("apply", "weights")
)
programs = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 9)), min_size=1, max_size=6).map(tuple)


def values_of[T: mx.ImageModelTensor](program: Program, weights: Weights[T], x: T) -> tuple[T, ...]:
    operations, values = Operations(weights), [x]
    for name, earlier in program:
        values.append(operations.apply(name, values[-1], values[-1 - earlier % len(values)]))
    values.append(operations.conv_at_points(values[-1], x))  # so that there is something to train
    return tuple(values[-2:])


def step(program: Program, weights: Weights[Host], x: Host) -> Outcome:
    """The last values, and the weights after clipped gradient descent, which must keep to the layout of the weights."""

    def loss[T: mx.ImageModelTensor](weights: Weights[T], batch: mx.Labelled[T], mode: mx.Mode) -> T:
        return (values_of(program, weights, batch.x)[-1] * 0.1).tanh().sum()

    batch = mx.Labelled(x, x.labels(np.zeros(SHAPE[0], np.int64)))
    _, gradients = mx.value_and_grad(loss, weights, batch, mx.Eval())
    optimizer = mx.Sgd(lr=0.1, clip_norm=0.5)
    updated, _ = optimizer.update(weights, gradients, optimizer.init(weights))
    return values_of(program, weights, x), updated


def drawn[T: mx.ImageModelTensor](like: T, number: int) -> tuple[Weights[T], T]:
    """Weights and images where ``like`` lives."""
    keys = mx.Key(number).split(5)
    weights = Weights(
        like.normal((CHANNELS, CHANNELS, 3, 3), keys[0]) * 0.1,
        like.normal((CHANNELS, CHANNELS, 1, 1), keys[1]) * 0.3,
        like.normal((CHANNELS,), keys[2]),
        like.uniform((CHANNELS,), keys[3]) + 0.5,
    )
    return weights, like.normal(SHAPE, keys[4])


def check(program: Program) -> None:
    compiled = [mx.compile(step, without=without) for without in WITHOUT]
    for number in range(2):
        weights, x = drawn(mx.numpy(mx.F64), number)
        values, updated = step(program, weights, x)
        expected = [*values, *updated.parameters()]
        for one in compiled:
            values, updated = one(program, weights, x)
            for mine, theirs in zip((*values, *updated.parameters()), expected, strict=True):
                np.testing.assert_allclose(mine.to_host(), theirs.to_host(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_each_operation_on_images_is_compiled_right(name: str) -> None:
    check(((name, 1), (name, 2)))


@given(programs)
@settings(max_examples=12, deadline=None)
def test_random_programs_on_images_are_compiled_right(program: Program) -> None:
    check(program)


@pytest.mark.slow
@given(programs)
@settings(max_examples=120, deadline=None)
def test_many_random_programs_on_images_are_compiled_right(program: Program) -> None:
    check(program)
