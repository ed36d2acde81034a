import dataclasses
from typing import assert_type

import numpy as np
import pytest

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import Labelled
from moonxi.dtypes import F32, F64


def widened(x: NpArray[F32]) -> NpArray[F64]:
    return numpy(F64).from_host(x.to_host())


def test_map_takes_inputs_and_labels_to_the_other_interpreter() -> None:
    like = numpy()
    batch = Labelled(like.ones((2, 3)), like.labels(np.array([4, 7])))
    mapped = batch.map(widened)
    assert_type(mapped, Labelled[NpArray[F64]])
    assert mapped.x.dtype is F64
    assert mapped.labels.carrier.dtype is F64 or mapped.labels.to_host().dtype == np.int64
    assert mapped.labels.to_host().tolist() == [4, 7]


def test_a_batch_is_frozen() -> None:
    like = numpy()
    batch = Labelled(like.ones((1,)), like.labels(np.array([0])))
    with pytest.raises(dataclasses.FrozenInstanceError):
        batch.x = like.zeros((1,))  # type: ignore[misc]  # on purpose
