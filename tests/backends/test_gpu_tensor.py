"""`GpuTensor` without a GPU: complete for type checkers, and clear about what is missing."""

from importlib import util
from typing import Any

import pytest
from typing_extensions import get_protocol_members

from moonxi.backends.cupy import GpuTensor, gpu
from moonxi.dtypes import F32, F64
from moonxi.errors import DeviceError, MoonxiError
from moonxi.traits import BlasTensor, MlpTensor, Tensor

MISSING = (
    "GpuTensor: the package cupy is not installed; on a machine with an NVIDIA GPU, pip install 'moonxi[gpu]' brings "
    "it. Everything else works without: mx.numpy() computes on the CPU"
)
NOT_YET = (
    "GpuTensor: cupy is installed, but this version of moonxi has no kernels for it yet. "
    "Everything else works without: mx.numpy() computes on the CPU"
)


@pytest.mark.parametrize("make", [gpu, lambda: gpu(F64), lambda: GpuTensor[F32](), lambda: GpuTensor(None)])
@pytest.mark.parametrize(("found", "text"), [(None, MISSING), (object(), NOT_YET)], ids=["without cupy", "with cupy"])
def test_making_one_says_what_is_missing(make: Any, found: object, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moonxi.backends.cupy.presence.find_spec", lambda name: found)
    with pytest.raises(DeviceError) as raised:
        make()
    assert str(raised.value) == text
    assert isinstance(raised.value, MoonxiError)
    assert isinstance(raised.value, RuntimeError)


@pytest.mark.parametrize("trait", [Tensor, BlasTensor, MlpTensor])
def test_the_class_has_every_member_of_the_traits(trait: type) -> None:
    assert [name for name in sorted(get_protocol_members(trait)) if not hasattr(GpuTensor, name)] == []


def test_the_class_leaves_no_primitive_abstract() -> None:
    assert GpuTensor.__abstractmethods__ == frozenset()


def test_looking_at_the_class_does_not_look_for_a_device() -> None:
    assert GpuTensor.__name__ == "GpuTensor"
    assert util.find_spec("moonxi.backends.cupy") is not None
