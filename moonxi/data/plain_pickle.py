"""Pickles of plain values and NumPy arrays, as Python 2 wrote them, read as data: nothing that they name is called.

A pickle is a program, and `pickle.loads` runs whatever it says. Here `pickletools` of the standard library splits it
into instructions, and only those that build numbers, strings, lists, tuples, dictionaries and arrays are obeyed. The
three names that an array needs are understood by their text; neither they nor anything else is imported.
"""

import pickletools
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeIs

from moonxi.errors import DataError

_RECONSTRUCT: Final = "numpy.core.multiarray _reconstruct"
_NDARRAY: Final = "numpy ndarray"
_DTYPE: Final = "numpy dtype"
_NUMBERS: Final = ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT")
_TEXTS: Final = ("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE")
_PUSHES: Final = frozenset(_NUMBERS + _TEXTS)
_CONSTANTS: Final[dict[str, bool | None]] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_TUPLES: Final = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def read_plain_pickle(content: bytes, name: str, /) -> dict[str, object]:
    """The dictionary that a pickle of protocol 0 to 2 holds; ``name`` is for the messages.

    Its values are numbers, lists, ..., and arrays of uint8. Strings of Python 2 are bytes; here they are text with a
    character a byte (Latin 1). Raises `DataError` if the pickle is damaged, or asks for anything else."""
    try:
        value = _Machine(name).run(content)
    except DataError:
        raise
    except (ValueError, IndexError, KeyError, TypeError, OverflowError) as error:
        # What pickletools raises for bytes that are no instructions, and an instruction that lacks its operands.
        raise DataError(f"read_plain_pickle: {name}: expected a pickle, found a damaged one: {error}") from error
    if not isinstance(value, dict):
        raise DataError(f"read_plain_pickle: {name}: expected a dictionary, found {type(value).__name__.strip('_')}")
    return {key: part.value if isinstance(part, _Array) else part for key, part in value.items()}


@dataclass(frozen=True, slots=True)
class _Name:
    """An allowed name, which is never looked up."""

    text: str


@dataclass(slots=True, eq=False)
class _Type:
    """An element type on its way: it is uint8 or refused."""


@dataclass(slots=True, eq=False)
class _Array:
    """An array on its way: the pickle makes it empty, and then states what it holds."""

    value: NDArray[np.uint8] | None = None


class _Machine:
    """The stack and the memory on which the instructions of a pickle work."""

    def __init__(self, name: str, /) -> None:
        self.name = name
        self.stack: list[object] = []
        self.marks: list[int] = []
        self.memory: dict[int, object] = {}

    def run(self, content: bytes, /) -> object:
        for instruction, argument, _ in pickletools.genops(content):
            if instruction.name == "STOP":
                return self.stack.pop()
            self.obey(instruction.name, argument)
        raise DataError(f"read_plain_pickle: {self.name}: expected a whole pickle, found one cut short")

    def obey(self, instruction: str, argument: object, /) -> None:
        stack = self.stack
        if instruction in _PUSHES:
            stack.append(argument)
        elif instruction in _CONSTANTS:
            stack.append(_CONSTANTS[instruction])
        elif instruction in _TUPLES:
            stack.append(tuple(self.top(_TUPLES[instruction])))
        else:
            match instruction:
                case "PROTO":
                    pass
                case "MARK":
                    self.marks.append(len(stack))
                case "TUPLE":
                    stack.append(tuple(self.above_mark()))
                case "EMPTY_LIST":
                    stack.append([])
                case "LIST":
                    stack.append(self.above_mark())
                case "EMPTY_DICT":
                    stack.append({})
                case "APPEND":
                    self.extend(self.top(1))
                case "APPENDS":
                    self.extend(self.above_mark())
                case "DICT":
                    items = self.above_mark()
                    stack.append({})
                    self.update(items)
                case "SETITEM":
                    self.update(self.top(2))
                case "SETITEMS":
                    self.update(self.above_mark())
                case "PUT" | "BINPUT" | "LONG_BINPUT" if isinstance(argument, int):
                    self.memory[argument] = stack[-1]
                case "GET" | "BINGET" | "LONG_BINGET" if isinstance(argument, int):
                    stack.append(self.memory[argument])
                case "GLOBAL" if argument in (_RECONSTRUCT, _NDARRAY, _DTYPE):
                    stack.append(_Name(str(argument)))
                case "REDUCE":
                    arguments, function = stack.pop(), stack.pop()
                    stack.append(self.made(function, arguments))
                case "BUILD":
                    state = stack.pop()
                    self.build(stack[-1], state)
                case _:
                    asked = instruction if argument is None else f"{instruction} {argument!r:.100}"
                    raise self.refused(asked)

    def top(self, count: int, /) -> list[object]:
        """Takes so many values off the stack."""
        start = len(self.stack) - count
        if start < 0:
            raise IndexError("an instruction lacks its operands")
        values = self.stack[start:]
        del self.stack[start:]
        return values

    def above_mark(self) -> list[object]:
        """Takes what was put onto the stack since the last mark."""
        mark = self.marks.pop()
        values = self.stack[mark:]
        del self.stack[mark:]
        return values

    def extend(self, values: list[object], /) -> None:
        target = self.stack[-1]
        if not isinstance(target, list):
            raise TypeError("values are appended to what is no list")
        target.extend(values)

    def update(self, items: list[object], /) -> None:
        target = self.stack[-1]
        if not isinstance(target, dict):
            raise TypeError("items are set in what is no dictionary")
        for key, value in zip(items[::2], items[1::2], strict=True):
            # Other keys are not needed, and the hash of a tuple nested deeply enough would end the process.
            if not isinstance(key, str):
                raise TypeError("a key is no string")
            target[key] = value

    def made(self, function: object, arguments: object, /) -> object:
        match function, arguments:
            case _Name(text=text), (_Name(text=kind), (0,), "b") if text == _RECONSTRUCT and kind == _NDARRAY:
                return _Array()
            case _Name(text=text), ("u1", 0, 1) if text == _DTYPE:
                return _Type()
        raise self.refused(f"a call of {function.text if isinstance(function, _Name) else type(function).__name__}")

    def build(self, target: object, state: object, /) -> None:
        match target, state:
            case _Type(), (int(), "|", None, None, None, *_):
                return
            case _Array(value=None), (1, shape, _Type(), bool() as by_columns, str() as pixels) if _is_shape(shape):
                if prod(shape) != len(pixels):
                    raise ValueError(f"an array of shape {shape} holds {len(pixels)} bytes")
                flat = np.frombuffer(pixels.encode("latin-1"), np.uint8)
                target.value = flat.reshape(shape, order="F" if by_columns else "C")
                return
        raise self.refused(f"a state of {type(target).__name__.strip('_').lower()} that arrays of uint8 do not have")

    def refused(self, what: str, /) -> DataError:
        return DataError(
            f"read_plain_pickle: {self.name}: expected plain values and arrays of uint8, found {what}: "
            "nothing in this file was executed, and nothing in it will be"
        )


def _is_shape(value: object, /) -> TypeIs[tuple[int, ...]]:
    return isinstance(value, tuple) and len(value) <= 8 and all(type(size) is int and size >= 0 for size in value)
