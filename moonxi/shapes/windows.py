"""Windows: a kernel that goes along the rows and columns of an image, with its options."""

from dataclasses import dataclass
from typing import Literal, TypedDict

from moonxi.dims import Dim, Size, provably_equal, provably_less
from moonxi.errors import OperandError
from moonxi.shapes.arrays import fail

type Pair = int | tuple[int, int]
"""A number for rows and columns alike, or one for each: ``(rows, columns)``."""
type Padding = Pair | Literal["same"]
"""How many zeros stand before and after the rows and the columns; ``"same"``: as many as keep the size."""
type Edges = Pair | tuple[tuple[int, int], tuple[int, int]]
"""A width on each side of an image: one number, ``(rows, columns)`` or ``((top, bottom), (left, right))``."""

AXES = ("height", "width")


class ConvOptions(TypedDict, total=False):
    """The options of a convolution; by default ``stride=1, padding=0, dilation=1, groups=1``.

    ``dilation`` is the distance between the taps of the kernel. ``groups`` splits the channels: each group of outputs
    sees its group of inputs only. ``padding="same"`` needs stride 1, and puts an odd zero at the end."""

    stride: Pair
    padding: Padding
    dilation: Pair
    groups: int


class PoolOptions(TypedDict, total=False):
    """The options of a pooling; by default ``stride=kernel, padding=0, dilation=1, ceil_mode=False``.

    ``ceil_mode`` rounds the number of windows up: the last may reach past the padding, but starts before it."""

    stride: Pair | None
    padding: Pair
    dilation: Pair
    ceil_mode: bool


class TransposeOptions(TypedDict, total=False):
    """Those of a transposed convolution; by default ``stride=1, padding=0, output_padding=0, dilation=1, groups=1``.

    ``output_padding`` is how many rows and columns more the result has, of the sizes that the convolution would make
    this one of."""

    stride: Pair
    padding: Pair
    output_padding: Pair
    dilation: Pair
    groups: int


class MeanPoolOptions(TypedDict, total=False):
    """Those of a mean; by default ``stride=kernel, padding=0, ceil_mode=False, count_include_pad=True``."""

    stride: Pair | None
    padding: Pair
    ceil_mode: bool
    count_include_pad: bool


def of_mean(
    *, stride: Pair | None = None, padding: Pair = 0, ceil_mode: bool = False, count_include_pad: bool = True
) -> tuple[PoolOptions, bool]:
    """What of the options of a mean says where its windows are, and whether the padding counts."""
    return PoolOptions(stride=stride, padding=padding, ceil_mode=ceil_mode), count_include_pad


@dataclass(frozen=True, slots=True)
class Window[S: (int, Size)]:
    """How a kernel goes along one axis: place ``i`` covers elements ``i * stride - before + tap * dilation``."""

    size: S
    """Of the axis, without padding."""
    kernel: S
    """The number of taps."""
    count: S
    """The number of places: the size of the result."""
    before: S
    """The width of the padding before the axis."""
    stride: int
    dilation: int


def pair(operation: str, name: str, value: Pair, *, least: int = 0) -> tuple[int, int]:
    """An option for rows and for columns. Raises `OperandError` if it is no pair, `ShapeError` if it is too small."""
    both: object = value if isinstance(value, tuple) else (value, value)
    match both:
        case (int() | Dim() as rows, int() | Dim() as columns) if not any(isinstance(one, bool) for one in both):
            if provably_less(rows, least) or provably_less(columns, least):
                fail(operation, f"{name}={value}", f"must be at least {least}")
            return rows, columns  # type: ignore[return-value]  # a Dim has the arithmetic of an int
    raise OperandError(f"{operation}: {name}={value!r}: expected an integer, or a pair of them for rows and columns")


def edges(operation: str, value: Edges) -> tuple[tuple[int, int], tuple[int, int]]:
    """A width on each of the four sides: ``(top, bottom), (left, right)``."""
    match value:
        case ((int(top), int(bottom)), (int(left), int(right))):
            if min(top, bottom, left, right) < 0:
                fail(operation, f"padding={value}", "must be at least 0; cut an image with a slice")
            return (top, bottom), (left, right)
        case int() | (int(), int()):
            rows, columns = pair(operation, "padding", value)
            return (rows, rows), (columns, columns)
    raise OperandError(
        f"{operation}: padding={value!r}: expected an integer, (rows, columns) or ((top, bottom), (left, right))"
    )


def sliding[S: (int, Size)](
    operation: str, given: str, axis: int, size: S, kernel: S, *, stride: int, padding: int | None, dilation: int
) -> Window[S]:
    """The window of a convolution; without a ``padding``, that of ``"same"``."""
    reach = (kernel - 1) * dilation
    total = reach if padding is None else 2 * padding
    padded = size + total
    if provably_less(kernel, 1):
        fail(operation, given, f"the kernel has {AXES[axis]} {kernel}, and needs at least 1")
    if provably_less(padded, reach + 1):
        dilated = f", dilated to {reach + 1}," if dilation > 1 else ""
        fail(
            operation,
            given,
            f"a kernel of {AXES[axis]} {kernel}{dilated} does not fit an image of {AXES[axis]} {size}"
            + ("" if provably_equal(total, 0) else f" padded to {padded}"),
        )
    return Window(size, kernel, (padded - reach - 1) // stride + 1, total // 2, stride, dilation)
