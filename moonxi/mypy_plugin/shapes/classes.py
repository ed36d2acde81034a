"""Probabilities along the axis that they are meant for: a softmax goes over classes, and not over samples.

Only the names in annotations say which axis is which, and only a few names do.
"""

import re
from typing import Final

from mypy.nodes import (
    CallExpr,
    Context,
    Expression,
    FuncDef,
    IndexExpr,
    IntExpr,
    MemberExpr,
    ReturnStmt,
    UnaryExpr,
)

from moonxi import shapes
from moonxi.dims import Dim
from moonxi.mypy_plugin.messages import TENSOR_AXIS
from moonxi.mypy_plugin.module_map import is_module
from moonxi.mypy_plugin.shapes.objects import Object
from moonxi.mypy_plugin.shapes.run import Run
from moonxi.mypy_plugin.shapes.values import UNKNOWN, shape_of
from moonxi.mypy_plugin.shapes.walk import walked
from moonxi.shapes import Sizes

_OVER_AN_AXIS: Final = ("softmax", "log_softmax")
_OF_CLASSES: Final = ("Logits", "LogProbs", "Probs")
_SAMPLES: Final = re.compile(r"batch\d*")  # with a number where it is one of several axes, "*batch"
_FEW_SAMPLES: Final = ("n", "b", "samples", "examples")
"""Names that mean samples where the only other axis is that of the classes."""
_CLASSES: Final = ("classes", "n_classes", "num_classes")
_QUERIES: Final = ("queries", "query", "q", "targets")
_KEYS: Final = ("keys", "key", "k", "sources")
_PLACES: Final = ("h", "w", "height", "width", "pixels")
"""Places in an image. Other axes beside classes, such as queries or time, can be what is chosen among."""


def check_softmax(
    run: Run, node: Context, operation: str, operand: tuple[Expression, object], axis: object, result: object
) -> None:
    """Report a softmax along the axis of the samples, or past that of the classes."""
    shape = shape_of(operand[1])
    if operation not in _OVER_AN_AXIS or shape is None or not isinstance(axis, int):
        return
    if len(shape) > 1:
        run.note_normalised(result, axis)
    found = _passed(run.equations.shape(shape), axis)
    if found is not None:
        run.report(f"{operation}: {found}{run.said(operand)}", node, TENSOR_AXIS)


def check_last_axis(run: Run, node: Context, scores: str, operand: tuple[Expression, object]) -> None:
    """Report scores of classes whose last axis is another."""
    shape = shape_of(operand[1])
    if scores not in _OF_CLASSES or not shape:
        return
    shape = run.equations.shape(shape)
    along = run.normalised.get(id(operand[1]))
    if along is not None and along % len(shape) != len(shape) - 1:
        run.report(
            f"{scores}: {shapes.show(shape)}: the classes are along the last axis, and the softmax went over axis "
            f"{along}{run.said(operand)}",
            node,
            TENSOR_AXIS,
        )
    names = [_name(size) for size in shape]
    if names[-1] and names[-1] not in _CLASSES and any(name in _CLASSES for name in names):
        run.report(
            f"{scores}: {shapes.show(shape)}: the last axis is that of the classes, and here it is {names[-1]}; "
            f"permute the axes first{run.said(operand)}",
            node,
            TENSOR_AXIS,
        )


def axis_of_softmax(function: FuncDef) -> int | None:
    """Along which axis a function's one result is made to sum to 1, if a softmax is the last thing that it does."""
    results = [one.expr for one in walked(function.body.body) if isinstance(one, ReturnStmt)]
    match results:
        case [CallExpr(callee=MemberExpr(name="softmax"), args=[IntExpr(value=axis)])]:
            return axis
        case [CallExpr(callee=MemberExpr(name="softmax"), args=[UnaryExpr(op="-", expr=IntExpr(value=axis))])]:
            return -axis
    return None


def check_weights(run: Run, node: Context, weights: tuple[Expression, object]) -> None:
    """Report attention whose weights sum to 1 over the queries where the product adds up over the keys.

    Other weights may be meant to: those of points that are shared out among clusters, for one."""
    shape, axis = shape_of(weights[1]), run.normalised.get(id(weights[1]))
    if shape is None or axis is None or axis % len(shape) != len(shape) - 2:
        return
    over, summed = map(_name, run.equations.shape(shape)[-2:])
    if (over in _QUERIES and summed in _KEYS) or (over and over == summed and len(shape) > 2):
        run.report(
            f"matmul: {shapes.show(shape)}: the product adds up along the last axis, {summed}, and the softmax went "
            f"over axis {axis}: softmax(-1) makes weights that sum to 1 there",
            node,
            TENSOR_AXIS,
        )


def check_rows(run: Run, node: IndexExpr, base: object, index: object) -> None:
    """Report ``self.table[: x.shape[1]]`` where that is the batch: a parameter has no rows for the samples."""
    first = index[0] if isinstance(index, tuple) and index else index
    shape = shape_of(base)
    if not shape or not isinstance(first, slice) or first.start is not None:
        return
    stop: object = first.stop
    if not _SAMPLES.fullmatch(_name(stop)) or shape[0] == stop:
        return
    owner = node.base.expr if isinstance(node.base, MemberExpr) else None
    holder = run.around.evaluate(run, owner) if owner is not None else UNKNOWN
    if isinstance(holder, Object) and is_module(holder.info):
        run.report(
            f"index: {shapes.show(shape)} up to {stop}: a parameter gets as many rows as there are samples, and each "
            "sample one that depends on its place in the batch; count along another axis",
            node,
            TENSOR_AXIS,
        )


def _passed(shape: Sizes, axis: int) -> str | None:
    names = [_name(size) for size in shape]
    if len(shape) < 2 or not -len(shape) <= axis < len(shape) or names.count(names[axis]) > 1:
        return None  # an axis that is there twice, as in "batch batch", can be meant
    name, classes = names[axis], [one for one in names if one in _CLASSES]
    if name in classes or not name:
        return None
    where = f"{shapes.show(shape)}, axis {axis}"
    if _SAMPLES.fullmatch(name) or (name in _FEW_SAMPLES and classes and len(shape) == 2):
        return f"{where}: over {name}, which makes each sample depend on the others"
    return f"{where}: over {name}, and not over {classes[0]}" if classes and name in _PLACES else None


def _name(size: object) -> str:
    """The name that a size has in an annotation; empty for any other size."""
    return str(size) if isinstance(size, Dim) and str(size).isidentifier() else ""
