"""The rows of the reductions, and of the operations that only move elements."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from moonxi.traits import Shape
from tests.conformance.case import Case, Operation
from tests.conformance.draws import Domain, broadcasting, indices, operands, parts, reductions, shapes, sizes, some


def _reduction(
    name: str, call: Callable[..., Any], reference: Callable[..., Any], domain: Domain = "any", empty: bool = False
) -> Operation:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        shape = draw(shapes())
        axes = draw(reductions(len(shape)))
        if not empty:
            numbers = range(len(shape)) if axes is None else (axes,) if isinstance(axes, int) else axes
            gone = {number % len(shape) for number in numbers}
            shape = tuple(size or 2 if number in gone else size for number, size in enumerate(shape))
        keepdims = draw(st.booleans())
        return Case(
            (draw(operands(shape, domain)),),
            lambda x: call(x, axes, keepdims=keepdims),
            lambda x: reference(x, axis=axes, keepdims=keepdims),
        )

    return Operation(name, name, cases())


@st.composite
def _reshape(draw: st.DrawFn) -> Case:
    shape = draw(shapes())
    wanted: list[int] = list(draw(st.permutations(shape)))
    while len(wanted) > 1 and draw(st.booleans()):  # the product of two sizes may stand for them
        at = draw(st.integers(0, len(wanted) - 2))
        wanted[at : at + 2] = [wanted[at] * wanted[at + 1]]
    if draw(st.booleans()):
        wanted.insert(draw(st.integers(0, len(wanted))), 1)
    if len(wanted) > 0 and draw(st.booleans()):
        at = draw(st.integers(0, len(wanted) - 1))
        if 0 not in wanted[:at] + wanted[at + 1 :]:
            wanted[at] = -1
    target: Shape = tuple(wanted)
    return Case((draw(operands(shape)),), lambda x: x.reshape(target), lambda x: x.reshape(target))


@st.composite
def _permute(draw: st.DrawFn) -> Case:
    shape = draw(shapes())
    rank = len(shape)
    order = tuple(draw(st.sampled_from((n, n - rank))) for n in draw(st.permutations(range(rank))))
    return Case((draw(operands(shape)),), lambda x: x.permute(order), lambda x: np.transpose(x, order))


@st.composite
def _broadcast_to(draw: st.DrawFn) -> Case:
    whole = draw(shapes())
    part = draw(parts(whole))
    return Case((draw(operands(part)),), lambda x: x.broadcast_to(whole), lambda x: np.broadcast_to(x, whole))


@st.composite
def _sum_to(draw: st.DrawFn) -> Case:
    whole = draw(shapes())
    part = draw(parts(whole))
    lead = len(whole) - len(part)
    gone = tuple(n for n, size in enumerate(whole) if n < lead or part[n - lead] != size)
    return Case(
        (draw(operands(whole)),),
        lambda x: x.sum_to(part),
        lambda x: np.sum(x, axis=gone, keepdims=True).reshape(part),
    )


@st.composite
def _getitem(draw: st.DrawFn) -> Case:
    shape = draw(shapes())
    index = draw(indices(shape))
    return Case((draw(operands(shape)),), lambda x: x[index], lambda x: x[index])


@st.composite
def _put_slice(draw: st.DrawFn) -> Case:
    shape = draw(shapes())
    index = draw(indices(shape))

    def reference(x: Any) -> Any:
        whole = np.zeros(shape)
        whole[index] = x
        return whole

    part = np.zeros(shape)[index].shape
    return Case((draw(operands(part)),), lambda x: x.put_slice(index, shape), reference)


@st.composite
def _transpose(draw: st.DrawFn) -> Case:
    shape = draw(shapes(min_rank=2))
    return Case((draw(operands(shape)),), lambda x: x.transpose(), lambda x: np.swapaxes(x, -1, -2))


@st.composite
def _matmul(draw: st.DrawFn, call: Callable[[Any, Any], Any]) -> Case:
    left, right = draw(broadcasting(2, max_rank=2))
    n, k, m = draw(some), draw(sizes), draw(sizes)
    return Case((draw(operands((*left, n, k))), draw(operands((*right, k, m)))), call, np.matmul)


SHAPING = (
    _reduction("sum", lambda x, axes, keepdims: x.sum(axes, keepdims=keepdims), np.sum, empty=True),
    _reduction("mean", lambda x, axes, keepdims: x.mean(axes, keepdims=keepdims), np.mean),
    _reduction("max", lambda x, axes, keepdims: x.max(axes, keepdims=keepdims), np.max, "distinct"),
    Operation("reshape", "reshape", _reshape()),
    Operation("permute", "permute", _permute()),
    Operation("broadcast_to", "broadcast_to", _broadcast_to()),
    Operation("sum_to", "sum_to", _sum_to()),
    Operation("__getitem__", "__getitem__", _getitem()),
    Operation("put_slice", "put_slice", _put_slice()),
    Operation("transpose", "transpose", _transpose()),
    Operation("matmul", "matmul", _matmul(lambda x, y: x.matmul(y))),
    Operation("__matmul__", "__matmul__", _matmul(lambda x, y: x @ y)),
)
