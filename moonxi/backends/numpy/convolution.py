"""Convolution on NumPy, as products of matrices.

Images are taken and given as ``(batch, channels, height, width)`` arrays; results lie in memory with the channels
last, as do the columns of the matrices: a row of patches is ``(kernel height, kernel width, channels)``. A weight
that lies so too, ``(outputs, kernel height, kernel width, channels)``, is used without a copy.
"""

from dataclasses import replace
from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from moonxi.backends.numpy import scratch, threads
from moonxi.backends.numpy.products import product
from moonxi.backends.numpy.windows import Part, cropped, taps
from moonxi.dtypes import HostArray
from moonxi.shapes import Conv2d, Window

_CHUNK = 1 << 20
"""Elements of patches made at a time: few enough to stay in the cache until they are multiplied."""


def convolve(
    x: HostArray, weight: HostArray, bias: HostArray | None, conv: Conv2d[int], out: HostArray | None = None
) -> HostArray:
    """The result of a convolution, in ``out`` if that is given."""
    conv, part = _cropped(conv)
    weight = weight[:, :, *part]
    y = _memory((conv.batch, conv.rows.count, conv.columns.count, conv.outputs), x.dtype, out)
    if _is_empty(conv):
        y[...] = 0.0
    elif _is_depthwise(conv):
        _depthwise(x, weight, y, conv)
    elif _is_tiny(conv):
        product(_channels_last(x), _dense(weight, conv).T, y.reshape(conv.batch, -1))
    else:
        kernel = _matrix(weight, conv).transpose(0, 2, 1)

        def multiply(images: slice) -> None:
            np.matmul(_patches(x[images], conv), kernel, out=_grouped(y[images], conv.groups))

        threads.each(multiply, _chunks(conv))
    if bias is not None:
        y += bias
    return _result(y, out)


def input_grad(dy: HostArray, weight: HostArray, conv: Conv2d[int], out: HostArray | None = None) -> HostArray:
    """The gradient of the images, from that of the result, in ``out`` if that is given."""
    conv, part = _cropped(conv)
    weight = weight[:, :, *part]
    if conv.rows.stride == conv.columns.stride == 1 and not _is_empty(conv) and not _is_tiny(conv):
        return convolve(dy, _turned(weight, conv), None, _turned_round(conv), out)
    dx = _memory((conv.batch, conv.rows.size, conv.columns.size, conv.inputs), dy.dtype, out)
    if _is_tiny(conv) and not _is_depthwise(conv) and not _is_empty(conv):
        product(_channels_last(dy), _dense(weight, conv), dx.reshape(conv.batch, -1))
        return _result(dx, out)
    dx[...] = 0.0
    if _is_empty(conv):
        return _result(dx, out)
    if _is_depthwise(conv):
        _depthwise_input_grad(dy, weight, dx, conv)
        return _result(dx, out)
    kernel = _matrix(weight, conv)
    inputs = conv.inputs // conv.groups

    def spread_out(images: slice) -> None:
        outputs = _grouped(np.ascontiguousarray(dy[images].transpose(0, 2, 3, 1)), conv.groups)
        patches = np.empty((outputs.shape[1], conv.groups, kernel.shape[2]), dy.dtype)
        np.matmul(outputs, kernel, out=patches.transpose(1, 0, 2))
        spread = patches.reshape(
            -1, conv.rows.count, conv.columns.count, conv.groups, conv.rows.kernel, conv.columns.kernel, inputs
        )
        target = dx[images].reshape(*dx[images].shape[:3], conv.groups, inputs)
        for row, column, places, pixels in taps(conv.rows, conv.columns):
            target[:, *pixels] += spread[:, *places, :, row, column]

    threads.each(spread_out, _chunks(conv))
    return _result(dx, out)


def weight_grad(x: HostArray, dy: HostArray, conv: Conv2d[int], out: HostArray | None = None) -> HostArray:
    """The gradient of the weight, from that of the result, in ``out`` if that is given."""
    whole = (conv.outputs, conv.rows.kernel, conv.columns.kernel, conv.inputs // conv.groups)
    conv, part = _cropped(conv)
    if _is_empty(conv):
        return _result(np.zeros(whole, x.dtype), out)
    if _is_depthwise(conv):
        dw = _depthwise_weight_grad(x, dy, conv)
    elif _is_tiny(conv):
        dw = _sums_over_pairs(product(_channels_last(dy).T, _channels_last(x)), conv)
    else:

        def multiply(images: slice) -> HostArray:
            outputs = _grouped(np.ascontiguousarray(dy[images].transpose(0, 2, 3, 1)), conv.groups)
            product: HostArray = np.matmul(outputs.transpose(0, 2, 1), _patches(x[images], conv))
            return product

        dw, *others = threads.each(multiply, _chunks(conv))
        for other in others:
            dw += other
    dw = dw.reshape(conv.outputs, conv.rows.kernel, conv.columns.kernel, whole[3])
    if dw.shape != whole:
        kept, dw = dw, _memory(whole, x.dtype, out)

        def fill(outputs: slice) -> None:
            dw[outputs] = 0.0
            dw[outputs, *part] = kept[outputs]

        threads.each(fill, threads.parts(conv.outputs, 8 * dw.size))
    return _result(dw, out)


# -- matrices ------------------------------------------------------------------------------------------------------


def _matrix(weight: HostArray, conv: Conv2d[int]) -> HostArray:
    """The weight as ``(groups, outputs of a group, taps and inputs)``."""
    outputs, inputs = conv.outputs // conv.groups, conv.inputs // conv.groups
    return weight.transpose(0, 2, 3, 1).reshape(conv.groups, outputs, _area(conv) * inputs)


def _patches(x: HostArray, conv: Conv2d[int]) -> HostArray:
    """What each place sees, ``(groups, images and places, taps and inputs)``."""
    rows, columns, groups = conv.rows, conv.columns, conv.groups
    images = x.transpose(0, 2, 3, 1)
    if _area(conv) == 1:
        ((_, _, places, pixels),) = taps(rows, columns)
        if places == (slice(0, rows.count), slice(0, columns.count)):
            return _grouped(images[:, *pixels], groups)
    images = _padded(images, rows, columns)
    batch, inputs = images.shape[0], conv.inputs // groups
    image, row, column, channel = images.strides
    seen = as_strided(
        images,
        (batch, rows.count, columns.count, groups, rows.kernel, columns.kernel, inputs),
        (
            image,
            row * rows.stride,
            column * columns.stride,
            channel * inputs,
            row * rows.dilation,
            column * columns.dilation,
            channel,
        ),
        writeable=False,
    )
    patches = scratch.array("patches", seen.shape, images.dtype)
    np.copyto(patches, seen)
    return _grouped(patches, groups)


def _padded(images: HostArray, rows: Window[int], columns: Window[int]) -> HostArray:
    """The pixels that the windows cover, with zeros for the padding, channels last in memory too."""
    whole: list[int] = []
    source: list[slice] = []
    target: list[slice] = []
    for window in (rows, columns):
        whole.append((window.count - 1) * window.stride + (window.kernel - 1) * window.dilation + 1)
        skipped, before = max(-window.before, 0), max(window.before, 0)
        length = min(whole[-1] - before, window.size - skipped)
        source.append(slice(skipped, skipped + length))
        target.append(slice(before, before + length))
    inner = images[:, *source]
    if inner.shape[1:3] == tuple(whole):
        return np.ascontiguousarray(inner)
    padded = scratch.array("padded", (images.shape[0], *whole, images.shape[3]), images.dtype)
    padded[...] = 0.0
    padded[:, *target] = inner
    return padded


def _grouped(images: HostArray, groups: int) -> HostArray:
    """``(batch, rows, columns, groups and channels)`` as ``(groups, batch and rows and columns, channels)``."""
    places = prod(images.shape[:3])
    return images.reshape(places, groups, prod(images.shape[3:]) // groups).transpose(1, 0, 2)


def _chunks(conv: Conv2d[int]) -> list[slice]:
    """Parts of the batch whose patches are not too large."""
    image = conv.rows.count * conv.columns.count * _area(conv) * conv.inputs
    work = conv.batch * image * conv.outputs // conv.groups
    return threads.parts(conv.batch, work, most=_CHUNK // max(1, image))


# -- tiny images -----------------------------------------------------------------------------------------------------
# On an image smaller than the kernel most taps lie on the padding. One product of whole images by a matrix from
# pixels to places multiplies only what is there.


def _is_tiny(conv: Conv2d[int]) -> bool:
    """Whether the product of whole images pays: it costs as much as the kernel had a tap for each pixel."""
    pixels = conv.rows.size * conv.columns.size
    return conv.groups == 1 and pixels * (conv.batch + 32) < _area(conv) * conv.batch


def _dense(weight: HostArray, conv: Conv2d[int]) -> HostArray:
    """The matrix ``(places and outputs, pixels and inputs)`` of the convolution."""
    rows, columns = conv.rows, conv.columns
    matrix = np.zeros((rows.count, columns.count, conv.outputs, rows.size, columns.size, conv.inputs), weight.dtype)
    for row, column, places, pixels in taps(rows, columns):
        _pairs(matrix, places, pixels)[...] = weight[:, :, row, column]
    return matrix.reshape(rows.count * columns.count * conv.outputs, -1)


def _sums_over_pairs(matrix: HostArray, conv: Conv2d[int]) -> HostArray:
    """The adjoint of `_dense`: ``(outputs, kernel height, kernel width, inputs)``."""
    rows, columns = conv.rows, conv.columns
    matrix = matrix.reshape(rows.count, columns.count, conv.outputs, rows.size, columns.size, conv.inputs)
    weight = np.zeros((conv.outputs, rows.kernel, columns.kernel, conv.inputs), matrix.dtype)
    for row, column, places, pixels in taps(rows, columns):
        np.sum(_pairs(matrix, places, pixels), (0, 1), out=weight[:, row, column])
    return weight


def _pairs(matrix: HostArray, places: Part, pixels: Part) -> HostArray:
    """The entries from the first pixel to the first place, the second to the second, ... : a view of the diagonal."""
    block = matrix[*places, :, *pixels, :]
    rows, columns, outputs, _, _, inputs = block.shape
    down, across, output, down_pixel, across_pixel, channel = block.strides
    return as_strided(
        block, (rows, columns, outputs, inputs), (down + down_pixel, across + across_pixel, output, channel)
    )


# -- one input channel a group ---------------------------------------------------------------------------------------


def _is_depthwise(conv: Conv2d[int]) -> bool:
    return conv.groups == conv.inputs > 1


def _depthwise(x: HostArray, weight: HostArray, y: HostArray, conv: Conv2d[int]) -> None:
    images = x.transpose(0, 2, 3, 1)[..., None]
    result = y.reshape(*y.shape[:3], conv.groups, -1)
    result[...] = 0.0
    for row, column, places, pixels in taps(conv.rows, conv.columns):
        result[:, *places] += images[:, *pixels] * weight[:, 0, row, column].reshape(conv.groups, -1)


def _depthwise_input_grad(dy: HostArray, weight: HostArray, dx: HostArray, conv: Conv2d[int]) -> None:
    gradient = _channels_last_images(dy, conv.groups)
    for row, column, places, pixels in taps(conv.rows, conv.columns):
        kernel = weight[:, 0, row, column].reshape(conv.groups, -1)
        dx[:, *pixels] += (gradient[:, *places] * kernel).sum(-1)


def _depthwise_weight_grad(x: HostArray, dy: HostArray, conv: Conv2d[int]) -> HostArray:
    images, gradient = x.transpose(0, 2, 3, 1)[..., None], _channels_last_images(dy, conv.groups)
    dw = np.zeros((conv.outputs, conv.rows.kernel, conv.columns.kernel), x.dtype)
    for row, column, places, pixels in taps(conv.rows, conv.columns):
        dw[:, row, column] = (images[:, *pixels] * gradient[:, *places]).sum((0, 1, 2)).reshape(-1)
    return dw


def _channels_last_images(x: HostArray, groups: int) -> HostArray:
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)).reshape(x.shape[0], *x.shape[2:], groups, -1)


# -- geometry ----------------------------------------------------------------------------------------------------------


def _cropped(conv: Conv2d[int]) -> tuple[Conv2d[int], Part]:
    """The convolution without the outer taps that only ever lie on the padding, and what is left of the kernel."""
    rows, down = cropped(conv.rows)
    columns, across = cropped(conv.columns)
    return replace(conv, rows=rows, columns=columns), (down, across)


def _turned_round(conv: Conv2d[int]) -> Conv2d[int]:
    """The convolution from result to images that is the adjoint of one with stride 1."""
    rows, columns = (
        replace(w, size=w.count, count=w.size, before=(w.kernel - 1) * w.dilation - w.before)
        for w in (conv.rows, conv.columns)
    )
    return replace(conv, inputs=conv.outputs, outputs=conv.inputs, rows=rows, columns=columns)


def _turned(weight: HostArray, conv: Conv2d[int]) -> HostArray:
    """The weight of that convolution: turned by half a turn, inputs and outputs exchanged."""
    outputs, inputs = conv.outputs // conv.groups, conv.inputs // conv.groups
    kernel = weight.shape[2:]
    groups = weight[:, :, ::-1, ::-1].reshape(conv.groups, outputs, inputs, *kernel)
    return groups.transpose(0, 2, 1, 3, 4).reshape(conv.inputs, outputs, *kernel)


def _area(conv: Conv2d[int]) -> int:
    return conv.rows.kernel * conv.columns.kernel


def _is_empty(conv: Conv2d[int]) -> bool:
    return 0 in (_area(conv), conv.batch, conv.inputs, conv.outputs)


def _channels_last(x: HostArray) -> HostArray:
    """Each image as a row."""
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)).reshape(x.shape[0], -1)


def _channels_second(images: HostArray) -> HostArray:
    """A view as ``(batch, channels, height, width)``."""
    return images.transpose(0, 3, 1, 2)


def _memory(shape: tuple[int, ...], dtype: np.dtype[np.floating], out: HostArray | None) -> HostArray:
    """An array with channels last for a result: in ``out`` if that lies so."""
    if out is not None:
        images = out.transpose(0, 2, 3, 1)
        if images.flags.c_contiguous:
            return images
    return np.empty(shape, dtype)


def _result(images: HostArray, out: HostArray | None) -> HostArray:
    """The result with channels second; it is in ``out`` then."""
    result = _channels_second(images)
    if out is None:
        return result
    if not np.may_share_memory(out, result):
        np.copyto(out, result)
    return out
