"""Gradients of images as convolutions by turned kernels, where cuDNN computes these faster: found by trying."""

from functools import lru_cache

from moonxi.backends.cupy import tuning
from moonxi.backends.cupy.layouts import ordered
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.plans import Convolution, Plan, shapes_of
from moonxi.shapes import Conv2d, Window


@lru_cache(maxsize=256)
def mirrored(conv: Conv2d[int]) -> Convolution | None:
    """The convolution by a turned kernel that computes the gradient of the images; None where there is none."""
    windows = (conv.rows, conv.columns)
    if conv.groups != 1 or conv.rows.kernel * conv.columns.kernel == 1:
        return None
    if any(window.stride != 1 or _reach(window) < window.before for window in windows):
        return None
    rows, columns = map(_mirrored, windows)
    return Convolution(Conv2d(conv.batch, conv.outputs, conv.inputs, 1, rows, columns))


def _mirrored(window: Window[int]) -> Window[int]:
    return Window(window.count, window.kernel, window.size, _reach(window) - window.before, 1, window.dilation)


def _reach(window: Window[int]) -> int:
    """From the first tap to the last."""
    return (window.kernel - 1) * window.dilation


def chosen(way: Convolution, space: Space) -> Convolution | None:
    """The convolution to compute instead of the gradient of one that is to be tuned; None where that is not faster."""
    if not tuning.is_wanted() or way.is_empty or way.seen is not None:
        return None
    found = mirrored(way.conv)
    return found if found is not None and _is_faster(way, space, found) else None


@lru_cache(maxsize=256)
def _is_faster(way: Convolution, space: Space, other: Convolution) -> bool:
    """Whether it is, where cuDNN has plans for both; turning the kernel, for which nobody waits, is not counted."""
    plans = way.plan("images", space), other.plan("result", space)
    if plans[0] is None or plans[1] is None:
        return False
    made: list[DeviceArray] = []

    def run(plan: Plan) -> None:
        if not made:
            shapes = shapes_of("images", way.conv)
            made.extend(space.full(shape, 0.5).view(shape, ordered(shape, (0, 2, 3, 1))) for shape in shapes)
        plan.run(space, *made)

    found = {0: plans[0], 1: plans[1]}
    try:
        return tuning.fastest(space, "images by turned kernels", way.conv, 2, found.__getitem__, run) is plans[1]
    except (ValueError, TimeoutError):  # neither runs, or there is no time to try
        return False


def turned(space: Space, weight: DeviceArray) -> DeviceArray:
    """A weight with its channels last, turned: those of the results are those of the images, and the last tap first."""
    outputs, inputs, rows, columns = weight.shape
    shape = inputs, outputs, rows, columns
    out = space.empty(shape, ordered(shape, (0, 2, 3, 1)))
    taps = rows * columns
    blocks = taps * -(-outputs // 32) * -(-inputs // 32)
    blocks = min(blocks, space.device.most_blocks)
    space.moving.launch_blocks("turn", blocks, (32, 8), weight.pointer, out.pointer, outputs, taps, inputs)
    return out
