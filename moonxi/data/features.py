"""`Features`: the columns of a table as inputs of a model, by statistics of the part that is learnt from."""

import json
import os
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from moonxi.data.columns import Category, Column, Number, Text
from moonxi.data.csv_table import CsvTable
from moonxi.data.dataset import LabelledArrays
from moonxi.data.paired import PairedArrays
from moonxi.errors import DataError, OptionError, ShapeError
from moonxi.json_fields import Fields, Json, JsonError, parsed
from moonxi.traits import Tensor
from moonxi.whole_file import reason, replace_whole

_FORMAT: Final = "moonxi features"
_VERSION: Final = 1
type Cells = Column[np.float64] | Column[np.int64] | Column[np.str_]
"""A column of a table: `Number`, `Integer`, `Category`, `Text`, or one of yours."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """A column of numbers, less their mean and divided by their standard deviation; a missing one becomes 0, the mean.

    If numbers were missing where these were taken from, a second column says of which rows they are."""

    name: str
    mean: float
    std: float
    missing: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the columns that it becomes."""
        return (self.name, f"{self.name} missing") if self.missing else (self.name,)

    def encoded(self, table: CsvTable, /) -> NDArray[np.float64]:
        """The columns that it becomes, ``(rows, 1 or 2)``."""
        cells = table.numbers(self.name)
        absent = np.isnan(cells)
        if absent.any() and not self.missing:
            raise DataError(
                f"Features: column {self.name!r}, row {int(absent.argmax()) + 1}: a number is missing, and none was in "
                "the table that the statistics are of"
            )
        scaled = np.where(absent, 0.0, (cells - self.mean) / self.std)
        return np.stack([scaled, absent] if self.missing else [scaled], axis=1)


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of words, as one column for each word with 1 where it stands, and 0 elsewhere.

    Other words, which a `Text` may have, are 0 in all of them."""

    name: str
    words: tuple[str, ...]
    closed: bool
    """Whether there are no others: those of a `Category`."""

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the columns that it becomes."""
        return tuple(f"{self.name}={word}" for word in self.words)

    def encoded(self, table: CsvTable, /) -> NDArray[np.float64]:
        """The columns that it becomes, ``(rows, words)``."""
        cells = table.words(self.name)
        places = {word: place for place, word in enumerate(self.words)}
        matrix = np.zeros((len(cells), len(self.words)))
        for row, word in enumerate(cells):
            if word in places:
                matrix[row, places[word]] = 1.0
            elif self.closed:
                raise DataError(
                    f"Features: column {self.name!r}, row {row + 1}: {word!r}: expected one of "
                    f"{', '.join(map(repr, self.words))}"
                )
        return matrix


@dataclass(frozen=True, slots=True)
class Features:
    """How columns of a table become numbers for a model: made by `fit` of the rows that are learnt from, kept in a file
    beside the weights, and applied to all other rows, those of a test and those that come later."""

    parts: tuple[Scaled | Coded, ...]

    @classmethod
    def fit(cls, table: CsvTable, /, *columns: Cells) -> "Features":
        """The statistics of these columns, in this order.

        Of numbers the mean and the standard deviation of those that are there (a constant column is only shifted), of a
        `Category` its words, of a `Text` the words that occur, sorted. Missing numbers are NaN: read the column by
        ``Number(name, missing=nan)``. Raises `OptionError` for no columns or one twice, and `DataError` for no rows,
        a column that was not read, and one in which every number is missing."""
        names = [column.name for column in columns]
        if not names or len(set(names)) != len(names):
            raise OptionError(f"Features: columns {names}: one or more, each once")
        if len(table) == 0:
            raise DataError("Features: a table of no rows: there is nothing to take statistics of")
        return cls(tuple(_fitted(table, column) for column in columns))

    @property
    def names(self) -> tuple[str, ...]:
        """What each column of `matrix` is: ``length``, ``colour=red``, ``age missing``; as many as the inputs are."""
        return tuple(name for part in self.parts for name in part.names)

    @property
    def columns(self) -> tuple[Cells, ...]:
        """The columns to read from another file: ``read_csv(path, *features.columns)``.

        A column of a class of your own is given as a `Number` or a `Text`; read yours in its place."""
        return tuple(map(_column, self.parts))

    def matrix(self, table: CsvTable, /) -> NDArray[np.float64]:
        """The rows as inputs, ``(rows, len(names))``.

        Raises `DataError` if the table lacks a column, has words where numbers are expected, or numbers where words
        are, and for a missing number where none was missing in the rows that the statistics are of."""
        return np.concatenate([part.encoded(table) for part in self.parts], axis=1)

    def restored(self, matrix: NDArray[np.floating], /) -> NDArray[np.float64]:
        """Standardised numbers as they were before, ``(rows, len(names))``: what a model says of targets, for people.

        Raises `OptionError` if there are other columns than numbers without missing ones, and `ShapeError`."""
        scaled = [part for part in self.parts if isinstance(part, Scaled) and not part.missing]
        if len(scaled) != len(self.parts):
            raise OptionError(f"Features: restored: columns {self.names}: expected numbers, none of them missing")
        if matrix.ndim != 2 or matrix.shape[1] != len(scaled):
            raise ShapeError(f"Features: restored: {matrix.shape}: expected (rows, {len(scaled)})")
        std, mean = (np.array([getattr(part, name) for part in scaled]) for name in ("std", "mean"))
        numbers: NDArray[np.float64] = matrix.astype(np.float64) * std + mean
        return numbers

    def labelled[T: Tensor](self, like: T, table: CsvTable, /, *, label: Column[np.int64]) -> LabelledArrays[T]:
        """The rows as samples with the class in a column, a `Category`. Raises as `matrix` does."""
        return LabelledArrays(like, self.matrix(table), table[label])

    def paired[T: Tensor](self, like: T, table: CsvTable, /, *, targets: "Features") -> PairedArrays[T]:
        """The rows as samples with the features of other columns as their targets. Raises as `matrix` does."""
        return PairedArrays(like, self.matrix(table), targets.matrix(table))

    def save(self, path: str | os.PathLike[str], /) -> None:
        """Write them as JSON, which people can read; the file is exchanged as a whole. Raises `DataError`."""
        parts: list[Json] = [_json(part) for part in self.parts]
        whole: Json = {"format": _FORMAT, "version": _VERSION, "columns": parts}
        try:
            replace_whole(Path(path), json.dumps(whole, indent=1, ensure_ascii=False).encode() + b"\n")
        except (OSError, ValueError) as error:
            raise DataError(f"Features: {os.fspath(path)}: cannot be written: {reason(error)}") from error

    @classmethod
    def load(cls, path: str | os.PathLike[str], /) -> "Features":
        """Those that `save` wrote. Raises `DataError` for a file that is missing, damaged, or something else."""
        source = os.fspath(path)
        try:
            whole = Fields.of(parsed(Path(path).read_bytes()), "file")
            if whole.members.get("format") != _FORMAT:
                raise whole.wrong("format", f"the text {_FORMAT!r}")
            if whole.count("version") != _VERSION:
                raise whole.wrong("version", f"{_VERSION}, as this moonxi writes it")
            parts = tuple(map(_parsed, whole.listed("columns")))
        except OSError as error:
            raise DataError(f"Features: {source}: cannot be read: {reason(error)}") from error
        except JsonError as error:
            raise DataError(f"Features: {source}: damaged, or not saved by Features: {error}") from error
        except ValueError as error:
            raise DataError(f"Features: {source!r}: cannot be read: {error}") from error
        return cls(parts)


def _fitted(table: CsvTable, column: Cells) -> Scaled | Coded:
    name = column.name
    if isinstance(column, Category):
        return Coded(name, column.words, closed=True)
    if isinstance(column, Text):
        return Coded(name, tuple(sorted(set(table.words(name)))), closed=False)
    cells = table.numbers(name)
    there = cells[~np.isnan(cells)]
    if len(there) == 0:
        raise DataError(f"Features: column {name!r}: every number is missing: leave the column out")
    with np.errstate(over="ignore", invalid="ignore"):
        mean, std = float(there.mean()), float(there.std())
    if not isfinite(std):
        raise DataError(f"Features: column {name!r}: numbers up to {np.abs(there).max():.3g}: their spread overflows")
    # What rounding makes of equal numbers is no spread.
    flat = std <= 1e-12 * max(abs(mean), float(np.abs(there).max()))
    return Scaled(name, mean, 1.0 if flat else std, missing=len(there) < len(cells))


def _column(part: Scaled | Coded) -> Cells:
    if isinstance(part, Scaled):
        return Number(part.name, missing=nan if part.missing else None)
    return Category(part.name, part.words) if part.closed else Text(part.name)


def _json(part: Scaled | Coded) -> Json:
    if isinstance(part, Scaled):
        return {"number": part.name, "mean": part.mean, "std": part.std, "missing": part.missing}
    return {"words": part.name, "among": list(part.words), "closed": part.closed}


def _parsed(fields: Fields) -> Scaled | Coded:
    if "number" in fields.members:
        std = fields.number("std")
        if not (isfinite(std) and std > 0.0):
            raise fields.wrong("std", "a positive number")
        if not isfinite(fields.number("mean")):
            raise fields.wrong("mean", "a finite number")
        return Scaled(fields.text("number"), fields.number("mean"), std, fields.flag("missing"))
    return Coded(fields.text("words"), fields.texts("among"), fields.flag("closed"))
