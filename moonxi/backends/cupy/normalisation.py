"""Batch normalisation, forward and backward; sums stay in the type that is computed in."""

from math import prod

from moonxi.backends.cupy.layouts import Strides, ordered, row_major
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.reductions import finish, fold, parts
from moonxi.traits import Shape


def batch_norm(
    space: Space, x: DeviceArray, weight: DeviceArray, bias: DeviceArray, eps: float
) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """The result of ``(n, c, ...)``, and mean and variance of each channel."""
    x, inner = _arranged(space, x)
    weight, bias = space.compact(weight), space.compact(bias)
    how = fold(x.shape, x.strides, _others(x.shape))
    channels, count = x.shape[1], x.count
    share = channels / count
    exact = space.empty((2, channels), itemsize=space.wide)
    mean, variance = space.empty((channels,)), space.empty((channels,))
    first, second = exact.pointer, exact.pointer + channels * space.wide
    found = parts(space, space.reductions, "sum", how, x.pointer)
    finish(space, space.normalisation, "means", how, found.pointer, first, mean.pointer, share)
    found = parts(space, space.normalisation, "squares", how, x.pointer, first)
    finish(space, space.normalisation, "means", how, found.pointer, second, variance.pointer, share)
    y = space.empty(x.shape, x.strides)
    ends = (weight.pointer, bias.pointer, y.pointer, eps, inner, channels, count)
    space.normalisation.launch("normalise", count, x.pointer, first, second, *ends)
    return y, mean, variance


def batch_norm_grad(
    space: Space,
    x: DeviceArray,
    dy: DeviceArray,
    weight: DeviceArray,
    mean: DeviceArray,
    variance: DeviceArray,
    eps: float,
) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """The gradients of tensor, weight and bias."""
    x, inner = _arranged(space, x)
    dy = space.laid(dy, x.strides)
    weight, mean, variance = (space.compact(one) for one in (weight, mean, variance))
    how = fold(x.shape, x.strides, _others(x.shape))
    channels, count = x.shape[1], x.count
    exact = space.empty((2, channels), itemsize=space.wide)
    total, product = exact.pointer, exact.pointer + channels * space.wide
    of_weight, of_bias = space.empty((channels,)), space.empty((channels,))
    found = parts(space, space.reductions, "sum", how, dy.pointer)
    finish(space, space.normalisation, "means", how, found.pointer, total, of_bias.pointer, 1.0)
    found = parts(space, space.normalisation, "products", how, x.pointer, dy.pointer, mean.pointer)
    slopes = (variance.pointer, product, of_weight.pointer, eps)
    finish(space, space.normalisation, "slopes", how, found.pointer, *slopes)
    dx = space.empty(x.shape, x.strides)
    vectors = (mean.pointer, variance.pointer, weight.pointer, total, product)
    ends = (dx.pointer, eps, inner, channels, count)
    space.normalisation.launch("normalise_grad", count, x.pointer, dy.pointer, *vectors, *ends)
    return dx, of_weight, of_bias


def _others(shape: Shape) -> tuple[int, ...]:
    """Every axis but that of the channels."""
    return 0, *range(2, len(shape))


def _arranged(space: Space, x: DeviceArray) -> tuple[DeviceArray, int]:
    """The tensor, copied unless its channels lie first or last, and how many elements lie between two channels."""
    last: Strides = ordered(x.shape, (0, *range(2, len(x.shape)), 1))
    if x.strides == last:
        return x, 1
    if x.strides == row_major(x.shape):
        return x, prod(x.shape[2:])
    return space.laid(x, last), 1
