"""The backends under test. A new one adds itself here, and to nothing else of this suite."""

import numpy as np
import pytest

from moonxi.backends.numpy import numpy
from moonxi.dtypes import F32, F64
from tests.conformance.primitives_only import PrimitivesOnly
from tests.conformance.suite import Suite

BACKENDS = (
    pytest.param(Suite(numpy(F32)), id="NpArray[F32]"),
    pytest.param(Suite(numpy(F64)), id="NpArray[F64]"),
    pytest.param(Suite(PrimitivesOnly[F64](np.zeros(()))), id="PrimitivesOnly[F64]"),
)
