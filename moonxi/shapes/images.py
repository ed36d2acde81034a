"""The rules of the operations on batches of images, ``(batch, channels, height, width)``."""

from dataclasses import dataclass
from math import prod
from typing import Literal, overload

from moonxi.dims import Size, minimum, provably_at_most, provably_equal, provably_less
from moonxi.shapes.agreement import differ, known
from moonxi.shapes.arrays import fail, show
from moonxi.shapes.windows import AXES, Edges, Padding, Pair, Window, edges, pair, sliding


@dataclass(frozen=True, slots=True)
class Conv2d[S: (int, Size)]:
    """A convolution of images by a weight ``(outputs, inputs / groups, *kernel)``."""

    batch: S
    inputs: S
    outputs: S
    groups: int
    rows: Window[S]
    columns: Window[S]

    @property
    def shape(self) -> tuple[S, ...]:
        """The shape of the result."""
        return self.batch, self.outputs, self.rows.count, self.columns.count


@dataclass(frozen=True, slots=True)
class Pool2d[S: (int, Size)]:
    """A pooling of images over windows."""

    batch: S
    channels: S
    rows: Window[S]
    columns: Window[S]

    @property
    def shape(self) -> tuple[S, ...]:
        """The shape of the result."""
        return self.batch, self.channels, self.rows.count, self.columns.count


def conv2d[S: (int, Size)](
    x: tuple[S, ...],
    weight: tuple[S, ...],
    *,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    groups: int = 1,
    operation: str = "conv2d",
) -> Conv2d[S]:
    """``(n, c, h, w)`` by ``(o, c / groups, kh, kw)`` gives ``(n, o, ...)``."""
    given = f"{show(x)} by weight {show(weight)}"
    batch, inputs, height, width = image(operation, x)
    if len(weight) != 4:
        fail(operation, given, "the weight must be (outputs, inputs of a group, height, width)")
    outputs, own, *kernel = weight
    _groups(operation, given, groups, inputs, outputs)
    if differ(inputs // groups, own):
        several = f" in {groups} groups" if groups > 1 else ""
        fail(operation, given, f"{inputs} channels{several} need a weight for {inputs // groups} inputs, not {own}")
    strides, dilations = pair(operation, "stride", stride, least=1), pair(operation, "dilation", dilation, least=1)
    paddings: tuple[int | None, int | None] = (None, None)
    if padding != "same":
        paddings = pair(operation, "padding", padding)
    elif strides != (1, 1):
        fail(operation, f"padding='same', stride={stride}", "the result has the size of the image only with stride 1")
    rows, columns = (
        sliding(
            operation,
            given,
            n,
            (height, width)[n],
            kernel[n],
            stride=strides[n],
            padding=paddings[n],
            dilation=dilations[n],
        )
        for n in (0, 1)
    )
    return Conv2d(batch, inputs, outputs, groups, rows, columns)


def conv2d_input_grad[S: (int, Size)](
    dy: tuple[S, ...],
    weight: tuple[S, ...],
    x: tuple[S, ...],
    *,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Conv2d[S]:
    """The convolution of images ``x`` of which ``dy`` is the gradient of the result."""
    return _adjoint("conv2d_input_grad", dy, x, weight, stride, padding, dilation, groups)


def conv2d_weight_grad[S: (int, Size)](
    x: tuple[S, ...],
    dy: tuple[S, ...],
    weight: tuple[S, ...],
    *,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Conv2d[S]:
    """The convolution by ``weight`` of which ``dy`` is the gradient of the result."""
    return _adjoint("conv2d_weight_grad", dy, x, weight, stride, padding, dilation, groups)


def _adjoint[S: (int, Size)](
    operation: str,
    dy: tuple[S, ...],
    x: tuple[S, ...],
    weight: tuple[S, ...],
    stride: Pair,
    padding: Padding,
    dilation: Pair,
    groups: int,
) -> Conv2d[S]:
    forward = conv2d(x, weight, stride=stride, padding=padding, dilation=dilation, groups=groups, operation=operation)
    if len(dy) != 4 or any(map(differ, dy, forward.shape)):
        given = f"{show(x)} by weight {show(weight)}, gradient {show(dy)}"
        fail(operation, given, f"the gradient must have the shape of the result, {show(forward.shape)}")
    return forward


def conv_transpose2d[S: (int, Size)](
    x: tuple[S, ...],
    weight: tuple[S, ...],
    *,
    stride: Pair = 1,
    padding: Pair = 0,
    output_padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> tuple[S, ...]:
    """``(n, c, h, w)`` by ``(c, o / groups, kh, kw)`` gives ``(n, o, ...)``: what `conv2d` by the weight would take."""
    operation = "conv_transpose2d"
    given = f"{show(x)} by weight {show(weight)}"
    batch, inputs, height, width = image(operation, x)
    if len(weight) != 4:
        fail(operation, given, "the weight must be (inputs, outputs of a group, height, width)")
    own, outputs, *kernel = weight
    if differ(inputs, own):
        fail(operation, given, f"{inputs} channels need a weight for {inputs} inputs, not {own}")
    _groups(operation, given, groups, inputs, outputs * groups)
    strides, dilations = pair(operation, "stride", stride, least=1), pair(operation, "dilation", dilation, least=1)
    paddings, extra = pair(operation, "padding", padding), pair(operation, "output_padding", output_padding)
    result: list[S] = []
    for n, size in enumerate((height, width)):
        if extra[n] >= max(strides[n], dilations[n]):
            fail(operation, f"output_padding={output_padding}", "must be less than the stride or the dilation")
        if provably_less(kernel[n], 1):
            fail(operation, given, f"the kernel has {AXES[n]} {kernel[n]}, and needs at least 1")
        result.append((size - 1) * strides[n] - 2 * paddings[n] + (kernel[n] - 1) * dilations[n] + extra[n] + 1)
        if provably_less(result[-1], 1):
            fail(operation, given, f"with padding {paddings[n]} the result would have {AXES[n]} {result[-1]}")
    return batch, outputs * groups, result[0], result[1]


def pool2d[S: (int, Size)](
    operation: str,
    x: tuple[S, ...],
    kernel: Pair,
    *,
    stride: Pair | None = None,
    padding: Pair = 0,
    dilation: Pair = 1,
    ceil_mode: bool = False,
) -> Pool2d[S]:
    """``(n, c, h, w)`` gives ``(n, c, ...)``; every window holds at least one element of the image."""
    batch, channels, height, width = image(operation, x)
    kernels = pair(operation, "kernel", kernel, least=1)
    strides = kernels if stride is None else pair(operation, "stride", stride, least=1)
    paddings, dilations = pair(operation, "padding", padding), pair(operation, "dilation", dilation, least=1)
    given = f"{show(x)} with kernel {kernel}"
    found: list[Window[S]] = []
    for n, size in enumerate((height, width)):
        before, step, reach = paddings[n], strides[n], (kernels[n] - 1) * dilations[n] + 1
        if provably_less(reach // 2, before):
            fail(operation, f"{given}, padding {padding}", f"padding must be at most half of the window, {reach // 2}")
        room = size + 2 * before - reach
        if provably_less(room, 0):
            padded = f" padded to {room + reach}" if before else ""
            fail(operation, given, f"a window of {AXES[n]} {reach} does not fit an image of {AXES[n]} {size}{padded}")
        count = room // step + 1
        if ceil_mode:  # no window starts in the padding after the image
            count = _least(-(-room // step) + 1, -(-(size + before) // step))
        found.append(Window(size, kernels[n], count, before, step, dilations[n]))
        if _misses(found[-1]):
            fail(operation, f"{given}, dilation {dilation}", "a window holds no element of the image")
    return Pool2d(batch, channels, found[0], found[1])


def pool2d_grad[S: (int, Size)](
    operation: str,
    dy: tuple[S, ...],
    x: tuple[S, ...],
    kernel: Pair,
    *,
    stride: Pair | None = None,
    padding: Pair = 0,
    dilation: Pair = 1,
    ceil_mode: bool = False,
) -> Pool2d[S]:
    """The pooling of images ``x`` of which ``dy`` is the gradient of the result."""
    forward = pool2d(operation, x, kernel, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode)
    if len(dy) != 4 or any(map(differ, dy, forward.shape)):
        given = f"{show(x)} with kernel {kernel}, gradient {show(dy)}"
        fail(operation, given, f"the gradient must have the shape of the result, {show(forward.shape)}")
    return forward


def resized[S: (int, Size)](operation: str, x: tuple[S, ...], size: Pair) -> tuple[S, ...]:
    """Images of another height and width."""
    batch, channels, height, width = image(operation, x)
    rows, columns = pair(operation, "size", size, least=1)
    if provably_equal(height, 0) or provably_equal(width, 0):
        fail(operation, show(x), "the image has no elements")
    return batch, channels, rows, columns


def pad2d[S: (int, Size)](
    x: tuple[S, ...], padding: Edges, mode: Literal["constant", "reflect", "replicate", "circular"]
) -> tuple[S, ...]:
    """Images that are wider by the padding on each side."""
    batch, channels, height, width = image("pad2d", x)
    result: list[S] = []
    for n, (size, (before, after)) in enumerate(zip((height, width), edges("pad2d", padding), strict=True)):
        given = f"{show(x)}, padding {padding}, mode {mode!r}"
        widest = max(before, after)
        if mode == "reflect" and widest and provably_less(size, widest + 1):
            fail("pad2d", given, f"an image of {AXES[n]} {size} has only {size - 1} elements to reflect, not {widest}")
        if mode == "circular" and provably_less(size, widest):
            fail("pad2d", given, f"an image of {AXES[n]} {size} has only {size} elements to repeat, not {widest}")
        if mode == "replicate" and widest and provably_equal(size, 0):
            fail("pad2d", given, "the image has no elements to repeat")
        result.append(size + before + after)
    return batch, channels, result[0], result[1]


def per_channel(operation: str, x: tuple[Size, ...], *vectors: tuple[Size, ...]) -> tuple[int, ...]:
    """The axes of ``(n, c, ...)`` but that of the channels; the vectors have one element for each of these."""
    advice = None
    if len(x) < 2:
        advice = "the axes must be (batch, channels, ...)"
    elif any(len(vector) != 1 or differ(vector[0], x[1]) for vector in vectors):
        advice = f"there must be one element for each of the {x[1]} channels"
    if advice is not None:
        fail(operation, f"{show(x)} with {' and '.join(map(show, vectors))}", advice)
    return 0, *range(2, len(x))


def several_values(operation: str, x: tuple[Size, ...]) -> None:
    """Statistics of a batch need more than one value."""
    if provably_at_most(prod(x), x[1]):
        fail(operation, show(x), "the statistics of a batch need more than one value in each channel")


def group_norm(x: tuple[Size, ...], groups: int, weight: tuple[Size, ...], bias: tuple[Size, ...]) -> tuple[int, ...]:
    """As `per_channel`, for channels that split into groups."""
    axes = per_channel("group_norm", x, weight, bias)
    _groups("group_norm", show(x), groups, x[1], x[1])
    return axes


def image[S: Size](operation: str, x: tuple[S, ...]) -> tuple[S, S, S, S]:
    """The four sizes of a batch of images."""
    match x:
        case (batch, channels, height, width):
            return batch, channels, height, width
    return fail(operation, show(x), "expected a batch of images, (batch, channels, height, width)")


def _groups(operation: str, given: str, groups: int, inputs: Size, outputs: Size) -> None:
    if provably_less(groups, 1):
        fail(operation, f"groups={groups}", "must be at least 1")
    for channels, kind in ((inputs, "channels"), (outputs, "outputs")):
        if differ(channels % groups, 0):
            fail(operation, given, f"{channels} {kind} cannot be split into {groups} groups")


def _misses(window: Window[int] | Window[Size]) -> bool:
    """Whether a window that starts in the padding steps over the whole image."""
    size, count, before = window.size, window.count, window.before
    if not (isinstance(size, int) and isinstance(count, int) and isinstance(before, int)):
        return False
    if not known(window.stride, window.dilation):
        return False
    starts = range(-before, min(0, count * window.stride - before), window.stride)
    return any(start % window.dilation >= size for start in starts)


@overload
def _least(left: int, right: int) -> int: ...
@overload
def _least(left: Size, right: Size) -> Size: ...
def _least(left: Size, right: Size) -> Size:
    return minimum(left, right)
