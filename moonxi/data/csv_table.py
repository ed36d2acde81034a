"""Tables in CSV files, with typed columns."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, overload

import numpy as np
from numpy.typing import NDArray

from moonxi.data.columns import Category, Column, Text
from moonxi.data.dataset import LabelledArrays
from moonxi.data.paired import PairedArrays
from moonxi.errors import AxisError, DataError, OperandError, OptionError
from moonxi.traits import Tensor

_SHOWN: Final = 40  # characters of a bad cell in a message


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CsvTable:
    """The columns of a file that were asked for, in memory."""

    _elements: dict[Column[np.generic], list[object]]
    _rows: int

    def __len__(self) -> int:
        """How many rows there are, without the header."""
        return self._rows

    def __repr__(self) -> str:
        return f"CsvTable({len(self)} rows: {', '.join(repr(column.name) for column in self._elements)})"

    @overload
    def __getitem__[E: np.generic](self, chosen: Column[E], /) -> NDArray[E]: ...
    @overload
    def __getitem__(self, chosen: NDArray[np.integer] | NDArray[np.bool_] | slice, /) -> Self: ...
    def __getitem__(self, chosen: Column[Any] | NDArray[np.integer] | NDArray[np.bool_] | slice, /) -> object:
        """The elements of a column, one a row; or some of the rows, as a table, so that `split` takes tables.

        Raises `DataError` for a column that was not read, `AxisError` for a row that there is not, and `OperandError`
        for anything else."""
        if isinstance(chosen, Column):
            if chosen not in self._elements:
                raise DataError(f"CsvTable: {chosen!r}: was not read; give it to read_csv")
            return chosen.array(self._elements[chosen])
        if not isinstance(chosen, slice | np.ndarray):
            raise OperandError(
                f"CsvTable[{chosen!r}]: expected a column, such as Number('length'), a slice or positions"
            )
        try:
            rows = np.arange(len(self))[chosen].tolist()
        except IndexError as error:
            raise AxisError(f"CsvTable[...]: {len(self)} rows: {error}") from None
        return CsvTable({column: [own[row] for row in rows] for column, own in self._elements.items()}, len(rows))

    def numbers(self, name: str, /) -> NDArray[np.float64]:
        """The numbers in a column of that name. Raises `DataError` if it was not read, or not as numbers."""
        column = self._named(name)
        if isinstance(column, Category | Text):
            raise DataError(f"CsvTable: column {name!r}: expected numbers, was read as {type(column).__name__}")
        return column.array(self._elements[column]).astype(np.float64)

    def words(self, name: str, /) -> list[str]:
        """The words in a column of that name. Raises `DataError` if it was not read, or as numbers."""
        column = self._named(name)
        if isinstance(column, Category):
            return [column.words[place] for place in self[column]]
        if isinstance(column, Text):
            return [str(word) for word in self[column]]
        raise DataError(
            f"CsvTable: column {name!r}: expected words, was read as {type(column).__name__}; Text({name!r}) has them"
        )

    def _named(self, name: str) -> Column[Any]:  # its elements are asked for by those who know what they are
        for column in self._elements:
            if column.name == name:
                return column
        raise DataError(f"CsvTable: column {name!r}: was not read; give it to read_csv")

    def matrix[E: (np.float64, np.int64)](self, columns: Sequence[Column[E]], /) -> NDArray[E]:
        """Columns side by side, ``(rows, columns)``. Raises as ``table[column]`` does, and `DataError` for none."""
        if not columns:
            raise DataError("CsvTable: no columns: a matrix has one or more")
        return np.stack([self[column] for column in columns], axis=1)

    def labelled[T: Tensor](
        self, like: T, /, *, inputs: Sequence[Column[np.float64]], label: Column[np.int64]
    ) -> LabelledArrays[T]:
        """The rows as samples of some columns, with the class in another: for a `Category`. Raises as `matrix` does."""
        return LabelledArrays(like, self.matrix(inputs), self[label])

    def paired[T: Tensor](
        self, like: T, /, *, inputs: Sequence[Column[np.float64]], targets: Sequence[Column[np.float64]]
    ) -> PairedArrays[T]:
        """The rows as samples of some columns, with others as their targets. Raises as `matrix` does."""
        return PairedArrays(like, self.matrix(inputs), self.matrix(targets))


def read_csv(
    path: Path | str,
    /,
    *columns: Column[np.float64] | Column[np.int64] | Column[np.str_],
    delimiter: str = ",",
    encoding: str = "utf-8",
) -> CsvTable:
    """The columns of a CSV file (RFC 4180) whose first row names them; others are not looked at.

    Blanks around a cell and empty lines are left out. Raises `OptionError` for no columns, or two of one name, for a
    delimiter that is not one character, or one of those that mean something else, and for an unknown encoding; and
    `DataError` if the file cannot be read, lacks a column or has it twice, has a row of another length than its header,
    or a cell that its column does not take, named by its row, counted from 1 without the header, and its line."""
    names = [column.name for column in columns]
    if not names or len(set(names)) != len(names):
        raise OptionError(f"read_csv: columns {names}: one or more, each once")
    given: object = delimiter
    if not isinstance(given, str) or len(given) != 1 or given in '\r\n" ':
        raise OptionError(
            f"read_csv: delimiter={delimiter!r}: must be one character, such as ',' or a tab, and neither a quotation "
            "mark nor a blank or the end of a line"
        )
    _refuse_encoding(encoding)
    source = Path(path)
    try:
        # A mark of the byte order, which spreadsheets write, is not part of the first name.
        with source.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="") as file:
            lines = _lines(csv.reader(file, delimiter=delimiter, strict=True), source)
            _, header = next(lines, (0, []))
            places = [_place(header, name, source) for name in names]
            elements: dict[Column[np.generic], list[object]] = {column: [] for column in columns}
            row = 0
            for row, (line, cells) in enumerate(lines, start=1):
                if len(cells) != len(header):
                    raise DataError(
                        f"read_csv: {source}: row {row} (line {line}): expected {len(header)} cells, found {len(cells)}"
                    )
                for column, place in zip(columns, places, strict=True):
                    try:
                        elements[column].append(column.parse(cells[place]))
                    except ValueError as error:
                        raise DataError(
                            f"read_csv: {source}: row {row} (line {line}), column {column.name!r}: {error}, "
                            f"found {_shortened(cells[place])}"
                        ) from None
    except UnicodeError as error:
        raise DataError(f"read_csv: {source}: expected text in {encoding}: {error}") from error
    except OSError as error:
        raise DataError(f"read_csv: {source}: cannot be read: {error.strerror or error}") from error
    return CsvTable(elements, row)


def _refuse_encoding(encoding: str, /) -> None:
    """Raise `OptionError` for what is the name of no encoding of text."""
    try:
        "a".encode(encoding)
    except (LookupError, TypeError, ValueError) as error:
        raise OptionError(f"read_csv: encoding={encoding!r}: {error}; such as 'utf-8' or 'latin-1'") from None


def _lines(reader: Any, source: Path, /) -> Iterator[tuple[int, list[str]]]:  # csv has no public name for its reader
    """The rows that are not empty, without blanks around the cells, each with the number of its last line."""
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise DataError(f"read_csv: {source}: line {reader.line_num}: not CSV: {error}") from error


def _place(header: list[str], name: str, source: Path, /) -> int:
    if header.count(name) != 1:
        found = "it twice or more" if name in header else ", ".join(map(repr, header)) or "an empty file"
        others = [mark for mark in ";\t|" if len(header) == 1 and mark in header[0]]
        advice = f": for cells parted like that, read_csv(..., delimiter={others[0]!r})" if others else ""
        raise DataError(f"read_csv: {source}: expected a column {name!r} in the first row, found {found}{advice}")
    return header.index(name)


def _shortened(cell: str, /) -> str:
    return repr(cell) if len(cell) <= _SHOWN else f"{cell[:_SHOWN]!r}..."
