"""The trait `ShapedTensor`: the same elements in another shape or order."""

from typing import Protocol, Self, runtime_checkable

from moonxi.traits.labels import Carrier
from moonxi.traits.notation import Index, Shape, Widths


@runtime_checkable
class ShapedTensor(Carrier, Protocol):
    """What moves elements, repeats them or leaves some out."""

    __slots__ = ()

    def reshape(self, shape: Shape, /) -> Self:
        """The same elements in row-major order in another shape; one size may be -1."""

    def squeeze(self, axes: int | tuple[int, ...], /) -> Self:
        """Without these axes. Raises `ShapeError` unless each has size 1."""

    def unsqueeze(self, axes: int | tuple[int, ...], /) -> Self:
        """With new axes of size 1 at these places of the result."""

    def permute(self, axes: tuple[int, ...], /) -> Self:
        """Axis ``i`` of the result is axis ``axes[i]`` of this one."""

    def broadcast_to(self, shape: Shape, /) -> Self:
        """Repeated along new axes and along axes of size 1."""

    def sum_to(self, shape: Shape, /) -> Self:
        """The adjoint of `broadcast_to`: summed until the shape is ``shape``."""

    def __getitem__(self, index: Index, /) -> Self:
        """A part: integers drop an axis, slices keep it (any step), ``None`` adds one. Raises `AxisError`."""

    def put_slice(self, index: Index, shape: Shape, /) -> Self:
        """The adjoint of ``x[index]``: zeros of ``shape`` with this tensor at ``index``."""

    def flip(self, axes: int | tuple[int, ...], /) -> Self:
        """In reverse order along the axes."""

    def roll(self, shift: int, axis: int, /) -> Self:
        """Moved by ``shift`` places along the axis; what leaves at the end comes in at the front."""

    def pad(self, widths: Widths, value: float = 0.0, /) -> Self:
        """With ``(before, after)`` elements of ``value`` more for each axis, the first pair being that of axis 0."""

    def tile(self, repeats: tuple[int, ...], /) -> Self:
        """The whole tensor repeated along each axis: one number for each axis."""

    def concatenate(self, *others: Self, axis: int) -> Self:
        """This tensor and the others, one after the other along the axis; all other sizes are the same."""

    def stack(self, *others: Self, axis: int) -> Self:
        """This tensor and the others, all of one shape, along a new axis at this place of the result."""

    def split(self, sizes: tuple[int, ...], /, *, axis: int) -> tuple[Self, ...]:
        """Parts of these sizes along the axis; together they have its size."""
