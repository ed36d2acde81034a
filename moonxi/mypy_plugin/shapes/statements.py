"""Statements, run on shapes alone: each branch by itself, and what is known in both of them after it."""

from collections.abc import Iterable

from mypy.nodes import (
    AssertStmt,
    AssignmentStmt,
    Block,
    BreakStmt,
    CallExpr,
    ClassDef,
    ContinueStmt,
    Decorator,
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
from moonxi.mypy_plugin.shapes.bindings import bound_names, captured_names
from moonxi.mypy_plugin.shapes.calls import problem, returned
from moonxi.mypy_plugin.shapes.expressions import binary, decided, evaluated
from moonxi.mypy_plugin.shapes.functions import has_body
from moonxi.mypy_plugin.shapes.loops import run_for, run_while
from moonxi.mypy_plugin.shapes.marker import is_mark
from moonxi.mypy_plugin.shapes.objects import Maker
from moonxi.mypy_plugin.shapes.run import Run
from moonxi.mypy_plugin.shapes.scalar_losses import check_result
from moonxi.mypy_plugin.shapes.targets import bind
from moonxi.mypy_plugin.shapes.values import UNKNOWN, Function, joined, shape_of

_EXPECT_ERRORS = ("raises", "suppress", "assertRaises")


def run_block(run: Run, statements: Iterable[Statement]) -> bool:
    """Run statements in order; whether what follows them is never reached."""
    return any(_ends(run, one) for one in statements)


def _ends(run: Run, node: Statement) -> bool:
    run.around.step()
    match node:
        case AssignmentStmt():
            _assign(run, node)
        case OperatorAssignmentStmt():
            left, right = evaluated(run, node.lvalue), evaluated(run, node.rvalue)
            bind(run, node.lvalue, binary(run, node, node.op, (node.lvalue, left), (node.rvalue, right)))
        case ExpressionStmt() if not is_mark(node):
            evaluated(run, node.expr)
        case ReturnStmt():
            value = evaluated(run, node.expr)
            if run.returns is not None:
                run.returns.append(value)
            returned(run, value, run.result, node)
            check_result(run, value, node)
            return True
        case AssertStmt():
            return decided(run, node.expr) is False
        case RaiseStmt() | BreakStmt() | ContinueStmt():
            return True
        case IfStmt():
            return _branches(run, node)
        case ForStmt():
            return run_for(run, node)
        case WhileStmt():
            return run_while(run, node)
        case WithStmt():
            return _with(run, node)
        case TryStmt():
            return _try(run, node)
        case MatchStmt():
            _match(run, node)
        case Block():
            return run_block(run, node.body)
        case FuncDef():
            _define(run, node)
        case DelStmt() | Decorator() | ClassDef():
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
        _report_miscount(run, node, target, value)
        bind(run, target, value)


def _report_miscount(run: Run, node: AssignmentStmt, target: Expression, value: object) -> None:
    """Report ``n, d = x.shape`` of a tensor with another number of axes; of other tuples mypy knows the length."""
    of_shape = isinstance(node.rvalue, MemberExpr) and node.rvalue.name == "shape"
    names = target.items if isinstance(target, TupleExpr | ListExpr) else []
    plain = names and not any(isinstance(one, StarExpr) for one in names)
    if of_shape and plain and isinstance(value, tuple) and len(value) != len(names):
        sizes = ", ".join(map(str, value)) + ("," if len(value) == 1 else "")
        run.report(f"shape: ({sizes}) has not {len(names)} sizes but {len(value)}", node)


def _branches(run: Run, node: IfStmt) -> bool:
    with run.branching():
        return _run_branches(run, node)


def _run_branches(run: Run, node: IfStmt) -> bool:
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


def _match(run: Run, node: MatchStmt) -> None:
    evaluated(run, node.subject)
    ends = []
    for pattern, guard, body in zip(node.patterns, node.guards, node.bodies, strict=True):
        with run.branching(), run.tried():
            for name in captured_names(pattern):
                run.values[name] = UNKNOWN
            evaluated(run, guard)
            if not run_block(run, body.body):
                ends.append(run.values)
    # One of the cases applies, or none; a name that is not there before comes from one of them.
    before = run.values
    for name in {*bound_names([node])}:
        values = [end[name] for end in ends if name in end] + [before[name] for _ in (0,) if name in before]
        value = values[0] if values else UNKNOWN
        for other in values[1:]:
            value = joined(value, other)
        run.values[name] = value


def _define(run: Run, node: FuncDef) -> None:
    """A function within a function: checked on its own with the names around it that stand for one value."""
    outside = {name: value for name, value in run.values.items() if name in run.once}
    run.values[node.name] = Function(node, None, outside) if has_body(node) else UNKNOWN
    if len(run.chain) == 1:
        run.around.define(run, node, outside)


def _apart(run: Run, body: Block) -> None:
    """Run what may not be reached at all, so that nothing follows from it for what comes after."""
    with run.branching(), run.tried():
        run_block(run, body.body)


def _with(run: Run, node: WithStmt) -> bool:
    for expression, target in zip(node.expr, node.target, strict=True):
        evaluated(run, expression)
        if target is not None:
            bind(run, target, UNKNOWN)
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
