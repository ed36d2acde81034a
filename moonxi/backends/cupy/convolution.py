"""Convolution: by a plan of cuDNN, or as products of matrices, which work for every element type, size and option.

Images are ``(batch, channels, height, width)``; results lie with the channels last, as do the columns of the matrices.
"""

from dataclasses import replace
from math import prod

from moonxi.backends.cupy import elementwise, folding, single_place, turning
from moonxi.backends.cupy.layouts import Plan, lie_alike, lying, ordered
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.plans import Convolution
from moonxi.backends.cupy.products import multiply
from moonxi.backends.cupy.windows import images
from moonxi.shapes import Conv2d
from moonxi.traits import Shape

_CHUNK = 1 << 28
"""Bytes of patches at a time."""
_ALIGNMENT = 16
"""What the address of an operand of cuDNN must be a multiple of."""


def convolve(
    space: Space, x: DeviceArray, weight: DeviceArray, bias: DeviceArray | None, way: Convolution
) -> DeviceArray:
    """The result of a convolution."""
    large = folding.chosen("result", way, space, _result_of_large)
    y = _result(space, x, weight, way) if large is None else _result_of_large(space, x, weight, large)
    if bias is not None:
        elementwise.add_into(space, y, bias.pointer, (way.conv.outputs, 1, 1), (bias.strides[0], 0, 0))
    return y


def _result(space: Space, x: DeviceArray, weight: DeviceArray, way: Convolution) -> DeviceArray:
    conv = way.conv
    y = space.planned(way.result)
    if way.is_empty:
        space.copy(space.full((), 0.0).view(y.shape, (0,) * 4), y)
    elif (seen := way.seen) is not None and single_place.sums_once(space, seen):
        single_place.result(space, _last(space, x, way.images), _last(space, weight, way.weight), y, conv, seen)
    elif (plan := way.plan("result", space)) is not None:
        plan.run(space, _last(space, x, way.images), _last(space, weight, way.weight), y)
    else:
        kernel = _matrix(space, weight, conv)
        kernel = kernel.view((kernel.shape[0], kernel.shape[2], kernel.shape[1]), _swapped(kernel.strides))
        for part in _chunks(space, conv):
            some = replace(conv, batch=part.stop - part.start)
            multiply(space, _patches(space, _images(x, part), some), kernel, _grouped(_images(y, part), some))
    return y


def _result_of_large(space: Space, x: DeviceArray, weight: DeviceArray, large: folding.Fold) -> DeviceArray:
    """The result, from large pixels."""
    return _result(space, folding.images(space, x, large), folding.kernel(space, weight, large), large.inner)


def input_grad(space: Space, dy: DeviceArray, weight: DeviceArray, way: Convolution) -> DeviceArray:
    """The gradient of the images, from that of the result."""
    conv = way.conv
    dx = space.planned(way.images)
    if way.is_empty:
        space.copy(space.full((), 0.0).view(dx.shape, (0,) * 4), dx)
        return dx
    dy = _last(space, dy, way.result)
    if (seen := way.seen) is not None:
        single_place.input_grad(space, dy, _last(space, weight, way.weight), dx, conv, seen)
        return dx
    plan = way.plan("images", space)
    if plan is not None:
        plan.run(space, dy, _last(space, weight, way.weight), dx)
        return dx
    kernel = _matrix(space, weight, conv)
    for part in _chunks(space, conv):
        some = replace(conv, batch=part.stop - part.start)
        patches = space.empty((conv.groups, prod(some.shape) // conv.outputs, kernel.shape[2]))
        multiply(space, _grouped(_images(dy, part), some), kernel, patches)
        target = _images(dx, part)
        how = images(some.batch, conv.inputs, conv.rows, conv.columns, target.strides)
        space.images.launch("spread", target.count, patches.pointer, target.pointer, how, conv.groups, target.count)
    return dx


def turned(space: Space, weight: DeviceArray, way: Convolution) -> DeviceArray:
    """The weight as `input_grad_turned` takes it: turned, or as it is."""
    return weight if turning.chosen(way, space) is None else turning.turned(space, _last(space, weight, way.weight))


def input_grad_turned(
    space: Space, dy: DeviceArray, weight: DeviceArray, turned: DeviceArray, way: Convolution
) -> DeviceArray:
    """The gradient of the images from the weight and what `turned` has made of it."""
    other = turning.mirrored(way.conv)
    if other is None or turned.pointer == weight.pointer:
        return input_grad(space, dy, weight, way)
    return _result(space, dy, turned, other)


def weight_grad(space: Space, x: DeviceArray, dy: DeviceArray, way: Convolution) -> DeviceArray:
    """The gradient of the weight, from that of the result."""
    large = folding.chosen("weight", way, space, _weight_grad_of_large)
    return _weight_grad(space, x, dy, way) if large is None else _weight_grad_of_large(space, x, dy, large)


def _weight_grad_of_large(space: Space, x: DeviceArray, dy: DeviceArray, large: folding.Fold) -> DeviceArray:
    """The same, from large pixels."""
    return folding.plain_kernel(space, _weight_grad(space, folding.images(space, x, large), dy, large.inner), large)


def _weight_grad(space: Space, x: DeviceArray, dy: DeviceArray, way: Convolution) -> DeviceArray:
    conv = way.conv
    dw = space.planned(way.weight)
    if way.is_empty:
        space.copy(space.full((), 0.0).view(dw.shape, (0,) * 4), dw)
        return dw
    dy = _last(space, dy, way.result)
    if (seen := way.seen) is not None:
        single_place.weight_grad(space, _last(space, x, way.images), dy, dw, conv, seen)
        return dw
    plan = way.plan("weight", space)
    if plan is not None:
        plan.run(space, _last(space, x, way.images), dy, dw)
        return dw
    outputs, taps = conv.outputs // conv.groups, prod(dw.shape[1:])
    out = dw.view((conv.groups, outputs, taps), (outputs * taps, taps, 1))
    for part in _chunks(space, conv):
        some = replace(conv, batch=part.stop - part.start)
        rows = _grouped(_images(dy, part), some)
        left = rows.view((rows.shape[0], rows.shape[2], rows.shape[1]), _swapped(rows.strides))
        multiply(space, left, _patches(space, _images(x, part), some), out, add=part.start > 0)
    return dw


def channels_last(space: Space, shape: Shape) -> DeviceArray:
    """Memory for images whose channels lie together."""
    return space.planned(lying(shape, (0, 2, 3, 1)))


def _last(space: Space, x: DeviceArray, how: Plan) -> DeviceArray:
    """The images, or the weight, with the channels last, and where cuDNN takes them."""
    strides = how.strides
    if x.strides == strides and not x.pointer % _ALIGNMENT:
        return x
    if lie_alike(x.shape, x.strides, strides) and x.pointer % _ALIGNMENT == 0:
        return x.view(x.shape, strides)
    if x.last is None:
        x.last = space.planned(how)
        space.copy(x, x.last)
    return x.last


def _matrix(space: Space, weight: DeviceArray, conv: Conv2d[int]) -> DeviceArray:
    """The weight as ``(groups, outputs of a group, taps and inputs)``."""
    weight = _last(space, weight, lying(weight.shape, (0, 2, 3, 1)))
    outputs, taps = conv.outputs // conv.groups, prod(weight.shape[1:])
    return weight.view((conv.groups, outputs, taps), (outputs * taps, taps, 1))


def _patches(space: Space, x: DeviceArray, conv: Conv2d[int]) -> DeviceArray:
    """What each place sees, ``(groups, images and places, taps and inputs)``."""
    inputs = conv.inputs // conv.groups
    places = conv.batch * conv.rows.count * conv.columns.count
    if conv.groups == 1 and _sees_itself(conv) and x.strides == ordered(x.shape, (0, 2, 3, 1)):
        return x.view((1, places, inputs), (0, inputs, 1))
    out = space.empty((conv.groups, places, conv.rows.kernel * conv.columns.kernel * inputs))
    how = images(conv.batch, conv.inputs, conv.rows, conv.columns, x.strides)
    space.images.launch("patches", out.count, x.pointer, out.pointer, how, conv.groups, out.count)
    return out


def _sees_itself(conv: Conv2d[int]) -> bool:
    """Whether each place sees one pixel, its own."""
    return all(w.kernel == w.stride == 1 and w.before == 0 and w.count == w.size for w in (conv.rows, conv.columns))


def _grouped(y: DeviceArray, conv: Conv2d[int]) -> DeviceArray:
    """Results with the channels last as ``(groups, images and places, outputs of a group)``."""
    outputs = conv.outputs // conv.groups
    return y.view((conv.groups, y.count // conv.outputs, outputs), (outputs, conv.outputs, 1))


def _images(x: DeviceArray, part: slice) -> DeviceArray:
    return x.view((part.stop - part.start, *x.shape[1:]), x.strides, part.start * x.strides[0])


def _chunks(space: Space, conv: Conv2d[int]) -> list[slice]:
    """Parts of the batch whose patches are not too large."""
    taps = conv.rows.kernel * conv.columns.kernel * conv.inputs
    image = conv.rows.count * conv.columns.count * taps * space.itemsize
    step = max(1, _CHUNK // max(1, image))
    return [slice(first, min(first + step, conv.batch)) for first in range(0, conv.batch, step)]


def _swapped(strides: tuple[int, ...]) -> tuple[int, ...]:
    return strides[0], strides[2], strides[1]
