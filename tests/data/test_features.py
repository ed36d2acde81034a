"""Columns as inputs of a model: standardised, coded and missing, by the statistics of other rows, kept in a file."""

import json
import os
from collections.abc import Callable
from errno import ENOSPC
from math import nan
from pathlib import Path
from typing import Any, override

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import Category, Column, CsvTable, Features, Integer, Number, Text, read_csv, split, stratified_split
from moonxi.dtypes import F32
from moonxi.errors import AxisError, DataError, OperandError, OptionError, ShapeError

AGE, PETS, TOWN = Number("age", missing=nan), Integer("pets"), Text("town")
PAID = Category("paid", ("no", "yes"))
ROWS = """age,pets,town,paid
20,0,Oslo,no
,2,Rome,yes
40,4,Oslo,no
60,2,,yes
"""


def table(folder: Path, text: str = ROWS, *columns: Any) -> CsvTable:
    path = folder / "people.csv"
    path.write_text(text, encoding="utf-8")
    return read_csv(path, *(columns or (AGE, PETS, TOWN, PAID)))


def test_numbers_are_standardised_words_are_columns_and_what_is_missing_is_the_mean(tmp_path: Path) -> None:
    features = Features.fit(table(tmp_path), AGE, PETS, TOWN, PAID)
    assert features.names == ("age", "age missing", "pets", "town=", "town=Oslo", "town=Rome", "paid=no", "paid=yes")
    scale, pets = np.sqrt(800 / 3), np.sqrt(2)
    np.testing.assert_allclose(
        features.matrix(table(tmp_path)),
        [
            [-20 / scale, 0, -2 / pets, 0, 1, 0, 1, 0],
            [0, 1, 0, 0, 0, 1, 0, 1],
            [0, 0, 2 / pets, 0, 1, 0, 1, 0],
            [20 / scale, 0, 0, 1, 0, 0, 0, 1],
        ],
        rtol=1e-15,
    )


def test_the_statistics_are_those_of_the_rows_that_they_were_taken_of(tmp_path: Path) -> None:
    known = table(tmp_path)
    features = Features.fit(known[:3], PETS, TOWN)
    assert features.names == ("pets", "town=Oslo", "town=Rome")
    matrix = features.matrix(known[3:])
    np.testing.assert_allclose(matrix, [[0.0, 0.0, 0.0]], atol=1e-15)  # pets as the mean of the first three, no town
    assert features.matrix(table(tmp_path, "pets,town\n9,Oslo\n", PETS, TOWN))[0, 0] == pytest.approx(
        7 / np.sqrt(8 / 3)
    )


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_standardised_numbers_have_mean_0_and_deviation_1_and_come_back(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[float]
) -> None:
    folder = tmp_path_factory.mktemp("numbers")
    known = table(folder, "\n".join(["age", *map(repr, numbers), ""]), Number("age"))
    features = Features.fit(known, Number("age"))
    matrix = features.matrix(known)
    spread = np.std(numbers)
    if spread > 1e-6:
        np.testing.assert_allclose([matrix.mean(), matrix.std()], [0.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(features.restored(matrix)[:, 0], numbers, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("value", ["0.1", "-3", "0", "1e100"])
def test_a_constant_column_is_only_shifted(tmp_path: Path, value: str) -> None:
    known = table(tmp_path, "age\n" + f"{value}\n" * 7, Number("age"))
    features = Features.fit(known, Number("age"))
    np.testing.assert_allclose(features.matrix(known), np.zeros((7, 1)), atol=1e85 if value == "1e100" else 1e-15)


def test_a_file_has_them_to_the_bit_and_says_what_to_read(tmp_path: Path) -> None:
    known = table(tmp_path)
    features = Features.fit(known, AGE, PETS, TOWN, PAID)
    features.save(tmp_path / "features.json")
    again = Features.load(tmp_path / "features.json")
    assert again == features
    assert repr(again.columns) == repr((AGE, Number("pets"), TOWN, PAID))
    later = read_csv(tmp_path / "people.csv", *again.columns)
    assert np.array_equal(again.matrix(later), features.matrix(known))
    assert json.loads((tmp_path / "features.json").read_text())["columns"][3]["among"] == ["no", "yes"]
    assert [one.name for one in tmp_path.iterdir() if one.suffix not in (".csv", ".json")] == []


def test_rows_become_samples(tmp_path: Path) -> None:
    known = table(tmp_path)
    classes = Features.fit(known, PETS, TOWN).labelled(numpy(), known, label=PAID)
    assert classes.inputs.shape == (4, 4)
    assert classes.labels.tolist() == [0, 1, 0, 1]
    numbers = Features.fit(known, TOWN).paired(numpy(), known, targets=Features.fit(known, PETS))
    found: NpArray[F32] = numbers.batch(np.arange(4)).y
    assert found.shape == (4, 1)
    np.testing.assert_allclose(numbers.targets.std(), 1.0)


def test_a_table_is_split_by_rows(tmp_path: Path) -> None:
    known = table(tmp_path)
    parts = split(known, (0.5, 0.5), seed=0)
    assert sorted(np.concatenate([part[PETS] for part in parts]).tolist()) == [0, 2, 2, 4]
    first, second = stratified_split(known, (0.5, 0.5), labels=known[PAID], seed=0)
    assert sorted(first[PAID].tolist()) == sorted(second[PAID].tolist()) == [0, 1]
    assert known[np.array([False, True, False, True])][TOWN].tolist() == ["Rome", ""]
    with pytest.raises(AxisError, match=r"^CsvTable\[\.\.\.\]: 4 rows: index 4 is out of bounds"):
        known[np.array([4])]
    wrong: Any = known
    with pytest.raises(
        OperandError, match=r"^CsvTable\['age'\]: expected a column, such as Number\('length'\), a slice"
    ):
        wrong["age"]


class Days(Column[np.float64]):
    """Dates, as the days since the first of them all."""

    @override
    def parse(self, cell: str, /) -> object:
        return float(np.datetime64(cell, "D").astype(int))

    @override
    def array(self, elements: list[object], /) -> NDArray[np.float64]:
        return np.array(elements, np.float64)


def test_a_column_of_another_class_is_one_of_numbers(tmp_path: Path) -> None:
    born = Days("born")
    known = table(tmp_path, "born\n2000-01-01\n2000-01-03\n", born)
    features = Features.fit(known, born)
    assert features.matrix(known).tolist() == [[-1.0], [1.0]]
    features.save(tmp_path / "f.json")
    assert Features.load(tmp_path / "f.json").matrix(known).tolist() == [[-1.0], [1.0]]


WRONG: list[tuple[Callable[[CsvTable], object], type[Exception], str]] = [
    (lambda known: Features.fit(known), OptionError, r"columns \[\]: one or more, each once$"),
    (lambda known: Features.fit(known, AGE, AGE), OptionError, r"columns \['age', 'age'\]: one or more, each once$"),
    (lambda known: Features.fit(known[:0], AGE), DataError, r"a table of no rows: there is nothing to take statis"),
    (lambda known: Features.fit(known[1:2], AGE), DataError, r"column 'age': every number is missing: leave the"),
    (
        lambda known: Features.fit(known[2:], AGE).matrix(known),
        DataError,
        r"column 'age', row 2: a number is missing, and none was in the table that the statistics are of$",
    ),
    (
        lambda known: Features.fit(known, TOWN).restored(np.zeros((1, 3))),
        OptionError,
        r"restored: columns \('town=', .*\): expected numbers, none of them missing$",
    ),
    (
        lambda known: Features.fit(known, PETS).restored(np.zeros(3)),
        ShapeError,
        r"restored: \(3,\): expected \(rows, 1\)$",
    ),
    (
        lambda known: Features.fit(known, PETS).save("nowhere/f.json"),
        DataError,
        r"nowhere/f\.json: cannot be written: ",
    ),
    (lambda known: Features.load("nowhere/f.json"), DataError, r"nowhere/f\.json: cannot be read: No such file or"),
    (lambda known: Features.load("a\0b"), DataError, r"'a\\x00b': cannot be read: embedded null"),
]


@pytest.mark.parametrize(("call", "error", "said"), WRONG, ids=range(len(WRONG)))
def test_what_cannot_be_is_refused(
    tmp_path: Path, call: Callable[[CsvTable], object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=rf"^Features: {said}"):
        call(table(tmp_path))


def test_a_table_that_was_read_otherwise_is_refused(tmp_path: Path) -> None:
    features = Features.fit(table(tmp_path), PETS, PAID)
    with pytest.raises(DataError, match=r"^CsvTable: column 'paid': was not read; give it to read_csv$"):
        features.matrix(table(tmp_path, ROWS, PETS))
    with pytest.raises(DataError, match=r"^CsvTable: column 'pets': expected numbers, was read as Text$"):
        features.matrix(table(tmp_path, ROWS, Text("pets"), PAID))
    with pytest.raises(
        DataError, match=r"column 'pets': expected words, was read as Integer; Text\('pets'\) has them$"
    ):
        Features.fit(table(tmp_path, ROWS, Text("pets")), Text("pets")).matrix(table(tmp_path))
    with pytest.raises(DataError, match=r"^Features: column 'paid', row 1: 'maybe': expected one of 'no', 'yes'$"):
        features.matrix(table(tmp_path, "pets,paid\n1,maybe\n", PETS, Text("paid")))


def test_numbers_whose_spread_overflows_are_refused(tmp_path: Path) -> None:
    known = table(tmp_path, "age\n1e308\n-1e308\n", Number("age"))
    with pytest.raises(DataError, match=r"^Features: column 'age': numbers up to 1e\+308: their spread overflows$"):
        Features.fit(known, Number("age"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value"),
        ("[]", "file: expected an object, found a list"),
        ('{"format": "moonxi checkpoint"}', "file.format: expected the text 'moonxi features', found the text "),
        ('{"format": "moonxi features", "version": 2}', "file.version: expected 1, as this moonxi writes it, found a"),
        ('{"format": "moonxi features", "version": 1}', "file.columns: expected a list, found nothing"),
        ('{"format": "moonxi features", "version": 1, "columns": [{}]}', r"file.columns\[0\].words: expected a text"),
        (
            '{"format": "moonxi features", "version": 1, "columns": [{"number": "a", "mean": 0, "std": 0}]}',
            r"file.columns\[0\].std: expected a positive number, found a number",
        ),
        (
            '{"format": "moonxi features", "version": 1, "columns": [{"words": "a", "among": [1], "closed": true}]}',
            r"file.columns\[0\].among: expected a list of texts, found a list",
        ),
    ],
    ids=range(8),
)
def test_a_file_that_is_damaged_or_another_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "f.json").write_text(text)
    with pytest.raises(DataError, match=rf"^Features: .*f\.json: damaged, or not saved by Features: {said}"):
        Features.load(tmp_path / "f.json")


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_garbled_file_is_refused_or_read(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("garbled")
    path = folder / "f.json"
    Features.fit(table(folder), AGE, TOWN, PAID).save(path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        if data.draw(st.booleans()):
            content[at] = data.draw(st.integers(0, 255))
        else:
            del content[at : at + data.draw(st.integers(1, 30))]
    path.write_bytes(content)
    try:
        found = Features.load(path)
    except DataError:
        return
    assert len(found.names) >= len(found.columns) - 2


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_a_file_that_cannot_be_exchanged_stays(tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = table(tmp_path)
    Features.fit(known, AGE).save(tmp_path / "f.json")
    before = (tmp_path / "f.json").read_bytes()

    def full(*arguments: object) -> None:
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(DataError, match=r"^Features: .*f\.json: cannot be written: No space left on device$"):
        Features.fit(known, PETS).save(tmp_path / "f.json")
    monkeypatch.undo()
    assert (tmp_path / "f.json").read_bytes() == before
