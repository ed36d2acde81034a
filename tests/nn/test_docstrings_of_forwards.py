"""What an editor shows of a layer: its shapes are in the docstring of `forward`, as they are in the annotations."""

import ast
import inspect
from collections.abc import Callable
from textwrap import dedent

import pytest

from moonxi import nn
from moonxi.nn import models

FORWARDS: dict[str, Callable[..., object]] = {
    name: vars(cls)["forward"]
    for module in (nn, models)
    for name, cls in vars(module).items()
    if isinstance(cls, type) and issubclass(cls, nn.Layer) and "forward" in vars(cls)
}


def signature(forward: Callable[..., object]) -> str:
    """The annotations of shapes as they are written, or nothing."""
    [function] = ast.parse(dedent(inspect.getsource(inspect.unwrap(forward)))).body
    assert isinstance(function, ast.FunctionDef)
    arguments = [*function.args.posonlyargs, *function.args.args][1:]
    written = {one.arg: ast.unparse(one.annotation).replace("'", '"') for one in arguments if one.annotation}
    shaped = ", ".join(f"{name}: {text}" for name, text in written.items() if '"' in text)
    result = "" if function.returns is None else ast.unparse(function.returns).replace("'", '"')
    return f"({shaped}) -> {result}" if shaped else ""


@pytest.mark.parametrize("name", FORWARDS)
def test_the_docstring_of_a_forward_states_its_shapes(name: str) -> None:
    assert signature(FORWARDS[name]) in " ".join((inspect.getdoc(FORWARDS[name]) or "").split())


def test_shapes_are_found() -> None:
    assert signature(FORWARDS["Linear"]) == '(x: Float[T, "*batch {self.inputs}"]) -> Float[T, "*batch {self.outputs}"]'
    assert signature(FORWARDS["Sequential"]) == ""
