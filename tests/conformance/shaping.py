"""The rows of the reductions, and of the operations that only move elements."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from moonxi.traits import Shape
from tests.conformance.case import Case, Operation
from tests.conformance.draws import (
    Domain,
    axes_of,
    broadcasting,
    indices,
    operands,
    parts,
    reductions,
    shapes,
    sizes,
    some,
)


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


def _log_sum_exp(x: Any, axis: Any, keepdims: Any) -> Any:
    return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))


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


@st.composite
def _cumsum(draw: st.DrawFn) -> Case:
    shape = draw(shapes(min_rank=1))
    axis = draw(axes_of(shape))
    return Case((draw(operands(shape)),), lambda x: x.cumsum(axis), lambda x: np.cumsum(x, axis))


@st.composite
def _norm(draw: st.DrawFn) -> Case:
    shape = draw(shapes())
    axes = draw(reductions(len(shape)))
    shape = tuple(size or 2 for size in shape)
    order = draw(st.sampled_from((1.0, 2.0, 3.0, math.inf)))
    domain: Domain = "apart" if order == math.inf else "nonzero"
    keepdims: Any = draw(st.booleans())

    def reference(x: Any) -> Any:
        if order == math.inf:
            return np.max(np.abs(x), axis=axes, keepdims=keepdims)
        return np.sum(np.abs(x) ** order, axis=axes, keepdims=keepdims) ** (1.0 / order)

    return Case((draw(operands(shape, domain)),), lambda x: x.norm(axes, order=order, keepdims=keepdims), reference)


@st.composite
def _spread(draw: st.DrawFn, name: str, function: Callable[..., Any]) -> Case:
    shape = draw(shapes())
    axes = draw(reductions(len(shape)))
    shape = tuple(size if size > 1 else 2 for size in shape)
    if axes == ():
        axes = None
    if shape == ():
        shape, axes = (3,), 0
    correction = draw(st.sampled_from((0, 1)))
    keepdims = draw(st.booleans())
    return Case(
        (draw(operands(shape, "distinct")),),
        lambda x: getattr(x, name)(axes, correction=correction, keepdims=keepdims),
        lambda x: function(x, axis=axes, ddof=correction, keepdims=keepdims),
    )


@st.composite
def _squeeze(draw: st.DrawFn) -> Case:
    shape = draw(shapes())
    ones = [number for number, size in enumerate(shape) if size == 1]
    axes = tuple(draw(st.lists(st.sampled_from(ones), unique=True))) if ones else ()
    axes = tuple(draw(st.sampled_from((axis, axis - len(shape)))) for axis in axes)
    given: Any = axes[0] if len(axes) == 1 and draw(st.booleans()) else axes
    return Case((draw(operands(shape)),), lambda x: x.squeeze(given), lambda x: np.squeeze(x, axes))


@st.composite
def _unsqueeze(draw: st.DrawFn) -> Case:
    shape = draw(shapes(max_rank=3))
    count = draw(st.integers(0, 2))
    rank = len(shape) + count
    places = tuple(draw(st.permutations(range(rank)))[:count])
    axes = tuple(draw(st.sampled_from((place, place - rank))) for place in places)
    given: Any = axes[0] if len(axes) == 1 and draw(st.booleans()) else axes
    return Case((draw(operands(shape)),), lambda x: x.unsqueeze(given), lambda x: np.expand_dims(x, axes))


@st.composite
def _flip(draw: st.DrawFn) -> Case:
    shape = draw(shapes())
    count = draw(st.integers(0, len(shape)))
    axes = tuple(draw(st.permutations(range(len(shape))))[:count])
    return Case((draw(operands(shape)),), lambda x: x.flip(axes), lambda x: np.flip(x, axes))


@st.composite
def _roll(draw: st.DrawFn) -> Case:
    shape = draw(shapes(min_rank=1))
    axis, shift = draw(axes_of(shape)), draw(st.integers(-7, 7))
    return Case((draw(operands(shape)),), lambda x: x.roll(shift, axis), lambda x: np.roll(x, shift, axis))


@st.composite
def _pad(draw: st.DrawFn) -> Case:
    shape = draw(shapes(max_rank=3))
    few = st.integers(0, 2)
    widths = tuple((draw(few), draw(few)) for _ in shape)
    value = draw(st.sampled_from((0.0, 0.0, -1.5, 2)))
    return Case(
        (draw(operands(shape)),),
        lambda x: x.pad(widths, value),
        lambda x: np.pad(x, widths, constant_values=value) if widths else x,
    )


@st.composite
def _tile(draw: st.DrawFn) -> Case:
    shape = draw(shapes(max_rank=3))
    repeats = tuple(draw(st.integers(0, 3)) for _ in shape)
    return Case((draw(operands(shape)),), lambda x: x.tile(repeats), lambda x: np.tile(x, repeats))


@st.composite
def _concatenate(draw: st.DrawFn) -> Case:
    shape = draw(shapes(min_rank=1))
    axis = draw(axes_of(shape))
    place = axis % len(shape)
    parts = [(*shape[:place], draw(sizes), *shape[place + 1 :]) for _ in range(draw(st.integers(1, 3)))]
    return Case(
        tuple(draw(operands(part)) for part in parts),
        lambda x, *others: x.concatenate(*others, axis=axis),
        lambda *arrays: np.concatenate(arrays, axis),
    )


@st.composite
def _stack(draw: st.DrawFn) -> Case:
    shape = draw(shapes(max_rank=3))
    axis = draw(st.integers(-len(shape) - 1, len(shape)))
    return Case(
        tuple(draw(operands(shape)) for _ in range(draw(st.integers(1, 3)))),
        lambda x, *others: x.stack(*others, axis=axis),
        lambda *arrays: np.stack(arrays, axis),
    )


@st.composite
def _split(draw: st.DrawFn) -> Case:
    parts = tuple(draw(st.lists(sizes, min_size=1, max_size=3)))
    shape = list(draw(shapes(min_rank=1, max_rank=3)))
    axis = draw(axes_of(tuple(shape)))
    shape[axis] = sum(parts)
    number = draw(st.integers(0, len(parts) - 1))
    start = sum(parts[:number])

    def reference(x: Any) -> Any:
        return np.take(x, range(start, start + parts[number]), axis)

    return Case((draw(operands(tuple(shape))),), lambda x: x.split(parts, axis=axis)[number], reference)


SHAPING = (
    _reduction("sum", lambda x, axes, keepdims: x.sum(axes, keepdims=keepdims), np.sum, empty=True),
    _reduction("mean", lambda x, axes, keepdims: x.mean(axes, keepdims=keepdims), np.mean),
    _reduction("max", lambda x, axes, keepdims: x.max(axes, keepdims=keepdims), np.max, "distinct"),
    _reduction("prod", lambda x, axes, keepdims: x.prod(axes, keepdims=keepdims), np.prod, "small", empty=True),
    _reduction("min", lambda x, axes, keepdims: x.min(axes, keepdims=keepdims), np.min, "distinct"),
    _reduction("logsumexp", lambda x, axes, keepdims: x.logsumexp(axes, keepdims=keepdims), _log_sum_exp),
    Operation("norm", "norm", _norm()),
    Operation("var", "var", _spread("var", np.var)),
    Operation("std", "std", _spread("std", np.std)),
    Operation("cumsum", "cumsum", _cumsum()),
    Operation("reshape", "reshape", _reshape()),
    Operation("squeeze", "squeeze", _squeeze()),
    Operation("unsqueeze", "unsqueeze", _unsqueeze()),
    Operation("flip", "flip", _flip()),
    Operation("roll", "roll", _roll()),
    Operation("pad", "pad", _pad()),
    Operation("tile", "tile", _tile()),
    Operation("concatenate", "concatenate", _concatenate()),
    Operation("stack", "stack", _stack()),
    Operation("split", "split", _split()),
    Operation("permute", "permute", _permute()),
    Operation("broadcast_to", "broadcast_to", _broadcast_to()),
    Operation("sum_to", "sum_to", _sum_to()),
    Operation("__getitem__", "__getitem__", _getitem()),
    Operation("put_slice", "put_slice", _put_slice()),
    Operation("transpose", "transpose", _transpose()),
    Operation("matmul", "matmul", _matmul(lambda x, y: x.matmul(y))),
    Operation("__matmul__", "__matmul__", _matmul(lambda x, y: x @ y)),
)
