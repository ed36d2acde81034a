"""The must-fail suite has a mistake for every loss, for every layer and for every activation."""

import ast
import re
from pathlib import Path

import pytest

from moonxi import losses, nn
from moonxi.nn import Layer, activation_functions

CASES = Path(__file__).parents[2] / "typecheck_tests" / "cases"
LOSSES = [name for name in losses.__all__ if name.islower()]
FUNCTIONS = [name for name in nn.__all__ if hasattr(activation_functions, name)]
LAYERS = [name for name, one in vars(nn).items() if isinstance(one, type) and issubclass(one, Layer)]


@pytest.fixture(scope="module")
def mistakes() -> str:
    """The text of all wrong functions."""
    return "\n".join(
        ast.unparse(node)
        for file in CASES.glob("*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("wrong_")
    )


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_has_a_mistake(name: str, mistakes: str) -> None:
    assert re.search(rf"\b{name}\(", mistakes)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_a_mistake(name: str, mistakes: str) -> None:
    assert re.search(rf"\bnn\.{name}\(", mistakes)


@pytest.mark.parametrize("name", [one for one in LAYERS if one not in ("Layer", "Module", "Tanh", "Relu", "Flatten")])
def test_every_layer_has_a_mistake(name: str, mistakes: str) -> None:
    assert re.search(rf"\b{name}\b", mistakes)


def test_the_lists_are_whole() -> None:
    assert {"l1", "nll", "cross_entropy", "triplet_margin"} <= set(LOSSES)
    assert {"silu", "gelu", "hardswish"} <= set(FUNCTIONS)
    assert {"Embedding", "LayerNorm", "RMSNorm", "Bilinear", "Identity", "Lambda", "Softmax"} <= set(LAYERS)
