"""Runs an operation on shapes, by `ShapeTensor` itself: no rule is written a second time."""

import operator
from collections.abc import Callable, Mapping, Sequence

from moonxi import shapes
from moonxi.dims import Dim, Size, provably_different, unknowns
from moonxi.errors import ShapeError
from moonxi.losses import BinaryLogits, BinaryProbs, Logits, LogProbs, Probs
from moonxi.mypy_plugin.shapes.equations import Equations, certainly_differ
from moonxi.mypy_plugin.shapes.values import SCORES, TENSOR, UNKNOWN, Shaped, is_known
from moonxi.shape_tensor import ShapeTensor
from moonxi.traits import Labels, Mask

_OPERATORS: Mapping[str, Callable[..., object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NEED_EQUAL = ("matmul", "conv2d", "conv_transpose2d", "reshape", "concatenate", "stack", "split", "squeeze")
"""Operations that broadcast nothing (`matmul` of matrices): a size that has to be equal to another is it."""
_LIKE_ME = ("zeros", "ones", "full", "uniform", "normal")
_VALUES = ("item", "to_host", "from_host")


def operated(symbol: str, left: object, right: object, equations: Equations) -> object:
    """The result of an operator between two values. Raises `ShapeError`."""
    function = _OPERATORS.get(symbol)
    if function is None or not is_known(left) or not is_known(right):
        return TENSOR if function is not None and (left is TENSOR or right is TENSOR) else UNKNOWN
    if symbol == "@":
        return called("matmul", left, [right], {}, equations)
    left, right = resolved(left, equations), resolved(right, equations)
    result = guarded(lambda: function(left, right), equations, equal=False)
    if isinstance(left, ShapeTensor) and isinstance(right, ShapeTensor) and isinstance(result, ShapeTensor):
        return _broadcast(left, right, result, equations)
    return result


def called(
    name: str, receiver: object, positional: Sequence[object], named: Mapping[str, object], equations: Equations
) -> object:
    """The result of a method of a tensor, of labels or of a mask. Raises `ShapeError`."""
    if name in _LIKE_ME and (receiver is TENSOR or isinstance(receiver, ShapeTensor)):
        receiver, name, positional, named = ShapeTensor(()), "zeros", positional[:1], {}
    if name == "from_host" and len(positional) == 1 and isinstance(positional[0], Shaped):
        return ShapeTensor(equations.shape(positional[0].shape))
    arguments = [*positional, *named.values()]
    if (
        not isinstance(receiver, (ShapeTensor, Labels, Mask, *SCORES))
        or name in _VALUES
        or (name.startswith("_") and name != "__getitem__")
    ):
        return UNKNOWN
    if not all(map(is_known, arguments)):
        return UNKNOWN
    here = resolved(receiver, equations)
    tensors = [one for one in (receiver, *arguments) if isinstance(one, ShapeTensor)]
    equal = name in _NEED_EQUAL and (name != "matmul" or all(len(one.shape) == 2 for one in tensors))
    if name == "matmul" and len(positional) == 1:
        _meet_inside(here, positional[0], equations)
        here = resolved(receiver, equations)
    given = [resolved(one, equations) for one in positional]
    options = {key: resolved(one, equations) for key, one in named.items()}
    return guarded(lambda: getattr(here, name)(*given, **options), equations, equal=equal)


def _meet_inside(left: object, right: object, equations: Equations) -> None:
    """The inner sizes of a product are equal; those of axes before them may be 1."""
    if isinstance(left, ShapeTensor) and isinstance(right, ShapeTensor) and min(len(left.shape), len(right.shape)) > 1:
        with equations.solving(equal=True):
            shapes.differ(left.shape[-1], right.shape[-2])


def guarded(
    run: Callable[[], object],
    equations: Equations,
    *,
    equal: bool,
    judge: Callable[[Size, Size], bool] = certainly_differ,
) -> object:
    """The result; what fails in another way than by its shapes is mypy's to report, or needs what is not known."""
    before = equations.known()
    try:
        with equations.solving(equal=equal, judge=judge):
            result = run()
    except ShapeError:
        equations.forget(before)
        raise
    except Exception:
        equations.forget(before)
        return UNKNOWN
    return UNKNOWN if result is None or callable(result) else result


def resolved(value: object, equations: Equations) -> object:
    """The value with what has been found in place of unknown sizes."""
    match value:
        case ShapeTensor():
            return ShapeTensor(equations.shape(value.shape), value.dtype)
        case Labels() if isinstance(value.carrier, ShapeTensor):
            return Labels(ShapeTensor(equations.shape(value.carrier.shape), value.carrier.dtype))
        case Mask() if isinstance(value.carrier, ShapeTensor):
            return Mask(ShapeTensor(equations.shape(value.carrier.shape), value.carrier.dtype))
        case BinaryLogits() | BinaryProbs() | Logits() | LogProbs() | Probs():
            return value.map(lambda one: ShapeTensor(equations.shape(one.shape), one.dtype))
        case tuple():
            return tuple(resolved(one, equations) for one in value)
        case Dim():
            return equations.size(value)
    return value


def _broadcast(left: ShapeTensor, right: ShapeTensor, result: ShapeTensor, equations: Equations) -> ShapeTensor:
    """The result, in which an unknown size that may be 1 does not stand for the size that it meets."""
    shape: list[Size] = []
    for place, size in enumerate(result.shape, -len(result.shape)):
        met: list[Size] = [one.shape[place] for one in (left, right) if -place <= len(one.shape)]
        met = [one for number, one in enumerate(met) if one != 1 and one not in met[:number]]
        certain = [one for one in met if not unknowns(one) and provably_different(one, 1)]
        if len(met) < 2 or not any(map(unknowns, met)):
            shape.append(size)
        else:
            shape.append(certain[0] if certain else equations.fresh())
    return ShapeTensor(tuple(shape), result.dtype)
