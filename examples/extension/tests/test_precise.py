"""The column: what moonxi computes on NumPy it computes here, with more digits."""

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moonxi_more import Precise, precise

import moonxi as mx
from moonxi import nn
from moonxi.errors import LabelError, OperandError, ShapeError
from moonxi.losses import Logits, cross_entropy

LIKE = precise(40)
DOUBLE = mx.numpy(mx.F64)


def many[T: mx.MlpTensor](x: T, y: T, m: T) -> dict[str, T]:
    """Of matrices (3, 4), (1, 4) and (4, 2): the primitives, and much that is derived from them."""
    labels = x.labels(np.array([0, 3, 1]))
    positive = x * x + 0.5
    return {
        "add": x + y,
        "add a number": 1.5 + x,
        "subtract": y - x,
        "subtract from a number": 1.0 - x,
        "multiply": x * y,
        "divide": x / positive,
        "divide a number": 2.0 / positive,
        "power": positive**y,
        "power of a number": 2.0**x,
        "to the power of 0": (x * 0.0) ** 0.0,
        "cube": x**3.0,
        "negate": -x,
        "exp": x.exp(),
        "log": positive.log(),
        "tanh": x.tanh(),
        "sqrt": positive.sqrt(),
        "floor": (x * 3.0).floor(),
        "square": x.square(),
        "relu": x.relu(),
        "maximum": x.maximum(y),
        "maximum with a number": x.maximum(0.25),
        "less": (x < y).select(x, y),
        "less or equal": (x <= 0.1).to_tensor(x),
        "greater": (x > y).to_tensor(x),
        "not, and, or": (~(x > 0.0) & (y > 0.0) | (x >= y)).to_tensor(x),
        "equal": x.equal(x).to_tensor(x),
        "sum": x.sum(),
        "sum of rows": x.sum(1, keepdims=True),
        "sum of all axes": x.sum((0, 1)),
        "sum of nothing": x[:0].sum(0),
        "mean": x.mean(0),
        "max": x.max((0, 1)),
        "max of columns": x.max(0, keepdims=True),
        "reshape": x.reshape((2, -1)),
        "permute": x.permute((1, 0)),
        "broadcast_to": y.broadcast_to((3, 4)),
        "sum_to": x.sum_to((1, 4)),
        "index": x[1:, ::-2],
        "new axis": x[..., None, 0],
        "put_slice": x.put_slice((slice(None), slice(1, 5)), (3, 6)),
        "argmax": x.from_host(x.argmax(1).to_host()),
        "one_hot": x.one_hot(labels, 4),
        "gather": x.gather(labels),
        "scatter_add": x[:, :3].scatter_add(labels, 5),
        "pick": x.pick(labels),
        "put": x[:, 0].put(labels, 4),
        "softmax": x.softmax(1),
        "log_softmax": x.log_softmax(0),
        "matmul": x @ m,
        "matmul of many": x[None] @ m.broadcast_to((2, 4, 2)),
        "matmul over nothing": x[:, :0] @ m[:0],
        "transpose": x.transpose(),
        "uniform": x.uniform((2, 2), mx.Key(3)),
    }


def operands[T: mx.MlpTensor](like: T, seed: int) -> tuple[T, T, T]:
    shapes = ((3, 4), (1, 4), (4, 2))
    first, second, third = (like.normal(shape, mx.Key(seed).fold(n)) for n, shape in enumerate(shapes))
    return first, second, third


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_rounded_to_double_precision_everything_is_what_numpy_computes(seed: int) -> None:
    found, expected = many(*operands(LIKE, seed)), many(*operands(DOUBLE, seed))
    for name, value in expected.items():
        assert type(found[name]) is Precise
        assert found[name].shape == value.shape
        assert found[name].dtype is mx.F64
        np.testing.assert_allclose(found[name].to_host(), value.to_host(), rtol=1e-11, atol=1e-12, err_msg=name)


def test_there_are_as_many_digits_as_were_asked_for() -> None:
    third = precise(30).ones(()) / 3.0
    assert str(third.decimals()) == "0." + "3" * 30
    root = precise(60).full((), 2.0).sqrt()
    with localcontext() as context:
        context.prec = 60
        assert root.decimals().item() == Decimal(2).sqrt()


@given(st.floats(-50.0, 50.0) | st.floats(-1e-9, 1e-9))
def test_the_hyperbolic_tangent_is_right_to_the_last_digits(x: float) -> None:
    few, many = (float(precise(digits).full((), x).tanh().decimals().item()) for digits in (18, 60))
    assert few == pytest.approx(many, rel=1e-16, abs=0.0)
    assert many == pytest.approx(math.tanh(x), rel=1e-15, abs=0.0)


def test_what_is_not_finite_follows_numpy() -> None:
    nan, inf = float("nan"), float("inf")
    for like in (LIKE, mx.variable(LIKE)):
        x = like.from_host(np.array([nan, inf, -inf, 0.0, -1.0]))
        np.testing.assert_array_equal(x.log().to_host(), [nan, inf, nan, -inf, nan])
        np.testing.assert_array_equal(x.exp().to_host(), [nan, inf, 0.0, 1.0, math.exp(-1.0)])
        np.testing.assert_array_equal(x.tanh().to_host(), [nan, 1.0, -1.0, 0.0, math.tanh(-1.0)])
        np.testing.assert_array_equal(x.maximum(-0.5).to_host(), [nan, inf, -0.5, 0.0, -0.5])
        np.testing.assert_array_equal((x < 0.0).to_host(), [False, False, True, False, True])
        assert math.isnan(x.max().item())
        assert x[1:].max().item() == inf


def curved[T: mx.MlpTensor](x: T, m: T) -> T:
    return (x @ m).tanh().log_softmax(1).square().mean()


def test_gradients_are_central_differences_to_any_order() -> None:
    x, _, m = operands(LIKE, 5)
    mx.check_gradients(curved, x, m, order=2)


def test_a_difference_of_1e_15_agrees_with_the_gradient_to_25_digits() -> None:
    x, _, m = operands(LIKE, 6)
    lifted = mx.variable(x)
    gradient = curved(lifted, mx.constant(m)).backward().of(lifted)
    step = x.from_host(np.eye(3, 4)) * (x.ones(()) / 1e15)
    difference = (curved(x + step, m) - curved(x - step, m)) * 5e14
    expected = (gradient * x.from_host(np.eye(3, 4))).sum()
    assert abs((difference - expected).decimals().item()) < Decimal("1e-24")


def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Labelled[T], mode: mx.Mode) -> T:
    return cross_entropy(Logits(model.forward(batch.x)), batch.labels)


def last_loss[T: mx.MlpTensor](like: T) -> float:
    model = nn.Linear.init(4, 3, like=DOUBLE, key=mx.Key(0)).map(lambda x: like.from_host(x.to_host()))
    x = DOUBLE.normal((8, 4), mx.Key(1))
    batch = mx.Labelled(like.from_host(x.to_host()), like.labels(np.arange(8) % 3))
    # pyright does not solve the call in a function that is generic itself.
    trainer = mx.Trainer(model, loss, mx.Sgd(lr=0.5, momentum=0.9), key=mx.Key(2))  # pyright: ignore[reportCallIssue]
    return [trainer.step(batch)["loss"] for _ in range(10)][-1]  # pyright: ignore[reportArgumentType]


def test_a_layer_is_trained_and_shows_the_rounding_errors_of_the_backends() -> None:
    exact = last_loss(precise(40))
    assert last_loss(precise(60)) == exact
    assert last_loss(DOUBLE) == pytest.approx(exact, rel=1e-13)
    assert 1e-9 < abs(last_loss(mx.numpy()) / exact - 1.0) < 1e-4


def test_a_compiled_step_is_traced_for_each_number_of_digits() -> None:
    def third[T: mx.Tensor](x: T) -> T:
        return x + x.ones((2,)) / 3.0

    compiled = mx.compile(third)
    for digits in (40, 20, 40):
        x = precise(digits).ones((2,))
        assert compiled(x).decimals().tolist() == third(x).decimals().tolist()
    reports = mx.compile_report(compiled).traces
    assert [one.because for one in reports] == [
        "the first call",
        "x is computed with other settings, such as another device",
    ]


FLOATS: Any = np.zeros(2)
WRONG: dict[str, tuple[Callable[[Precise], object], type[Exception], str]] = {
    "digits": (
        lambda x: x + precise(20).ones((2, 3)),
        OperandError,
        r"^add: Precise\[40 digits\] with Precise\[20 digits\]: both operands must be alike$",
    ),
    "shapes": (
        lambda x: x * x.ones((4, 3)),
        ShapeError,
        r"^multiply: \(2, 3\) and \(4, 3\): axis -2 has sizes",
    ),
    "matmul": (lambda x: x @ x, ShapeError, r"^matmul: \(2, 3\) @ \(2, 3\): inner dimensions differ \(3 and 2\)$"),
    "a label": (lambda x: x.pick(x.labels(np.array([0, 3]))), LabelError, r"not all are from 0 to 2$"),
    "floats as labels": (lambda x: x.labels(FLOATS), OperandError, "expected a NumPy array of integ"),
    "a truth": (lambda x: bool(x), OperandError, r"^bool\(Precise\): a tensor is not one truth"),
    "no digits": (lambda x: precise(0), OperandError, "^precise: 0 digits: at least one is needed$"),
}


@pytest.mark.parametrize(("call", "error", "text"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(call: Callable[[Precise], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(LIKE.ones((2, 3)))
