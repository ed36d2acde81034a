"""The sizes that one check runs with: symbols for the names in annotations, and what becomes of them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from math import inf
from typing import NoReturn

from moonxi import shapes
from moonxi.cli.check.annotations import Stated
from moonxi.dims import (
    Dim,
    Example,
    Size,
    evaluate,
    example,
    is_clamped,
    solve,
    substitute,
    unknown,
    unknowns,
    unrounded,
)
from moonxi.errors import ShapeError
from moonxi.shapes import Sizes as Shape

SMALL, LARGE = 8, 480
"""What sizes are multiples of where code wants them to be, as in ``h // 2`` or ``width // heads``."""


class Kind(Enum):
    """What a size may turn out to be, without being the fault of the code."""

    FREE = "the size of a first axis, such as the batch: whatever the caller brings"
    NAMED = "another size named in an annotation: it may be that of a tensor of the model, which takes just that one, \
or follow from others, such as the height of an image that is twice that of another"
    CHOSEN = "a number for which the init of the model asks: whatever its caller chooses, or one that arguments state"
    OPEN = "a size of a model that nothing states: a number, or one of the named sizes"
    OPTION = "a number that a function is given, such as of heads or of steps"


_OF_ARGUMENTS = (Kind.FREE, Kind.NAMED)


@dataclass(frozen=True)
class Numbers:
    """How numbers are chosen that stand for sizes, for code that cannot do with a symbol.

    They have small divisors. Those of arguments are different; a number that a function is given is smaller than they
    are."""

    of_arguments: int
    """What the sizes of arguments are odd multiples of."""
    falling: bool
    """Whether each size of a model is a multiple of the next, as of the number of heads, or of the one before."""

    def value(self, kind: Kind, place: int, count: int) -> int:
        """The number for the size in this place among ``count`` that are of arguments, of models or given."""
        if kind in _OF_ARGUMENTS:
            return self.of_arguments * (2 * place + 1)
        if kind is Kind.OPTION:
            return self.of_arguments // 4
        return 16 << min(count - 1 - place if self.falling else place, 6)


CHOICES = tuple(Numbers(scale, falling) for scale in (8, 96) for falling in (True, False))


class Again(BaseException):
    """A size was found: everything is to be made and run anew. Not an Exception, which the code checked could catch."""


@dataclass
class Sizes:
    """Makes sizes by name, and finds what the code that is checked requires of them.

    With ``numbers`` they are numbers, each of which stands for such a symbol."""

    numbers: Numbers | None = None
    stated: Stated = field(default_factory=Stated)
    """What the annotations of the arguments say."""
    _kinds: dict[str, Kind] = field(default_factory=dict)
    _found: dict[str, Size] = field(default_factory=dict)
    _of_models: set[int] = field(default_factory=set)

    def size(self, name: str, kind: Kind) -> Size:
        """The size of this name: a symbol, or what it has turned out to be."""
        if name not in self._kinds:
            self._kinds[name] = kind
            if self.numbers is not None:
                raise Again  # the numbers depend on how many there are
        size = self._found.get(name, self._symbol(name))
        if self.numbers is None:
            return size
        return example(evaluate(size, {other: self._number(other) for other in unknowns(size)}), size)

    def _symbol(self, name: str) -> Size:
        return unknown(name, least=1)

    def note(self, sizes: Iterable[Size]) -> None:
        """Sizes that a tensor of a model has."""
        self._of_models.update(size for size in sizes if isinstance(size, int) and not isinstance(size, Example))

    @property
    def missing(self) -> list[str]:
        """The sizes of models, and numbers, that nothing has determined."""
        return [name for name, kind in self._kinds.items() if kind not in _OF_ARGUMENTS and name not in self._found]

    def differ(self, left: Size, right: Size, /) -> bool:
        """Whether two sizes that must be equal are not. Raises `Again` if one of them can become the other."""
        solutions = {name: value for name, value in solve(left, right).items() if value is not None}
        for name in sorted(solutions, key=lambda name: self._kinds.get(name) is not Kind.OPEN):
            if self._may_become(name, solutions[name]) or self._may_follow(name, solutions[name], left, right):
                self._become(name, solutions[name])
        for name, value in unrounded(left, right).items():
            if self._may_follow(name, value, left, right):
                self._become(name, value)
        if any(
            self._kinds.get(name, Kind.FREE) not in _OF_ARGUMENTS and self._is_too_special(solutions[name])
            for name in solutions
        ):
            return True
        return not self._agree_if_convenient(left, right)

    def _become(self, name: str, value: Size) -> NoReturn:
        self._found = {other: substitute(size, {name: value}) for other, size in self._found.items()}
        self._found[name] = value
        raise Again

    def broadcast(self, operation: str, left: Shape, right: Shape, result: Shape) -> None:
        """Raise `ShapeError` where an axis meets itself, as in ``(n,)`` with ``(n, 1)``.

        Two shapes with equally many axes are broadcast on purpose: somebody has written out where the 1 goes."""
        if len(left) == len(right):
            return
        for size in result:
            is_name = isinstance(size, Dim | Example) or size in self._given(Kind.FREE, Kind.NAMED, Kind.OPEN)
            if is_name and result.count(size) > max(left.count(size), right.count(size)):
                given = f"{shapes.show(left)} and {shapes.show(right)} give {shapes.show(result)}"
                raise ShapeError(f"{operation}: {given}: {size} meets itself; give both equally many axes")

    def _may_become(self, name: str, value: Size) -> bool:
        match self._kinds.get(name, Kind.FREE):
            case Kind.OPEN | Kind.OPTION:
                depends = any(self._kinds.get(other) is Kind.FREE for other in unknowns(value))
                # A number that NumPy gave back is perhaps not what it is named: a size of a model may be any such.
                given = self._given(Kind.FREE, *([Kind.NAMED] if self._kinds[name] is Kind.OPTION else []))
                return not depends and value not in given
            case Kind.CHOSEN:
                return value in self.stated.numbers
            case Kind.NAMED:
                # The width of an image may well have the name of a number that means another width.
                of_model = self._kinds_in(value) == {Kind.CHOSEN} and not self._stands_beside(name, value, axes=3)
                return of_model or value in self._of_models
            case Kind.FREE:
                return False

    def _may_follow(self, name: str, value: Size, left: Size, right: Size) -> bool:
        """Whether what makes two sizes equal is how a size of an argument follows from others.

        Not if it is one of them, of another name, nor from itself or from the axes beside it. The size of features may
        follow from one of the model, as where the half of them goes through it; that of an image does not; that of a
        first axis, or of a vector, may follow from that of another first axis, as where it is flattened."""
        kind, kinds, others = self._kinds.get(name), self._kinds_in(value), unknowns(value)
        if kind not in (Kind.NAMED, Kind.FREE) or name in unknowns(left) & unknowns(right):
            return False
        if value in map(self._symbol, others) or self._stands_beside(name, value):
            return False
        if kinds.isdisjoint((Kind.NAMED, Kind.FREE)):
            of_model = bool(kinds) or left in self._of_models or right in self._of_models
            return of_model and kind is Kind.NAMED and name in self.stated.features
        if kind is Kind.FREE:
            return Kind.FREE in kinds
        return Kind.FREE not in kinds or name in self.stated.alone

    def _stands_beside(self, name: str, value: Size, *, axes: float = inf) -> bool:
        """Whether a size is another axis of a tensor, of not more ``axes``, that has one of those in the value."""
        others = unknowns(value)
        return any(name in one and others & one and len(one) <= axes for one in self.stated.together)

    def _is_too_special(self, value: Size) -> bool:
        """Whether a size of the model cannot be that: one that depends on the batch, or on what its init leaves open.

        Whether one that is computed from other sizes of arguments is right is up to whoever makes the model."""
        kinds = self._kinds_in(value)
        return Kind.FREE in kinds or Kind.NAMED not in kinds or value in map(self._symbol, unknowns(value))

    def _kinds_in(self, value: Size) -> set[Kind]:
        return {self._kinds.get(name, Kind.OPEN) for name in unknowns(value)}

    def _given(self, *kinds: Kind) -> list[int]:
        """The numbers that stand for sizes of these kinds."""
        if self.numbers is None:
            return []
        names = (name for name, kind in self._kinds.items() if kind in kinds and name not in self._found)
        return [self._number(name) for name in names]

    def _number(self, name: str) -> int:
        """The number that stands for a size of which nothing was found."""
        assert self.numbers is not None, "this is asked only where there are numbers"
        kind = self._kinds.get(name, Kind.OPEN)
        group = _OF_ARGUMENTS if kind in _OF_ARGUMENTS else (kind,) if kind is Kind.OPTION else (Kind.OPEN, Kind.CHOSEN)
        names = [other for other, one in self._kinds.items() if one in group and other not in self._found]
        return self.numbers.value(kind, names.index(name), len(names))

    def _agree_if_convenient(self, left: Size, right: Size) -> bool:
        names = unknowns(left) | unknowns(right)
        if any(self._kinds.get(name, Kind.OPEN) not in _OF_ARGUMENTS for name in names):
            return True
        if self._agree(left, right, names, frozenset()):
            return True
        if not is_clamped(left) and not is_clamped(right):
            return False
        # A slice ends with the axis at the latest. One size may have to be smaller than another for it, such as the
        # length of a text than that of the table of positions of which it gets the first ones, or than a number.
        smaller = [names, *(frozenset({name}) for name in names), *(names - {name} for name in names)]
        return any(self._agree(left, right, names, small) for small in smaller)

    def _agree(self, left: Size, right: Size, names: frozenset[str], small: frozenset[str]) -> bool:
        """Whether the two are the same for some numbers with many divisors, small ones for some of the names."""
        try:
            return all(
                evaluate(left, values) == evaluate(right, values)
                for values in (
                    {name: self._convenient(name, SMALL if name in small else LARGE, turn) for name in names}
                    for turn in (0, 1)
                )
            )
        except ZeroDivisionError:
            return True

    def _convenient(self, name: str, scale: int, turn: int = 0) -> int:
        """A number with many divisors, another for each name."""
        place = list(self._kinds).index(name)
        return scale * (place + 1 + turn)
