"""Probabilities along the axis that they are meant for: a softmax goes over classes, and not over samples.

Only the names in annotations say which axis is which, and only a few names do.
"""

import re
from typing import Final

from mypy.nodes import Context, Expression

from moonxi import shapes
from moonxi.dims import Dim
from moonxi.mypy_plugin.messages import TENSOR_AXIS
from moonxi.mypy_plugin.shapes.run import Run
from moonxi.mypy_plugin.shapes.values import shape_of
from moonxi.shapes import Sizes

_OVER_AN_AXIS: Final = ("softmax", "log_softmax")
_OF_CLASSES: Final = ("Logits", "LogProbs", "Probs")
_SAMPLES: Final = re.compile(r"batch\d*")  # with a number where it is one of several axes, "*batch"
_CLASSES: Final = ("classes", "n_classes", "num_classes")


def check_softmax(run: Run, node: Context, operation: str, operand: tuple[Expression, object], axis: object) -> None:
    """Report a softmax along the axis of the samples, or along another than that of the classes."""
    shape = shape_of(operand[1])
    if operation not in _OVER_AN_AXIS or shape is None or not isinstance(axis, int):
        return
    found = _passed(run.equations.shape(shape), axis)
    if found is not None:
        run.report(f"{operation}: {found}{run.said(operand)}", node, TENSOR_AXIS)


def check_last_axis(run: Run, node: Context, scores: str, operand: tuple[Expression, object]) -> None:
    """Report scores of classes whose last axis is another."""
    shape = shape_of(operand[1])
    if scores not in _OF_CLASSES or not shape:
        return
    shape = run.equations.shape(shape)
    names = [_name(size) for size in shape]
    if names[-1] and names[-1] not in _CLASSES and any(name in _CLASSES for name in names):
        run.report(
            f"{scores}: {shapes.show(shape)}: the last axis is that of the classes, and here it is {names[-1]}; "
            f"permute the axes first{run.said(operand)}",
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
    if classes:
        return f"{where}: over {name}, and not over {classes[0]}"
    if _SAMPLES.fullmatch(name):
        return f"{where}: over {name}, which makes each sample depend on the others"
    return None


def _name(size: object) -> str:
    """The name that a size has in an annotation; empty for any other size."""
    return str(size) if isinstance(size, Dim) and str(size).isidentifier() else ""
