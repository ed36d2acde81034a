"""The losses where they are not computed by NumPy alone: profiled, and on an NVIDIA GPU."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from tests.backends.on_gpu import ON_HOST, gpu_or_skip
from tests.losses.references.loss_cases import SHAPES, numbers
from tests.losses.test_more_against_pytorch import CASES, EACH, LIKE, loss

ON_DEVICE = pytest.param(gpu_or_skip(mx.F64), id="GpuTensor", marks=() if ON_HOST else pytest.mark.gpu)


def profiled() -> Any:
    return mx.profile(LIKE, into=mx.Profile())


@pytest.mark.parametrize("like", [pytest.param(profiled, id="Profiled"), ON_DEVICE])
@CASES
def test_losses_and_gradients_are_those_of_numpy(case: str, like: Callable[[], Any]) -> None:
    there = like()
    for reduction in EACH:
        here = {name: mx.variable(LIKE.from_host(one)) for name, one in numbers(case).items()}
        operands = {name: mx.variable(there.from_host(one)) for name, one in numbers(case).items()}
        expected, found = loss(case, here, reduction), loss(case, operands, reduction)
        np.testing.assert_allclose(found.to_host(), expected.to_host(), rtol=1e-10, atol=1e-12)
        wanted = expected.backward(LIKE.ones(expected.shape))
        gradients = found.backward(there.ones(found.shape))
        for name in (one for one in SHAPES[case] if one in operands):
            given, right = gradients.of(operands[name]).to_host(), wanted.of(here[name]).to_host()
            np.testing.assert_allclose(given, right, rtol=1e-10, atol=1e-12, err_msg=name)
