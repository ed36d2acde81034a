"""What one run over a function knows and finds."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from mypy.errorcodes import ErrorCode
from mypy.nodes import Context, Expression, FuncDef, LambdaExpr, MemberExpr, NameExpr, Statement
from mypy.types import Type

from moonxi.mypy_plugin.messages import TENSOR_SHAPE
from moonxi.mypy_plugin.shapes.bindings import Changes
from moonxi.mypy_plugin.shapes.equations import Equations
from moonxi.mypy_plugin.shapes.objects import Maker
from moonxi.mypy_plugin.shapes.suspicions import Place, Suspicions
from moonxi.mypy_plugin.shapes.values import UNKNOWN, Grown, joined

_UNNAMED = re.compile(r"\?~?\d+(?P<name>[A-Za-z_]\w*)?")
_MOST = 4000  # statements in one check, those of the functions that it looks into among them
_DEEPEST = 6  # functions within functions

type Found = dict[Place, tuple[Context, str, ErrorCode]]


class Stop(Exception):
    """The code has asked for the sizes itself: from here on it may know more of them than can be known here."""


@dataclass
class Surroundings:
    """What is the same for all the runs of one check."""

    module: str
    """The bodies of functions of this module are looked into; mypy keeps those of others in some runs only."""
    execute: Callable[["Run", Sequence[Statement]], bool]
    """Runs statements; whether what follows them is never reached."""
    evaluate: Callable[["Run", Expression | None], object]
    """The value of an expression."""
    outside: dict[str, object] = field(default_factory=dict)
    """The names of the module that stand for one value."""
    alone: Callable[[FuncDef], set[Place]] = lambda function: set()
    """Where a function is wrong whatever it is given: that is said there, and not where it is called."""
    define: Callable[["Run", FuncDef, dict[str, object]], None] = lambda run, function, outside: None
    """Checks a function within a function, with the names around it."""
    is_called: Callable[[str], bool] = lambda function: False
    """Whether there is a call of the function of that name in the file."""
    steps: int = 0

    def step(self) -> None:
        """Count a statement. Raises `Stop` when it has been enough."""
        self.steps += 1
        if self.steps > _MOST:
            raise Stop


@dataclass
class Run:
    """The state of a run: the values of the local names, and the errors by place."""

    around: Surroundings
    maker: Maker
    equations: Equations
    result: Type | None
    values: dict[str, object] = field(default_factory=dict)
    errors: Found = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    """The annotations of values, by their identity."""
    suspicions: Suspicions = field(default_factory=Suspicions)
    normalised: dict[int, int] = field(default_factory=dict)
    """Along which axis a softmax has made values, by their identity."""
    returns: list[object] | None = None
    """The results so far, of a function that is looked into where it is called."""
    chain: tuple[FuncDef | LambdaExpr, ...] = ()
    """The functions that are being looked into."""
    once: frozenset[str] = frozenset()
    """Local names that are bound once, and so stand for the same wherever they are read."""
    changes: Changes = field(default_factory=Changes)
    """Local names of lists that are changed somewhere."""
    free: frozenset[str] = frozenset()
    """Integers that the function is given, and of which nothing is written: no default."""
    defaults: Mapping[str, int] = field(default_factory=dict)
    """Integers that the function is given where a call leaves them out."""
    certain: bool = False
    """Whether to report only what is wrong whichever branches are taken."""
    _kept: list[object] = field(default_factory=list)
    _quiet: int = 0
    _branches: int = 0

    def child(self, node: FuncDef | LambdaExpr, values: dict[str, object]) -> "Run | None":
        """A run over another function, in which names of sizes are free; None if that leads too deep."""
        if node in self.chain or len(self.chain) >= _DEEPEST:
            return None
        fresh = self.equations.fresh
        maker = Maker(lambda name: fresh(), fresh)
        chain = (*self.chain, node)
        return Run(
            self.around,
            maker,
            self.equations,
            None,
            values,
            texts=self.texts,
            suspicions=self.suspicions,
            returns=[],
            chain=chain,
        )

    def annotate(self, value: object, text: str | None) -> None:
        """Remember how a value is annotated, to say it in errors."""
        if text is not None:
            self._kept.append(value)
            self.texts[id(value)] = text.strip()

    def note_normalised(self, value: object, axis: int) -> None:
        """Remember along which axis the value sums to 1."""
        self._kept.append(value)
        self.normalised[id(value)] = axis

    def report(self, message: str, place: Context, code: ErrorCode = TENSOR_SHAPE) -> None:
        """An error at a place, of which the first is told."""
        where = place.line, place.column
        if not self._quiet and not (self.certain and self._branches) and (where, code) not in self.suspicions.cleared:
            readable = _UNNAMED.sub(lambda found: found["name"] or "_", message)
            self.errors.setdefault(where, (place, readable, code))

    def suspect(self, value: object, message: str, place: Context, code: ErrorCode) -> None:
        """An error at a place, unless what is done with the value that comes of it shows that it was meant."""
        self.report(message, place, code)
        self.suspicions.add(value, (place.line, place.column), code)

    def meant(self, value: object, code: ErrorCode) -> None:
        """What the value comes from was meant."""
        for where, its_code in self.suspicions.of(value, code):
            self.suspicions.cleared.add((where, its_code))
            if where in self.errors and self.errors[where][2] is code:
                del self.errors[where]

    def said(self, *operands: tuple[Expression, object]) -> str:
        """What annotations say of the operands: ``; x is annotated "batch 784"``."""
        parts = []
        for expression, value in operands:
            text, name = self.texts.get(id(value)), name_of(expression)
            part = f'{name} is annotated "{text}"'
            if text is not None and name is not None and part not in parts:
                parts.append(part)
        return f"; {', '.join(parts)}" if parts else ""

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Run something of which errors are expected."""
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1

    @contextmanager
    def branching(self) -> Iterator[None]:
        """Run something that other code may be run in place of."""
        self._branches += 1
        try:
            yield
        finally:
            self._branches -= 1

    @contextmanager
    def tried(self) -> Iterator[None]:
        """Run something of which nothing follows for what comes after; only errors in it are kept."""
        before, known = dict(self.values), self.equations.known()
        try:
            yield
        finally:
            self.values = before
            self.equations.forget(known)

    def merge(self, ends: list[dict[str, object]]) -> None:
        """Go on with what is known after any of several branches."""
        names = set.intersection(*map(set, ends))
        merged = {}
        for name in names:
            value = ends[0][name]
            for end in ends[1:]:
                value = joined(value, end[name])
            merged[name] = value
        self.values = merged

    def bind(self, name: str, value: object) -> None:
        """A name stands for a value from here on; of a list that is changed less is known."""
        if isinstance(value, tuple) and name in self.changes.replaced:
            value = UNKNOWN
        elif isinstance(value, tuple) and name in self.changes.grown:
            value = Grown(value)
        self.values[name] = value


def name_of(expression: Expression) -> str | None:
    """``x`` or ``self.weight`` as text."""
    if isinstance(expression, NameExpr):
        return expression.name
    if isinstance(expression, MemberExpr):
        before = name_of(expression.expr)
        return None if before is None else f"{before}.{expression.name}"
    return None
