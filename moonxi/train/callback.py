"""`Callback`: what is done at the start of a run, after its steps and epochs, and at its end."""

from collections.abc import Callable, Mapping
from typing import Protocol

from moonxi.json_fields import Json
from moonxi.train.history import EpochRecord, History


class Run[M]:
    """A run of ``fit`` with a model of class ``M``, as its callbacks see it."""

    def __init__(
        self,
        model: Callable[[], M],
        averaged: Callable[[], M],
        steps: Callable[[], int],
        history: History,
        settings: Json,
    ) -> None:
        self._model = model
        self._averaged = averaged
        self._steps = steps
        self._settings = settings
        self._history = history
        self._stopped: str | None = None

    @property
    def model(self) -> M:
        """The model after the last whole step."""
        return self._model()

    @property
    def averaged(self) -> M:
        """The model that is evaluated: with ``ema`` that of the averaged weights."""
        return self._averaged()

    @property
    def settings(self) -> Json:
        """Model, loss, optimizer, key and data, as checkpoints store them; of tensors only the shapes."""
        return self._settings

    @property
    def steps(self) -> int:
        """Updates made since the run began, also those before it was resumed."""
        return self._steps()

    @property
    def records(self) -> tuple[EpochRecord, ...]:
        """The whole epochs so far, also those before it was resumed."""
        return tuple(self._history.epochs)

    @property
    def stopped(self) -> str | None:
        """Why the run ends now; None if it goes on."""
        return self._stopped

    def stop(self, reason: str, /) -> None:
        """End the run after this step, without an error; the first reason counts."""
        self._stopped = self._stopped or reason


class Callback[M](Protocol):
    """What is done in a run with a model of class ``M``. Derive from it, and write the methods that you need.

    A callback that does not care for the model is a ``Callback[object]``, and fits any. What it needs to know of the
    past is in ``run.records``, which a resumed run has as well: then it has no state of its own to lose. An epoch after
    which a run was killed before its checkpoint was written is trained again, and given again."""

    def on_start(self, run: Run[M], /) -> None:
        """Before the first step."""
        return

    def on_step(self, run: Run[M], values: Mapping[str, float], /) -> None:
        """After each step: the loss and the named scalars before it."""
        return

    def on_epoch(self, run: Run[M], record: EpochRecord, /) -> None:
        """After each epoch and its evaluation."""
        return

    def on_end(self, run: Run[M], history: History, /) -> None:
        """At the end, also after Ctrl-C; not after an error."""
        return
