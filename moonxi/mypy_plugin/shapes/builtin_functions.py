"""Functions of Python that shapes are computed with, and that sequences of layers and tensors are made with."""

import builtins
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import prod

from moonxi.dims import Dim, Size, maximum, minimum
from moonxi.mypy_plugin.shapes.equations import argument, fresh
from moonxi.mypy_plugin.shapes.values import TENSOR, UNKNOWN, Each, Shaped
from moonxi.shape_tensor import ShapeTensor

_LONGEST = 16  # sequence that is looked at element by element


def builtin(name: str, values: Sequence[object], options: Mapping[str, object]) -> object:
    """The result of the function of the full name; None of a function that is not among these."""
    function = _FUNCTIONS.get(name)
    if function is None and name.startswith("numpy."):
        function = _NUMPY.get(name.rpartition(".")[2])
    return None if function is None else function(values, options)


def elements(value: object) -> tuple[object, ...] | Each | None:
    """What a loop over a value meets: its elements, as far as there are not too many; None if nothing is known."""
    if isinstance(value, Each):
        return value
    if isinstance(value, tuple) and len(value) <= _LONGEST:
        return value
    return None


def _length(values: Sequence[object], options: Mapping[str, object]) -> object:
    match values:
        case [tuple() as items]:
            return len(items)
        case [ShapeTensor(shape=[first, *_])]:
            return first
    return UNKNOWN


def _product(values: Sequence[object], options: Mapping[str, object]) -> object:
    match values:
        case [tuple() as items] if all(isinstance(one, int | Dim) for one in items) and not options:
            return prod(items)
    return UNKNOWN


def _same(values: Sequence[object], options: Mapping[str, object]) -> object:
    match values:
        case []:
            return ()
        case [tuple() | Each() as items]:
            return items
    return UNKNOWN


def _reversed(values: Sequence[object], options: Mapping[str, object]) -> object:
    match values:
        case [tuple() as items]:
            return items[::-1]
        case [Each() as items]:
            return items
    return UNKNOWN


def _range(values: Sequence[object], options: Mapping[str, object]) -> object:
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) == len(values) and 1 <= len(numbers) <= 3 and numbers[2:] != [0]:
        found = range(*numbers)
        return tuple(found) if len(found) <= _LONGEST else Each(_some_number)
    return Each(_some_number)


def _some_number() -> Size:
    return argument(f"{fresh()}")


def _enumerated(values: Sequence[object], options: Mapping[str, object]) -> object:
    start = options.get("start", values[1] if len(values) > 1 else 0)
    items = elements(values[0]) if values else None
    if isinstance(items, Each):
        item = items.item
        return Each(lambda: (_some_number(), item()))
    if items is None or not isinstance(start, int):
        return UNKNOWN
    return tuple(enumerate(items, start))


def _zipped(values: Sequence[object], options: Mapping[str, object]) -> object:
    found = [elements(value) for value in values]
    if not found:
        return UNKNOWN
    known = [one for one in found if isinstance(one, tuple)]
    if len(known) == len(found):
        return tuple(builtins.zip(*known, strict=False))
    return Each(lambda: tuple(_any_of(one) for one in found))


def _any_of(items: tuple[object, ...] | Each | None) -> object:
    """One element, if nothing says which."""
    if isinstance(items, Each):
        return items.item()
    if items and all(isinstance(one, ShapeTensor) for one in items):
        return TENSOR
    return UNKNOWN


def _keys(values: Sequence[object], options: Mapping[str, object]) -> object:
    """``key.split(3)``."""
    match values:
        case []:
            return UNKNOWN, UNKNOWN
        case [int() as count] if 0 <= count <= _LONGEST:
            return (UNKNOWN,) * count
    return UNKNOWN


def _pairs(values: Sequence[object], options: Mapping[str, object]) -> object:
    match values:
        case [tuple() as items]:
            return tuple(pairwise(items))
        case [Each(item=item)]:
            return Each(lambda: (item(), item()))
    return UNKNOWN


def _extreme(pick: Callable[..., object]) -> Callable[[Sequence[object], Mapping[str, object]], object]:
    def run(values: Sequence[object], options: Mapping[str, object]) -> object:
        sizes = values[0] if len(values) == 1 else tuple(values)
        if isinstance(sizes, tuple) and sizes and not options and all(isinstance(one, int | Dim) for one in sizes):
            return pick(*sizes)
        return UNKNOWN

    return run


def _sum(values: Sequence[object], options: Mapping[str, object]) -> object:
    match values:
        case [tuple() as items] if not options and all(isinstance(one, int | Dim) for one in items):
            return sum(items)
    return UNKNOWN


def _counted(values: Sequence[object], options: Mapping[str, object]) -> object:
    """``numpy.arange(n)``."""
    match values:
        case [int() | Dim() as size]:
            return Shaped((size,))
    return UNKNOWN


def _filled(values: Sequence[object], options: Mapping[str, object]) -> object:
    """``numpy.zeros(shape)``."""
    match values:
        case [int() | Dim() as size, *_]:
            return Shaped((size,))
        case [tuple() as shape, *_] if all(isinstance(one, int | Dim) for one in shape):
            return Shaped(tuple(one for one in shape if isinstance(one, int | Dim)))
    return UNKNOWN


_NUMPY: Mapping[str, Callable[[Sequence[object], Mapping[str, object]], object]] = {
    "arange": _counted,
    "zeros": _filled,
    "ones": _filled,
    "empty": _filled,
    "full": _filled,
}
_FUNCTIONS: Mapping[str, Callable[[Sequence[object], Mapping[str, object]], object]] = {
    "builtins.len": _length,
    "builtins.sum": _sum,
    "builtins.max": _extreme(maximum),
    "builtins.min": _extreme(minimum),
    "builtins.tuple": _same,
    "builtins.list": _same,
    "builtins.iter": _same,
    "builtins.reversed": _reversed,
    "builtins.range": _range,
    "builtins.enumerate": _enumerated,
    "builtins.zip": _zipped,
    "itertools.pairwise": _pairs,
    "math.prod": _product,
    "moonxi.key.Key.split": _keys,
}
