"""The must-fail suite has a mistake for everything that there is for images."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from moonxi import nn
from moonxi.nn import convolution, models, normalisation, pooling
from moonxi.traits import ImageTensor

CASES = Path(__file__).parents[2] / "typecheck_tests" / "cases"
OPERATIONS = [name for name, member in vars(ImageTensor).items() if inspect.isfunction(member) and name[0] != "_"]
LAYERS = [
    name
    for name, one in vars(nn).items()
    if isinstance(one, type) and one.__module__ in (convolution.__name__, normalisation.__name__, pooling.__name__)
]


@pytest.fixture(scope="module")
def mistakes() -> str:
    """The text of all wrong functions."""
    return "\n".join(
        ast.unparse(node)
        for file in CASES.glob("*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("wrong_")
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_on_images_has_a_mistake(operation: str, mistakes: str) -> None:
    assert re.search(rf"\.{operation}\(", mistakes)


@pytest.mark.parametrize("name", [*LAYERS, "Dropout2d", *models.__all__])
def test_every_layer_of_images_and_every_model_has_a_mistake(name: str, mistakes: str) -> None:
    assert re.search(rf"\b{name}\b", mistakes)


def test_the_lists_are_whole() -> None:
    assert {"conv2d", "max_pool2d_grad", "pad2d", "group_norm"} <= set(OPERATIONS)
    assert {"Conv2d", "GroupNorm", "GlobalAvgPool2d", "UpsampleBilinear2d"} <= set(LAYERS)
