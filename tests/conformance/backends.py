"""The backends under test, and an interpreter of somebody else. A new backend adds itself here and nowhere else."""

import numpy as np
import pytest

from moonxi.backends.numpy import numpy
from moonxi.dtypes import F32, F64
from moonxi.profiled import Profile, profile
from tests.conformance.primitives_only import PrimitivesOnly
from tests.conformance.suite import Suite

BACKENDS = (
    pytest.param(Suite(numpy(F32)), id="NpArray[F32]"),
    pytest.param(Suite(numpy(F64)), id="NpArray[F64]"),
)
INTERPRETERS = (
    *BACKENDS,
    pytest.param(Suite(PrimitivesOnly[F64](np.zeros(()))), id="PrimitivesOnly[F64]"),
    pytest.param(Suite(profile(numpy(F64), into=Profile(events=0))), id="Profiled[NpArray[F64]]"),
)
