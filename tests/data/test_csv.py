import csv
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import Category, Integer, LabelledArrays, Number, PairedArrays, read_csv
from moonxi.dtypes import F32
from moonxi.errors import DataError, OptionError

LENGTH, WIDTH, LEGS = Number("length"), Number("width"), Integer("legs")
KIND = Category("kind", ("cat", "newt"))

TABLE = """kind, legs, length,"a, note",width
cat,4,0.5,"x ""y""
z",1e-3

newt, 4 ,-2,,7
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "animals.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_columns_have_the_type_that_they_were_asked_for_with(table: Path) -> None:
    found = read_csv(table, WIDTH, LENGTH, LEGS, KIND)
    assert_type(found[LENGTH], NDArray[np.float64])
    assert_type(found[LEGS], NDArray[np.int64])
    assert len(found) == 2
    assert found[LENGTH].tolist() == [0.5, -2.0]
    assert found[WIDTH].tolist() == [0.001, 7.0]
    assert found[LEGS].tolist() == [4, 4]
    assert found[LEGS].dtype == np.int64
    assert found[KIND].tolist() == [0, 1]
    assert repr(found) == "CsvTable(2 rows: 'width', 'length', 'legs', 'kind')"


def test_rows_become_samples(table: Path) -> None:
    found = read_csv(table, WIDTH, LENGTH, KIND)
    classes = found.labelled(numpy(), inputs=(LENGTH, WIDTH), label=KIND)
    assert_type(classes, LabelledArrays[NpArray[F32]])
    assert classes.inputs.tolist() == [[0.5, 0.001], [-2, 7]]
    assert classes.labels.tolist() == [0, 1]
    numbers = found.paired(numpy(), inputs=(LENGTH,), targets=(WIDTH,))
    assert_type(numbers, PairedArrays[NpArray[F32]])
    assert numbers.targets.tolist() == [[0.001], [7]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("-2", "two", r"row 2 \(line 5\), column 'length': expected a number, found 'two'$"),
        (
            "-2",
            "",
            r".*expected a number .or Number.'length', missing=nan., which takes empty cells., found ''$",
        ),
        ("-2", "nan", r"row 2 \(line 5\), column 'length': expected a finite number, found 'nan'$"),
        ("-2", "1_0", r"row 2 \(line 5\), column 'length': expected a finite number, found '1_0'$"),
        ("cat,4", "cat,4.5", r"row 1 \(line 3\), column 'legs': expected a whole number, found '4.5'$"),
        ("cat,4", "cat,9223372036854775808", r".*column 'legs': expected a whole number of 64 bits, found '922"),
        ("cat,4", "dog,4", r"row 1 \(line 3\), column 'kind': expected one of 'cat', 'newt', found 'dog'$"),
        ("cat,4", f"{'dog' * 30},4", r".*found 'dogdogdogdogdogdogdogdogdogdogdogdogdogd'\.\.\.$"),
        (",7", "", r"row 2 \(line 5\): expected 5 cells, found 4$"),
        (",7", ",7,8", r"row 2 \(line 5\): expected 5 cells, found 6$"),
        (
            "width",
            "Width",
            r"expected a column 'width' in the first row, found 'kind', 'legs', 'length', 'a, note'",
        ),
        ("legs", "width", r"expected a column 'width' in the first row, found it twice or more$"),
        (",,7", ',"x,7', r"line 5: not CSV: unexpected end of data$"),
    ],
)
def test_what_is_wrong_is_named_by_its_row_and_column(table: Path, old: str, new: str, message: str) -> None:
    table.write_text(TABLE.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=rf"^read_csv: {table}: {message}"):
        read_csv(table, WIDTH, LENGTH, KIND, *([] if old == "legs" else [LEGS]))


def test_an_empty_cell_can_stand_for_a_number(table: Path) -> None:
    table.write_text(TABLE.replace("-2", ""), encoding="utf-8")
    column = Number("length", missing=float("nan"))
    assert np.isnan(read_csv(table, column)[column]).tolist() == [False, True]


def test_files_that_are_no_table_are_refused(tmp_path: Path) -> None:
    empty, latin, other = tmp_path / "empty.csv", tmp_path / "latin.csv", tmp_path / "other.csv"
    empty.write_text("")
    other.write_text("width;length\n1;2\n")
    with pytest.raises(
        DataError, match=r", found 'width;length': for cells parted like that, read_csv\(.*delimiter=';'"
    ):
        read_csv(other, LENGTH)
    assert read_csv(other, LENGTH, delimiter=";")[LENGTH].tolist() == [2.0]
    latin.write_bytes("länge\n1\n".encode("latin-1"))
    with pytest.raises(DataError, match=r": expected a column 'length' in the first row, found an empty file$"):
        read_csv(empty, LENGTH)
    with pytest.raises(DataError, match=r"latin.csv: expected text in utf-8: "):
        read_csv(latin, LENGTH)
    with pytest.raises(DataError, match=r"none.csv: cannot be read: No such file or directory$"):
        read_csv(tmp_path / "none.csv", LENGTH)
    assert read_csv(latin, Number("länge"), encoding="latin-1")[Number("länge")].tolist() == [1]


def test_a_mark_of_the_byte_order_is_not_part_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "marked.csv"
    path.write_text("length;x\n1;2\n", encoding="utf-8-sig")
    assert read_csv(path, LENGTH, delimiter=";")[LENGTH].tolist() == [1]


def test_columns_that_cannot_be_read_are_refused(table: Path) -> None:
    with pytest.raises(OptionError, match=r"^read_csv: columns \[\]: one or more, each once$"):
        read_csv(table)
    with pytest.raises(OptionError, match=r"^read_csv: columns \['length', 'length'\]: one or more, each once$"):
        read_csv(table, LENGTH, Integer("length"))
    with pytest.raises(DataError, match=r"^CsvTable: Number\(name='width', missing=None\): was not read; give it to"):
        read_csv(table, LENGTH)[WIDTH]
    with pytest.raises(DataError, match=r"^CsvTable: no columns: a matrix has one or more$"):
        read_csv(table, LENGTH).matrix(())
    with pytest.raises(OptionError, match=r"^Category: 'kind', words \('a', 'a'\): one or more, each once$"):
        Category("kind", ("a", "a"))


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(
    rows=st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**63), 2**63 - 1), st.text("a\"',\n")
        )
    )
)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, int, str]]) -> None:
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("length", "legs", "note"), *rows])
    found = read_csv(path, LENGTH, LEGS)
    assert found[LENGTH].tolist() == [length for length, _, _ in rows]
    assert found[LEGS].tolist() == [legs for _, legs, _ in rows]


@pytest.mark.parametrize("delimiter", ["", ";;", "\n", "\r", '"', " ", None])
def test_a_delimiter_that_is_not_one_plain_character_is_refused(tmp_path: Path, delimiter: Any) -> None:
    with pytest.raises(OptionError) as caught:
        read_csv(tmp_path / "x.csv", Number("a"), delimiter=delimiter)
    assert str(caught.value).startswith(f"read_csv: delimiter={delimiter!r}: must be one character, such as ")


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-9", "unknown encoding: utf-9"),
        ("base64", "'base64' is not a text encoding"),
        ("a\0b", "embedded null character"),
        (None, "encode() argument 'encoding' must be str, not None"),
    ],
)
def test_an_encoding_that_is_none_is_refused(tmp_path: Path, encoding: Any, text: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_csv(tmp_path / "x.csv", Number("a"), encoding=encoding)
    assert str(caught.value).startswith(f"read_csv: encoding={encoding!r}: {text}")


def test_another_delimiter_and_encoding_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes("größe\tb\n1\t2\n".encode("latin-1"))
    height = Number("größe")
    assert read_csv(path, height, delimiter="\t", encoding="latin-1")[height].tolist() == [1.0]
    with pytest.raises(DataError, match=r"x\.csv: expected text in utf-8: "):
        read_csv(path, height, delimiter="\t")
