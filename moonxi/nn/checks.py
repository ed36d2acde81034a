"""Shape annotations checked at run time, by jaxtyping and beartype, with an error that says where.

A check costs some 20 to 70 microseconds, so a call that looks like one that has passed before is not checked again: its
arguments and its result have the same classes, shapes and element types, and so has what the annotations compute in
braces. Whatever else may stand in an argument or an annotation is checked every time.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from types import FunctionType
from typing import Concatenate, cast

from beartype import beartype
from jaxtyping import TypeCheckError, jaxtyped

from moonxi.errors import OperandError
from moonxi.nn.annotations import refuse_text, resolved, shapes_in
from moonxi.nn.findings import A_MODE, explained
from moonxi.nn.symbolic_checks import SymbolicChecks
from moonxi.traits import Tensor

_REMEMBERED = 1024


def checked[S, **P, R](
    function: Callable[Concatenate[S, P], R], name: Callable[[S], str], /
) -> Callable[Concatenate[S, P], R]:
    """The method with its annotations checked; ``name`` gives the name of its object for the messages."""
    signature = inspect.signature(function)
    code = getattr(inspect.unwrap(function), "__code__", None)
    refuse_text(function.__qualname__, _annotations(signature), code)
    slow = jaxtyped(typechecker=beartype)(function)
    symbolic = SymbolicChecks(function, signature)
    annotations = _annotations(signature).values()
    dims = dict.fromkeys(array.dim_str for one in annotations for array in shapes_in(one) if "{" in array.dim_str)
    first = next(iter(signature.parameters))
    # jaxtyping reads braces as an f-string does; so what they give is text.
    texts = "".join(f"f{dim!r}," for dim in dims)
    written = compile(f"lambda {first}: ({texts})", f"<annotations of {function.__qualname__}>", "eval")
    computed: Callable[[object], object] | None = eval(written, {}) if dims else None
    # An isinstance check of a shape in the body means the sizes that the arguments have bound: it needs the slow way.
    remember = all(map(resolved, annotations)) and code is not None and "isinstance" not in code.co_names
    passed: dict[object, set[object]] = {}
    """How arguments have looked, and their results."""

    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        before = _look_of_arguments(self, computed, args) if remember and not kwargs else None
        results = None if before is None else passed.get(before)
        try:
            if results is None:
                concerned = symbolic.concern(self, (*args, *kwargs.values()))
                if concerned or symbolic.every_call:
                    where = f"{name(self)}.{function.__name__}"
                    result = cast(R, symbolic.call(where, (self, *args), kwargs))  # the function's own result
                    if concerned:
                        return result
                else:
                    result = slow(self, *args, **kwargs)
            else:
                result = function(self, *args, **kwargs)
                if _look(result) in results:
                    return result
                if symbolic.every_call:
                    symbolic.check_result(f"{name(self)}.{function.__name__}", result, (self, *args), kwargs)
                else:
                    _check_again(function, result, self, args)
        except TypeCheckError as error:
            arguments = signature.bind(self, *args, **kwargs)
            arguments.apply_defaults()
            found = explained(str(error), function, name(self), arguments.arguments, signature)
            if found is None:
                raise
            raise found from None
        except TypeError:
            _expect_arguments(signature, f"{name(self)}.{function.__name__}", (self, *args), kwargs)
            raise
        after = _look(result)
        if before is not None and after is not None and len(passed) + len(results or ()) < _REMEMBERED:
            passed.setdefault(before, set()).add(after)
        return result

    return call


def _expect_arguments(
    signature: inspect.Signature, where: str, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> None:
    """Raise `OperandError` unless these are the arguments of that signature."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        own = ", ".join([*signature.parameters][1:])
        advice = f"; {A_MODE}" if "'mode'" in str(error) else ""
        raise OperandError(f"{where}: {error}: expected {where}({own}){advice}") from None


def _check_again(function: Callable[..., object], result: object, self: object, args: tuple[object, ...]) -> None:
    """Check a result that is there already: to run the function twice would draw and update twice."""

    def replay(*_: object) -> object:
        return result

    # jaxtyping reads names in annotations from the globals of the function.
    named = FunctionType(replay.__code__, getattr(function, "__globals__", {}), closure=replay.__closure__)
    for attribute in ("__module__", "__name__", "__qualname__"):
        setattr(named, attribute, getattr(function, attribute))
    vars(named)["__wrapped__"] = function
    jaxtyped(typechecker=beartype)(named)(self, *args)


def _annotations(signature: inspect.Signature) -> dict[str, object]:
    return {one.name: one.annotation for one in signature.parameters.values()} | {"return": signature.return_annotation}


def _look_of_arguments(self: object, computed: Callable[[object], object] | None, args: tuple[object, ...]) -> object:
    """What the outcome of a check of the arguments depends on, or None if that is not known."""
    looks = [_look(value) for value in args]
    if None in looks:
        return None
    if computed is not None:
        try:
            looks.append(computed(self))
        except Exception:
            return None  # the braces name another argument, or fail: the check itself will say so
    return tuple(looks)


def _look(value: object) -> object:
    """All that an annotation can ask of a value, or None if that is not known."""
    look = _looks.get(value.__class__) or _found_look(value)
    return look(value)


def _found_look(value: object) -> Callable[[object], object]:
    cls = value.__class__
    look = _look_of_sequence if isinstance(value, list | tuple) else _look_of_other
    if value is None or is_dataclass(value):
        look = _look_of_record if hasattr(value, "shape") or hasattr(value, "dtype") else _class_of
    elif isinstance(value, Tensor):
        look = _look_of_tensor
    _looks[cls] = look
    return look


_looks: dict[type, Callable[[object], object]] = {}
"""By class: to look through a Protocol takes longer than some layers do."""


def _look_of_tensor(value: object) -> object:
    return value.__class__, getattr(value, "shape"), getattr(value, "dtype")  # noqa: B009  # a tensor has both


def _look_of_record(value: object) -> object:
    return value.__class__, getattr(value, "shape", None), getattr(value, "dtype", None)


def _class_of(value: object) -> object:
    return value.__class__


def _look_of_sequence(value: object) -> object:
    assert isinstance(value, list | tuple)
    looks = tuple(map(_look, value))
    return None if None in looks else (value.__class__, looks)


def _look_of_other(_: object) -> object:
    return None
