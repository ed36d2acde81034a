"""Functions of moonxi that take shapes of any kind, such as losses and ``einsum``: they are run themselves."""

from collections.abc import Mapping, Sequence
from importlib import import_module

from moonxi.mypy_plugin.shapes.equations import Equations
from moonxi.mypy_plugin.shapes.objects import Object
from moonxi.mypy_plugin.shapes.operations import guarded, resolved
from moonxi.mypy_plugin.shapes.values import UNKNOWN, is_known

_FUNCTIONS = ("moonxi.linalg.", "moonxi.losses.", "moonxi.nn.activation_functions.", "moonxi.nn.residual.")


def is_library(function: str) -> bool:
    """Whether the function of the full name is one of these."""
    return function.startswith(_FUNCTIONS)


def library_call(
    function: str, positional: Sequence[object], named: Mapping[str, object], equations: Equations
) -> object:
    """The result of one of these functions. Raises `ShapeError`."""
    given = [resolved(value, equations) for value in positional]
    options = {name: resolved(value, equations) for name, value in named.items()}
    if not all(map(_is_plain, (*given, *options.values()))):
        return UNKNOWN
    module, _, name = function.rpartition(".")
    result = guarded(lambda: getattr(import_module(module), name)(*given, **options), equations, equal=False)
    return result if _is_plain(result) else UNKNOWN


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return is_known(value) and not isinstance(value, Object)
