"""`NpArray` and other libraries: copies by DLPack, and no silent conversion to NumPy."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import moonxi as mx
from moonxi import F32, F64, NpArray
from moonxi.errors import OperandError
from moonxi.profiled import Profile, profile

X = mx.numpy(F64).from_host(np.arange(6.0).reshape(2, 3))
torch_only = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")

CONVERSIONS: dict[str, Callable[[Any], object]] = {
    "asarray": np.asarray,
    "array": np.array,
    "array of float32": lambda x: np.array(x, np.float32),
    "norm": np.linalg.norm,
    "stack": lambda x: np.stack([x, x]),
    "assignment": lambda x: np.zeros(6).__setitem__(slice(None), x),
}
TENSORS: dict[str, tuple[object, str]] = {
    "NpArray": (X, r"NpArray \(2, 3\)"),
    "ImageGrad": (mx.variable(X), r"ImageGrad \(2, 3\)"),
    "ShapeTensor": (mx.ShapeTensor((2, 3)), r"ShapeTensor \(2, 3\)"),
    "ImageProfiled": (profile(X, into=Profile()), r"ImageProfiled \(2, 3\)"),
    "Labels": (X.argmax(1), r"Labels \(2,\)"),
    "Mask": (X > 2.0, r"Mask \(2, 3\)"),
}


@pytest.mark.parametrize("convert", CONVERSIONS.values(), ids=CONVERSIONS.keys())
@pytest.mark.parametrize(("tensor", "name"), TENSORS.values(), ids=TENSORS.keys())
def test_numpy_makes_no_array_of_a_tensor_by_itself(
    tensor: object, name: str, convert: Callable[[Any], object]
) -> None:
    message = rf"^numpy.asarray: {name}: NumPy would copy it without a word; write the copy down, x.to_host\(\)$"
    with pytest.raises(OperandError, match=message):
        convert(tensor)


shapes = array_shapes(min_dims=0, min_side=0, max_side=4)


@given(array=arrays(np.float64, shapes, elements=st.floats(allow_nan=False)), turned=st.booleans())
def test_elements_go_to_numpy_and_come_back(array: np.ndarray, turned: bool) -> None:
    x = mx.numpy(F64).from_host(array)
    x = x.permute(tuple(reversed(range(array.ndim)))) if turned else x
    there = np.from_dlpack(x)
    assert there.dtype == np.float64
    assert there.tobytes() == x.to_host().tobytes()
    back = x.from_dlpack(there)
    assert type(back) is NpArray
    assert back.to_host().tobytes() == x.to_host().tobytes()


def test_what_was_given_out_can_be_written_and_the_tensor_stays() -> None:
    for there in np.from_dlpack(X), np.from_dlpack(X, copy=True):
        before = X.to_host()
        there[...] = -1
        assert X.to_host().tolist() == before.tolist()
    old = np.from_dlpack(_Old(X))
    assert old.tolist() == X.to_host().tolist()
    assert not np.shares_memory(old, X.data)


class _Old:
    """A producer of DLPack before version 1, whose consumer knows no read-only memory."""

    def __init__(self, tensor: NpArray[F64]) -> None:
        self._tensor = tensor

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._tensor.__dlpack_device__()

    def __dlpack__(self, /, *, stream: None = None) -> Any:
        return self._tensor.__dlpack__()


def test_what_was_taken_in_does_not_change_with_its_owner() -> None:
    array = np.ones(3)
    x = X.from_dlpack(array)
    array[0] = 7
    assert x.to_host().tolist() == [1, 1, 1]


def test_labels_and_masks_go_by_their_carriers() -> None:
    assert np.from_dlpack(X.argmax(1).carrier).dtype == np.int64
    assert np.from_dlpack((X > 2.0).carrier).tolist() == [[False] * 3, [True] * 3]


def test_a_consumer_that_refuses_a_copy_is_refused() -> None:
    with pytest.raises(BufferError, match=r"^NpArray.__dlpack__: copy=False: its memory is immutable, so it gives cop"):
        np.from_dlpack(X, copy=False)
    with pytest.raises(BufferError, match=r"^NpArray.__dlpack__: device \(2, 0\): it lives on the host, device \(1, 0"):
        X.__dlpack__(dl_device=(2, 0))


def test_other_elements_and_other_places_are_refused() -> None:
    message = r"^from_dlpack: numpy.ndarray of float32: expected elements of float64; convert it there first, or here "
    with pytest.raises(OperandError, match=message):
        X.from_dlpack(np.ones(3, np.float32))

    class Elsewhere(_Old):
        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 1

    message = r"^from_dlpack: tests.Elsewhere on device \(2, 1\): expected an array on the host, device \(1, 0\); copy"
    with pytest.raises(OperandError, match=message):
        X.from_dlpack(Elsewhere(X))


@torch_only
@pytest.mark.parametrize("dtype", [F32, F64])
def test_elements_go_to_pytorch_and_come_back(dtype: Any) -> None:
    torch: Any = import_module("torch")
    x = mx.numpy(dtype).from_host(np.arange(6.0).reshape(2, 3)).transpose()
    theirs = torch.from_dlpack(x)
    assert str(theirs.dtype) == f"torch.{dtype.name}"
    np.testing.assert_array_equal(theirs.numpy(), x.to_host())
    theirs.add_(1)
    assert x.to_host().tolist() == [[0, 3], [1, 4], [2, 5]]
    back = x.from_dlpack(theirs.t())
    theirs.add_(1)
    assert back.to_host().tolist() == [[1, 2, 3], [4, 5, 6]]


@torch_only
def test_what_pytorch_does_not_give_is_refused_with_its_reason() -> None:
    torch: Any = import_module("torch")
    with pytest.raises(OperandError, match=r"^from_dlpack: torch.Tensor: cannot be had as an array of NumPy: .*gradi"):
        X.from_dlpack(torch.ones(2, dtype=torch.float64, requires_grad=True))
    with pytest.raises(OperandError, match=r"^from_dlpack: torch.Tensor: cannot be had as an array of NumPy: "):
        X.from_dlpack(torch.ones(2, dtype=torch.bfloat16))
