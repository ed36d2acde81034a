"""What a mutant does when it runs.

A mutant is *wrong* if its trial, which the original passes, raises an error or shows that an annotation does not hold:
of an argument, a result, a field or a local name. Besides, one is wrong in which an operation stretches an axis against
itself, as ``(n,) + (n, 1)`` does, unless the original does so too. A mutant that computes something else, but nothing
that its annotations exclude, is *different*; it is not counted, for no checker of shapes could know. Nor is one that is
*equivalent*, whose results are those of the original, to the bit; nor one that is *ill typed*: that calls what is not
there, which has nothing to do with shapes and would flatter every type checker.

All annotations are checked while a trial runs, not only those of ``forward``: those of functions, local names and
fields of batches too. Arguments are what the mutant's own annotations allow. Sizes that these leave open are different
primes, so that sizes of two names are not equal by chance.
"""

import ast
import inspect
import linecache
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np
from beartype import beartype
from beartype.door import is_bearable
from jaxtyping import AnnotationError, TypeCheckError, jaxtyped

import moonxi as mx
from benchmarks.mutation.trials import TRIALS
from moonxi.backends.numpy import NpArray
from moonxi.errors import ShapeError
from moonxi.nn import Layer
from moonxi.nn.annotations import shapes_in
from moonxi.nn.field_checks import check_fields, shapes_of_fields

SECONDS = 30
_OF_TYPES = (AttributeError, NameError, TypeError, AnnotationError)


class Outcome(Enum):
    """What a mutant is."""

    WRONG = "wrong"
    ILL_TYPED = "ill typed"
    DIFFERENT = "different"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True)
class Ran:
    """The outcome of a trial, and for one that raises the error."""

    outcome: Outcome
    error: str = ""


class Watched(NpArray[mx.F32]):
    """An array that notices where an axis is stretched against itself, and makes random numbers fast."""

    __slots__ = ()
    stretched: bool = False

    def normal(self, shape: tuple[int, ...], key: mx.Key, /) -> "Watched":
        """Standard normal numbers, which need not be those of other backends."""
        generator = np.random.default_rng(abs(key.low))
        return Watched(generator.standard_normal(shape, np.float32))

    def _binary(self, function: Any, operation: str, other: Any) -> Any:
        if isinstance(other, Watched) and _against_itself(self.shape, other.shape):
            Watched.stretched = True
        return super()._binary(function, operation, other)


def _against_itself(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    """Whether two shapes with different numbers of axes stretch each other along axes of one size."""
    if len(left) == len(right):
        return False
    rank = max(len(left), len(right))
    first, second = ((1,) * (rank - len(shape)) + shape for shape in (left, right))
    of_first = {one for one, other in zip(first, second, strict=True) if one > 1 and other == 1}
    of_second = {other for one, other in zip(first, second, strict=True) if other > 1 and one == 1}
    return bool(of_first & of_second)


@dataclass(frozen=True)
class Original:
    """What the original of a file does."""

    path: str
    values: list[Any]
    stretched: bool
    executed: frozenset[str]
    """The qualified names of its functions that ran."""


def original(path: str, text: str) -> Original:
    """Run the original. Raises what it raises: it has to pass."""
    names: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename == _file(path):
            names.add(frame.f_code.co_qualname)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        values = _values(path, text)
    finally:
        sys.setprofile(before)
    return Original(path, values, Watched.stretched, frozenset(names))


def ran(first: Original, text: str) -> Ran:
    """Run a mutant of a file, and compare it with its original."""
    try:
        values = _values(first.path, text)
    except Exception as error:
        of_types = isinstance(error, _OF_TYPES) and not isinstance(error, TypeCheckError)
        outcome = Outcome.ILL_TYPED if of_types else Outcome.WRONG
        return Ran(outcome, " ".join(f"{type(error).__name__}: {error}".split())[:300])
    if Watched.stretched and not first.stretched:
        return Ran(Outcome.WRONG, "an axis is stretched against itself")
    return Ran(Outcome.EQUIVALENT if _same(first.values, values) else Outcome.DIFFERENT)


def _values(path: str, text: str) -> list[Any]:
    """The numbers that a trial gives."""
    Watched.stretched = False
    like = Watched(np.zeros((), np.float32))
    with warnings.catch_warnings(), _limited():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            module = _module(path, text)
            return [array for result in TRIALS[path](module, like) for array in _arrays(result)]


class _limited:
    """At most so many seconds."""

    def __enter__(self) -> None:
        def late(*_: object) -> None:
            raise TimeoutError(f"not done after {SECONDS} seconds")

        self._before = signal.signal(signal.SIGALRM, late)
        signal.alarm(SECONDS)

    def __exit__(self, *_: object) -> None:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, self._before)


def _file(path: str) -> str:
    return f"<{path}>"


def _module(path: str, text: str) -> ModuleType:
    """The text as a module in which all annotations of shapes are checked."""
    name = "mutated"
    module = ModuleType(name)
    tree = _CheckLocals().visit(ast.parse(text, path))
    linecache.cache.pop(_file(path), None)
    sys.modules[name] = module  # dataclasses look their module up
    vars(module)[_CHECK] = _check_local
    exec(compile(ast.fix_missing_locations(tree), _file(path), "exec"), vars(module))
    for key, value in list(vars(module).items()):
        if isinstance(value, FunctionType) and value.__module__ == name:
            vars(module)[key] = _checked(value)
        elif isinstance(value, type) and value.__module__ == name:
            _check_methods(value)
    return module


_CHECK = "_check_local_"


class _CheckLocals(ast.NodeTransformer):
    """Puts a check behind each local name that is annotated."""

    def __init__(self) -> None:
        self._within = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._within += 1
        self.generic_visit(node)
        self._within -= 1
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if not self._within or not isinstance(node.target, ast.Name):
            return node
        call = ast.Call(ast.Name(_CHECK, ast.Load()), [ast.Name(node.target.id, ast.Load()), node.annotation], [])
        return [node, ast.copy_location(ast.Expr(call), node)]


def _check_local(value: object, annotation: object) -> None:
    fits = is_bearable(value, annotation)  # type: ignore[arg-type]  # to mypy it is no type form
    if any(shapes_in(annotation)) and not fits:
        raise ShapeError(f"a local name: {getattr(value, 'shape', value)} is annotated {annotation}")


def _checked(function: FunctionType) -> Callable[..., Any]:
    """The function with its annotations checked, if they state shapes."""
    signature = inspect.signature(function)
    annotations = [*(one.annotation for one in signature.parameters.values()), signature.return_annotation]
    if not any(True for one in annotations for _ in shapes_in(one)):
        # Local names still need a call of their own in which the names of sizes are bound.
        return jaxtyped(typechecker=None)(function)
    return jaxtyped(typechecker=beartype)(function)


def _check_methods(cls: type) -> None:
    for key, value in list(vars(cls).items()):
        is_forward = key == "forward" and issubclass(cls, Layer)  # which checks itself
        if isinstance(value, FunctionType) and not key.startswith("__") and not is_forward:
            setattr(cls, key, _checked(value))
    if is_dataclass(cls) and not issubclass(cls, Layer):
        annotated = shapes_of_fields(cls)
        init: Callable[..., None] = getattr(cls, "__init__")  # noqa: B009  # mypy: a class's own could be another

        def checked(self: object, *args: object, **kwargs: object) -> None:
            init(self, *args, **kwargs)
            check_fields(self, annotated)

        if annotated.annotations:
            setattr(cls, "__init__", checked)  # noqa: B010  # the same


def _arrays(result: object) -> Iterator[Any]:
    """All the numbers in a result."""
    match result:
        case mx.Labels() | mx.Mask() | NpArray():
            yield result.to_host()
        case tuple() | list():
            for one in result:
                yield from _arrays(one)
        case dict():
            yield from _arrays(tuple(result.values()))
        case int() | float():
            yield np.asarray(result)
        case _ if is_dataclass(result):
            for field in fields(result):
                yield from _arrays(getattr(result, field.name))


def _same(left: list[Any], right: list[Any]) -> bool:
    return len(left) == len(right) and all(
        one.shape == other.shape and np.array_equal(one, other, equal_nan=True)
        for one, other in zip(left, right, strict=True)
    )
