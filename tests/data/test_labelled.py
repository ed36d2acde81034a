import dataclasses
from typing import assert_type

import numpy as np
import pytest

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import Labelled
from moonxi.dtypes import F32, F64


def test_map_takes_inputs_and_labels_to_the_other_interpreter() -> None:
    taken: list[NpArray[F32]] = []

    def widened(x: NpArray[F32]) -> NpArray[F64]:
        taken.append(x)
        return numpy(F64).from_host(x.to_host())

    like = numpy()
    batch = Labelled(like.ones((2, 3)), like.labels(np.array([4, 7])))
    mapped = batch.map(widened)
    assert_type(mapped, Labelled[NpArray[F64]])
    assert len(taken) == 2
    assert taken[0] is batch.x
    assert taken[1] is batch.labels.carrier
    assert mapped.x.dtype is F64
    assert mapped.labels.to_host().tolist() == [4, 7]


def test_a_batch_is_frozen() -> None:
    like = numpy()
    batch = Labelled(like.ones((1,)), like.labels(np.array([0])))
    with pytest.raises(dataclasses.FrozenInstanceError):
        batch.x = like.zeros((1,))  # type: ignore[misc]  # on purpose
