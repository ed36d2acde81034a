"""Functions of moonxi that take shapes of any kind, such as losses and ``einsum``: they are run themselves."""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module

from moonxi.dims import Size
from moonxi.mypy_plugin.shapes.equations import Equations, certainly_differ, cut_apart
from moonxi.mypy_plugin.shapes.objects import Object
from moonxi.mypy_plugin.shapes.operations import guarded, resolved
from moonxi.mypy_plugin.shapes.values import UNKNOWN, is_known
from moonxi.traits import Labels

_LOSSES = "moonxi.losses."
_FUNCTIONS = ("moonxi.linalg.", _LOSSES, "moonxi.nn.activation_functions.", "moonxi.nn.residual.")


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
    judge = partial(_differ_in_loss, labels=any(isinstance(one, Labels) for one in given))
    result = guarded(
        lambda: getattr(import_module(module), name)(*given, **options),
        equations,
        equal=False,
        judge=judge if function.startswith(_LOSSES) else certainly_differ,
    )
    return result if _is_plain(result) else UNKNOWN


def _differ_in_loss(left: Size, right: Size, *, labels: bool) -> bool:
    """A loss broadcasts nothing, and its operands have one element or label for each sample: no cut is made for it."""
    return certainly_differ(left, right) or cut_apart(left, right, whole=labels)


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return is_known(value) and not isinstance(value, Object)
