"""Two GPUs: each tensor stays on its own, and they do not mix. Collected only where there are two."""

import pickle
from typing import Any

import numpy as np
import pytest

from moonxi.backends.cupy import presence
from moonxi.dtypes import F32
from moonxi.errors import LabelError, OperandError
from tests.backends.on_gpu import ON_HOST, gpu_or_skip

pytestmark = pytest.mark.gpu


def _there_are_two() -> bool:
    return not ON_HOST and presence._missing() is None and presence._devices() > 1


if _there_are_two():

    @pytest.fixture
    def both() -> tuple[Any, Any]:
        return gpu_or_skip(F32, device=0)(), gpu_or_skip(F32, device=1)()

    def test_tensors_of_two_gpus_do_not_mix(both: tuple[Any, Any]) -> None:
        x, y = (like.ones((2, 2)) for like in both)
        with pytest.raises(OperandError) as raised:
            x + y
        assert str(raised.value) == (
            "add: GpuTensor[F32] on GPU 0 with one on GPU 1: both operands must live on one GPU; move one with "
            "x.from_host(y.to_host())"
        )
        with pytest.raises(OperandError, match=r"pick: .* on GPU 1 with Labels on GPU 0: both must live on one GPU"):
            y.pick(x.argmax(1))

    def test_each_computes_where_it_lives(both: tuple[Any, Any]) -> None:
        array = np.random.default_rng(0).normal(size=(4, 3, 16, 16)).astype(np.float32)
        weight = np.random.default_rng(1).normal(size=(8, 3, 3, 3)).astype(np.float32)
        found = []
        for turn in range(4):
            like = both[turn % 2]
            x = like.from_host(array)
            y = x.conv2d(like.from_host(weight), padding=1).relu().max_pool2d(2)
            flat = y.reshape((4, -1))
            found.append((flat @ flat.transpose()).softmax(1).to_host())
            assert y.device == turn % 2
        for one in found[1:]:
            np.testing.assert_allclose(one, found[0], rtol=1e-5)

    def test_a_wrong_label_is_reported_by_its_own_gpu(both: tuple[Any, Any]) -> None:
        x, y = (like.ones((2, 2)) for like in both)
        wrong = y.pick(y.labels(np.array([0, 5])))
        assert x.sum().item() == 4.0
        with pytest.raises(LabelError, match="pick: label 5"):
            wrong.to_host()

    def test_a_pickle_comes_back_to_its_gpu(both: tuple[Any, Any]) -> None:
        assert pickle.loads(pickle.dumps(both[1].ones((2,)))).device == 1
