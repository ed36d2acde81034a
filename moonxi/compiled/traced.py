"""`TracedTensor` and `TracedKey`: what a step is called with while it is recorded.

Each operation of the traits becomes a node, derived ones too if the backend does them in its own way, so that what a
backend is fast at is what is replayed. Shapes and element types come from `ShapeTensor`, and with them every check. No
element exists, so to ask for one is an error at the line that asks.
"""

import sys
from collections.abc import Callable
from inspect import getmro, isfunction
from typing import Final, NoReturn, Self, cast, override

from moonxi.compiled.graph import Spec
from moonxi.compiled.recorder import Recorder, is_ours, users_line
from moonxi.dtypes import DType, Floating, HostArray
from moonxi.errors import CompileError
from moonxi.key import Key
from moonxi.traits import DerivedImage, ImageModelTensor, MlpTensor, Shape

_UNRECORDED: Final = frozenset({"__bool__", "__init__", "__subclasshook__", "item", "stop_gradient", "to_host"})
"""What is no operation on elements, is written out below, or is Python's part of a Protocol."""


class TracedTensor(DerivedImage["TracedTensor"]):
    """The value ``number`` of the graph that ``recorder`` writes."""

    __slots__ = ("number", "recorder", "spec")

    def __init__(self, recorder: Recorder, number: int, spec: Spec, /) -> None:
        self.recorder = recorder
        self.number = number
        self.spec = spec

    @override
    def __repr__(self) -> str:
        return f"TracedTensor %{self.number} {self.spec}"

    @property  # type: ignore[misc]  # for the type checker it is an attribute
    def __class__(self) -> type:
        """The class of the backend: to ``isinstance``, and so to checks of annotations, it is one of its tensors."""
        return self.recorder.backend

    def __getattr__(self, name: str) -> NoReturn:
        """What only the backend has: refused where the user asks; moonxi asks to do without."""
        backend = self.recorder.backend
        if not hasattr(backend, name) or is_ours(sys._getframe(1)):
            raise AttributeError(f"{backend.__name__!r} object has no attribute {name!r}")
        if name.startswith("__"):
            raise self._refused("NumPy", "NumPy's own functions cannot be recorded; use operations of the tensor")
        raise self.recorder.refused(
            f"{name}: at {users_line()}: {backend.__name__} has it and other tensor classes have not: a compiled step "
            "is made of the operations that all have; do this outside of the step"
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object, /) -> Self:
        return self

    @override
    def __reduce_ex__(self, protocol: object, /) -> NoReturn:
        raise self._refused("pickle", "store tensors outside of the step")

    @property
    @override
    def shape(self) -> Shape:
        return self.spec.shape

    @property
    @override
    def dtype(self) -> type[DType]:
        assert self.spec.dtype is not None, "only keys have no element type"
        return self.spec.dtype

    @override
    def stop_gradient(self) -> Self:
        return self

    # -- what would need elements -----------------------------------------------------------------------------------

    def _refused(self, what: str, advice: str) -> CompileError:
        return self.recorder.refused(
            f"{what}: {self!r} ({self.recorder.made_at(self.number)}): at {users_line()} the step needs the elements, "
            f"and while it is traced there are none: {advice}"
        )

    @override
    def to_host(self) -> HostArray:
        raise self._refused("to_host", "return the tensor as a result and read it outside of the step")

    @override
    def item(self) -> float:
        raise self._refused("item", "return the tensor as a result and read it outside of the step")

    def __float__(self) -> float:
        raise self._refused("float", "keep the number a tensor, which all operations take as well")

    def __index__(self) -> int:
        raise self._refused("int", "a number that decides about shapes or loops must be a Python argument of the step")

    @override
    def __bool__(self) -> NoReturn:
        raise self._refused(
            "bool", "choose with mask.select(a, b), which computes both, or decide outside of the step and pass a bool"
        )

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        raise self._refused("NumPy", "NumPy's own functions cannot be recorded; use operations of the tensor")

    def cast(self, dtype: type[DType], /) -> object:
        """Recorded too, although it is in no trait, for type checkers know its result as another class."""
        return self.recorder.record("cast", (self, dtype), {}) if issubclass(self.dtype, Floating) else self

    @property
    def data(self) -> NoReturn:
        """Refused, with advice: the array of a backend."""
        raise self._refused("data", "raw arrays cannot be recorded; use operations of the tensor")


def _operation(name: str) -> Callable[..., object]:
    def record(self: TracedTensor, /, *arguments: object, **options: object) -> object:
        return self.recorder.record(name, (self, *arguments), options)

    record.__name__ = name
    record.__qualname__ = f"TracedTensor.{name}"
    return record


def operations() -> tuple[str, ...]:
    """The members of the traits that are recorded: all methods that a tensor class has to have."""
    traits = [cls for cls in getmro(ImageModelTensor) if cls.__module__.startswith("moonxi.")]
    members = {name for trait in traits for name, member in vars(trait).items() if isfunction(member)}
    return tuple(sorted(members - _UNRECORDED))


# Recorded are the traits as they are: an operation that is added to them needs no line here.
for _name in operations():
    setattr(TracedTensor, _name, _operation(_name))
TracedTensor.__abstractmethods__ = frozenset()
# For mypy the methods are those of the base, some of which are abstract there.
_concrete = cast(type, TracedTensor)
MlpTensor.register(_concrete)
ImageModelTensor.register(_concrete)
traced_tensor = cast(Callable[[Recorder, int, Spec], TracedTensor], _concrete)
"""Makes a `TracedTensor`."""


class TracedKey(Key):  # pyrefly: ignore[bad-class-definition]  # the slots=True is that of the base
    """A random key whose words are known at replay only. It can be folded, split, and drawn from."""

    __slots__ = ("number", "recorder")

    def __init__(self, recorder: Recorder, number: int, /) -> None:
        object.__setattr__(self, "recorder", recorder)
        object.__setattr__(self, "number", number)

    @override
    def __repr__(self) -> str:
        return f"TracedKey %{self.number}"

    @override
    def fold(self, data: int | str, /) -> "TracedKey":
        return TracedKey(self.recorder, self.recorder.record_fold(self.number, data))

    def __getattr__(self, name: str) -> NoReturn:
        # The words of the key, for these slots stay empty.
        raise self.recorder.refused(
            f"Key.{name}: {self!r}: at {users_line()}: a key that is traced has no value; fold it, split it or draw "
            "from it"
        )

    @override
    def __eq__(self, other: object, /) -> bool:
        raise self.recorder.refused(
            f"Key ==: {self!r}: at {users_line()}: a key that is traced has no value to compare"
        )

    __hash__ = object.__hash__
