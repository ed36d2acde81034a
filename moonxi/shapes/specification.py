"""What an annotation asks of a shape, in the notation of jaxtyping: ``"batch 2*c #n *rest {self.width}"``."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

from moonxi.dims import Dim, Size, maximum, minimum, solve, unknown
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

    def copy(self) -> Self:
        """A copy, to try something with."""
        return type(self)(dict(self.sizes), dict(self.several))

    def become(self, other: Self) -> None:
        """Take over what stands in the other."""
        self.sizes, self.several = other.sizes, other.several

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


def fits(text: str, shape: Sizes, names: Names, arguments: Mapping[str, object]) -> bool:
    """Whether the shape is what the annotation asks for; names that were free are bound then, if it is or not.

    What stands in braces is computed from the arguments."""
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
    apart = {f"'{name}": name for name in free}  # the size may have unknowns of these names itself
    trial.sizes.update({name: unknown(mark) for mark, name in apart.items()})
    value = _value(item.text, trial, arguments)
    for mark, solution in solve(value, size).items():
        if mark in apart:
            if solution is not None:
                names.sizes[apart[mark]] = solution
            return solution is not None
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
    raise ShapeError(f"annotation: {text!r}: {value!r} is not a size")
