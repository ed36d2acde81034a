"""Loops over tensors: the parts along the first axis, and never over what has none."""

from collections.abc import Iterable

import numpy as np
import pytest

from moonxi import Key, ShapeTensor, constant, numpy, variable
from moonxi.dims import symbol
from moonxi.errors import OperandError, ShapeError

x = numpy().from_host(np.arange(6.0).reshape(3, 2))
SCALARS: dict[str, Iterable[object]] = {
    "NpArray": x.sum(),
    "variable": variable(x.sum()),
    "variable of a variable": variable(variable(x.sum())),
    "constant": constant(x.sum()),
    "ShapeTensor": ShapeTensor(()),
    "Labels": x.labels(np.array(3)),
    "Mask": x.sum() > 0.0,
}


def test_a_loop_goes_over_the_first_axis() -> None:
    assert [row.to_host().tolist() for row in x] == x.to_host().tolist()
    first, *_, last = x
    assert (first.shape, last.to_host().tolist()) == ((2,), [4.0, 5.0])
    assert [label.to_host().item() for label in x.argmax(1)] == [1, 1, 1]
    assert [mask.to_host().tolist() for mask in x > 2.0] == (x.to_host() > 2.0).tolist()
    assert [str(row) for row in ShapeTensor((2, symbol("n")))] == ["ShapeTensor[F32] (n,)"] * 2


def test_an_empty_first_axis_has_no_parts() -> None:
    assert list(x[:0]) == []
    assert list(variable(x[:0])) == []


def test_a_loop_is_differentiated() -> None:
    weights = variable(x.uniform((3, 2), Key(0)))
    total = variable(x.full((), 0.0))
    for number, row in enumerate(weights):
        total = total + row.sum() * float(number)
    assert total.backward().of(weights).to_host().tolist() == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=SCALARS)
def test_one_element_has_no_parts(scalar: Iterable[object]) -> None:
    with pytest.raises(ShapeError) as error:
        iter(scalar)
    assert str(error.value) == (
        "iterate: (): one element has no parts to loop over; read it with .item() or .to_host()"
    )


def test_a_loop_over_a_symbolic_number_of_parts_does_not_begin() -> None:
    with pytest.raises(OperandError) as error:
        list(ShapeTensor((symbol("batch"), 3)))
    assert str(error.value) == (
        "iterate: (batch, 3): a loop needs to know how many parts there are, and batch stands for any number; "
        "compute with the whole tensor"
    )
