"""The backends under test, and an interpreter of somebody else. A new backend adds itself here and nowhere else."""

import os
from typing import Any

import numpy as np
import pytest

from moonxi.backends.cupy import gpu
from moonxi.backends.numpy import numpy
from moonxi.dtypes import F32, F64
from moonxi.errors import DeviceError
from moonxi.profiled import Profile, profile
from tests.backends.on_host import kernels
from tests.conformance.primitives_only import PrimitivesOnly
from tests.conformance.suite import Suite


def _on_gpu(element: Any) -> Any:
    """The GPU, or why there is none; with MOONXI_GPU_ON_HOST=1 its kernels run on the host instead.

    Labels are checked at the operation, for the texts of the errors."""
    name = f"GpuTensor[{element.__name__}]"
    if os.environ.get("MOONXI_GPU_ON_HOST"):
        kernels.install()
        return pytest.param(Suite(gpu(element, debug=True)), id=f"{name} on the host", marks=pytest.mark.gpu)
    try:
        return pytest.param(Suite(gpu(element, debug=True)), id=name, marks=pytest.mark.gpu)
    except DeviceError as error:
        return pytest.param(None, id=name, marks=[pytest.mark.gpu, pytest.mark.skip(reason=str(error))])


BACKENDS = (
    pytest.param(Suite(numpy(F32)), id="NpArray[F32]"),
    pytest.param(Suite(numpy(F64)), id="NpArray[F64]"),
    _on_gpu(F32),
    _on_gpu(F64),
)
INTERPRETERS = (
    *BACKENDS,
    pytest.param(Suite(PrimitivesOnly[F64](np.zeros(()))), id="PrimitivesOnly[F64]"),
    pytest.param(Suite(profile(numpy(F64), into=Profile(events=0))), id="Profiled[NpArray[F64]]"),
)
