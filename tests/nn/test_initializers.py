"""How parameters start: bounds, spread, and the same numbers for the same key."""

import re
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn
from moonxi.errors import ModuleError, ShapeError
from moonxi.nn import initializers
from moonxi.nn.initializers import Initializer, fans
from moonxi.shapes import show

INPUTS, OUTPUTS = 300, 200
COUNT = INPUTS * OUTPUTS
UNIFORM: dict[str, tuple[Initializer, float]] = {
    "xavier_uniform": (initializers.xavier_uniform, sqrt(6.0 / (INPUTS + OUTPUTS))),
    "kaiming_uniform": (initializers.kaiming_uniform, sqrt(6.0 / INPUTS)),
    "lecun_uniform": (initializers.lecun_uniform, 1.0 / sqrt(INPUTS)),
}
NORMAL: dict[str, tuple[Initializer, float]] = {
    "xavier_normal": (initializers.xavier_normal, sqrt(2.0 / (INPUTS + OUTPUTS))),
    "kaiming_normal": (initializers.kaiming_normal, sqrt(2.0 / INPUTS)),
}
EVERY = {name: make for name, (make, _) in {**UNIFORM, **NORMAL}.items()}
KEY = mx.Key(11)
BACKENDS = pytest.mark.parametrize("like", [mx.numpy(), mx.numpy(mx.F64)], ids=["F32", "F64"])


@BACKENDS
@pytest.mark.parametrize("name", UNIFORM)
def test_uniform_weights_fill_their_bounds_evenly[D: mx.F32 | mx.F64](name: str, like: mx.NpArray[D]) -> None:
    make, bound = UNIFORM[name]
    found = make(like, (INPUTS, OUTPUTS), KEY).to_host().astype(np.float64) / bound
    assert -1.0 - 1e-6 <= found.min() < -0.999
    assert 0.999 < found.max() <= 1.0 + 1e-6
    assert abs(found.mean()) < 5.0 * sqrt(1.0 / 3.0 / COUNT)
    assert found.var() == pytest.approx(1.0 / 3.0, rel=0.02)
    counts, _ = np.histogram(found, 10, (-1.0, 1.0))
    np.testing.assert_allclose(counts, COUNT / 10, rtol=0.06)


@BACKENDS
@pytest.mark.parametrize("name", NORMAL)
def test_normal_weights_have_their_spread[D: mx.F32 | mx.F64](name: str, like: mx.NpArray[D]) -> None:
    make, deviation = NORMAL[name]
    found = make(like, (INPUTS, OUTPUTS), KEY).to_host().astype(np.float64) / deviation
    assert abs(found.mean()) < 5.0 / sqrt(COUNT)
    assert found.var() == pytest.approx(1.0, rel=0.03)
    assert (found**4).mean() == pytest.approx(3.0, rel=0.05)
    assert (np.abs(found) < 1.0).mean() == pytest.approx(0.6827, abs=0.01)


@BACKENDS
@pytest.mark.parametrize("name", EVERY)
def test_the_key_fixes_the_weights_and_the_element_type_is_that_of_like[D: mx.F32 | mx.F64](
    name: str, like: mx.NpArray[D]
) -> None:
    one, again, other = (EVERY[name](like, (5, 7), key) for key in (KEY, KEY, KEY.fold(1)))
    assert one.shape == (5, 7)
    assert one.dtype is like.dtype
    assert one.to_host().tobytes() == again.to_host().tobytes()
    assert (one.to_host() != other.to_host()).all()


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (1, 1)])
def test_sizes_0_and_1_work(name: str, shape: tuple[int, int]) -> None:
    found = EVERY[name](mx.numpy(), shape, KEY)
    assert found.shape == shape
    assert np.isfinite(found.to_host()).all()


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3, 4)])
def test_a_shape_without_fans_is_refused(name: str, shape: tuple[int, ...]) -> None:
    text = (
        rf"^initializer: {re.escape(show(shape))}: fan-in and fan-out are defined for \(inputs, outputs\) and for "
        r"\(outputs, inputs, rows, columns\)$"
    )
    with pytest.raises(ShapeError, match=text):
        EVERY[name](mx.numpy(), shape, KEY)


@pytest.mark.parametrize("name", UNIFORM)
def test_one_input_is_not_counted_as_two(name: str) -> None:
    found = np.abs(UNIFORM[name][0](mx.numpy(), (1, 1000), KEY).to_host()).max()
    assert found == pytest.approx({"x": sqrt(6.0 / 1001), "k": sqrt(6.0), "l": 1.0}[name[0]], rel=0.02)


def test_the_fans_of_a_linear_and_of_a_convolution() -> None:
    assert fans((3, 5)) == (3, 5)
    assert fans((8, 4, 3, 2)) == (4 * 3 * 2, 8 * 3 * 2)


@pytest.mark.parametrize("name", EVERY)
def test_the_weights_of_a_convolution_spread_by_its_fans(name: str) -> None:
    shape = (64, 24, 5, 3)  # every output sums over 24 channels of 5 by 3 pixels; every input feeds 64 of them
    fan_in, fan_out = 24 * 5 * 3, 64 * 5 * 3
    found = EVERY[name](mx.numpy(mx.F64), shape, KEY).to_host()
    expected = {
        "xavier_uniform": 2.0 / (fan_in + fan_out),
        "xavier_normal": 2.0 / (fan_in + fan_out),
        "kaiming_uniform": 2.0 / fan_in,
        "kaiming_normal": 2.0 / fan_in,
        "lecun_uniform": 1.0 / (3.0 * fan_in),
    }[name]
    assert found.shape == shape
    assert found.var() == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("groups", [1, 4])
def test_a_convolution_counts_the_inputs_of_its_group_only(groups: int) -> None:
    layer = nn.Conv2d.init(8, 16, 3, like=mx.numpy(), key=KEY, groups=groups, weight=initializers.kaiming_uniform)
    assert np.abs(layer.weight.to_host()).max() == pytest.approx(sqrt(6.0 / (8 / groups * 9)), rel=0.02)


def test_zeros_are_zeros_of_any_shape() -> None:
    for shape in ((), (3,), (2, 3, 4)):
        found = initializers.zeros(mx.numpy(mx.F64), shape, KEY)
        assert found.shape == shape
        assert not found.to_host().any()


@pytest.mark.parametrize("name", EVERY)
def test_a_layer_starts_by_the_initializer_that_it_is_given(name: str) -> None:
    like = mx.numpy()
    layer = nn.Linear.init(5, 7, like=like, key=KEY, weight=EVERY[name])
    np.testing.assert_array_equal(layer.weight.to_host(), EVERY[name](like, (5, 7), KEY).to_host())


def test_a_layer_starts_by_kaiming_uniform_if_it_is_given_none() -> None:
    like = mx.numpy()
    found = nn.Linear.init(5, 7, like=like, key=KEY).weight
    np.testing.assert_array_equal(found.to_host(), initializers.kaiming_uniform(like, (5, 7), KEY).to_host())


def test_weights_under_differentiation_are_those_without() -> None:
    like = mx.numpy()
    for make in EVERY.values():
        lifted = make(mx.constant(like), (5, 7), KEY)
        np.testing.assert_array_equal(lifted.to_host(), make(like, (5, 7), KEY).to_host())
        assert lifted.parents is None


def test_a_layer_made_within_a_forward_is_refused() -> None:
    @dataclass(frozen=True)
    class Forgetful[T: mx.MlpTensor](nn.Module[T]):
        out: nn.Linear[T]

        def forward(self, x: T) -> T:
            hidden = nn.Linear.init(4, 4, like=x, key=KEY)
            return self.out.forward(hidden.forward(x))

    like = mx.numpy()
    model = Forgetful(nn.Linear.init(4, 3, like=like, key=KEY))
    message = r"^initializer: \(4, 4\): within the forward of a model: .* make it outside, and let a field hold it\n"
    with pytest.raises(ModuleError, match=message):
        model.forward(like.ones((2, 4)))
