"""A log that TensorBoard shows while the run goes on."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import override

from moonxi.errors import DataError, OptionError
from moonxi.sight.event_file import record, scalars_event, start_event, version_event
from moonxi.train import Callback, EpochRecord, Run
from moonxi.whole_file import reason


class TensorBoardLog(Callback[object]):
    """Event files in a folder, for ``tensorboard --logdir FOLDER``, which need no package of TensorBoard.

    After each ``every`` steps there are ``step/loss`` and the other named scalars; after each epoch ``train/loss`` and
    so on, ``test/loss`` and so on, and ``samples_per_second``. A run writes a file of its own, and one that is resumed
    lets TensorBoard forget what older files of the folder have from its first step on: nothing is there twice.

    Raises `OptionError` for ``every`` < 1, and `DataError` where the file cannot be written."""

    def __init__(self, folder: str | os.PathLike[str], /, *, every: int = 1) -> None:
        if every < 1:
            raise OptionError(f"TensorBoardLog: every={every}: must be at least 1 step")
        self.folder = Path(folder)
        self.every = every
        self._path = self.folder

    @override
    def on_start(self, run: Run[object], /) -> None:
        # The names of a folder are read in their order, so that of a later run is larger.
        self._path = self.folder / f"events.out.tfevents.{time.time_ns():020}.moonxi"
        now = time.time()
        self._add(version_event(now), start_event(now, run.steps + 1))

    @override
    def on_step(self, run: Run[object], values: Mapping[str, float], /) -> None:
        if run.steps % self.every == 0:
            tagged = {f"step/{name}": value for name, value in values.items()}
            self._add(scalars_event(time.time(), run.steps, tagged))

    @override
    def on_epoch(self, run: Run[object], record: EpochRecord, /) -> None:
        tagged = {
            **{f"train/{name}": value for name, value in record.train.items()},
            **{f"test/{name}": value for name, value in record.test.items()},
            "samples_per_second": record.samples_per_second,
        }
        self._add(scalars_event(time.time(), record.steps, tagged))

    def _add(self, *events: bytes) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(b"".join(map(record, events)))
        except (OSError, ValueError) as error:
            raise DataError(f"TensorBoardLog: {self._path}: cannot be written: {reason(error)}") from error
