"""The rows of the operations about classes: labels, one-hot vectors, softmax."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from moonxi.traits import Shape
from tests.conformance.case import Case, Operation
from tests.conformance.draws import operands, seeds, shapes, sizes, some


def _labels(shape: Shape, classes: int, seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, classes, shape)


def _one_hot(labels: Any, classes: int) -> Any:
    return (labels[..., None] == np.arange(classes)).astype(np.float64)


@st.composite
def _axis(draw: st.DrawFn) -> tuple[Shape, int]:
    """A shape and one of its axes, which is not empty."""
    shape = list(draw(shapes(min_rank=1)))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    shape[axis] = shape[axis] or 3
    return tuple(shape), axis


@st.composite
def _argmax(draw: st.DrawFn) -> Case:
    shape, axis = draw(_axis())
    return Case(
        (draw(operands(shape, "coarse")),),
        lambda x: x.from_host(x.argmax(axis).to_host()),
        lambda x: np.argmax(x, axis=axis),
    )


@st.composite
def _argmin(draw: st.DrawFn) -> Case:
    shape, axis = draw(_axis())
    return Case(
        (draw(operands(shape, "coarse")),),
        lambda x: x.from_host(x.argmin(axis).to_host()),
        lambda x: np.argmin(x, axis=axis),
    )


def _order(x: Any, axis: int, descending: bool) -> Any:
    return np.argsort(-x if descending else x, axis=axis, kind="stable")


@st.composite
def _argsort(draw: st.DrawFn) -> Case:
    shape, axis = draw(_axis())
    descending = draw(st.booleans())
    return Case(
        (draw(operands(shape, "coarse")),),
        lambda x: x.from_host(x.argsort(axis, descending=descending).to_host()),
        lambda x: _order(x, axis, descending),
    )


@st.composite
def _sort(draw: st.DrawFn) -> Case:
    shape, axis = draw(_axis())
    descending = draw(st.booleans())
    return Case(
        (draw(operands(shape, "distinct")),),
        lambda x: x.sort(axis, descending=descending),
        lambda x: np.take_along_axis(x, _order(x, axis, descending), axis),
    )


@st.composite
def _topk(draw: st.DrawFn) -> Case:
    shape, axis = draw(_axis())
    k = draw(st.integers(0, shape[axis]))

    def call(x: Any) -> Any:
        values, labels = x.topk(k, axis)
        assert labels.shape == values.shape
        np.testing.assert_array_equal(np.take_along_axis(x.to_host(), labels.to_host(), axis), values.to_host())
        return values

    return Case(
        (draw(operands(shape, "distinct")),),
        call,
        lambda x: np.take(np.take_along_axis(x, _order(x, axis, True), axis), range(k), axis),
    )


@st.composite
def _take(draw: st.DrawFn) -> Case:
    shape, axis = draw(_axis())
    labels = _labels(draw(shapes(max_rank=2)), shape[axis], draw(seeds))
    return Case((draw(operands(shape)),), lambda x: x.take(x.labels(labels), axis), lambda x: np.take(x, labels, axis))


@st.composite
def _one_hots(draw: st.DrawFn) -> Case:
    shape, classes = draw(shapes(max_rank=3)), draw(some)
    labels = _labels(shape, classes, draw(seeds))
    return Case(
        (draw(operands(())),),
        lambda x: x.one_hot(x.labels(labels), classes),
        lambda x: _one_hot(labels, classes),
    )


@st.composite
def _pick(draw: st.DrawFn) -> Case:
    shape, classes = draw(shapes(max_rank=3)), draw(some)
    labels = _labels(shape, classes, draw(seeds))
    return Case(
        (draw(operands((*shape, classes))),),
        lambda x: x.pick(x.labels(labels)),
        lambda x: np.take_along_axis(x, labels[..., None], -1)[..., 0],
    )


@st.composite
def _put(draw: st.DrawFn) -> Case:
    shape, classes = draw(shapes(max_rank=3)), draw(some)
    labels = _labels(shape, classes, draw(seeds))
    return Case(
        (draw(operands(shape)),),
        lambda x: x.put(x.labels(labels), classes),
        lambda x: x[..., None] * _one_hot(labels, classes),
    )


@st.composite
def _taken(draw: st.DrawFn) -> tuple[Shape, Any, int]:
    """The axes before the last, labels along the last, the same ones or others for each position, and the classes."""
    lead, classes = draw(shapes(max_rank=3)), draw(some)
    before = draw(st.sampled_from((lead, lead, ()))) if lead else ()
    before = tuple(draw(st.sampled_from((size, size, 1))) for size in before)
    return lead, _labels((*before, draw(sizes)), classes, draw(seeds)), classes


@st.composite
def _gather(draw: st.DrawFn) -> Case:
    lead, labels, classes = draw(_taken())
    every = np.broadcast_to(labels, (*lead, labels.shape[-1]))
    return Case(
        (draw(operands((*lead, classes))),),
        lambda x: x.gather(x.labels(labels)),
        lambda x: np.take_along_axis(x, every, -1),
    )


@st.composite
def _scatter_add(draw: st.DrawFn) -> Case:
    lead, labels, classes = draw(_taken())
    every = _one_hot(np.broadcast_to(labels, (*lead, labels.shape[-1])), classes)
    return Case(
        (draw(operands((*lead, labels.shape[-1]))),),
        lambda x: x.scatter_add(x.labels(labels), classes),
        lambda x: np.sum(x[..., None] * every, axis=-2),
    )


def _softmax(name: str, call: Callable[[Any, int], Any], reference: Callable[[Any, int], Any]) -> Operation:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        shape, axis = draw(_axis())
        return Case((draw(operands(shape)),), lambda x: call(x, axis), lambda x: reference(x, axis))

    return Operation(name, name, cases())


def _log_of_sum(x: Any, axis: int) -> Any:
    return np.log(np.sum(np.exp(x), axis=axis, keepdims=True))


CLASSES = (
    Operation("argmax", "argmax", _argmax(), smooth=False),
    Operation("argmin", "argmin", _argmin(), smooth=False),
    Operation("argsort", "argsort", _argsort(), smooth=False),
    Operation("sort", "sort", _sort()),
    Operation("topk", "topk", _topk()),
    Operation("take", "take", _take()),
    Operation("one_hot", "one_hot", _one_hots(), smooth=False),
    Operation("gather", "gather", _gather()),
    Operation("scatter_add", "scatter_add", _scatter_add()),
    Operation("pick", "pick", _pick()),
    Operation("put", "put", _put()),
    _softmax("softmax", lambda x, axis: x.softmax(axis), lambda x, axis: np.exp(x - _log_of_sum(x, axis))),
    _softmax("log_softmax", lambda x, axis: x.log_softmax(axis), lambda x, axis: x - _log_of_sum(x, axis)),
)
