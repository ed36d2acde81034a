"""The rules of the operations on arrays of any number of axes."""

from math import prod
from types import EllipsisType
from typing import NoReturn

import numpy as np

from moonxi.dims import Dim, Size, provably_different, provably_equal, provably_less
from moonxi.errors import AxisError, OperandError, ShapeError
from moonxi.shapes.agreement import differ, watched

type Sizes = tuple[Size, ...]
type Item = int | slice | EllipsisType | None


def show(shape: Sizes) -> str:
    """A shape as text: ``(3, 4)``."""
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"


def fail(operation: str, operands: str, rule: str) -> NoReturn:
    """Raise a `ShapeError` in the common form."""
    raise ShapeError(f"{operation}: {operands}: {rule}")


def sizes[S: Size](operation: str, shape: tuple[S, ...]) -> tuple[S, ...]:
    """A shape to make a tensor of: a tuple of sizes, none of them negative."""
    is_shape(operation, shape)
    if any(provably_less(size, 0) for size in shape):
        fail(operation, show(shape), "a size cannot be negative")
    return shape


def is_shape(operation: str, shape: object) -> None:
    """Refuse what no checker would let through: sizes that are not whole numbers, or no tuple of them."""
    if not isinstance(shape, tuple) or not all(
        isinstance(size, int | np.integer | Dim) and not isinstance(size, bool) for size in shape
    ):
        raise OperandError(f"{operation}: shape {shape!r}: expected a tuple of whole numbers, such as (3, 4)")


def axis(shape: Sizes, number: int, operation: str) -> int:
    """One axis counted from the front; raises `AxisError` if there is no such axis."""
    rank = len(shape)
    given: object = number
    if not isinstance(given, int | np.integer) or isinstance(given, bool):
        raise OperandError(f"{operation}: axis {number!r}: expected a whole number, or a tuple of them for several")
    if not -rank <= number < rank:
        axes_there = f"axes run from {-rank} to {rank - 1}" if rank else "a scalar has no axes"
        raise AxisError(f"{operation}: {show(shape)}, axis {number}: {axes_there}")
    return number % rank


def axes(shape: Sizes, numbers: int | tuple[int, ...] | None, operation: str) -> tuple[int, ...]:
    """Axes counted from the front, ``None`` being all of them; raises for one that is absent or named twice."""
    if numbers is None:
        return tuple(range(len(shape)))
    if not isinstance(numbers, tuple):
        return (axis(shape, numbers, operation),)
    found = tuple(axis(shape, number, operation) for number in numbers)
    if len(set(found)) != len(found):
        fail(operation, f"{show(shape)}, axes {numbers}", "an axis is named twice")
    return found


def broadcast[S: Size](operation: str, *operands: tuple[S, ...]) -> tuple[S, ...]:
    """NumPy's rule: aligned at the last axis, sizes are equal or one of them is 1."""
    rank = max(map(len, operands))
    result: list[S] = []
    for position in range(-rank, 0):
        size: S | None = None
        for shape in operands:
            if -position > len(shape):
                continue
            here = shape[position]
            if size is None or provably_equal(size, 1):
                size = here
            elif not provably_equal(here, 1) and not provably_equal(size, here):
                if differ(size, here):
                    given = " and ".join(map(show, operands))
                    fail(operation, given, f"axis {position} has sizes {size} and {here}, which are not equal or 1")
                size = here if provably_different(here, 1) else size  # one of the two is an unknown, and can be 1
        assert size is not None, "an axis of the result comes from some operand"
        result.append(size)
    if len(operands) == 2:
        watched(operation, *operands, tuple(result))
    return tuple(result)


def equal[S: Size](operation: str, left: tuple[S, ...], right: tuple[S, ...], /) -> tuple[S, ...]:
    """The two shapes must be the same: where broadcasting would hide a mistake."""
    if left != right and (len(left) != len(right) or any(map(differ, left, right))):
        fail(
            operation, f"{show(left)} and {show(right)}", "the shapes must be equal; reshape one of them if you mean it"
        )
    return left


def matmul[S: Size](left: tuple[S, ...], right: tuple[S, ...]) -> tuple[S, ...]:
    """``(..., n, k) @ (..., k, m) -> (..., n, m)``."""
    if len(left) < 2 or len(right) < 2:
        given = f"{show(left)} @ {show(right)}"
        fail("matmul", given, "both operands need at least two axes; reshape a vector to one row or one column")
    if differ(left[-1], right[-2]):
        given = f"{show(left)} @ {show(right)}"
        fail("matmul", given, f"inner dimensions differ ({left[-1]} and {right[-2]})")
    if len(left) == len(right) == 2:
        return left[0], right[1]
    return (*broadcast("matmul (leading axes)", left[:-2], right[:-2]), left[-2], right[-1])


def transpose(shape: Sizes) -> tuple[int, ...]:
    """The permutation that exchanges the last two axes."""
    if len(shape) < 2:
        fail("transpose", show(shape), "needs at least two axes")
    rank = len(shape)
    return (*range(rank - 2), rank - 1, rank - 2)


def permute[S: Size](shape: tuple[S, ...], order: tuple[int, ...]) -> tuple[S, ...]:
    """Each axis named once."""
    if sorted(axes(shape, order, "permute")) != list(range(len(shape))):
        fail("permute", f"{show(shape)}, axes {order}", f"must name each of the {len(shape)} axes once")
    return tuple(shape[number] for number in order)


def reduced[S: Size](
    operation: str, shape: tuple[S, ...], numbers: int | tuple[int, ...] | None, *, keepdims: bool = False, one: S
) -> tuple[S, ...]:
    """The shape after a reduction over the axes; ``one`` is the size that a kept axis has."""
    gone = axes(shape, numbers, operation)
    if keepdims:
        return tuple(one if number in gone else size for number, size in enumerate(shape))
    return tuple(size for number, size in enumerate(shape) if number not in gone)


def nothing_to_reduce(operation: str, shape: Sizes, numbers: int | tuple[int, ...] | None) -> None:
    """Raise if a reduction without a neutral element goes over no elements at all."""
    gone = axes(shape, numbers, operation)
    if provably_equal(prod(shape[number] for number in gone), 0):
        fail(operation, f"{show(shape)}, axes {show(gone)}", "there is no element along an axis of size 0")


def reshape[S: Size](shape: tuple[S, ...], wanted: tuple[S, ...]) -> tuple[Size, ...]:
    """The same number of elements; one size may be -1 and is worked out."""
    is_shape("reshape", wanted)
    given = f"{show(shape)} to {show(wanted)}"
    count: Size = prod(shape)
    free = [place for place, size in enumerate(wanted) if size == -1]
    if len(free) > 1 or any(provably_less(size, 0) for place, size in enumerate(wanted) if place not in free):
        fail("reshape", given, "sizes are not negative, and at most one of them is -1")
    rest: Size = prod(size for place, size in enumerate(wanted) if place not in free)
    if free:
        if provably_equal(rest, 0) or differ(count % rest, 0):
            fail("reshape", given, f"{count} elements cannot be split into rows of {rest}")
        return tuple(count // rest if place in free else size for place, size in enumerate(wanted))
    if differ(rest, count):
        fail("reshape", given, f"{count} elements cannot become {rest}")
    return wanted


def broadcast_to[S: Size](shape: tuple[S, ...], wanted: tuple[S, ...]) -> tuple[S, ...]:
    """Each size is kept or, where it is 1, repeated."""
    sizes("broadcast_to", wanted)
    lead = len(wanted) - len(shape)
    if lead < 0:
        fail("broadcast_to", f"{show(shape)} to {show(wanted)}", "the result cannot have fewer axes")
    for size, target in zip(shape, wanted[lead:], strict=True):
        if not provably_equal(size, 1) and differ(size, target):
            fail("broadcast_to", f"{show(shape)} to {show(wanted)}", f"size {size} is neither 1 nor {target}")
    return wanted


def summed_axes(shape: Sizes, wanted: Sizes) -> tuple[int, ...]:
    """The axes over which `sum_to` sums to come from ``shape`` to ``wanted``."""
    if shape == wanted:
        return ()
    lead = len(shape) - len(wanted)
    if lead < 0:
        fail("sum_to", f"{show(shape)} to {show(wanted)}", "the result cannot have more axes")
    gone = list(range(lead))
    for number, (size, target) in enumerate(zip(shape[lead:], wanted, strict=True), lead):
        if provably_equal(size, target):
            continue
        if provably_equal(target, 1):
            gone.append(number)
        elif differ(size, target):
            fail("sum_to", f"{show(shape)} to {show(wanted)}", f"size {size} can become 1 or stay, not {target}")
    return tuple(gone)


def item(shape: Sizes) -> None:
    """Exactly one element."""
    if differ(prod(shape), 1):
        fail("item", show(shape), f"needs exactly one element, not {prod(shape)}; reduce it, or use to_host()")


def parts(shape: Sizes) -> range:
    """The positions along the first axis, for a loop over the parts."""
    if not shape:
        fail("iterate", show(shape), "one element has no parts to loop over; read it with .item() or .to_host()")
    if not isinstance(shape[0], int):
        raise OperandError(
            f"iterate: {show(shape)}: a loop needs to know how many parts there are, and {shape[0]} stands for any "
            "number; compute with the whole tensor"
        )
    return range(shape[0])


def pick[S: Size](shape: tuple[S, ...], labels: tuple[S, ...], operation: str = "pick") -> tuple[S, ...]:
    """Labels for every position but the last axis, which is that of the classes."""
    if not shape or len(labels) != len(shape) - 1 or any(map(differ, shape, labels)):
        fail(operation, f"{show(shape)}, labels {show(labels)}", "labels must have the shape without its last axis")
    return labels


def put[S: Size](shape: tuple[S, ...], labels: tuple[S, ...], classes: S) -> tuple[S, ...]:
    """One label for each element."""
    if len(labels) != len(shape) or any(map(differ, shape, labels)):
        fail("put", f"{show(shape)}, labels {show(labels)}", "there must be one label for each element")
    return sizes("put", (*labels, classes))


def one_hot[S: Size](labels: tuple[S, ...], classes: S) -> tuple[S, ...]:
    """Any labels, and a number of classes that is not negative."""
    return sizes("one_hot", (*labels, classes))


def gather[S: Size](shape: tuple[S, ...], labels: tuple[S, ...]) -> tuple[S, ...]:
    """Labels along the last axis, the same ones or others for each position of the axes before it."""
    return _taken("gather", shape, labels)


def scatter_add[S: Size](shape: tuple[S, ...], labels: tuple[S, ...], size: S) -> tuple[S, ...]:
    """One label for each element of the last axis, the same ones or others for each position of the axes before it."""
    if shape and labels and differ(shape[-1], labels[-1]):
        given = f"{show(shape)}, labels {show(labels)}"
        fail("scatter_add", given, f"{labels[-1]} labels for {shape[-1]} elements along the last axis")
    _taken("scatter_add", shape, labels)
    return sizes("scatter_add", (*shape[:-1], size))


def _taken[S: Size](operation: str, shape: tuple[S, ...], labels: tuple[S, ...]) -> tuple[S, ...]:
    given = f"{show(shape)}, labels {show(labels)}"
    if not shape or not labels or len(labels) > len(shape):
        fail(operation, given, "labels need at least one axis, and no more axes than the tensor")
    for size, own in zip(shape[len(shape) - len(labels) : -1], labels[:-1], strict=True):
        if not provably_equal(own, 1) and differ(size, own):
            fail(
                operation, given, f"before the last axis labels have the size of the tensor or 1, not {own} for {size}"
            )
    return (*shape[:-1], labels[-1])
