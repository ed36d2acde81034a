"""`einsum`, `tensordot` and `outer`."""

from moonxi import shapes
from moonxi.linalg.contraction import contracted
from moonxi.traits import MlpTensor


def einsum[T: MlpTensor](equation: str, x: T, /, *others: T) -> T:
    """Products of elements, summed over the axes that the result does not name: ``einsum("bij,bjk->bik", x, y)``.

    A letter stands for an axis, and for one size wherever it is; ``...`` for any number of axes before, between or
    after, which broadcast. A letter twice in one operand is its diagonal: ``ii->`` is the trace. Without ``->`` the
    result has the axes of ``...``, and the letters that are there once, in order of the alphabet. Two operands at a
    time are contracted, in the order of `numpy.einsum_path`. Raises `OptionError` for an equation that means nothing,
    such as a letter twice in the result, and `ShapeError` for operands that do not fit it."""
    tensors = (x, *others)
    return contracted(shapes.einsum(equation, *(one.shape for one in tensors)), tensors)


def tensordot[T: MlpTensor](x: T, y: T, axes: int | tuple[tuple[int, ...], tuple[int, ...]], /) -> T:
    """Products of elements, summed over pairs of axes: the last so many of ``x`` and the first of ``y``, or as given.

    The result has the other axes of ``x``, then those of ``y``. Raises `ShapeError` if sizes of a pair differ."""
    return contracted(shapes.tensordot(x.shape, y.shape, axes), (x, y))


def outer[T: MlpTensor](x: T, y: T, /) -> T:
    """Each element of one vector times each of another: ``(n,)`` and ``(m,)`` give ``(n, m)``.

    Raises `ShapeError` unless both have one axis."""
    return contracted(shapes.outer(x.shape, y.shape), (x, y))
