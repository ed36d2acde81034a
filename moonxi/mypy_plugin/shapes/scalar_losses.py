"""A loss is one number: what a function gives that is to be minimised has no axes.

Such a function is known by what takes it, as `Trainer`, or by its name and its parameters: a model, a batch and the
mode. One that is called elsewhere in its file may give a loss for each sample, of which the caller takes the mean.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from mypy.nodes import Context, FuncDef
from mypy.types import CallableType, Instance, TupleType, Type, UnionType, get_proper_type

from moonxi import shapes
from moonxi.mypy_plugin.shapes.arguments import Argument
from moonxi.mypy_plugin.shapes.attached import attached
from moonxi.mypy_plugin.shapes.functions import looked_into
from moonxi.mypy_plugin.shapes.objects import is_tensor
from moonxi.mypy_plugin.shapes.run import Run
from moonxi.mypy_plugin.shapes.values import Function, shape_of
from moonxi.shapes import Sizes

_MODES: Final = ("moonxi.nn.mode.Train", "moonxi.nn.mode.Eval")
_TAKE: Final[Mapping[str, int]] = {"moonxi.train.trainer.Trainer": 1, "moonxi.nn.differentiate.value_and_grad": 0}
"""What minimises a loss, and which of its arguments that is."""
_ADVICE: Final = "a loss is one number: take the mean or the sum"


def check_result(run: Run, value: object, place: Context) -> None:
    """Report what a loss function returns if that has axes."""
    function = run.chain[0] if len(run.chain) == 1 and run.returns is None else None
    if not isinstance(function, FuncDef) or not _is_loss(function) or run.around.is_called(function.name):
        return
    shape = _shape(run, value)
    if shape:
        run.report(f"return: {shapes.show(shape)}: {_ADVICE}", place)


def check_given(run: Run, taker: str, arguments: Sequence[Argument]) -> None:
    """Report a function that is given as a loss if its result has axes."""
    place = _TAKE.get(taker)
    one = arguments[place] if place is not None and place < len(arguments) else None
    if one is None or not isinstance(one.value, Function) or not isinstance(one.value.node, FuncDef):
        return
    name = one.value.node.name
    if _is_loss(one.value.node) and not run.around.is_called(name):
        return  # which is said where it is defined
    with run.quiet(), run.tried():
        result = looked_into(run, one.value, [], one.expression, name, complete=False)
        shape = _shape(run, result)
    if shape:
        run.report(f'"{taker.rpartition(".")[2]}": "{name}" gives {shapes.show(shape)}: {_ADVICE}', one.expression)


def _shape(run: Run, value: object) -> Sizes | None:
    shape = shape_of(value[0] if isinstance(value, tuple) and value else value)
    return None if shape is None else run.equations.shape(shape)


def _is_loss(function: FuncDef) -> bool:
    typ = function.type
    if not isinstance(typ, CallableType) or function.info or len(typ.arg_types) != 3:
        return False
    named = function.name == "loss" or function.name.endswith("_loss")
    result = get_proper_type(typ.ret_type)
    value = result.items[0] if isinstance(result, TupleType) and result.items else typ.ret_type
    return named and _is_mode(typ.arg_types[2]) and attached(value) is None and is_tensor(get_proper_type(value))


def _is_mode(typ: Type) -> bool:
    proper = get_proper_type(typ)
    one = get_proper_type(proper.items[0]) if isinstance(proper, UnionType) else proper
    return isinstance(one, Instance) and one.type.fullname in _MODES
