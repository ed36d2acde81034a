"""Errors of the rules, put where the operation is written."""

from collections.abc import Callable

from mypy.nodes import (
    Context,
    Expression,
)

from moonxi.errors import ShapeError
from moonxi.mypy_plugin.messages import TENSOR_BROADCAST
from moonxi.mypy_plugin.shapes.meaning import meets_itself
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
    """Report a broadcast of an axis against itself."""
    before, after, whole = (shape_of(one) for one in (left[1], right[1], result))
    if before is not None and after is not None and whole is not None:
        found = meets_itself(*map(run.equations.shape, (before, after, whole)))
        if found is not None:
            run.report(f"{operation}: {found}{run.said(left, right)}", node, TENSOR_BROADCAST)


def reported(run: Run, node: Context, run_rule: Callable[[], object], *operands: tuple[Expression, object]) -> object:
    """The result of a rule; what it raises is reported at the node, with what annotations say of the operands."""
    try:
        return run_rule()
    except ShapeError as error:
        run.report(f"{error}{run.said(*operands)}", node)
        return UNKNOWN
