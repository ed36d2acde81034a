"""The layers where they are not computed by NumPy alone: profiled, and on an NVIDIA GPU."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from tests.backends.on_gpu import ON_HOST, gpu_or_skip
from tests.nn.models import CPU
from tests.nn.references.more_layers import SHAPES, operand
from tests.nn.test_more_layers import CASES, applied

ON_DEVICE = pytest.param(gpu_or_skip(mx.F64), id="GpuTensor", marks=() if ON_HOST else pytest.mark.gpu)


def profiled() -> Any:
    return mx.profile(CPU, into=mx.Profile())


@pytest.mark.parametrize("like", [pytest.param(profiled, id="Profiled"), ON_DEVICE])
@CASES
def test_results_and_gradients_are_those_of_numpy(case: str, like: Callable[[], Any]) -> None:
    there = like()
    here = {name: mx.variable(CPU.from_host(operand(case, name))) for name in SHAPES[case]}
    operands = {name: mx.variable(there.from_host(operand(case, name))) for name in SHAPES[case]}
    expected, found = applied(case, here), applied(case, operands)
    np.testing.assert_allclose(found.to_host(), expected.to_host(), rtol=1e-10, atol=1e-12)
    wanted = expected.backward(CPU.ones(expected.shape))
    gradients = found.backward(there.ones(found.shape))
    for name in operands:
        given, right = gradients.of(operands[name]).to_host(), wanted.of(here[name]).to_host()
        np.testing.assert_allclose(given, right, rtol=1e-10, atol=1e-12, err_msg=name)
