"""What every data set of arrays says of positions that are none, and of arrays that are none."""

from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi.data import LabelledArrays, PairedArrays, Subset
from moonxi.errors import AxisError, DataError, OperandError

LIKE = mx.numpy()
INPUTS = np.arange(3.0)
LABELLED = LabelledArrays(LIKE, INPUTS, np.arange(3))
DATASETS: dict[str, Any] = {
    "labelled": LABELLED,
    "paired": PairedArrays(LIKE, INPUTS, INPUTS),
    "subset": Subset(LABELLED, np.arange(3)),
}

POSITIONS: dict[str, tuple[object, type[Exception], str]] = {
    "booleans": (
        np.array([True, False, True]),
        OperandError,
        "batch: positions (3,) of bool: expected integers along one axis; of booleans write numpy.flatnonzero(chosen)",
    ),
    "floats": (
        np.array([0.0, 1.0]),
        OperandError,
        "batch: positions (2,) of float64: expected integers along one axis",
    ),
    "two axes": (
        np.array([[0, 1]]),
        OperandError,
        "batch: positions (1, 2) of int64: expected integers along one axis",
    ),
    "a list": ([0, 1], OperandError, "batch: list: expected an array of positions; convert with numpy.array(indices)"),
    "none": (np.array([], np.intp), DataError, "batch: 0 of 3 samples: a batch has at least one sample"),
    "outside": (
        np.array([0, 3]),
        AxisError,
        "batch: 3 samples: position 3 lies outside",
    ),
}


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("dataset", DATASETS)
def test_positions_that_are_none_are_refused(dataset: str, positions: str) -> None:
    given, error, text = POSITIONS[positions]
    with pytest.raises(error) as caught:
        DATASETS[dataset].batch(given)
    assert str(caught.value) == text


def test_a_data_set_is_made_of_arrays() -> None:
    values: Any = [0.0, 1.0, 2.0]
    advice = "expected a NumPy array; a list becomes one with numpy.array(values), a tensor with x.to_host()"
    with pytest.raises(OperandError) as caught:
        LabelledArrays(LIKE, values, np.arange(3))
    assert str(caught.value) == f"LabelledArrays: inputs: list: {advice}"
    tensor: Any = LIKE.ones((3,))
    with pytest.raises(OperandError) as caught:
        PairedArrays(LIKE, INPUTS, tensor)
    assert str(caught.value) == f"PairedArrays: targets: NpArray: {advice}"
    with pytest.raises(OperandError) as caught:
        Subset(LABELLED, values)
    assert str(caught.value) == f"Subset: positions: list: {advice}"
