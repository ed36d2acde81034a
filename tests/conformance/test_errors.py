"""The text of every deliberate error, the same on every backend and under differentiation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from moonxi.autodiff import constant, variable
from moonxi.errors import AxisError, LabelError, MoonxiError, OperandError, OptionError, ShapeError
from moonxi.key import Key
from moonxi.traits import ImageModelTensor
from tests.conformance.backends import BACKENDS, INTERPRETERS
from tests.conformance.suite import Suite

every_backend = pytest.mark.parametrize("suite", BACKENDS)

type Call = Callable[[Any, Any, Any], object]
"""Of a matrix (2, 3), another (4, 3), and a scalar."""


def _labels(x: Any, *indices: int) -> Any:
    return x.labels(np.array(indices))


WRONG_SHAPES: dict[str, tuple[Call, type[MoonxiError], str]] = {
    # element by element
    **{
        name: (call, ShapeError, f"{operation}: (2, 3) and (4, 3): axis -2 has sizes 2 and 4, which are not equal or 1")
        for name, operation, call in (
            ("__add__", "add", lambda x, y, s: x + y),
            ("__sub__", "subtract", lambda x, y, s: x - y),
            ("__mul__", "multiply", lambda x, y, s: x * y),
            ("__truediv__", "divide", lambda x, y, s: x / (y + 1.0)),
            ("__pow__", "power", lambda x, y, s: x**y),
            ("maximum", "maximum", lambda x, y, s: x.maximum(y)),
            ("minimum", "minimum", lambda x, y, s: x.minimum(y)),
            ("not_equal", "not_equal", lambda x, y, s: x.not_equal(y)),
            ("masked_fill", "masked_fill", lambda x, y, s: y.masked_fill(x > 0.0, 1.0)),
            ("__lt__", "less", lambda x, y, s: x < y),
            ("__le__", "less_equal", lambda x, y, s: x <= y),
            ("__gt__", "greater", lambda x, y, s: x > y),
            ("__ge__", "greater_equal", lambda x, y, s: x >= y),
            ("equal", "equal", lambda x, y, s: x.equal(y)),
        )
    },
    "where": (
        lambda x, y, s: x.where(x <= 0.0, y),
        ShapeError,
        "where: (2, 3) and (2, 3) and (4, 3): axis -2 has sizes 2 and 4, which are not equal or 1",
    ),
    "where, its mask": (
        lambda x, y, s: x.where(y <= 0.0, x),
        ShapeError,
        "where: (4, 3) and (2, 3) and (2, 3): axis -2 has sizes 4 and 2, which are not equal or 1",
    ),
    # matrices
    "matmul": (lambda x, y, s: x.matmul(y), ShapeError, "matmul: (2, 3) @ (4, 3): inner dimensions differ (3 and 4)"),
    "__matmul__": (lambda x, y, s: x @ y, ShapeError, "matmul: (2, 3) @ (4, 3): inner dimensions differ (3 and 4)"),
    "matmul, a vector": (
        lambda x, y, s: x @ y[0],
        ShapeError,
        "matmul: (2, 3) @ (3,): both operands need at least two axes; reshape a vector to one row or one column",
    ),
    "matmul, leading axes": (
        lambda x, y, s: x.broadcast_to((5, 2, 3)) @ y.transpose().broadcast_to((6, 3, 4)),
        ShapeError,
        "matmul (leading axes): (5,) and (6,): axis -1 has sizes 5 and 6, which are not equal or 1",
    ),
    "transpose": (lambda x, y, s: x[0].transpose(), ShapeError, "transpose: (3,): needs at least two axes"),
    # joining and cutting
    "squeeze": (lambda x, y, s: x.squeeze(0), ShapeError, "squeeze: (2, 3), axes (0,): axis 0 has size 2, not 1"),
    "squeeze, no axis": (lambda x, y, s: x.squeeze(2), AxisError, "squeeze: (2, 3), axis 2: axes run from -2 to 1"),
    "unsqueeze": (lambda x, y, s: x.unsqueeze(3), AxisError, "unsqueeze: (1, 1, 1), axis 3: axes run from -3 to 2"),
    "flip": (lambda x, y, s: x.flip((0, 0)), ShapeError, "flip: (2, 3), axes (0, 0): an axis is named twice"),
    "roll": (lambda x, y, s: x.roll(1, 2), AxisError, "roll: (2, 3), axis 2: axes run from -2 to 1"),
    "pad": (
        lambda x, y, s: x.pad(((1, 1),)),
        ShapeError,
        "pad: (2, 3), widths ((1, 1),): there must be one pair (before, after) for each of the 2 axes",
    ),
    "pad, negative": (
        lambda x, y, s: x.pad(((0, 0), (-1, 0))),
        ShapeError,
        "pad: (2, 3), widths ((0, 0), (-1, 0)): a width cannot be negative; cut with x[...]",
    ),
    "tile": (
        lambda x, y, s: x.tile((2,)),
        ShapeError,
        "tile: (2, 3), repeats (2,): there must be one number for each of the 2 axes",
    ),
    "concatenate": (
        lambda x, y, s: x.concatenate(y, axis=1),
        ShapeError,
        "concatenate: (2, 3) and (4, 3), axis 1: all sizes but that of axis 1 must be the same",
    ),
    "concatenate, no axis": (
        lambda x, y, s: x.concatenate(y, axis=2),
        AxisError,
        "concatenate: (2, 3), axis 2: axes run from -2 to 1",
    ),
    "concatenate, scalars": (
        lambda x, y, s: s.concatenate(s, axis=0),
        AxisError,
        "concatenate: (), axis 0: a scalar has no axes",
    ),
    "stack": (lambda x, y, s: x.stack(y, axis=0), ShapeError, "stack: (2, 3) and (4, 3): the shapes must be equal"),
    "split": (
        lambda x, y, s: x.split((1, 1), axis=1),
        ShapeError,
        "split: (2, 3) into (1, 1), axis 1: the parts must add up to 3",
    ),
    "sort": (lambda x, y, s: x.sort(2), AxisError, "argsort: (2, 3), axis 2: axes run from -2 to 1"),
    "topk": (lambda x, y, s: x.topk(4, 1), ShapeError, "topk: (2, 3), axis 1: 4 elements of 3"),
    "take, no axis": (
        lambda x, y, s: x.take(_labels(x, 0), 2),
        AxisError,
        "take: (2, 3), axis 2: axes run from -2 to 1",
    ),
    # reductions
    "prod": (lambda x, y, s: x.prod(2), AxisError, "prod: (2, 3), axis 2: axes run from -2 to 1"),
    "cumsum": (lambda x, y, s: x.cumsum(2), AxisError, "cumsum: (2, 3), axis 2: axes run from -2 to 1"),
    "min, nothing": (
        lambda x, y, s: x[:0].min(0),
        ShapeError,
        "min: (0, 3), axes (0,): there is no element along an axis of size 0",
    ),
    "logsumexp, nothing": (
        lambda x, y, s: x[:0].logsumexp(0),
        ShapeError,
        "logsumexp: (0, 3), axes (0,): there is no element along an axis of size 0",
    ),
    "norm, its order": (
        lambda x, y, s: x.norm(order=0.5),
        OptionError,
        "norm: order 0.5: a norm has an order of at least 1, or math.inf",
    ),
    "clip": (
        lambda x, y, s: x.clip(1.0, -1.0),
        OptionError,
        "clip: from 1.0 to -1.0: the lower bound cannot be greater than the upper",
    ),
    "sum": (lambda x, y, s: x.sum(2), AxisError, "sum: (2, 3), axis 2: axes run from -2 to 1"),
    "sum, a scalar": (lambda x, y, s: s.sum(0), AxisError, "sum: (), axis 0: a scalar has no axes"),
    "sum, twice": (lambda x, y, s: x.sum((0, -2)), ShapeError, "sum: (2, 3), axes (0, -2): an axis is named twice"),
    "mean": (lambda x, y, s: x.mean((0, -3)), AxisError, "mean: (2, 3), axis -3: axes run from -2 to 1"),
    "max": (lambda x, y, s: x.max(5), AxisError, "max: (2, 3), axis 5: axes run from -2 to 1"),
    "max, nothing": (
        lambda x, y, s: x[:0].max(0),
        ShapeError,
        "max: (0, 3), axes (0,): there is no element along an axis of size 0",
    ),
    "argmax": (lambda x, y, s: x.argmax(2), AxisError, "argmax: (2, 3), axis 2: axes run from -2 to 1"),
    "argmax, nothing": (
        lambda x, y, s: x[:, :0].argmax(-1),
        ShapeError,
        "argmax: (2, 0), axes (1,): there is no element along an axis of size 0",
    ),
    "softmax": (lambda x, y, s: x.softmax(2), AxisError, "softmax: (2, 3), axis 2: axes run from -2 to 1"),
    "softmax, nothing": (
        lambda x, y, s: x[:, :0].softmax(1),
        ShapeError,
        "softmax: (2, 0), axes (1,): there is no element along an axis of size 0",
    ),
    "log_softmax": (lambda x, y, s: s.log_softmax(-1), AxisError, "log_softmax: (), axis -1: a scalar has no axes"),
    # shape
    "reshape": (
        lambda x, y, s: x.reshape((4, 2)),
        ShapeError,
        "reshape: (2, 3) to (4, 2): 6 elements cannot become 8",
    ),
    "reshape, -1": (
        lambda x, y, s: x.reshape((4, -1)),
        ShapeError,
        "reshape: (2, 3) to (4, -1): 6 elements cannot be split into rows of 4",
    ),
    "reshape, -1 twice": (
        lambda x, y, s: x.reshape((-1, -1)),
        ShapeError,
        "reshape: (2, 3) to (-1, -1): sizes are not negative, and at most one of them is -1",
    ),
    "permute": (
        lambda x, y, s: x.permute((0,)),
        ShapeError,
        "permute: (2, 3), axes (0,): must name each of the 2 axes once",
    ),
    "permute, twice": (
        lambda x, y, s: x.permute((1, -1)),
        ShapeError,
        "permute: (2, 3), axes (1, -1): an axis is named twice",
    ),
    "broadcast_to": (
        lambda x, y, s: x.broadcast_to((4, 3)),
        ShapeError,
        "broadcast_to: (2, 3) to (4, 3): size 2 is neither 1 nor 4",
    ),
    "broadcast_to, fewer": (
        lambda x, y, s: x.broadcast_to((3,)),
        ShapeError,
        "broadcast_to: (2, 3) to (3,): the result cannot have fewer axes",
    ),
    "sum_to": (
        lambda x, y, s: x.sum_to((2, 2)),
        ShapeError,
        "sum_to: (2, 3) to (2, 2): size 3 can become 1 or stay, not 2",
    ),
    "sum_to, more": (
        lambda x, y, s: x.sum_to((1, 2, 3)),
        ShapeError,
        "sum_to: (2, 3) to (1, 2, 3): the result cannot have more axes",
    ),
    "__getitem__": (
        lambda x, y, s: x[0, -4],
        AxisError,
        "index: (2, 3)[0, -4]: index -4 is outside axis 1 of size 3",
    ),
    "__getitem__, too many": (
        lambda x, y, s: x[:, 0, ..., ::2],
        AxisError,
        "index: (2, 3)[:, 0, ..., ::2]: 3 indices for 2 axes",
    ),
    "__getitem__, ...": (
        lambda x, y, s: x[..., 1:, ...],
        ShapeError,
        "index: (2, 3)[..., 1:, ...]: at most one ... can stand in an index",
    ),
    "__getitem__, step 0": (
        lambda x, y, s: x[None, ::0],
        ShapeError,
        "index: (2, 3)[None, ::0]: the step of a slice cannot be 0",
    ),
    "put_slice": (
        lambda x, y, s: x.put_slice((slice(None, 2), 0), (4, 5)),
        ShapeError,
        "put_slice: (2, 3) into (4, 5): the index selects a part of shape (2,)",
    ),
    "item": (
        lambda x, y, s: x.item(),
        ShapeError,
        "item: (2, 3): needs exactly one element, not 6; reduce it, or use to_host()",
    ),
    # making
    "full": (lambda x, y, s: x.full((2, -1), 0.0), ShapeError, "full: (2, -1): a size cannot be negative"),
    "uniform": (lambda x, y, s: x.uniform((-1,), Key(0)), ShapeError, "uniform: (-1,): a size cannot be negative"),
    "normal": (lambda x, y, s: x.normal((-2,), Key(0)), ShapeError, "normal: (-2,): a size cannot be negative"),
    # classes
    "pick": (
        lambda x, y, s: x.pick(_labels(x, 0, 1, 2)),
        ShapeError,
        "pick: (2, 3), labels (3,): labels must have the shape without its last axis",
    ),
    "pick, a scalar": (
        lambda x, y, s: s.pick(x.labels(np.array(1))),
        ShapeError,
        "pick: (), labels (): labels must have the shape without its last axis",
    ),
    "pick, a label": (
        lambda x, y, s: x.pick(_labels(x, 2, 3)),
        LabelError,
        "pick: labels (2,): label 3 at [1] is not a class from 0 to 2 (1 of 2 labels are outside)",
    ),
    "put": (
        lambda x, y, s: x.put(_labels(x, 0, 1), 4),
        ShapeError,
        "put: (2, 3), labels (2,): there must be one label for each element",
    ),
    "put, a label": (
        lambda x, y, s: x.put(x.labels(np.array([[0, 1, 2], [3, -1, 7]])), 4),
        LabelError,
        "put: labels (2, 3): label -1 at [1, 1] is not a class from 0 to 3 (2 of 6 labels are outside)",
    ),
    "gather": (
        lambda x, y, s: x.gather(x.labels(np.zeros((4, 5), np.int64))),
        ShapeError,
        "gather: (2, 3), labels (4, 5): before the last axis labels have the size of the tensor or 1, not 4 for 2",
    ),
    "gather, no axes": (
        lambda x, y, s: x.gather(x.labels(np.array(0))),
        ShapeError,
        "gather: (2, 3), labels (): labels need at least one axis, and no more axes than the tensor",
    ),
    "gather, a label": (
        lambda x, y, s: x.gather(_labels(x, 0, -1)),
        LabelError,
        "gather: labels (2,): label -1 at [1] is not a class from 0 to 2 (1 of 2 labels are outside)",
    ),
    "scatter_add": (
        lambda x, y, s: x.scatter_add(_labels(x, 0, 1), 4),
        ShapeError,
        "scatter_add: (2, 3), labels (2,): 2 labels for 3 elements along the last axis",
    ),
    "scatter_add, a label": (
        lambda x, y, s: x.scatter_add(_labels(x, 0, 1, 4), 4),
        LabelError,
        "scatter_add: labels (3,): label 4 at [2] is not a class from 0 to 3 (1 of 3 labels are outside)",
    ),
    "one_hot": (
        lambda x, y, s: x.one_hot(_labels(x, 1, 2, 3), 3),
        LabelError,
        "one_hot: labels (3,): label 3 at [2] is not a class from 0 to 2 (1 of 3 labels are outside)",
    ),
    "one_hot, classes": (
        lambda x, y, s: x.one_hot(_labels(x, 1, 2, 3), -1),
        ShapeError,
        "one_hot: (3, -1): a size cannot be negative",
    ),
    "iterate": (
        lambda x, y, s: list(s),
        ShapeError,
        "iterate: (): one element has no parts to loop over; read it with .item() or .to_host()",
    ),
    "iterate, labels": (
        lambda x, y, s: list(x[0].argmax(0)),
        ShapeError,
        "iterate: (): one element has no parts to loop over; read it with .item() or .to_host()",
    ),
    "iterate, a mask": (
        lambda x, y, s: list(s > 0.0),
        ShapeError,
        "iterate: (): one element has no parts to loop over; read it with .item() or .to_host()",
    ),
    # operands of a kind that no tensor takes
    "labels": (
        lambda x, y, s: x.labels(np.zeros(3)),
        OperandError,
        (
            "labels: ndarray of float64 (3,): expected a NumPy array of integers, one class index each; "
            "if these are whole numbers, convert with array.astype(numpy.int64)"
        ),
    ),
    "from_host": (
        lambda x, y, s: x.from_host([1, 2]),
        OperandError,
        "from_host: list: expected a NumPy array of real numbers; convert with numpy.asarray(values)",
    ),
    "from_host, complex": (
        lambda x, y, s: x.from_host(np.zeros((2, 1), np.complex128)),
        OperandError,
        (
            "from_host: ndarray of complex128 (2, 1): expected a NumPy array of real numbers; "
            "convert with numpy.asarray(values)"
        ),
    ),
    "an index that is a list": (
        lambda x, y, s: x[[0, 1]],
        OperandError,
        (
            "index: list [0, 1]: expected an integer, a slice, ... or None; "
            "choose elements by their value with x.where(mask, other)"
        ),
    ),
}


@every_backend
@pytest.mark.parametrize(("call", "error", "text"), WRONG_SHAPES.values(), ids=WRONG_SHAPES.keys())
def test_a_wrong_call_says_what_is_wrong[T: ImageModelTensor](
    suite: Suite[T], call: Call, error: type[MoonxiError], text: str
) -> None:
    x, y, s = suite.like.zeros((2, 3)), suite.like.zeros((4, 3)), suite.like
    for operands in (x, y, s), (variable(x), variable(y), variable(s)), (constant(x), constant(y), constant(s)):
        with pytest.raises(error) as raised:
            call(*operands)
        assert type(raised.value) is error
        assert str(raised.value) == text


BINARY: dict[str, tuple[str, Callable[[Any, Any], object]]] = {
    "+": ("add", lambda x, y: x + y),
    "-": ("subtract", lambda x, y: x - y),
    "*": ("multiply", lambda x, y: x * y),
    "/": ("divide", lambda x, y: x / y),
    "**": ("power", lambda x, y: x**y),
    "maximum": ("maximum", lambda x, y: x.maximum(y)),
    "<": ("less", lambda x, y: x < y),
    "<=": ("less_equal", lambda x, y: x <= y),
    ">": ("greater", lambda x, y: x > y),
    ">=": ("greater_equal", lambda x, y: x >= y),
    "equal": ("equal", lambda x, y: x.equal(y)),
    "where": ("where", lambda x, y: x.where(x <= 0.0, y)),
    "@": ("matmul", lambda x, y: x @ y),
}
every_binary_operation = pytest.mark.parametrize(("operation", "call"), BINARY.values(), ids=BINARY.keys())


@every_backend
@every_binary_operation
@pytest.mark.parametrize("other", ["text", None, 1j, np.zeros((1, 1)), np.float32(1.0), [1.0]], ids=repr)
def test_what_is_no_tensor_and_no_number_is_refused[T: ImageModelTensor](
    suite: Suite[T], operation: str, call: Callable[[Any, Any], object], other: object
) -> None:
    x = suite.like.ones((1, 1))
    for left in x, variable(x):
        with pytest.raises(OperandError) as raised:
            call(left, other)
        assert str(raised.value).startswith(f"{operation}: {type(left).__name__}")
        assert f"] with {'ndarray' if isinstance(other, np.ndarray) else type(other).__name__}" in str(raised.value)


@every_backend
@every_binary_operation
def test_a_plain_tensor_does_not_meet_one_under_differentiation[T: ImageModelTensor](
    suite: Suite[T], operation: str, call: Callable[[Any, Any], object]
) -> None:
    x = suite.like.ones((1, 1))
    plain = f"{type(x).__name__}[{x.dtype.__name__}]"
    grad = type(variable(x)).__name__
    for left, name in (variable(x), f"{grad}[{plain}]"), (variable(variable(x)), f"{grad}[{grad}[{plain}]]"):
        with pytest.raises(OperandError) as raised:
            call(left, x)
        assert str(raised.value) == (
            f"{operation}: {name} with {plain}: both operands must be under differentiation alike; "
            "bring a plain tensor in with constant(x), or take the plain one out with x.value"
        )
        with pytest.raises(OperandError) as raised:
            call(x, left)
        assert str(raised.value).startswith(f"{operation}: {plain} with {grad}")
    with pytest.raises(OperandError):
        call(variable(variable(x)), variable(x))
    with pytest.raises(OperandError):
        call(variable(x), variable(variable(x)))


@every_backend
@pytest.mark.parametrize("operation", ["where", "pick", "put", "gather", "scatter_add"])
def test_masks_and_labels_of_another_level_are_refused[T: ImageModelTensor](suite: Suite[T], operation: str) -> None:
    x = suite.like.ones((1, 1))
    calls: dict[str, Callable[[Any, Any], object]] = {
        "where": lambda x, y: x.where(y <= 0.0, x),
        "pick": lambda x, y: x.pick(y.labels(np.array([0]))),
        "put": lambda x, y: x.put(y.labels(np.array([[0]])), 1),
        "gather": lambda x, y: x.gather(y.labels(np.array([0]))),
        "scatter_add": lambda x, y: x.scatter_add(y.labels(np.array([0])), 1),
    }
    call, kind = calls[operation], "Mask" if operation == "where" else "Labels"
    with pytest.raises(OperandError) as raised:
        call(variable(x), x)
    name, grad = type(x).__name__, type(variable(x)).__name__
    assert str(raised.value) == (
        f"{operation}: {grad}[{name}[{x.dtype.__name__}]] with {kind} of "
        f"{name}[{'Bool' if kind == 'Mask' else 'I64'}]: "
        f"both must be under differentiation alike; bring the {kind.lower()} in with {kind.lower()}.map(constant)"
    )
    with pytest.raises(OperandError, match=f"{operation}: .* with {kind} of {grad}"):
        call(x, variable(x))
    with pytest.raises(OperandError):
        call(variable(x), variable(variable(x)))
    with pytest.raises(OperandError):
        call(variable(variable(x)), variable(x))


FROM_THE_LEFT: dict[str, Callable[[Any, Any], object]] = {
    "+": lambda other, x: other + x,
    "-": lambda other, x: other - x,
    "*": lambda other, x: other * x,
    "/": lambda other, x: other / x,
    "**": lambda other, x: other**x,
    "@": lambda other, x: other @ x,
    "<": lambda other, x: other < x,
    "<=": lambda other, x: other <= x,
    ">": lambda other, x: other > x,
    ">=": lambda other, x: other >= x,
    "numpy.add": lambda other, x: np.add(other, x),
}


@pytest.mark.parametrize("suite", INTERPRETERS)
@pytest.mark.parametrize("call", FROM_THE_LEFT.values(), ids=FROM_THE_LEFT.keys())
@pytest.mark.parametrize("other", [np.ones((1, 1)), np.float32(1.0), "1", None, 1j], ids=repr)
def test_on_the_left_of_a_tensor_stands_no_array_and_no_text[T: ImageModelTensor](
    suite: Suite[T], call: Callable[[Any, Any], object], other: object
) -> None:
    x = suite.like.ones((1, 1))
    for right in x, variable(x):
        with pytest.raises(TypeError):
            call(other, right)


@pytest.mark.parametrize("suite", INTERPRETERS)
def test_no_function_of_numpy_takes_a_tensor[T: ImageModelTensor](suite: Suite[T]) -> None:
    square_root: Callable[[Any], object] = np.sqrt
    for x in suite.like, variable(suite.like):
        with pytest.raises(TypeError, match="does not support ufuncs"):
            square_root(x)
