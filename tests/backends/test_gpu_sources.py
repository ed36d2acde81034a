"""The sources of the kernels compile for the GPUs that are supported, on a machine without one."""

from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import pytest

from moonxi.backends.cupy import sources
from moonxi.dtypes import DType

ARCHITECTURES = ("sm_80", "sm_90")


def compiled(code: str, architecture: str, given: tuple[str, ...]) -> str:
    """The errors of NVRTC."""
    nvrtc: Any = import_module("cuda.bindings.nvrtc")

    def checked(found: tuple[Any, ...]) -> Any:
        assert found[0] == nvrtc.nvrtcResult.NVRTC_SUCCESS
        return found[1] if len(found) > 1 else None

    program = checked(nvrtc.nvrtcCreateProgram(code.encode(), b"kernels.cu", 0, [], []))
    options = [f"--gpu-architecture={architecture}".encode(), *(option.encode() for option in given)]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    log = b" " * checked(nvrtc.nvrtcGetProgramLogSize(program))
    checked(nvrtc.nvrtcGetProgramLog(program, log))
    if result == nvrtc.nvrtcResult.NVRTC_SUCCESS:
        assert checked(nvrtc.nvrtcGetCUBINSize(program)) > 0
        return ""
    return log.decode(errors="replace") or str(result)


def _nvrtc_is_there() -> bool:
    if find_spec("cuda") is None or find_spec("cuda.bindings") is None:
        return False
    nvrtc: Any = import_module("cuda.bindings.nvrtc")
    try:
        nvrtc.nvrtcVersion()
    except RuntimeError:  # the bindings are there, the library is not
        return False
    return True


nvrtc_is_missing = pytest.mark.skipif(
    not _nvrtc_is_there(), reason="NVRTC is not installed: pip install cuda-bindings nvidia-cuda-nvrtc"
)


@nvrtc_is_missing
@pytest.mark.slow
@pytest.mark.parametrize(("topic", "element"), list(sources.every_source()))
def test_every_kernel_compiles(topic: str, element: type[DType]) -> None:
    code = sources.source(topic, element)
    # What asks for no architecture is the same for all, and a later one has all that an earlier one has.
    for architecture in ARCHITECTURES if "__CUDA_ARCH__" in code else ARCHITECTURES[:1]:
        assert compiled(code, architecture, sources.options(topic)) == "", architecture


def test_each_source_belongs_to_a_topic() -> None:
    folder = files("moonxi.backends.cupy").joinpath("kernels")
    used = {
        part for parts in (*sources.PARTS.values(), sources.FORMULA, sources.WAVES, sources.NORMS) for part in parts
    } | {"prelude.cuh"}
    assert {entry.name for entry in folder.iterdir()} == used


def test_no_source_includes_a_header() -> None:
    for topic, element in sources.every_source():
        assert "#include" not in sources.source(topic, element)
