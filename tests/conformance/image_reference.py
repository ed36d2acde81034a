"""The image operations as their definitions say, place by place: slow, and written only to be right."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

type Arrays = NDArray[np.float64]
type Two = tuple[int, int]


def windows(
    x: Arrays, kernel: Two, stride: Two, padding: Two, dilation: Two = (1, 1), places: Two | None = None
) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
    """Row and column of each place, and the index of its window in the padded images (see `padded`)."""
    rows, columns = places or count(x, kernel, stride, padding, dilation)
    for row in range(rows):
        for column in range(columns):
            down, across = (
                slice(place * step, place * step + (taps - 1) * apart + 1, apart)
                for place, step, taps, apart in zip((row, column), stride, kernel, dilation, strict=True)
            )
            yield row, column, (..., down, across)


def count(x: Arrays, kernel: Two, stride: Two, padding: Two, dilation: Two = (1, 1)) -> Two:
    rows, columns = (
        (size + 2 * pad - (taps - 1) * apart - 1) // step + 1
        for size, taps, step, pad, apart in zip(x.shape[2:], kernel, stride, padding, dilation, strict=True)
    )
    return rows, columns


def padded(x: Arrays, padding: Two, beyond: Two = (0, 0), fill: float = 0.0) -> Arrays:
    """Images with padding, and so much more after it."""
    (rows, columns), (down, across) = padding, beyond
    return np.pad(x, ((0, 0), (0, 0), (rows, rows + down), (columns, columns + across)), constant_values=fill)


def conv2d(x: Arrays, weight: Arrays, stride: Two, padding: Two, dilation: Two, groups: int) -> Arrays:
    kernel: Any = weight.shape[2:]
    y = np.zeros((len(x), len(weight), *count(x, kernel, stride, padding, dilation)))
    images = padded(x, padding)
    inputs, outputs = weight.shape[1], len(weight) // groups
    for row, column, window in windows(x, kernel, stride, padding, dilation):
        seen = images[window]
        for group in range(groups):
            mine = slice(group * outputs, (group + 1) * outputs)
            part = seen[:, group * inputs : (group + 1) * inputs]
            y[:, mine, row, column] = np.einsum("nihw,oihw->no", part, weight[mine])
    return y


def conv2d_input_grad(
    dy: Arrays, weight: Arrays, shape: tuple[int, ...], stride: Two, padding: Two, dilation: Two, groups: int
) -> Arrays:
    x = np.zeros(shape)
    images = padded(x, padding)
    kernel: Any = weight.shape[2:]
    inputs, outputs = weight.shape[1], len(weight) // groups
    for row, column, window in windows(x, kernel, stride, padding, dilation):
        for group in range(groups):
            mine = slice(group * outputs, (group + 1) * outputs)
            part = images[window][:, group * inputs : (group + 1) * inputs]
            part += np.einsum("no,oihw->nihw", dy[:, mine, row, column], weight[mine])
    return images[:, :, padding[0] : padding[0] + shape[2], padding[1] : padding[1] + shape[3]]


def conv2d_weight_grad(
    x: Arrays, dy: Arrays, shape: tuple[int, ...], stride: Two, padding: Two, dilation: Two, groups: int
) -> Arrays:
    weight = np.zeros(shape)
    images = padded(x, padding)
    kernel: Any = shape[2:]
    inputs, outputs = shape[1], shape[0] // groups
    for row, column, window in windows(x, kernel, stride, padding, dilation):
        for group in range(groups):
            mine = slice(group * outputs, (group + 1) * outputs)
            part = images[window][:, group * inputs : (group + 1) * inputs]
            weight[mine] += np.einsum("no,nihw->oihw", dy[:, mine, row, column], part)
    return weight


def conv_transpose2d(
    x: Arrays, weight: Arrays, stride: Two, padding: Two, output_padding: Two, dilation: Two, groups: int
) -> Arrays:
    whole = [
        (size - 1) * step + (taps - 1) * apart + 1 + extra
        for size, step, taps, apart, extra in zip(
            x.shape[2:], stride, weight.shape[2:], dilation, output_padding, strict=True
        )
    ]
    outputs, inputs = weight.shape[1], x.shape[1] // groups
    y = np.zeros((len(x), groups * outputs, *whole))
    kernel: Any = weight.shape[2:]
    for row, column, window in windows(y, kernel, stride, (0, 0), dilation, (x.shape[2], x.shape[3])):
        for group in range(groups):
            mine = slice(group * inputs, (group + 1) * inputs)
            part = y[window][:, group * outputs : (group + 1) * outputs]
            part += np.einsum("ni,iohw->nohw", x[:, mine, row, column], weight[mine])
    return y[:, :, padding[0] : whole[0] - padding[0], padding[1] : whole[1] - padding[1]]


def pool(x: Arrays, kernel: Two, stride: Two, padding: Two, dilation: Two, ceil_mode: bool) -> tuple[Two, Two]:
    """The number of places, and how far the last windows reach beyond the padding."""
    places, beyond = [], []
    for size, taps, step, pad, apart in zip(x.shape[2:], kernel, stride, padding, dilation, strict=True):
        reach = (taps - 1) * apart + 1
        starts = [start for start in range(-pad, size + pad, step) if start + reach <= size + pad]
        if ceil_mode and starts[-1] + reach < size + pad and starts[-1] + step < size:
            starts.append(starts[-1] + step)
        places.append(len(starts))
        beyond.append(max(0, starts[-1] + reach - size - pad))
    return (places[0], places[1]), (beyond[0], beyond[1])


def sum_pool2d(x: Arrays, kernel: Two, stride: Two, padding: Two, dilation: Two, ceil_mode: bool) -> Arrays:
    places, beyond = pool(x, kernel, stride, padding, dilation, ceil_mode)
    y = np.zeros((*x.shape[:2], *places))
    images = padded(x, padding, beyond)
    for row, column, window in windows(x, kernel, stride, padding, dilation, places):
        y[:, :, row, column] = images[window].sum((2, 3))
    return y


def sum_pool2d_grad(
    dy: Arrays, shape: tuple[int, ...], kernel: Two, stride: Two, padding: Two, dilation: Two, ceil_mode: bool
) -> Arrays:
    x = np.zeros(shape)
    places, beyond = pool(x, kernel, stride, padding, dilation, ceil_mode)
    images = padded(x, padding, beyond)
    for row, column, window in windows(x, kernel, stride, padding, dilation, places):
        images[window] += dy[:, :, row, column, None, None]
    return images[:, :, padding[0] : padding[0] + shape[2], padding[1] : padding[1] + shape[3]]


def avg_pool2d(x: Arrays, kernel: Two, stride: Two, padding: Two, ceil_mode: bool, count_include_pad: bool) -> Arrays:
    one = (1, 1)
    total = sum_pool2d(x, kernel, stride, padding, one, ceil_mode)
    inside = np.ones_like(x)
    if count_include_pad:
        places, beyond = pool(x, kernel, stride, padding, one, ceil_mode)
        counted = padded(padded(inside, padding, fill=1.0), (0, 0), beyond)
        counts = np.zeros_like(total)
        for row, column, window in windows(x, kernel, stride, padding, one, places):
            counts[:, :, row, column] = counted[window].sum((2, 3))
        return total / counts
    return total / sum_pool2d(inside, kernel, stride, padding, one, ceil_mode)


def max_pool2d_indices(x: Arrays, kernel: Two, stride: Two, padding: Two, dilation: Two, ceil_mode: bool) -> Arrays:
    places, beyond = pool(x, kernel, stride, padding, dilation, ceil_mode)
    images = padded(x, padding, beyond, fill=-np.inf)
    pixels = padded(np.broadcast_to(np.arange(x[0, 0].size).reshape(x.shape[2:]), x.shape), padding, beyond, fill=-1.0)
    y = np.zeros((*x.shape[:2], *places))
    for row, column, window in windows(x, kernel, stride, padding, dilation, places):
        seen, where = (array[window].reshape(*x.shape[:2], -1) for array in (images, pixels))
        y[:, :, row, column] = np.take_along_axis(where, seen.argmax(-1)[..., None], -1)[..., 0]
    return y


def max_pool2d(x: Arrays, *options: Any) -> Arrays:
    where = max_pool2d_indices(x, *options).astype(int)
    flat = x.reshape(*x.shape[:2], -1)
    return np.take_along_axis(flat, where.reshape(*x.shape[:2], -1), -1).reshape(where.shape)


def max_pool2d_grad(x: Arrays, dy: Arrays, *options: Any) -> Arrays:
    where = max_pool2d_indices(x, *options).astype(int)
    dx = np.zeros_like(x)
    flat = dx.reshape(*x.shape[:2], -1)
    for image, channel, row, column in np.ndindex(*where.shape):
        flat[image, channel, where[image, channel, row, column]] += dy[image, channel, row, column]
    return dx


def adaptive_avg_pool2d(x: Arrays, rows: int, columns: int) -> Arrays:
    _, _, height, width = x.shape
    y = np.zeros((*x.shape[:2], rows, columns))
    for row, column in np.ndindex(rows, columns):
        down = slice(row * height // rows, -(-(row + 1) * height // rows))
        across = slice(column * width // columns, -(-(column + 1) * width // columns))
        y[:, :, row, column] = x[:, :, down, across].mean((2, 3))
    return y


def upsample_nearest2d(x: Arrays, rows: int, columns: int) -> Arrays:
    _, _, height, width = x.shape
    return x[:, :, [row * height // rows for row in range(rows)]][
        ..., [column * width // columns for column in range(columns)]
    ]


def upsample_bilinear2d(x: Arrays, rows: int, columns: int, align_corners: bool) -> Arrays:
    def line(values: Arrays, count: int) -> Arrays:
        size = len(values)
        between_centres = (np.arange(count) + 0.5) * size / count - 0.5
        places = np.linspace(0.0, size - 1.0, count) if align_corners else between_centres
        return np.interp(places, np.arange(size), values)

    tall = np.apply_along_axis(line, 2, x, rows)
    return np.apply_along_axis(line, 3, tall, columns)


def pad2d(
    x: Arrays, edges: tuple[Two, Two], mode: Literal["constant", "reflect", "replicate", "circular"], fill: float
) -> Arrays:
    width = ((0, 0), (0, 0), *edges)
    match mode:
        case "constant":
            return np.pad(x, width, constant_values=fill)
        case "reflect":
            return np.pad(x, width, "reflect")
        case "replicate":
            return np.pad(x, width, "edge")
        case "circular":
            return np.pad(x, width, "wrap")


def channels(vector: Arrays, x: Arrays) -> Arrays:
    return vector.reshape(-1, *(1 for _ in x.shape[2:]))


def statistics(x: Arrays) -> tuple[Arrays, Arrays]:
    rest = (0, *range(2, x.ndim))
    return np.mean(x, rest), np.var(x, rest)


def normalised(x: Arrays, mean: Arrays, variance: Arrays, weight: Arrays, bias: Arrays, eps: float) -> Arrays:
    y = (x - channels(mean, x)) / np.sqrt(channels(variance, x) + eps)
    return y * channels(weight, x) + channels(bias, x)


def batch_norm_grad(
    x: Arrays, dy: Arrays, weight: Arrays, mean: Arrays, variance: Arrays, eps: float
) -> tuple[Arrays, Arrays, Arrays]:
    """The chain rule through the variance and the mean, one after the other (Ioffe and Szegedy 2015, section 3)."""
    rest, count = (0, *range(2, x.ndim)), x.size / x.shape[1]
    root = np.sqrt(channels(variance, x) + eps)
    centred = x - channels(mean, x)
    d_normal = dy * channels(weight, x)
    d_variance = np.sum(d_normal * centred, rest, keepdims=True) * -0.5 / root**3
    d_mean = -np.sum(d_normal, rest, keepdims=True) / root
    dx = d_normal / root + d_variance * 2.0 * centred / count + d_mean / count
    return dx, np.sum(dy * centred / root, rest), np.sum(dy, rest)


def group_norm(x: Arrays, groups: int, weight: Arrays, bias: Arrays, eps: float) -> Arrays:
    y = np.zeros_like(x)
    size = x.shape[1] // groups
    for sample in range(len(x)):
        for group in range(groups):
            mine = slice(group * size, (group + 1) * size)
            part = x[sample, mine]
            y[sample, mine] = (part - part.mean()) / np.sqrt(part.var() + eps)
    return y * channels(weight, x) + channels(bias, x)
