"""What jaxtyping found, in the form of moonxi's other messages."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Final

from moonxi import shapes
from moonxi.errors import MoonxiError, OperandError, ShapeError
from moonxi.nn.annotations import shapes_in, spelled
from moonxi.traits import Tensor

_PARAMETER = re.compile(r"typechecking parameter '(\w+)'")
_BOUND = re.compile(r"axis annotation are as follows\.\s*(.*)", re.DOTALL)
_RESULT = re.compile(r"Actual value: (.*?)\nExpected type", re.DOTALL)
A_MODE: Final = "a mode is mx.Train(key) or mx.Eval()"
_TENSOR = re.compile(r"(?:\w+\(\w+, )*(\w+\[\w+\] \([\d, ]*\))")


def explained(
    message: str,
    function: Callable[..., object],
    where: str,
    arguments: Mapping[str, object],
    signature: inspect.Signature,
) -> MoonxiError | None:
    """The error to raise for a finding of jaxtyping about a call; None if it is about another function."""
    about = f"{function.__module__}.{function.__qualname__}."
    what = f"{where}.{function.__name__}"
    if f"checking the return value of {about}" in message:
        actual = _RESULT.search(message)
        text = " ".join(actual[1].split()) if actual else "something else"
        tensor = _TENSOR.match(text)
        expected = spelled(signature.return_annotation, arguments)
        error = ShapeError if tensor and any(shapes_in(signature.return_annotation)) else OperandError
        return error(f"{what}: result: expected {expected}, got {tensor[1] if tensor else text[:80]}")
    if f"checking the parameters of {about}" not in message:
        return None
    found = _PARAMETER.search(message)
    if found is None or found[1] not in arguments:
        return ShapeError(f"{what}: {message}")
    bound = _BOUND.search(message)
    sizes = ", ".join(bound[1].split()) if bound else ""
    annotation = signature.parameters[found[1]].annotation
    return misfit(f"{what}: argument {found[1]}", annotation, arguments[found[1]], arguments, sizes)


def misfit(
    what: str, annotation: object, value: object, arguments: Mapping[str, object], sizes: str = ""
) -> MoonxiError:
    """The error for a value that is not what its annotation says, ``sizes`` being what the names in it stand for."""
    shapes_there = list(shapes_in(annotation))
    right_but_shape = any(
        isinstance(value, one.dtype[one.array_type, "..."])  # pyrefly: ignore[unsupported-operation]
        for one in shapes_there
    )
    where = f" where {sizes}" if right_but_shape and sizes else ""
    text = f"{what}: expected {spelled(annotation, arguments)}{where}, got {described(value)}"
    if what.endswith("argument mode"):
        text += f"; {A_MODE}"
    return ShapeError(text) if right_but_shape else OperandError(text)


def described(value: object) -> str:
    """What a value is, in a few words."""
    name = type(value).__name__
    dtype = getattr(value, "dtype", None)
    if isinstance(value, Tensor) and isinstance(dtype, type):
        return f"{name}[{dtype.__name__}] {shapes.show(value.shape)}"
    shape = getattr(value, "shape", None)
    return f"{name} {shapes.show(shape)}" if isinstance(shape, tuple) else f"{name} {value!r:.60}"


def brief(value: object) -> str:
    """What stands where something else belongs, in a few words: a function's name, a list's length."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if inspect.isroutine(value):
        return f"the function {value.__name__}"
    if isinstance(value, list | tuple | dict):
        return f"a {type(value).__name__} of {len(value)}"
    if hasattr(value, "shape"):
        return described(value)
    return repr(value)[:60] if value is None or isinstance(value, str | int | float) else f"a {type(value).__name__}"
