"""`Loop`: epochs of steps, from any place on, with what is to be done between them."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import batched
from typing import Any, Protocol

from moonxi.json_fields import Json
from moonxi.train.batches import Batches, batches_from
from moonxi.train.callback import Callback, Run
from moonxi.train.history import Average, EpochRecord, History
from moonxi.train.place import Place
from moonxi.train.progress import epoch_bar, line


class Learner[M, B](Protocol):
    """What makes the steps: a `Trainer`."""

    @property
    def model(self) -> M: ...
    @property
    def averaged(self) -> M: ...
    @property
    def steps(self) -> int: ...
    def step(self, batch: B, /, *more: B) -> dict[str, float]: ...
    def evaluate(self, data: Batches[B], /) -> dict[str, float]: ...


type Save = Callable[[Place, Mapping[str, float]], object]
"""Writes a checkpoint of a place, with the metrics of the evaluation there, if there was one."""


class Loop[M, B]:
    """One run of ``fit``; ``place`` says at any time how far it is."""

    def __init__(
        self,
        learner: Learner[M, B],
        data: Batches[B],
        /,
        *,
        test: Batches[B] | None,
        until: int,
        accumulate: int,
        progress: bool,
        callbacks: Sequence[Callback[M]],
        after_epoch: Callable[[EpochRecord], None] | None,
        save: Save | None,
        every: int | None,
        place: Place,
        history: History,
        settings: Json,
        waits: bool = False,
    ) -> None:
        self.place = place
        self._learner = learner
        self._data = data
        self._test = test
        self._until = until
        self._accumulate = accumulate
        self._progress = progress
        self._callbacks = callbacks
        self._after_epoch = after_epoch
        self._save = save
        self._every = every
        self._history = history
        self._waits = waits
        self._run = Run(lambda: learner.model, lambda: learner.averaged, lambda: learner.steps, history, settings)

    def run(self) -> None:
        """Go on until the last epoch, a callback's stop or Ctrl-C, and say so in the history."""
        try:
            for callback in self._callbacks:
                callback.on_start(self._run)
            while self.place.epoch < self._until and self._run.stopped is None:
                self._epoch()
        except KeyboardInterrupt:
            self._history.interrupted = True
            if self._progress:
                print(f"\ninterrupted after step {self._learner.steps}", flush=True)
            if self.place.steps == self._learner.steps:  # else it came between a step and its being counted
                self._checkpoint()
        self._history.stopped = self._run.stopped
        if self._progress and self._run.stopped is not None:
            print(f"stopped after step {self._learner.steps}: {self._run.stopped}", flush=True)

    def finish(self) -> None:
        """Tell the callbacks that the run has ended."""
        for callback in self._callbacks:
            callback.on_end(self._run, self._history)

    def _epoch(self) -> None:
        start = self.place
        if not self._steps(start):
            self._checkpoint()
            return
        after = {} if self._test is None else self._learner.evaluate(self._test)
        done = self.place
        average = Average(done.sums, done.samples)
        record = EpochRecord(done.epoch, done.steps, average.values(), after, done.seconds, done.samples)
        self._history.epochs.append(record)
        self.place = Place(epoch=done.epoch + 1, steps=done.steps, records=(*done.records, record))
        if self._progress:
            print(line(record, self._until), flush=True)
        if self._after_epoch is not None:
            self._after_epoch(record)
        for callback in self._callbacks:
            callback.on_epoch(self._run, record)
        self._checkpoint()

    def _steps(self, start: Place) -> bool:
        """The steps of an epoch from a place on; whether they came to its end."""
        average = Average(start.sums, start.samples)
        batch = start.batch
        began = time.perf_counter() - start.seconds
        count = -(-(len(self._data) - batch) // self._accumulate)
        note = "compiling" if self._waits else ""
        self._waits = False
        with epoch_bar(f"epoch {start.epoch + 1}/{self._until}", count, note, shown=self._progress) as bar:
            for group in batched(batches_from(self._data, start.epoch, batch), self._accumulate):
                values = self._learner.step(*group)
                sized: Any = group  # a trainer's batches have a size: see `BatchOf`
                average.add(values, sum(one.size for one in sized))
                batch += len(group)
                seconds = time.perf_counter() - began
                self.place = replace(
                    start,
                    batch=batch,
                    steps=self._learner.steps,
                    sums=average.sums,
                    samples=average.samples,
                    seconds=seconds,
                )
                bar.advance(average.values(), average.samples / seconds)
                for callback in self._callbacks:
                    callback.on_step(self._run, values)
                if batch < len(self._data):
                    if self._run.stopped is not None:
                        return False
                    if self._every is not None and self.place.steps % self._every == 0:
                        self._checkpoint()
        return True

    def _checkpoint(self) -> None:
        if self._save is None:
            return
        records = self.place.records
        at_an_end = self.place.batch == 0 and records
        self._save(self.place, (records[-1].test or records[-1].train) if at_an_end else {})
