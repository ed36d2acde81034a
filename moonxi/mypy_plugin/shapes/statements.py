"""Statements, run on shapes alone: each branch by itself, each loop once with all that it changes unknown."""

from collections.abc import Iterable

from mypy.nodes import (
    AssertStmt,
    AssignmentStmt,
    Block,
    BreakStmt,
    CallExpr,
    ContinueStmt,
    DelStmt,
    Expression,
    ExpressionStmt,
    ForStmt,
    FuncDef,
    IfStmt,
    ListExpr,
    MatchStmt,
    MemberExpr,
    NameExpr,
    Node,
    OperatorAssignmentStmt,
    RaiseStmt,
    ReturnStmt,
    StarExpr,
    Statement,
    TryStmt,
    TupleExpr,
    WhileStmt,
    WithStmt,
)
from mypy.types import TypeAliasType

from moonxi.mypy_plugin.shapes.attached import attached
from moonxi.mypy_plugin.shapes.bindings import bound_names
from moonxi.mypy_plugin.shapes.calls import problem, returned
from moonxi.mypy_plugin.shapes.expressions import binary, decided, evaluated
from moonxi.mypy_plugin.shapes.marker import is_mark
from moonxi.mypy_plugin.shapes.objects import Maker, Object
from moonxi.mypy_plugin.shapes.run import Run
from moonxi.mypy_plugin.shapes.values import UNKNOWN, shape_of

_EXPECT_ERRORS = ("raises", "suppress", "assertRaises")


def run_block(run: Run, statements: Iterable[Statement]) -> bool:
    """Run statements in order; whether what follows them is never reached."""
    return any(_ends(run, one) for one in statements)


def _ends(run: Run, node: Statement) -> bool:
    match node:
        case AssignmentStmt():
            _assign(run, node)
        case OperatorAssignmentStmt():
            left, right = evaluated(run, node.lvalue), evaluated(run, node.rvalue)
            _bind(run, node.lvalue, binary(run, node, node.op, (node.lvalue, left), (node.rvalue, right)))
        case ExpressionStmt() if not is_mark(node):
            evaluated(run, node.expr)
        case ReturnStmt():
            returned(run, evaluated(run, node.expr), run.result, node)
            return True
        case AssertStmt():
            return decided(run, node.expr) is False
        case RaiseStmt() | BreakStmt() | ContinueStmt():
            return True
        case IfStmt():
            return _branches(run, node)
        case ForStmt():
            evaluated(run, node.expr)
            _loop(run, node, [node.body, node.else_body])
        case WhileStmt():
            _forget(run, [node.body])
            decided(run, node.expr)
            _loop(run, node, [node.body, node.else_body])
        case WithStmt():
            return _with(run, node)
        case TryStmt():
            return _try(run, node)
        case MatchStmt():
            evaluated(run, node.subject)
            _forget(run, [node])
            for body in node.bodies:
                _apart(run, body)
            _forget(run, [node])
        case Block():
            return run_block(run, node.body)
        case DelStmt() | FuncDef():
            _forget(run, [node])
    return False


def _assign(run: Run, node: AssignmentStmt) -> None:
    value = evaluated(run, node.rvalue)
    text = attached(node.type) if node.unanalyzed_type is not None else None
    if text is not None:
        # An alias is written for many places: its names are not those of this function.
        fresh = run.equations.fresh
        maker = Maker(lambda name: fresh(), fresh) if isinstance(node.type, TypeAliasType) else run.maker
        found = problem(run, maker, text, value)
        if found is not None:
            run.report(f"assignment: {found}", node)
        if found is not None or shape_of(value) is None:
            value = maker.value(node.type, "")
        run.annotate(value, text)
    for target in node.lvalues:
        _bind(run, target, value)


def _bind(run: Run, target: Expression, value: object) -> None:
    match target:
        case NameExpr():
            run.values[target.name] = value
        case StarExpr():
            _bind(run, target.expr, UNKNOWN)
        case MemberExpr():
            owner = evaluated(run, target.expr)
            if isinstance(owner, Object):
                owner.fields[target.name] = UNKNOWN
        case TupleExpr() | ListExpr():
            whole = isinstance(value, tuple) and len(value) == len(target.items)
            starred = any(isinstance(one, StarExpr) for one in target.items)
            for place, one in enumerate(target.items):
                _bind(run, one, value[place] if isinstance(value, tuple) and whole and not starred else UNKNOWN)


def _branches(run: Run, node: IfStmt) -> bool:
    ends: list[dict[str, object]] = []
    known = run.equations.known()
    for condition, body in zip(node.expr, node.body, strict=True):
        holds = decided(run, condition)
        if holds is False:
            continue
        before = dict(run.values)
        if not run_block(run, body.body):
            ends.append(run.values)
        run.values = before
        if holds is True:
            break
        run.equations.forget(dict(known))
    else:
        if node.else_body is None or not run_block(run, node.else_body.body):
            ends.append(run.values)
        run.equations.forget(dict(known))
    if ends:
        run.merge(ends)
    return not ends


def _loop(run: Run, node: ForStmt | WhileStmt, bodies: list[Block | None]) -> None:
    _forget(run, [node])
    for body in bodies:
        if body is not None:
            _apart(run, body)
    _forget(run, [node])


def _apart(run: Run, body: Block) -> None:
    """Run what may not be reached at all, so that nothing follows from it for what comes after."""
    before, known = dict(run.values), run.equations.known()
    run_block(run, body.body)
    run.values = before
    run.equations.forget(known)


def _with(run: Run, node: WithStmt) -> bool:
    for expression, target in zip(node.expr, node.target, strict=True):
        evaluated(run, expression)
        if target is not None:
            _bind(run, target, UNKNOWN)
    if any(_expects_errors(one) for one in node.expr):
        with run.quiet():
            _apart(run, node.body)
        _forget(run, [node])
        return False
    return run_block(run, node.body.body)


def _expects_errors(node: Expression) -> bool:
    callee = node.callee if isinstance(node, CallExpr) else None
    return isinstance(callee, NameExpr | MemberExpr) and callee.name in _EXPECT_ERRORS


def _try(run: Run, node: TryStmt) -> bool:
    if node.handlers:  # an error may be what the code is there for
        with run.quiet():
            _apart(run, node.body)
        _forget(run, [node.body])
        for handler in node.handlers:
            _apart(run, handler)
        _forget(run, [node])
        return False
    ended = run_block(run, node.body.body)
    return (run_block(run, node.finally_body.body) if node.finally_body is not None else False) or ended


def _forget(run: Run, nodes: Iterable[Node | None]) -> None:
    """Of the names that the nodes bind nothing is known any more."""
    for name in bound_names(nodes):
        run.values[name] = UNKNOWN
