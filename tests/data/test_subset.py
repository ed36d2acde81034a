from typing import assert_type

import numpy as np
import pytest

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import DataLoader, Labelled, LabelledArrays, Mapped, Paired, PairedArrays, Subset
from moonxi.dtypes import F32
from moonxi.errors import AxisError, DataError, OperandError, ShapeError


def samples() -> LabelledArrays[NpArray[F32]]:
    return LabelledArrays(numpy(), np.arange(6, dtype=np.float32), np.arange(6))


def pairs() -> PairedArrays[NpArray[F32]]:
    return PairedArrays(numpy(), np.arange(12).reshape(6, 2), np.arange(6) / 2)


def test_a_subset_has_the_samples_at_its_positions_and_copies_nothing() -> None:
    part = Subset(samples(), np.array([5, 0, 2]))
    assert len(part) == 3
    assert part.batch(np.array([0, 2])).labels.to_host().tolist() == [5, 2]
    assert part[1:].batch(np.array([0])).labels.to_host().tolist() == [0]


def test_a_subset_outside_its_data_set_is_refused() -> None:
    for position in 6, -1:
        with pytest.raises(AxisError, match=rf"^Subset: 6 samples: position {position} lies outside$"):
            Subset(samples(), np.array([0, position]))
    with pytest.raises(OperandError, match=r"^Subset: positions \(1, 1\) of int64: expected integers along one axis$"):
        Subset(samples(), np.zeros((1, 1), np.int64))
    with pytest.raises(AxisError, match=r"^batch: 3 samples: position 3 lies outside"):
        Subset(samples(), np.arange(3)).batch(np.array([3]))


def test_a_mapped_data_set_has_batches_after_the_function() -> None:
    def doubled(batch: Labelled[NpArray[F32]]) -> NpArray[F32]:
        return batch.x * 2

    loader = DataLoader(Mapped(samples(), doubled), batch_size=4, workers=2)
    assert_type(loader, DataLoader[NpArray[F32]])
    assert [batch.to_host().tolist() for batch in loader.epoch(0)] == [[0, 2, 4, 6], [8, 10]]


def test_pairs_come_as_batches_of_inputs_and_targets() -> None:
    batch = next(DataLoader(pairs(), batch_size=2).epoch(0))
    assert_type(batch, Paired[NpArray[F32]])
    assert batch.size == 2
    assert batch.x.to_host().tolist() == [[0, 1], [2, 3]]
    assert batch.y.to_host().tolist() == [0, 0.5]
    assert batch.map(lambda x: x + 1).y.to_host().tolist() == [1, 1.5]


def test_parts_of_pairs_are_pairs() -> None:
    assert len(pairs()[2:]) == 4
    assert pairs()[np.array([3])].targets.tolist() == [1.5]
    assert repr(pairs()) == "PairedArrays(6 samples: inputs (2,) int64, targets () float64, for NpArray)"
    with pytest.raises(AxisError, match=r"^PairedArrays\[...\]: 6 samples: index 9"):
        pairs()[np.array([9])]


def test_pairs_cannot_be_written_through() -> None:
    array = np.zeros((3, 1))
    data = PairedArrays(numpy(), array, array)
    with pytest.raises(ValueError, match="read-only"):
        data.inputs[0] = 1
    array[0] = 1  # the owner still may


def test_what_are_no_pairs_is_refused() -> None:
    message = r"^PairedArrays: inputs \(3, 1\), targets \(2,\): the first axes count the samples and must be equal$"
    with pytest.raises(ShapeError, match=message):
        PairedArrays(numpy(), np.zeros((3, 1)), np.zeros(2))
    words: np.ndarray = np.array(["a"])
    with pytest.raises(OperandError, match=r"^PairedArrays: targets of <U1: expected real numbers$"):
        PairedArrays(numpy(), np.zeros(1), words)
    with pytest.raises(DataError, match=r"^batch: 0 of 6 samples: a batch has at least one sample$"):
        pairs().batch(np.zeros(0, int))
    with pytest.raises(AxisError, match=r"^batch: 6 samples: position 6"):
        pairs().batch(np.array([6]))
