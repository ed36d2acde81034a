"""Errors of the rules, put where the operation is written."""

from collections.abc import Callable

from mypy.nodes import (
    CallExpr,
    Context,
    Expression,
    IndexExpr,
    MemberExpr,
    NameExpr,
)

from moonxi.errors import ShapeError
from moonxi.mypy_plugin.messages import TENSOR_BROADCAST, TENSOR_RESHAPE
from moonxi.mypy_plugin.shapes.meaning import is_of_pairs, is_padded, meets_itself, mixes_up
from moonxi.mypy_plugin.shapes.run import Run
from moonxi.mypy_plugin.shapes.values import (
    UNKNOWN,
    shape_of,
)


def report_meeting(
    run: Run,
    node: Context,
    operation: str,
    left: tuple[Expression, object],
    right: tuple[Expression, object],
    result: object,
) -> None:
    """Report a broadcast of an axis against itself, unless its result is annotated with that axis twice later on."""
    before, after, whole = (shape_of(one) for one in (left[1], right[1], result))
    if before is None or after is None or whole is None:
        return
    before, after, whole = map(run.equations.shape, (before, after, whole))
    found = meets_itself(before, after, whole)
    if found is None:
        for (_, one), (_, other), shape in ((left, right, after), (right, left, before)):
            if is_of_pairs(shape) and not run.suspicions.of(other, TENSOR_BROADCAST):
                run.meant(one, TENSOR_BROADCAST)  # combined with what is annotated as a matrix of pairs
        run.suspicions.pass_on(result, left[1], right[1], code=TENSOR_BROADCAST)
    elif _origin(left[0]) is None or _origin(left[0]) != _origin(right[0]):
        run.suspect(result, f"{operation}: {found}{run.said(left, right)}", node, TENSOR_BROADCAST)


def report_mixing(run: Run, node: Context, operand: tuple[Expression, object], result: object) -> None:
    """Report a reshape that mixes named axes up, unless it shifts rows.

    To shift each row by one more than the row before it, rows that have been padded are read in another length, and
    what is too much is cut off; a further reshape puts the axes back to where they were."""
    before, after = shape_of(operand[1]), shape_of(result)
    if before is None or after is None or run.suspicions.of(operand[1], TENSOR_RESHAPE) & run.suspicions.cleared:
        return
    mixed = mixes_up(run.equations.shape(before), run.equations.shape(after))
    if mixed is not None:
        run.suspect(result, f"{mixed}{run.said(operand)}", node, TENSOR_RESHAPE)


def follow_part(run: Run, whole: object, part: object) -> None:
    """What was reported of the whole holds for a part of it; but cut rows have been shifted on purpose."""
    before, after = shape_of(whole), shape_of(part)
    if before is not None and after is not None and len(before) == len(after):
        if any(is_padded(one) and one != other for one, other in zip(before, after, strict=True)):
            run.meant(whole, TENSOR_RESHAPE)
        run.suspicions.pass_on(part, whole, code=TENSOR_RESHAPE)
    run.suspicions.pass_on(part, whole, code=TENSOR_BROADCAST)


def _origin(node: Expression) -> str | None:
    """The name of the vector that is turned into a column: ``x`` of ``x[:, None]`` and ``x.unsqueeze(1)``.

    That against itself, ``x[:, None] - x``, makes pairs on purpose: each with its own would be nothing."""
    match node:
        case NameExpr():
            return node.name
        case IndexExpr():
            return _origin(node.base)
        case CallExpr(callee=MemberExpr(name="unsqueeze" | "reshape", expr=base)):
            return _origin(base)
    return None


def reported(run: Run, node: Context, run_rule: Callable[[], object], *operands: tuple[Expression, object]) -> object:
    """The result of a rule; what it raises is reported at the node, with what annotations say of the operands."""
    try:
        return run_rule()
    except ShapeError as error:
        run.report(f"{error}{run.said(*operands)}", node)
        return UNKNOWN
