"""`GpuTensor` where there is no GPU: complete for type checkers, and clear about what is missing."""

import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typing_extensions import get_protocol_members

from moonxi.backends.cupy import GpuTensor, gpu, presence
from moonxi.dtypes import BF16, F16, F32, F64, I64
from moonxi.errors import DeviceError, MoonxiError, OperandError
from moonxi.traits import BlasTensor, ImageTensor, MlpTensor, Tensor
from tests.backends.on_gpu import gpu_or_skip

REST = "Everything else works without: mx.numpy() computes on the CPU"


@pytest.fixture(autouse=True)
def _looked_up_anew() -> Iterator[None]:
    presence._missing.cache_clear()
    yield
    presence._missing.cache_clear()


def refusal(call: Any) -> str:
    with pytest.raises(DeviceError) as raised:
        call()
    assert isinstance(raised.value, MoonxiError)
    assert isinstance(raised.value, RuntimeError)
    return str(raised.value)


@pytest.mark.parametrize("make", [gpu, lambda: gpu(F64), lambda: gpu(device=1)])
def test_without_cupy_the_error_names_the_package_and_the_command(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moonxi.backends.cupy.presence.find_spec", lambda name: None)
    assert refusal(make) == (
        "GpuTensor: the package cupy is not installed; on a machine with an NVIDIA GPU, pip install 'moonxi[gpu]' "
        f"brings it. {REST}"
    )


def test_a_cupy_that_cannot_be_imported_is_named_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> object:
        raise ImportError("libcudart.so.13: cannot open shared object file")

    monkeypatch.setattr("moonxi.backends.cupy.presence.find_spec", lambda name: object())
    monkeypatch.setattr("moonxi.backends.cupy.presence.import_module", broken)
    assert refusal(gpu) == (
        "GpuTensor: cupy is installed but cannot be imported (libcudart.so.13: cannot open shared object file); "
        f"pip install --force-reinstall 'moonxi[gpu]'. {REST}"
    )


@pytest.mark.parametrize(
    ("devices", "index", "text"),
    [
        (
            RuntimeError("cudaErrorInsufficientDriver"),
            0,
            (
                "GpuTensor: no NVIDIA driver answers (cudaErrorInsufficientDriver); install the driver of the GPU, 580 "
                f"or newer for CUDA 13, and see that nvidia-smi lists it. {REST}"
            ),
        ),
        (
            0,
            0,
            (
                "GpuTensor: the NVIDIA driver shows no GPU; see that nvidia-smi lists one, and that "
                f"CUDA_VISIBLE_DEVICES is not empty. {REST}"
            ),
        ),
        (1, 1, "gpu: device 1: there is one GPU, number 0"),
        (2, 5, "gpu: device 5: there are 2 GPUs, numbered from 0"),
        (2, -1, "gpu: device -1: there are 2 GPUs, numbered from 0"),
    ],
    ids=["no driver", "no GPU", "no second GPU", "no sixth GPU", "a negative number"],
)
def test_what_is_missing_below_cupy_is_said(
    devices: int | Exception, index: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count() -> int:
        if isinstance(devices, Exception):
            raise devices
        return devices

    monkeypatch.setattr("moonxi.backends.cupy.presence.find_spec", lambda name: object())
    monkeypatch.setattr("moonxi.backends.cupy.presence.import_module", lambda name: SimpleNamespace())
    monkeypatch.setattr("moonxi.backends.cupy.presence._devices", count)
    assert refusal(lambda: gpu(device=index)) == text


def test_other_element_types_are_refused() -> None:
    kind: Any = I64
    with pytest.raises(OperandError) as raised:
        gpu(kind)
    assert str(raised.value) == "gpu: element type I64: this backend computes in F32, F64, F16 and BF16"


def test_tf32_is_a_way_to_multiply_float32() -> None:
    call: Any = gpu
    with pytest.raises(OperandError) as raised:
        call(F64, tf32=True)
    assert str(raised.value) == "gpu: tf32=True with F64: TF32 is a way to multiply F32"


@pytest.mark.parametrize("trait", [Tensor, BlasTensor, ImageTensor, MlpTensor])
def test_the_class_has_every_member_of_the_traits(trait: type) -> None:
    assert [name for name in sorted(get_protocol_members(trait)) if not hasattr(GpuTensor, name)] == []


def test_the_class_leaves_no_primitive_abstract() -> None:
    assert GpuTensor.__abstractmethods__ == frozenset()


def test_importing_the_backend_does_not_import_cupy() -> None:
    code = "import sys, moonxi.backends.cupy as b; b.GpuTensor[b.array.F32]; assert 'cupy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.gpu
@pytest.mark.parametrize("operation", ["__lt__", "__le__", "__gt__", "__ge__"])
@pytest.mark.parametrize("element", [F32, F64, F16])
def test_a_choice_by_a_comparison_with_a_number_is_that_of_its_mask(element: Any, operation: str) -> None:
    like = gpu_or_skip(element)()
    values = np.array([[-1.0, 0.5, np.nan, 0.0], [2.0, -0.0, np.inf, 0.5]])
    others = np.arange(8.0).reshape(2, 4)
    x, y = like.from_host(values), like.from_host(others)
    expected = getattr(values, operation)(0.5)
    np.testing.assert_array_equal(y.where(getattr(x, operation)(0.5), 7.0).to_host(), np.where(expected, others, 7.0))
    turned = like.from_host(others.T).permute((1, 0))  # it lies otherwise
    mask = getattr(x, operation)(0.5)
    np.testing.assert_array_equal(turned.where(mask, 7.0).to_host(), np.where(expected, others, 7.0))
    np.testing.assert_array_equal(mask.to_host(), expected)
    np.testing.assert_array_equal(y.where(mask, -1.0).to_host(), np.where(expected, others, -1.0))
    other = gpu_or_skip(BF16)().from_host(others)  # a mask has no element type
    np.testing.assert_array_equal(other.where(getattr(x, operation)(0.5), 7.0).to_host(), np.where(expected, others, 7))
