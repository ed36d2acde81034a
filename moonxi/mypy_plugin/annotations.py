"""The check of annotations: a trait as the type of a value forgets which tensor class the value has."""

from collections.abc import Iterable, Iterator

from mypy.nodes import (
    AssignmentStmt,
    ClassDef,
    Decorator,
    FuncDef,
    MypyFile,
    Node,
    OverloadedFuncDef,
)
from mypy.plugin import AnalyzeTypeContext
from mypy.semanal import SemanticAnalyzer
from mypy.typeanal import TypeAnalyser
from mypy.types import CallableType, Type, TypeList, UnboundType, UnionType, UnpackType

from moonxi.mypy_plugin import messages
from moonxi.mypy_plugin.messages import TENSOR_MIX
from moonxi.mypy_plugin.shapes.walk import blocks

_OF_CLASSES = ("type", "Type", "typing.Type", "builtins.type")


class Annotations:
    """Finds out whether a type that mypy analyses is written as the type of a value.

    The bounds of type parameters and the bases of classes, where traits belong, come to the same hook."""

    def __init__(self) -> None:
        self._file: MypyFile | None = None
        self._of_values: set[int] = set()

    def check(self, ctx: AnalyzeTypeContext, trait: str) -> None:
        """Report the trait of this name if it is the type of a value."""
        if not isinstance(ctx.api, TypeAnalyser) or not isinstance(ctx.api.api, SemanticAnalyzer):
            return
        file = ctx.api.api.cur_mod_node
        if file is not self._file:
            self._file = file
            self._of_values = {id(typ) for typ in _written(_annotations(file.defs))}
        if id(ctx.type) in self._of_values:
            ctx.api.fail(messages.value_of_trait(trait), ctx.context, code=TENSOR_MIX)


def _annotations(nodes: Iterable[Node | None]) -> Iterator[Type]:
    """The types of parameters, results, variables and fields, as they are written."""
    for node in nodes:
        match node:
            case FuncDef():
                if isinstance(node.unanalyzed_type, CallableType):
                    yield from (*node.unanalyzed_type.arg_types, node.unanalyzed_type.ret_type)
                yield from _annotations(node.body.body)
            case OverloadedFuncDef():
                for item in node.unanalyzed_items:
                    # An undecorated one is the implementation, whose signature covers all the others and is not seen.
                    yield from _annotations(item.body.body if isinstance(item, FuncDef) else [item])
            case Decorator():
                yield from _annotations([node.func])
            case ClassDef():
                yield from _annotations(node.defs.body)
            case AssignmentStmt() if node.unanalyzed_type is not None:
                yield node.unanalyzed_type
            case _:
                yield from _annotations(one for block in blocks(node) for one in block.body)


def _written(types: Iterable[Type]) -> Iterator[UnboundType]:
    """The names in the types, but for those of classes, as in ``type[Tensor]``."""
    for typ in types:
        match typ:
            case UnboundType():
                yield typ
                if typ.name not in _OF_CLASSES:
                    yield from _written(typ.args)
            case UnionType() | TypeList():
                yield from _written(typ.items)
            case UnpackType():
                yield from _written([typ.type])
