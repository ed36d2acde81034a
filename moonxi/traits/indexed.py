"""The trait `IndexedTensor`: elements found, chosen, put and sorted by their index along an axis."""

from typing import Protocol, Self, runtime_checkable

from moonxi.traits.labels import Carrier, Labels


@runtime_checkable
class IndexedTensor(Carrier, Protocol):
    """What takes or gives `Labels`, the indices of elements along an axis."""

    __slots__ = ()

    def argmax(self, axis: int, /) -> Labels[Self]:
        """The index of the first largest element along the axis, which goes away."""

    def argmin(self, axis: int, /) -> Labels[Self]:
        """The index of the first smallest element along the axis, which goes away."""

    def argsort(self, axis: int, /, *, descending: bool = False) -> Labels[Self]:
        """The indices that sort the elements along the axis; equal ones keep their order, NaN counts as largest."""

    def sort(self, axis: int, /, *, descending: bool = False) -> Self:
        """The elements in order along the axis; each gets its gradient back."""

    def topk(self, k: int, axis: int, /) -> tuple[Self, Labels[Self]]:
        """The ``k`` largest elements along the axis in descending order, and their indices.

        Raises `ShapeError` if the axis has fewer."""

    def take(self, labels: Labels[Self], axis: int, /) -> Self:
        """The slices at the labels along the axis, whose place the axes of the labels take.

        A table of shape (words, n) by labels (batch, time) along axis 0 gives (batch, time, n). Raises `LabelError` for
        a label outside."""

    def one_hot(self, labels: Labels[Self], classes: int, /) -> Self:
        """A tensor like this one, of shape ``labels.shape + (classes,)``: 1 at each label and 0 elsewhere.

        Raises `LabelError` for a label outside ``0 .. classes-1``."""

    def gather(self, labels: Labels[Self], /) -> Self:
        """The elements at the labels along the last axis, whose size becomes the number of labels.

        Before their last axis, labels have the sizes of this tensor or 1, or no axes: ``(..., n)`` by ``(k,)`` or
        ``(..., k)`` gives ``(..., k)``. Raises `LabelError` for a label outside."""

    def scatter_add(self, labels: Labels[Self], size: int, /) -> Self:
        """The adjoint of `gather`: zeros with a last axis of ``size``, and each element added at its label."""

    def pick(self, labels: Labels[Self], /) -> Self:
        """The element at each label along the last axis, which goes away: ``x[i, labels[i]]``.

        ``labels`` has the shape of this tensor without its last axis. Raises `LabelError` for a label outside."""

    def put(self, labels: Labels[Self], classes: int, /) -> Self:
        """The adjoint of `pick`: zeros with a new last axis of size ``classes``, this tensor at the labels."""
