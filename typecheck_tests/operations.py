"""The operations of the traits, read from the source of the Protocols in `moonxi.traits`."""

import ast
import inspect
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from moonxi import autodiff, traits

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
_NOT_OPERATIONS = ("__bool__",)  # which refuses whatever it gets
# For parameters that take no tensor: an argument of that type.
_EXAMPLES = {
    "float": "2.0",
    "int": "0",
    "bool": "False",
    "Shape": "(1,)",
    "Axes": "0",
    "int | tuple[int, ...]": "0",
    "Widths": "((0, 0),)",
    "Index": "0",
    "Pair": "1",
    "Edges": "1",
    "tuple[int, ...]": "(0,)",
    "Key": "Key(0)",
    "HostArray | NDArray[np.integer]": "array",
    "NDArray[np.integer]": "integers",
}
KINDS = ("{}", "Mask[{}]", "Labels[{}]")
"""What an operation can take of a tensor class."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A method of a trait. An operand is one of `KINDS`, or else the text of another argument."""

    trait: str
    name: str
    operands: tuple[str, ...]
    result: str

    @property
    def places(self) -> list[int]:
        """Which operands are of the tensor class."""
        return [i for i, operand in enumerate(self.operands) if operand in KINDS]

    def call(self, receiver: str, arguments: Sequence[str]) -> str:
        """The call as it is written in Python."""
        if not self.name.startswith("__"):
            return f"{receiver}.{self.name}({', '.join(arguments)})"
        name = self.name.strip("_")
        if name in _INFIX:
            return f"{receiver} {_INFIX[name]} {arguments[0]}"
        if name[1:] in _INFIX:  # reflected
            return f"{arguments[0]} {_INFIX[name[1:]]} {receiver}"
        if name == "neg":
            return f"-{receiver}"
        if name == "getitem":
            return f"{receiver}[{arguments[0]}]"
        raise SystemExit(f"typecheck_tests/operations.py: {self.trait}.{self.name}: how is this written in Python?")


def all_operations() -> list[Operation]:
    """The methods of all traits."""
    return [operation for trait in _traits().values() for operation in _of(trait)]


def has(cls: type, operation: Operation) -> bool:
    """Whether the tensor class has the operation."""
    return hasattr(cls, operation.name)


def grad_of(cls: type) -> type:
    """The most capable class of tensors under differentiation whose values can be of this class."""
    found = [one for one in vars(autodiff).values() if isinstance(one, type) and issubclass(one, autodiff.Grad)]
    fitting = [one for one in found if all(has(cls, operation) for operation in _of_bound(one))]
    return max(fitting, key=lambda one: len(one.__mro__))


def _traits() -> dict[str, type]:
    """The Protocols without parameters: `Exactly` is one with."""
    found = {name: getattr(traits, name) for name in traits.__all__}
    return {
        name: one
        for name, one in found.items()
        if isinstance(one, type) and getattr(one, "_is_protocol", False) and not getattr(one, "__type_params__", ())
    }


def _of_bound(grad: type) -> list[Operation]:
    """The operations that the values of such tensors have."""
    bound = grad.__type_params__[0].__bound__
    return [
        operation for trait in _traits().values() if trait in getattr(bound, "__mro__", ()) for operation in _of(trait)
    ]


def _of(trait: type) -> list[Operation]:
    source = ast.parse(textwrap.dedent(inspect.getsource(trait))).body[0]
    assert isinstance(source, ast.ClassDef)
    methods = [one for one in source.body if isinstance(one, ast.FunctionDef) and one.name not in _NOT_OPERATIONS]
    return [_operation(trait.__name__, one) for one in methods if not one.decorator_list]


def _operation(trait: str, method: ast.FunctionDef) -> Operation:
    signature = method.args
    positional = [*signature.posonlyargs, *signature.args][1:]
    needed = len(positional) - len(signature.defaults)
    operands = []
    for i, parameter in enumerate(positional):
        text = ast.unparse(parameter.annotation) if parameter.annotation else "object"
        kind = text.replace(" | float", "").replace(" | None", "").replace("Self", "{}")
        if kind in KINDS:
            operands.append(kind)
        elif i < needed:
            operands.append(_example(trait, method, parameter.arg, text))
        else:
            break  # what follows has a default too
    if signature.vararg is not None and signature.vararg.annotation is not None:
        operands.append(ast.unparse(signature.vararg.annotation).replace("Self", "{}"))
    for parameter, default in zip(signature.kwonlyargs, signature.kw_defaults, strict=True):
        if default is None and parameter.annotation is not None:
            example = _example(trait, method, parameter.arg, ast.unparse(parameter.annotation))
            operands.append(f"{parameter.arg}={example}")
    result = ast.unparse(method.returns).replace("Self", "{}") if method.returns else ""
    return Operation(trait, method.name, tuple(operands), result)


def _example(trait: str, method: ast.FunctionDef, parameter: str, text: str) -> str:
    if text not in _EXAMPLES:
        where = f"{trait}.{method.name}: parameter {parameter}: {text}"
        raise SystemExit(f"typecheck_tests/operations.py: {where}: add an argument of this type to _EXAMPLES")
    return _EXAMPLES[text]
