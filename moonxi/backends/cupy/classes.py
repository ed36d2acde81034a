"""Operations that read labels. Shapes are known to fit; labels are int64 and may be outside the classes."""

from math import prod

from moonxi.backends.cupy.device import LABEL_OPERATIONS
from moonxi.backends.cupy.elementwise import converted
from moonxi.backends.cupy.layouts import broadcast, walk
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.dtypes import F64
from moonxi.traits import Shape

_ORDERED = 1 << 16
"""Labels times classes of a row up to which a scatter adds in order, each result by itself."""
_NUMBER = {name: number for number, name in enumerate(LABEL_OPERATIONS)}


def gather(space: Space, x: DeviceArray, labels: DeviceArray) -> DeviceArray:
    """The elements ``(..., classes)`` at the labels along the last axis."""
    x = space.compact(x)
    shape = (*x.shape[:-1], labels.shape[-1])
    out = space.empty(shape)
    if out.count:
        way = walk(shape, broadcast(labels.shape, labels.strides, shape))
        ends = (shape[-1], x.shape[-1], _NUMBER["gather"], space.device.fault)
        space.classes.launch("gather", out.count, x.pointer, labels.pointer, out.pointer, way, *ends)
    return out


def scatter_add(space: Space, x: DeviceArray, labels: DeviceArray, size: int) -> DeviceArray:
    """Zeros with a last axis of ``size``, and each element added at its label."""
    x = space.compact(x)
    shape, count = (*x.shape[:-1], size), x.shape[-1]
    rows = prod(shape[:-1])
    way = walk(x.shape, broadcast(labels.shape, labels.strides, x.shape))
    ends = (_NUMBER["scatter_add"], space.device.fault)
    if count * size <= _ORDERED:
        out = space.empty(shape)
        threads = max(out.count, x.count)
        arguments = (x.pointer, labels.pointer, out.pointer, way, count, rows, size, *ends)
        space.classes.launch("scatter_add", threads, *arguments)
        return out
    double = space.of(F64)
    sums = double.full(shape, 0.0)
    space.classes.launch("scatter_atomic", x.count, x.pointer, labels.pointer, sums.pointer, way, count, size, *ends)
    return sums if space.element is F64 else converted(space, sums, "float64")


def pick(space: Space, x: DeviceArray, labels: DeviceArray) -> DeviceArray:
    """The element at each label along the last axis, which goes away."""
    x, labels = space.compact(x), space.integers.compact(labels)
    out = space.empty(labels.shape)
    ends = (out.count, x.shape[-1], _NUMBER["pick"], space.device.fault)
    space.classes.launch("pick", out.count, x.pointer, labels.pointer, out.pointer, *ends)
    return out


def put(space: Space, x: DeviceArray, labels: DeviceArray, classes: int) -> DeviceArray:
    """Zeros with a new last axis, and each element at its label."""
    x, labels = space.compact(x), space.integers.compact(labels)
    shape: Shape = (*x.shape, classes)
    out = space.empty(shape)
    ends = (x.count, classes, _NUMBER["put"], space.device.fault)
    space.classes.launch("put", max(out.count, x.count), x.pointer, labels.pointer, out.pointer, *ends)
    return out


def one_hot(space: Space, labels: DeviceArray, classes: int) -> DeviceArray:
    """One at each label along a new last axis, and zeros."""
    labels = space.integers.compact(labels)
    out = space.empty((*labels.shape, classes))
    ends = (labels.count, classes, _NUMBER["one_hot"], space.device.fault)
    space.classes.launch("one_hot", max(out.count, labels.count), labels.pointer, out.pointer, *ends)
    return out


def argsort(space: Space, x: DeviceArray, descending: bool) -> DeviceArray:
    """The indices that sort along the last axis: of n elements each is compared with n."""
    x = space.compact(x)
    out = space.integers.empty(x.shape)
    if out.count:
        arguments = (x.pointer, out.pointer, x.count, x.shape[-1], int(descending))
        space.classes.launch("argsort", x.count, *arguments)
    return out
