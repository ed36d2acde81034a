"""Logs of a run, a line for each epoch, as CSV and as JSON lines."""

import csv
import io
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import override

from moonxi.errors import DataError
from moonxi.json_fields import number
from moonxi.train.callback import Callback, Run
from moonxi.train.history import EpochRecord
from moonxi.whole_file import reason


class Log(Callback[object], ABC):
    """Base of logs: a text file with a line for each epoch, there as soon as the epoch ends.

    A run writes the file anew; one that is resumed begins with the epochs before, so that nothing is there twice.
    Raises `DataError` where the file cannot be written."""

    def __init__(self, path: str | os.PathLike[str], /) -> None:
        self.path = Path(path)

    @abstractmethod
    def lines(self, records: Sequence[EpochRecord], /, *, first: bool) -> str:
        """The text of these epochs; ``first`` if it begins the file."""

    @override
    def on_start(self, run: Run[object], /) -> None:
        self._write("w", self.lines(run.records, first=True) if run.records else "")

    @override
    def on_epoch(self, run: Run[object], record: EpochRecord, /) -> None:
        self._write("a", self.lines([record], first=len(run.records) == 1))

    def _write(self, mode: str, text: str) -> None:
        try:
            with self.path.open(mode, encoding="utf-8", newline="") as file:
                file.write(text)
        except (OSError, ValueError) as error:
            raise DataError(f"{type(self).__name__}: {self.path}: cannot be written: {reason(error)}") from error


def row(record: EpochRecord, /) -> dict[str, float]:
    """An epoch as named numbers: ``epoch`` from 1, ``steps``, ``train_loss``, ..., ``test_loss``, ..., ``seconds``."""
    return {
        "epoch": record.epoch + 1,
        "steps": record.steps,
        **{f"train_{name}": value for name, value in record.train.items()},
        **{f"test_{name}": value for name, value in record.test.items()},
        "seconds": record.seconds,
        "samples_per_second": record.samples_per_second,
    }


class CsvLog(Log):
    """A file of comma-separated values (RFC 4180) with a header, whose columns are those of the first epoch."""

    def __init__(self, path: str | os.PathLike[str], /) -> None:
        super().__init__(path)
        self._columns: list[str] = []

    @override
    def lines(self, records: Sequence[EpochRecord], /, *, first: bool) -> str:
        """Rows, after the header at the beginning."""
        text = io.StringIO()
        rows = [row(record) for record in records]
        if first:
            self._columns = list(rows[0])
        writer = csv.DictWriter(text, self._columns, restval="", extrasaction="ignore")
        if first:
            writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()


class JsonLinesLog(Log):
    """A file with an object of JSON in each line; numbers that are not finite are the texts nan, inf and -inf."""

    @override
    def lines(self, records: Sequence[EpochRecord], /, *, first: bool) -> str:
        """A line for each."""
        objects = [{name: number(value) for name, value in row(record).items()} for record in records]
        return "".join(f"{json.dumps(one, allow_nan=False)}\n" for one in objects)
