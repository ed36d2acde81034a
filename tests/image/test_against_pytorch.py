"""Values and gradients are those that PyTorch gives in float64 (``make_reference.py``)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from moonxi.autodiff import variable
from moonxi.backends.numpy import numpy
from moonxi.dtypes import F64
from tests.image.configurations import CONFIGURATIONS, Configuration


def stored() -> dict[str, NDArray[np.float64]]:
    with np.load(Path(__file__).with_name("pytorch.npz")) as file:
        return {name: file[name] for name in file.files}


REFERENCE = stored()

every_configuration = pytest.mark.parametrize(
    "configuration", [pytest.param(configuration, id=configuration.name) for configuration in CONFIGURATIONS]
)


def call(configuration: Configuration, operands: list[Any]) -> Any:
    x, *others = operands
    arguments = configuration.arguments
    others = [*arguments, *others] if configuration.operation == "group_norm" else [*others, *arguments]
    return getattr(x, configuration.operation)(*others, **configuration.options)


def close(found: Any, name: str) -> None:
    np.testing.assert_allclose(found.to_host(), REFERENCE[name], rtol=1e-8, atol=1e-10, err_msg=name)


@every_configuration
def test_value_and_gradients_are_those_of_pytorch(configuration: Configuration) -> None:
    like = numpy(F64)
    plain = [like.from_host(array) for array in configuration.operands()]
    operands = [variable(x) for x in plain]
    result, bare = call(configuration, operands), call(configuration, plain)
    if configuration.operation == "batch_norm":
        result, mean, variance = result
        bare = bare[0]
        count = np.prod(configuration.shapes[0]) / configuration.shapes[0][1]
        close(mean, f"{configuration.name}: other 0")
        close(variance * (count / (count - 1)), f"{configuration.name}: other 1")
    close(result, f"{configuration.name}: value")
    close(bare, f"{configuration.name}: value")
    gradients = result.backward(like.from_host(configuration.cotangent(result.shape)))
    names = [f"{configuration.name}: gradient {number}" for number in range(len(operands))]
    assert names[0] in REFERENCE
    for name, x in zip(names, operands, strict=True):
        if name in REFERENCE:
            close(gradients.of(x), name)


def test_there_are_enough_configurations() -> None:
    assert len({configuration.name for configuration in CONFIGURATIONS}) == len(CONFIGURATIONS) >= 60
