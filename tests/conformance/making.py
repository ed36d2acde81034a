"""The rows of the operations that make tensors and take them apart."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from moonxi.traits import Shape
from tests.conformance.case import Case, Operation
from tests.conformance.draws import elements, operands, seeds, shapes


def _making(name: str, call: Callable[[Any, Shape], Any], reference: Callable[[Shape], Any]) -> Operation:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        shape = draw(shapes())
        return Case((draw(operands(draw(shapes(max_rank=2)))),), lambda x: call(x, shape), lambda x: reference(shape))

    return Operation(name, name, cases(), smooth=False)


@st.composite
def _from_host(draw: st.DrawFn) -> Case:
    """Arrays of every kind of real number, also ones that are not contiguous, writable or in this machine's order."""
    kinds = ("f8", "f4", "f2", "i8", "i4", "u1", ">f8", ">i4")
    array: Any = elements(draw(shapes()), "coarse", draw(seeds)).astype(draw(st.sampled_from(kinds)))
    array = draw(st.sampled_from((array, array.T, array[..., ::-1] if array.ndim else array)))
    array.flags.writeable = draw(st.booleans())
    return Case((draw(operands(())),), lambda x: x.from_host(array), lambda x: array)


@st.composite
def _labels(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(("i8", "i4", "u1", ">i4")))
    array = np.asarray(np.random.default_rng(draw(seeds)).integers(0, 100, draw(shapes()))).astype(kind).T
    return Case((draw(operands(())),), lambda x: x.from_host(x.labels(array).to_host()), lambda x: array)


@st.composite
def _item(draw: st.DrawFn) -> Case:
    operand = draw(operands((1,) * draw(st.integers(0, 4))))
    return Case((operand,), lambda x: x.full((), x.item()), lambda x: x.reshape(()))


@st.composite
def _to_host(draw: st.DrawFn) -> Case:
    return Case((draw(operands(draw(shapes()))),), lambda x: x.from_host(x.to_host()), lambda x: x)


@st.composite
def _shape(draw: st.DrawFn) -> Case:
    return Case(
        (draw(operands(draw(shapes()))),),
        lambda x: x.from_host(np.array(x.shape, np.int64)),
        lambda x: np.array(np.shape(x)),
    )


MAKING = (
    _making("full", lambda x, shape: x.full(shape, 2.5), lambda shape: np.full(shape, 2.5)),
    _making("zeros", lambda x, shape: x.zeros(shape), np.zeros),
    _making("ones", lambda x, shape: x.ones(shape), np.ones),
    Operation("from_host", "from_host", _from_host(), smooth=False),
    Operation("labels", "labels", _labels(), smooth=False),
    Operation("to_host", "to_host", _to_host(), smooth=False),
    Operation("item", "item", _item(), smooth=False),
    Operation("shape", "shape", _shape(), smooth=False),
)
