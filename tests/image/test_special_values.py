"""What formulas and random numbers do not show: NaN, infinities, ties, rounding."""

import numpy as np
import pytest

from moonxi.autodiff import variable
from moonxi.backends.numpy import NpArray, numpy
from moonxi.dtypes import F32, F64

cpu, double = numpy(), numpy(F64)
inf, nan = float("inf"), float("nan")


def image(*rows: list[float]) -> NpArray[F32]:
    return cpu.from_host(np.array(rows, np.float32)[None, None])


def test_nan_is_the_largest_and_gets_the_gradient() -> None:
    x = variable(image([1.0, nan, 3.0, 2.0], [0.0, 4.0, 1.0, 5.0]))
    y = x.max_pool2d(2)
    np.testing.assert_array_equal(y.to_host(), [[[[nan, 5.0]]]])
    np.testing.assert_array_equal(x.max_pool2d_indices(2).to_host(), [[[[1, 7]]]])
    gradient = y.backward(cpu.ones(y.shape)).of(x)
    np.testing.assert_array_equal(gradient.to_host(), [[[[0, 1, 0, 0], [0, 0, 0, 1]]]])


def test_padding_never_wins() -> None:
    x = image([-inf, -inf], [-inf, -2.0])
    np.testing.assert_array_equal(x.max_pool2d(2, stride=1, padding=1)[0, 0, 0].to_host(), [-inf, -inf, -inf])
    indices = x.max_pool2d_indices(2, stride=1, padding=1)
    np.testing.assert_array_equal(indices.to_host()[0, 0], [[0, 0, 1], [0, 3, 3], [2, 3, 3]])


def test_of_equal_ones_the_first_in_the_window_gets_all() -> None:
    x = variable(image([1.0, 1.0, 1.0], [1.0, 1.0, 1.0]))
    gradient = x.max_pool2d(2, stride=1).sum().backward().of(x)
    np.testing.assert_array_equal(gradient.to_host(), [[[[1, 1, 0], [0, 0, 0]]]])


def test_an_infinite_gradient_stays_where_it_belongs() -> None:
    x = variable(image([1.0, 2.0, 4.0, 3.0]))
    gradient = x.max_pool2d((1, 2)).backward(image([inf, nan])).of(x)
    np.testing.assert_array_equal(gradient.to_host(), [[[[0.0, inf, nan, 0.0]]]])
    relu = variable(image([-1.0, 0.0, 2.0]))
    np.testing.assert_array_equal(relu.relu().backward(image([inf, nan, 1.0])).of(relu).to_host(), [[[[0, 0, 1]]]])


def test_where_takes_what_is_chosen_bit_by_bit() -> None:
    x = cpu.from_host(np.array([nan, inf, -0.0, 1.0], np.float32))
    chosen = x.where(x.equal(x), -0.0).to_host()
    np.testing.assert_array_equal(chosen, [0.0, inf, 0.0, 1.0])
    np.testing.assert_array_equal(np.signbit(chosen), [True, False, True, False])
    np.testing.assert_array_equal(np.signbit(x.where(~x.equal(x), 0.0).to_host()[1:]), [False, False, False])


@pytest.mark.parametrize("shape", [(64, 3, 40, 40), (1000, 3)])
def test_the_variance_of_a_batch_far_from_zero_is_right_in_single_precision(shape: tuple[int, ...]) -> None:
    array = (1000.0 + np.random.default_rng(0).standard_normal(shape)).astype(np.float32)
    rest = (0, *range(2, len(shape)))
    y, mean, variance = cpu.from_host(array).batch_norm(cpu.ones((3,)), cpu.zeros((3,)))
    exact = array.astype(np.float64)
    np.testing.assert_allclose(mean.to_host(), exact.mean(rest), rtol=1e-6)
    np.testing.assert_allclose(variance.to_host(), exact.var(rest), rtol=2e-4)
    assert abs(float(y.to_host().astype(np.float64).std()) - 1.0) < 1e-3


def test_a_batch_of_nothing_gives_nothing() -> None:
    x, weight = cpu.zeros((0, 3, 4, 5)), cpu.zeros((2, 3, 3, 3))
    assert x.conv2d(weight).shape == (0, 2, 2, 3)
    assert cpu.zeros((0, 2, 2, 3)).conv2d_input_grad(weight, (0, 3, 4, 5)).shape == (0, 3, 4, 5)
    np.testing.assert_array_equal(x.conv2d_weight_grad(cpu.zeros((0, 2, 2, 3)), (2, 3, 3, 3)).to_host(), 0.0)
    assert x.max_pool2d(2).shape == x.avg_pool2d(2).shape == (0, 3, 2, 2)
    assert x.upsample_bilinear2d(3).shape == (0, 3, 3, 3)
    assert x.pad2d(1, mode="reflect").shape == (0, 3, 6, 7)


def test_images_without_pixels_convolve_to_the_bias() -> None:
    y = cpu.zeros((2, 3, 0, 4)).conv2d(cpu.ones((2, 3, 1, 1)), cpu.from_host(np.array([1.0, 2.0])), padding=1)
    np.testing.assert_array_equal(y.to_host()[:, 0], 1.0)
    np.testing.assert_array_equal(y.to_host()[:, 1], 2.0)


def test_a_network_can_be_differentiated_twice() -> None:
    """The gradient's squared length, whose own gradient goes through every vjp once more."""
    rng = np.random.default_rng(1)
    x = double.from_host(rng.standard_normal((3, 2, 6, 5)))
    start = rng.standard_normal((3, 2, 3, 3))
    scale = double.from_host(rng.standard_normal(3))

    def penalty(kernel: NpArray[F64]) -> tuple[float, NpArray[F64]]:
        outer = variable(kernel)
        inner = variable(outer)
        data, weight = (type(inner).constant(type(outer).constant(one)) for one in (x, scale))
        y, _, variance = data.conv2d(inner, padding=1).batch_norm(weight, weight)
        pooled = y.max_pool2d(2, stride=1).avg_pool2d(2, padding=1).upsample_bilinear2d(5)
        loss = pooled.square().mean() + variance.square().sum()
        length = loss.backward().of(inner).square().sum()
        return length.item(), length.backward().of(outer)

    _, gradient = penalty(double.from_host(start))
    direction, step = rng.standard_normal(start.shape), 1e-5
    ahead, _ = penalty(double.from_host(start + step * direction))
    behind, _ = penalty(double.from_host(start - step * direction))
    expected = (ahead - behind) / (2.0 * step)
    assert abs(float((gradient.to_host() * direction).sum()) - expected) <= 1e-6 * abs(expected)
