"""The rules in `moonxi.shapes` are NumPy's, and every interpreter follows them, in its results and in its errors."""

from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonxi import shapes
from moonxi.autodiff import variable
from moonxi.backends.numpy import numpy
from moonxi.dims import Size, symbol, unknown
from moonxi.dtypes import F64
from moonxi.errors import AxisError, OperandError, ShapeError
from moonxi.key import Key
from moonxi.shapes import Sizes
from moonxi.shapes.agreement import solving
from moonxi.traits import Axes, Index, Shape

cpu = numpy(F64)

small = st.lists(st.integers(0, 3), max_size=3).map(tuple)
likely = st.lists(st.sampled_from((1, 2, 2, 2, 3, 0)), max_size=4).map(tuple)
axis = st.integers(-4, 3)
reductions: st.SearchStrategy[Axes] = st.one_of(st.none(), axis, st.lists(axis, max_size=3).map(tuple))
bounds = st.none() | st.integers(-4, 4)
items = st.one_of(
    st.integers(-3, 2), st.builds(slice, bounds, bounds, st.sampled_from((None, 1, 2, -1, -3))), st.just(...), st.none()
)
index: st.SearchStrategy[Index] = st.one_of(items, st.lists(items, max_size=4).map(tuple))
searched = settings(max_examples=150)
# NumPy's own signatures ask for keepdims as a literal.
np_sum: Callable[..., Any] = np.sum
np_max: Callable[..., Any] = np.max


def hold_together(
    rule: Callable[[], Sizes], reference: Callable[..., Any], call: Callable[..., Any], *operands: Shape
) -> None:
    """The rule, NumPy, the backend and `Grad` give the same shape; where NumPy refuses, the same error."""

    def outcome(f: Callable[[], Sizes]) -> object:
        try:
            return f()
        except ShapeError as error:
            return type(error), str(error)

    expected = outcome(rule)
    try:
        in_numpy = np.shape(reference(*map(np.zeros, operands)))
    except (ValueError, IndexError):
        assert isinstance(expected, tuple)
        assert isinstance(expected[1], str)
    else:
        assert expected == in_numpy
    tensors = [cpu.zeros(shape) for shape in operands]
    assert outcome(lambda: call(*tensors).shape) == expected
    assert outcome(lambda: call(*map(variable, tensors)).shape) == expected


@searched
@given(small, small, small)
def test_broadcasting_is_that_of_numpy(a: Shape, b: Shape, c: Shape) -> None:
    hold_together(lambda: shapes.broadcast("add", a, b), np.add, lambda x, y: x + y, a, b)
    hold_together(lambda: shapes.broadcast("subtract", a, b), np.subtract, lambda x, y: x - y, a, b)
    hold_together(lambda: shapes.broadcast("multiply", a, b), np.multiply, lambda x, y: x * y, a, b)
    hold_together(lambda: shapes.broadcast("maximum", a, b), np.maximum, lambda x, y: x.maximum(y), a, b)
    hold_together(lambda: shapes.broadcast("power", a, b), np.power, lambda x, y: (x + 1.0) ** y, a, b)
    hold_together(lambda: shapes.broadcast("divide", a, b), np.add, lambda x, y: x / (y + 1.0), a, b)
    hold_together(lambda: shapes.broadcast("less", a, b), np.less, lambda x, y: x < y, a, b)
    hold_together(lambda: shapes.broadcast("less_equal", a, b), np.less, lambda x, y: x <= y, a, b)
    hold_together(lambda: shapes.broadcast("greater", a, b), np.less, lambda x, y: x > y, a, b)
    hold_together(lambda: shapes.broadcast("greater_equal", a, b), np.less, lambda x, y: x >= y, a, b)
    hold_together(lambda: shapes.broadcast("equal", a, b), np.equal, lambda x, y: x.equal(y), a, b)
    hold_together(
        lambda: shapes.broadcast("where", c, a, b),
        lambda c, x, y: np.where(c > 0.0, x, y),
        lambda c, x, y: x.where(c > 0.0, y),
        *(c, a, b),
    )


@searched
@given(likely, likely)
def test_the_rule_of_matmul_is_that_of_numpy(left: Shape, right: Shape) -> None:
    def product(x: Any, y: Any) -> Any:
        if x.ndim < 2 or y.ndim < 2:
            raise ValueError("NumPy takes vectors as well")
        return np.matmul(x, y)

    hold_together(lambda: shapes.matmul(left, right), product, lambda x, y: x.matmul(y), left, right)


@searched
@given(small, st.lists(axis, max_size=3).map(tuple))
def test_the_rules_of_permute_and_transpose_are_those_of_numpy(shape: Shape, order: tuple[int, ...]) -> None:
    hold_together(
        lambda: shapes.permute(shape, order), lambda x: np.transpose(x, order), lambda x: x.permute(order), shape
    )
    hold_together(
        lambda: shapes.permute(shape, shapes.transpose(shape)),
        np.matrix_transpose,
        lambda x: x.transpose(),
        shape,
    )


@searched
@given(small, reductions, st.booleans())
def test_the_rules_of_reductions_are_those_of_numpy(shape: Shape, axes: Axes, keepdims: bool) -> None:
    def largest() -> Shape:
        shapes.nothing_to_reduce("max", shape, axes)
        return shapes.reduced("max", shape, axes, keepdims=keepdims, one=1)

    def strict(x: Any) -> Any:
        if x.ndim == 0 and axes in (0, -1):
            raise ValueError("NumPy lets an axis of a scalar pass")
        return x

    hold_together(
        lambda: shapes.reduced("sum", shape, axes, keepdims=keepdims, one=1),
        lambda x: np_sum(strict(x), axis=axes, keepdims=keepdims),
        lambda x: x.sum(axes, keepdims=keepdims),
        shape,
    )
    hold_together(
        lambda: shapes.reduced("mean", shape, axes, keepdims=keepdims, one=1),
        lambda x: np_sum(strict(x), axis=axes, keepdims=keepdims),
        lambda x: x.mean(axes, keepdims=keepdims),
        shape,
    )
    hold_together(
        largest,
        lambda x: np_max(strict(x), axis=axes, keepdims=keepdims),
        lambda x: x.max(axes, keepdims=keepdims),
        shape,
    )


@searched
@given(small, axis)
def test_the_rules_along_one_axis_are_those_of_numpy(shape: Shape, along: int) -> None:
    def chosen() -> Shape:
        shapes.nothing_to_reduce("argmax", shape, along)
        return shapes.reduced("argmax", shape, along, one=1)

    def normalised(operation: str) -> Shape:
        shapes.nothing_to_reduce(operation, shape, along)
        return shape

    def strict(x: Any) -> Any:
        if x.ndim == 0:
            raise ValueError("NumPy lets an axis of a scalar pass")
        return x

    hold_together(chosen, lambda x: np.argmax(strict(x), axis=along), lambda x: x.argmax(along), shape)
    for operation, call in (("softmax", lambda x: x.softmax(along)), ("log_softmax", lambda x: x.log_softmax(along))):
        hold_together(
            partial(normalised, operation), lambda x: x - np_max(strict(x), along, keepdims=True), call, shape
        )


@searched
@given(small, st.lists(st.sampled_from((-1, 1, 2, 3, 4, 6, 0, -2)), max_size=3).map(tuple))
def test_the_rule_of_reshape_is_that_of_numpy(shape: Shape, wanted: Shape) -> None:
    def reshape(x: Any) -> Any:
        if min(wanted, default=0) < -1:
            raise ValueError("NumPy takes every negative size for -1")
        return x.reshape(wanted)

    hold_together(lambda: shapes.reshape(shape, wanted), reshape, lambda x: x.reshape(wanted), shape)


@searched
@given(small, small)
def test_the_rule_of_broadcast_to_is_that_of_numpy(shape: Shape, wanted: Shape) -> None:
    hold_together(
        lambda: shapes.broadcast_to(shape, wanted),
        lambda x: np.broadcast_to(x, wanted),
        lambda x: x.broadcast_to(wanted),
        shape,
    )


@searched
@given(small, small)
def test_sum_to_goes_where_broadcast_to_comes_from(shape: Shape, wanted: Shape) -> None:
    def rule() -> Shape:
        shapes.summed_axes(shape, wanted)
        return wanted

    def reference(x: Any) -> Any:
        part = np.zeros(wanted)
        np.broadcast_to(part, x.shape)
        return part

    hold_together(rule, reference, lambda x: x.sum_to(wanted), shape)


@settings(max_examples=300)
@given(small, index)
def test_the_rule_of_indexing_is_that_of_numpy(shape: Shape, chosen: Index) -> None:
    hold_together(lambda: shapes.indexed(shape, chosen), lambda x: x[chosen], lambda x: x[chosen], shape)


@settings(max_examples=300)
@given(small, index, st.none() | small)
def test_put_slice_takes_what_indexing_gives(whole: Shape, chosen: Index, other: Shape | None) -> None:
    try:
        part = np.zeros(whole)[chosen].shape if other is None else other
    except (ValueError, IndexError):
        part = ()

    def reference(x: Any) -> Any:
        if np.zeros(whole)[chosen].shape != x.shape:
            raise ValueError("NumPy would broadcast")
        return np.zeros(whole)

    hold_together(lambda: shapes.put_slice(part, chosen, whole), reference, lambda x: x.put_slice(chosen, whole), part)


@searched
@given(small, small, st.integers(0, 3), st.booleans())
def test_pick_and_put_want_one_label_for_each(shape: Shape, other: Shape, classes: int, fitting: bool) -> None:
    labels = np.zeros(shape if fitting else other, np.int64)

    def pick(x: Any) -> Any:
        if x.ndim == 0:
            raise ValueError("NumPy would call this an axis out of bounds")
        if labels.shape != x.shape[:-1]:
            raise ValueError("NumPy would broadcast")
        return labels

    def put(x: Any) -> Any:
        if labels.shape != x.shape:
            raise ValueError("NumPy would broadcast")
        return np.zeros((*labels.shape, classes + 1))

    whole = (*shape, classes + 1)
    hold_together(lambda: shapes.pick(whole, labels.shape), pick, lambda x: x.pick(x.labels(labels)), whole)
    hold_together(
        lambda: shapes.put(shape, labels.shape, classes + 1),
        put,
        lambda x: x.put(x.labels(labels), classes + 1),
        shape,
    )


@searched
@given(small, st.lists(st.sampled_from((1, 2, 3, 0)), max_size=3).map(tuple), st.booleans())
def test_gather_and_scatter_add_take_labels_that_broadcast_before_the_last_axis(
    shape: Shape, other: Shape, fitting: bool
) -> None:
    whole = (*shape, 2)
    indices = np.zeros(whole if fitting else other, np.int64)

    def every(before: Shape) -> Any:
        if not before or not indices.ndim or indices.ndim > len(before):
            raise ValueError("NumPy would broadcast")
        return np.broadcast_to(indices, (*before[:-1], indices.shape[-1]))

    def scatter(x: Any) -> Any:
        if every(x.shape).shape != x.shape:
            raise ValueError("NumPy would broadcast")
        return np.zeros((*x.shape[:-1], 5))

    hold_together(
        lambda: shapes.gather(whole, indices.shape),
        lambda x: np.take_along_axis(x, every(x.shape), -1),
        lambda x: x.gather(x.labels(indices)),
        whole,
    )
    hold_together(
        lambda: shapes.scatter_add(whole, indices.shape, 5),
        scatter,
        lambda x: x.scatter_add(x.labels(indices), 5),
        whole,
    )


@searched
@given(st.lists(st.integers(-1, 2), max_size=3).map(tuple))
def test_a_size_is_not_negative(shape: Shape) -> None:
    for operation, argument in ("full", 1.0), ("uniform", Key(0)), ("normal", Key(0)):
        make = methodcaller(operation, shape, argument)
        hold_together(partial(shapes.sizes, operation, shape), lambda x: np.empty(shape), make, ())
    hold_together(
        lambda: shapes.broadcast_to((), shape),
        lambda x: np.broadcast_to(x, shape),
        lambda x: x.broadcast_to(shape),
        (),
    )


@searched
@given(small)
def test_item_needs_one_element(shape: Shape) -> None:
    def rule() -> Shape:
        shapes.item(shape)
        return ()

    hold_together(rule, lambda x: np.zeros(()) if x.size == 1 else x.item(), lambda x: x.full((), x.item()), shape)


@searched
@given(small, small)
def test_equal_shapes_are_the_same(left: Shape, right: Shape) -> None:
    if left == right:
        assert shapes.equal("residual", left, right) == left
    else:
        with pytest.raises(ShapeError, match="the shapes must be equal"):
            shapes.equal("residual", left, right)


@pytest.mark.parametrize("chosen", [True, (0, False), [0, 1], np.array([0]), 1.0, "0", (slice(2), [1])])
def test_an_index_that_numpy_would_call_advanced_is_refused(chosen: Any) -> None:
    x = cpu.zeros((2, 2))
    expected = "expected an integer, a slice, ... or None; choose elements by their value with x.where(mask, other)"
    for call in (lambda: x[chosen], lambda: variable(x)[chosen], lambda: x.put_slice(chosen, (2, 2))):
        with pytest.raises(OperandError) as error:
            call()
        assert str(error.value).startswith("index: ")
        assert str(error.value).endswith(expected)


n, m = symbol("n"), symbol("m")


def test_symbolic_sizes_go_through_the_rules() -> None:
    assert shapes.broadcast("add", (n, 1, 3), (m, 3)) == (n, m, 3)
    assert shapes.matmul((n, 784), (784, m)) == (n, m)
    assert shapes.matmul((m, 1, n, 3), (4, 3, n)) == (m, 4, n, n)
    assert shapes.permute((n, m, 3), shapes.transpose((n, m, 3))) == (n, 3, m)
    assert shapes.reduced("sum", (n, m), 0, keepdims=True, one=1) == (1, m)
    assert shapes.broadcast_to((m, 1), (n, m, 4)) == (n, m, 4)
    assert shapes.summed_axes((n, m, 4), (m, 1)) == (0, 2)
    assert shapes.equal("residual", (n, m), (n, m)) == (n, m)
    assert shapes.pick((n, m), (n,)) == (n,)
    assert shapes.put((n,), (n,), m) == (n, m)


def test_a_size_yet_to_be_found_is_let_through_where_it_may_fit() -> None:
    u, v = unknown("u"), unknown("v")
    assert shapes.equal("residual", (u,), (v,)) == (u,)
    assert shapes.matmul((2, u), (v, 3)) == (2, 3)
    assert shapes.broadcast("add", (u,), (n,)) in ((u,), (n,))
    assert shapes.broadcast("add", (u,), (3,)) == shapes.broadcast("add", (3,), (u,)) == (3,)
    assert shapes.broadcast("add", (u,), (m + 2,)) == shapes.broadcast("add", (m + 2,), (u,)) == (m + 2,)
    assert shapes.broadcast_to((u,), (4,)) == (4,)
    assert shapes.reshape((u, 4), (2, 6)) == (2, 6)
    assert shapes.summed_axes((u, 3), (v, 3)) == ()


def test_a_size_yet_to_be_found_is_refused_where_nothing_makes_it_fit() -> None:
    u = unknown("u")
    with pytest.raises(ShapeError, match=r"^reshape: \(2\*u,\) to \(3, 1\): 2\*u elements cannot become 3$"):
        shapes.reshape((2 * u,), (3, 1))


def test_a_solver_hears_of_every_equation_with_an_unknown_and_decides() -> None:
    u, heard = unknown("u"), list[tuple[Size, Size]]()

    def solver(left: Size, right: Size) -> bool:
        heard.append((left, right))
        return right == 784

    with solving(solver):
        shapes.matmul((n, n), (n, u))
        shapes.matmul((n, u), (m, 10))
        with pytest.raises(ShapeError, match=r"inner dimensions differ \(u and 784\)$"):
            shapes.matmul((n, u), (784, 10))
    assert heard == [(u, m), (u, 784)]
    assert shapes.matmul((n, u), (784, 10)) == (n, 10)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (
            lambda: shapes.matmul((2, n), (n + 1, 3)),
            "matmul: (2, n) @ (n+1, 3): inner dimensions differ (n and n+1)",
        ),
        (
            lambda: shapes.equal("residual", (n, 2), (n, 3)),
            "residual: (n, 2) and (n, 3): the shapes must be equal; reshape one of them if you mean it",
        ),
        (
            lambda: shapes.broadcast("add", (n + 2,), (n + 3,)),
            "add: (n+2,) and (n+3,): axis -1 has sizes n+2 and n+3, which are not equal or 1",
        ),
        (
            lambda: shapes.broadcast_to((n + 2,), (n + 3,)),
            "broadcast_to: (n+2,) to (n+3,): size n+2 is neither 1 nor n+3",
        ),
        (
            lambda: shapes.pick((n, m), (n + 1,)),
            "pick: (n, m), labels (n+1,): labels must have the shape without its last axis",
        ),
        (lambda: shapes.matmul((2, n), (m, 3)), "matmul: (2, n) @ (m, 3): inner dimensions differ (n and m)"),
        (
            lambda: shapes.broadcast("add", (n, 2), (784, 2)),
            "add: (n, 2) and (784, 2): axis -2 has sizes n and 784, which are not equal or 1",
        ),
        (
            lambda: shapes.reshape((n, 3), (-1, 2)),
            "reshape: (n, 3) to (-1, 2): 3*n elements cannot be split into rows of 2",
        ),
        (lambda: shapes.summed_axes((n,), (m,)), "sum_to: (n,) to (m,): size n can become 1 or stay, not m"),
    ],
)
def test_what_is_wrong_for_some_sizes_is_refused(rule: Callable[[], object], text: str) -> None:
    with pytest.raises(ShapeError) as error:
        rule()
    assert str(error.value) == text


def test_shapes_are_shown_as_python_writes_them() -> None:
    assert [shapes.show(shape) for shape in ((), (3,), (n, 4), (1, 2, 3))] == ["()", "(3,)", "(n, 4)", "(1, 2, 3)"]


def test_an_axis_error_is_also_a_shape_error_and_an_index_error() -> None:
    with pytest.raises(AxisError, match="axes run from -2 to 1") as error:
        shapes.axis((2, 3), 2, "sum")
    assert isinstance(error.value, ShapeError)
    assert isinstance(error.value, IndexError)
    assert isinstance(error.value, ValueError)
