"""What is checked of one file: its functions, and what is written outside of them."""

from collections.abc import Iterable
from contextlib import suppress

from mypy.checker import TypeChecker
from mypy.nodes import (
    CallExpr,
    ClassDef,
    Decorator,
    FuncDef,
    GlobalDecl,
    MemberExpr,
    MypyFile,
    NameExpr,
    OverloadedFuncDef,
    Statement,
)

from moonxi.mypy_plugin.messages import SHAPE_CODES
from moonxi.mypy_plugin.shapes.bindings import changes
from moonxi.mypy_plugin.shapes.check import errors_of
from moonxi.mypy_plugin.shapes.equations import Equations
from moonxi.mypy_plugin.shapes.expressions import evaluated
from moonxi.mypy_plugin.shapes.functions import bound_once
from moonxi.mypy_plugin.shapes.objects import Maker
from moonxi.mypy_plugin.shapes.operations import resolved
from moonxi.mypy_plugin.shapes.overrides import errors_of_override
from moonxi.mypy_plugin.shapes.run import Found, Run, Stop, Surroundings
from moonxi.mypy_plugin.shapes.statements import run_block
from moonxi.mypy_plugin.shapes.suspicions import Place
from moonxi.mypy_plugin.shapes.values import UNKNOWN
from moonxi.mypy_plugin.shapes.walk import walked

_DEFINITIONS = FuncDef | Decorator | OverloadedFuncDef | ClassDef


class Module:
    """A file while mypy checks it."""

    def __init__(self, checker: TypeChecker) -> None:
        self.tree: MypyFile = checker.tree
        self._alone: dict[FuncDef, set[Place]] = {}
        self._called: frozenset[str] | None = None
        self._outside: dict[str, object] = {}
        self._errors: Found | None = self._run() if _is_wanted(checker) else None

    def check_top_level(self, checker: TypeChecker) -> None:
        """Report where shapes do not fit outside of functions."""
        if _is_wanted(checker):
            # The daemon comes back here, and what is imported may have changed since then.
            self._report(checker, self._run() if self._errors is None else self._errors)
            self._errors = None

    def check(self, checker: TypeChecker, function: FuncDef) -> None:
        """Report where shapes in the body of a function do not fit."""
        if not _is_wanted(checker):
            return
        around = self._around(inner=True)
        self._report(checker, errors_of(around, function))
        self._report(checker, errors_of_override(around, function))

    def _run(self) -> Found:
        """Run what is outside of functions; what its names stand for is known from then on."""
        equations = Equations()
        names = set(bound_once(self.tree.defs)) - _declared_global(self.tree.defs)
        statements = [one for one in self.tree.defs if not isinstance(one, _DEFINITIONS)]
        run = Run(self._around(inner=False), Maker(lambda name: equations.fresh(), equations.fresh), equations, None)
        run.once, run.changes = frozenset(names), changes(self.tree.defs)
        with suppress(Stop):
            run_block(run, statements)
        self._outside = {
            f"{self.tree.fullname}.{name}": resolved(value, equations)
            for name, value in run.values.items()
            if name in names and value is not UNKNOWN
        }
        return run.errors

    def _around(self, *, inner: bool) -> Surroundings:
        around = Surroundings(
            self.tree.fullname, run_block, evaluated, self._outside, self._places, is_called=self._is_called
        )
        if inner:
            around.define = self._define
        return around

    def _define(self, run: Run, function: FuncDef, outside: dict[str, object]) -> None:
        values = {name: resolved(value, run.equations) for name, value in outside.items()}
        errors = errors_of(self._around(inner=False), function, run, values)
        run.errors |= {place: error for place, error in errors.items() if place not in self._places(function)}

    def _places(self, function: FuncDef) -> set[Place]:
        """Where a function is wrong whatever it is given."""
        if function not in self._alone:
            self._alone[function] = set()
            self._alone[function] = set(errors_of(self._around(inner=False), function))
        return self._alone[function]

    def _is_called(self, function: str) -> bool:
        if self._called is None:
            calls = (one.callee for one in walked(self.tree.defs) if isinstance(one, CallExpr))
            self._called = frozenset(one.name for one in calls if isinstance(one, NameExpr | MemberExpr))
        return function in self._called

    def _report(self, checker: TypeChecker, errors: Found) -> None:
        for context, message, code in errors.values():
            checker.fail(message, context, code=code)


def _is_wanted(checker: TypeChecker) -> bool:
    return any(checker.msg.errors.is_error_code_enabled(code) for code in SHAPE_CODES)


def _declared_global(statements: Iterable[Statement]) -> set[str]:
    return {name for node in walked(statements) if isinstance(node, GlobalDecl) for name in node.names}
