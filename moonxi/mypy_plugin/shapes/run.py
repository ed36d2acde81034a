"""What one run over a function knows and finds."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mypy.nodes import Context, Expression, MemberExpr, NameExpr
from mypy.types import Type

from moonxi.mypy_plugin.shapes.equations import Equations
from moonxi.mypy_plugin.shapes.objects import Maker
from moonxi.mypy_plugin.shapes.values import UNKNOWN, joined


class Stop(Exception):
    """The code has asked for the sizes itself: from here on it may know more of them than can be known here."""


@dataclass
class Run:
    """The state of a run: the values of the local names, and the errors by place."""

    maker: Maker
    equations: Equations
    result: Type | None
    values: dict[str, object] = field(default_factory=dict)
    errors: dict[tuple[int, int], tuple[Context, str]] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    """The annotations of values, by their identity."""
    _kept: list[object] = field(default_factory=list)
    _quiet: int = 0

    def value(self, name: str) -> object:
        """What is known of a local name."""
        return self.values.get(name, UNKNOWN)

    def annotate(self, value: object, text: str | None) -> None:
        """Remember how a value is annotated, to say it in errors."""
        if text is not None:
            self._kept.append(value)
            self.texts[id(value)] = text.strip()

    def report(self, message: str, place: Context) -> None:
        """An error at a place, of which the first is told."""
        if not self._quiet:
            self.errors.setdefault((place.line, place.column), (place, message))

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


def name_of(expression: Expression) -> str | None:
    """``x`` or ``self.weight`` as text."""
    if isinstance(expression, NameExpr):
        return expression.name
    if isinstance(expression, MemberExpr):
        before = name_of(expression.expr)
        return None if before is None else f"{before}.{expression.name}"
    return None
