"""Loops: over what is known element by element, else once for any element."""

from collections.abc import Callable
from contextlib import nullcontext

from mypy.nodes import BreakStmt, ContinueStmt, ForStmt, Statement, WhileStmt

from moonxi.mypy_plugin.shapes.bindings import bound_names
from moonxi.mypy_plugin.shapes.builtin_functions import elements
from moonxi.mypy_plugin.shapes.expressions import decided
from moonxi.mypy_plugin.shapes.run import Run, Stop
from moonxi.mypy_plugin.shapes.targets import bind
from moonxi.mypy_plugin.shapes.values import UNKNOWN, Each, joined
from moonxi.mypy_plugin.shapes.walk import walked

_PASSES = 4


def run_for(run: Run, node: ForStmt) -> bool:
    """Run a loop over elements; whether what follows it is never reached."""
    items = elements(run.around.evaluate(run, node.expr))
    if isinstance(items, tuple) and not node.is_async and not _is_left(node.body.body):
        for item in items:
            bind(run, node.index, item)
            if run.around.execute(run, node.body.body):
                return True
    else:
        known = items.item if isinstance(items, Each) and not node.is_async else lambda: UNKNOWN
        _run_repeatedly(run, node, lambda: bind(run, node.index, known()))
    return _else(run, node)


def run_while(run: Run, node: WhileStmt) -> bool:
    """Run a loop with a condition; whether what follows it is never reached."""
    _run_repeatedly(run, node, lambda: decided(run, node.expr))
    return _else(run, node)


def _else(run: Run, node: ForStmt | WhileStmt) -> bool:
    if node.else_body is None:
        return False
    before = dict(run.values)
    with run.tried():
        run.around.execute(run, node.else_body.body)
    run.values = before | dict.fromkeys(bound_names([node.else_body]), UNKNOWN)
    return False


def _run_repeatedly(run: Run, node: ForStmt | WhileStmt, start: Callable[[], object]) -> None:
    """Run a body that may be run any number of times, with what is the same before and after each."""
    known, bound = run.equations.known(), set(bound_names([node]))
    state = dict(run.values)
    if _is_left(node.body.body):
        state |= dict.fromkeys(bound, UNKNOWN)
    else:
        for number in range(_PASSES):
            after = _after(run, node, start, state, first=number == 0)
            run.equations.forget(dict(known))
            merged = {name: joined(value, after.get(name, UNKNOWN)) for name, value in state.items()}
            if all(_same(merged[name], value) for name, value in state.items()):
                break
            state = merged
        else:
            state |= dict.fromkeys(bound, UNKNOWN)
    run.values = dict(state)
    start()
    run.around.execute(run, node.body.body)
    run.equations.forget(known)
    run.values = {name: UNKNOWN for name in bound if name not in state} | state


def _after(
    run: Run, node: ForStmt | WhileStmt, start: Callable[[], object], state: dict[str, object], *, first: bool
) -> dict[str, object]:
    """The values at the end of one pass. In the first one errors that no branch avoids are what happens."""
    run.values = dict(state)
    before, run.certain = run.certain, True
    try:
        with nullcontext() if first else run.quiet():
            start()
            run.around.execute(run, node.body.body)
    except Stop:
        return {}
    finally:
        run.certain = before
    return run.values


def _same(left: object, right: object) -> bool:
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    return left is right or (isinstance(left, int) and left == right)


def _is_left(statements: list[Statement]) -> bool:
    """Whether a ``break`` or ``continue`` leaves the body at another place than its end; or a loop within it."""
    return any(isinstance(node, BreakStmt | ContinueStmt) for node in walked(statements))
