"""What an annotation asks of a shape, in the notation of jaxtyping: ``"batch 2*c #n *rest {self.width}"``."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from operator import index
from typing import Self, SupportsIndex

from moonxi.dims import Dim, Size, maximum, minimum, parse, solve, symbols, unknown
from moonxi.errors import ShapeError
from moonxi.shapes.agreement import differ
from moonxi.shapes.arrays import Sizes, broadcast, show

_BRACES = re.compile(r"\{([^{}]+)\}")
_FUNCTIONS = {"__builtins__": {}, "min": minimum, "max": maximum}


@dataclass(frozen=True, slots=True)
class Item:
    """One word of an annotation: what one axis, or ``several``, must be."""

    text: str
    """A name, a number or an expression of names; empty if any size will do."""
    several: bool
    broadcasts: bool
    """Whether 1 will do as well."""


@dataclass
class Names:
    """What the names of annotations stand for within one call: sizes, and of names with a star several."""

    sizes: dict[str, Size] = field(default_factory=dict)
    several: dict[str, Sizes] = field(default_factory=dict)
    open: int = 0
    """How many sizes met an expression that they leave open, such as ``a+b`` or ``h//2``: ask again with more names."""

    def copy(self) -> Self:
        """A copy, to try something with."""
        return type(self)(dict(self.sizes), dict(self.several), self.open)

    def become(self, other: Self) -> None:
        """Take over what stands in the other."""
        self.sizes, self.several, self.open = other.sizes, other.several, other.open

    def __str__(self) -> str:
        one = [f"{name}={size}" for name, size in self.sizes.items() if str(size) != name]
        return ", ".join(one + [f"{name}={show(shape)}" for name, shape in self.several.items()])


@lru_cache(maxsize=1024)
def read(text: str) -> tuple[Item, ...]:
    """The words of an annotation. Raises `ShapeError` for a ``?``, which depends on a tree of arrays."""
    items = []
    for word in text.split():
        if word == "...":
            items.append(Item("", several=True, broadcasts=False))
            continue
        marks = set[str]()
        while word and word[0] in "#*_?":
            marks.add(word[0])
            word = word[1:]
        if "?" in marks:
            raise ShapeError(f"annotation: {text!r}: sizes that depend on a place in a tree are not read")
        name, equals, value = word.partition("=")
        if equals and name.isidentifier():  # `rows=3` is the number, with a name for readers
            word = value
        items.append(Item("" if "_" in marks else word, "*" in marks, "#" in marks))
    return tuple(items)


@lru_cache(maxsize=1024)
def is_readable(text: str) -> bool:
    """Whether every word of an annotation is read here; jaxtyping takes any expression of Python."""
    try:
        for item in read(text):
            parse(_BRACES.sub("_0", item.text) or "0")
            for found in _BRACES.finditer(item.text):
                compile(found[1], "<annotation>", "eval")
    except (ShapeError, SyntaxError):
        return False
    return True


@lru_cache(maxsize=1024)
def has_expressions(text: str) -> bool:
    """Whether the size of an axis is an expression of names, such as ``2*d``, and is to be solved for one of them."""
    texts = (_BRACES.sub("_0", item.text) for item in read(text))
    return any(not one.isidentifier() and symbols(parse(one)) - {"_0"} for one in texts if one)


def fits(text: str, shape: Sizes, names: Names, arguments: Mapping[str, object]) -> bool:
    """Whether the shape is what the annotation asks for; names that were free are bound then, if it is or not.

    An expression is solved for its name: ``2*d`` fits 6 with ``d = 3`` and does not fit 7. One that its size leaves
    open may fit, and is counted in ``names.open``. What stands in braces is computed from the arguments."""
    items = read(text)
    star = next((place for place, item in enumerate(items) if item.several), None)
    if star is None:
        return len(shape) == len(items) and all(
            _fits(item, size, names, arguments) for item, size in zip(items, shape, strict=True)
        )
    behind = len(items) - star - 1
    if len(shape) < star + behind:
        return False
    ends = [*zip(items[:star], shape, strict=False), *zip(items[star + 1 :], shape[len(shape) - behind :], strict=True)]
    return all(_fits(item, size, names, arguments) for item, size in ends) and _fits_several(
        items[star], shape[star : len(shape) - behind], names
    )


def sizes_for(
    text: str,
    names: Names,
    arguments: Mapping[str, object],
    *,
    size: Callable[[str], Size],
    anonymous: Callable[[int], Size],
) -> Sizes:
    """A shape that is what the annotation asks for. ``size`` makes one for a name that is free, ``anonymous`` another.

    A name with a star stands for one axis of that name, unless it is bound already."""
    shape: list[Size] = []
    for place, item in enumerate(read(text)):
        if not item.text:
            shape.append(anonymous(place))
        elif item.several:
            if item.text not in names.several:
                names.several[item.text] = (size(item.text),)
            shape.extend(names.several[item.text])
        else:
            for name in _free(item.text, names, arguments):
                names.sizes[name] = size(name)
            shape.append(_value(item.text, names, arguments))
    return tuple(shape)


def _fits(item: Item, size: Size, names: Names, arguments: Mapping[str, object]) -> bool:
    if not item.text or (item.broadcasts and size == 1):
        return True
    free = _free(item.text, names, arguments)
    if not free:
        return not differ(_value(item.text, names, arguments), size)
    if free == [item.text]:
        names.sizes[item.text] = size
        return True
    trial = names.copy()
    apart = {name: f"'{name}" for name in free}  # the size may have unknowns of these names itself
    trial.sizes.update({name: unknown(mark) for name, mark in apart.items()})
    value = _value(item.text, trial, arguments)
    if len(free) == 1:
        solutions = solve(value, size)
        if apart[free[0]] in solutions:
            solution = solutions[apart[free[0]]]
            if solution is not None:
                names.sizes[free[0]] = solution
            return solution is not None
    names.open += 1
    return not differ(value, size)


def _fits_several(item: Item, shape: Sizes, names: Names) -> bool:
    if not item.text:
        return True
    bound = names.several.setdefault(item.text, shape)
    if item.broadcasts:
        try:
            names.several[item.text] = broadcast("annotation", bound, shape)
        except ShapeError:
            return False
        return True
    return len(bound) == len(shape) and not any(map(differ, bound, shape))


def _free(text: str, names: Names, arguments: Mapping[str, object]) -> list[str]:
    """The names in an expression that stand for nothing yet."""
    code = compile(_BRACES.sub("0", text), "<annotation>", "eval")
    return [name for name in code.co_names if name not in names.sizes and name not in _FUNCTIONS]


def _value(text: str, names: Names, arguments: Mapping[str, object]) -> Size:
    """The value of an expression. Raises `ShapeError` if it is no size."""
    computed: dict[str, object] = {}

    def replaced(found: re.Match[str]) -> str:
        name = f"_{len(computed)}"
        computed[name] = eval(found[1], {}, dict(arguments))
        return name

    expression = _BRACES.sub(replaced, text)
    value = eval(expression, dict(_FUNCTIONS), {**names.sizes, **computed})
    if isinstance(value, int | Dim):
        return value
    if isinstance(value, SupportsIndex):
        return index(value)
    if isinstance(value, float) and value.is_integer():  # jaxtyping compares with ==
        return int(value)
    raise ShapeError(f"annotation: {text!r}: {value!r} is not a size")
