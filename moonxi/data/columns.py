"""The columns of a table of text: what their cells may be, and the array that they become."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isfinite
from typing import override

import numpy as np
from numpy.typing import NDArray

from moonxi.errors import OptionError


@dataclass(frozen=True, slots=True)
class Column[E: np.generic](ABC):
    """A column by its name in the header, with elements of type ``E``; a subclass of yours reads other cells."""

    name: str

    @abstractmethod
    def parse(self, cell: str, /) -> object:
        """The element for a cell, without blanks around it. Raises `ValueError`, with what was expected instead."""

    @abstractmethod
    def array(self, elements: list[object], /) -> NDArray[E]:
        """The elements of all rows, in order."""


@dataclass(frozen=True, slots=True)
class Number(Column[np.float64]):
    """Finite numbers, as float64; an empty cell is the number ``missing`` (NaN, say), or an error without it."""

    missing: float | None = None

    @override
    def parse(self, cell: str, /) -> object:
        if cell == "" and self.missing is not None:
            return self.missing
        try:
            number = float(cell)
        except ValueError:
            advice = "" if cell else f" (or Number({self.name!r}, missing=nan), which takes empty cells)"
            raise ValueError(f"expected a number{advice}") from None
        if not isfinite(number) or "_" in cell:
            raise ValueError("expected a finite number")
        return number

    @override
    def array(self, elements: list[object], /) -> NDArray[np.float64]:
        return np.array(elements, np.float64)


@dataclass(frozen=True, slots=True)
class Integer(Column[np.int64]):
    """Whole numbers, as int64."""

    @override
    def parse(self, cell: str, /) -> object:
        try:
            number = int(cell)
        except ValueError:
            raise ValueError("expected a whole number") from None
        if not -(2**63) <= number < 2**63 or "_" in cell:
            raise ValueError("expected a whole number of 64 bits")
        return number

    @override
    def array(self, elements: list[object], /) -> NDArray[np.int64]:
        return np.array(elements, np.int64)


@dataclass(frozen=True, slots=True)
class Category(Column[np.int64]):
    """One of a few words, as its place among them, from 0: class labels.

    Raises `OptionError` for no words, and for one that is there twice."""

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.words or len(set(self.words)) != len(self.words):
            raise OptionError(f"Category: {self.name!r}, words {self.words}: one or more, each once")

    @override
    def parse(self, cell: str, /) -> object:
        if cell not in self.words:
            raise ValueError(f"expected one of {', '.join(map(repr, self.words))}")
        return self.words.index(cell)

    @override
    def array(self, elements: list[object], /) -> NDArray[np.int64]:
        return np.array(elements, np.int64)


@dataclass(frozen=True, slots=True)
class Text(Column[np.str_]):
    """Cells as they are, whatever they say; an empty one is an empty text."""

    @override
    def parse(self, cell: str, /) -> object:
        return cell

    @override
    def array(self, elements: list[object], /) -> NDArray[np.str_]:
        return np.array(elements, np.str_)
