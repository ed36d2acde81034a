"""`EarlyStopping`: a run ends when it does not get better any more."""

from math import inf
from typing import Final, override

from moonxi import settings
from moonxi.errors import OptionError
from moonxi.train.callback import Callback, Run
from moonxi.train.history import EpochRecord


class EarlyStopping(Callback[object]):
    """Ends a run after ``patience`` epochs in which the metric was not better than the best before them.

    The metric is that of the test data, or of the training where there is none. Better is lower, or with
    ``higher_is_better`` higher, by more than ``least``; NaN is never better. It is worked out anew from the epochs of
    the run: a resumed run ends where one without a break does. Raises `OptionError` for ``patience`` < 1, a negative
    ``least``, and after the first epoch if there is no such metric."""

    def __init__(
        self, metric: str = "loss", *, patience: int, least: float = 0.0, higher_is_better: bool = False
    ) -> None:
        settings.whole("EarlyStopping", 1, patience=patience)
        settings.numbers("EarlyStopping", settings.NOT_NEGATIVE, least=least)
        settings.flags("EarlyStopping", higher_is_better=higher_is_better)
        self.metric: Final = metric
        self.patience: Final = patience
        self.least: Final = least
        self.higher_is_better: Final = higher_is_better

    @override
    def on_start(self, run: Run[object], /) -> None:
        self._judge(run)

    @override
    def on_epoch(self, run: Run[object], record: EpochRecord, /) -> None:
        self._judge(run)

    def _judge(self, run: Run[object]) -> None:
        best, since = -inf, 0
        for record in run.records:
            value = self._value(record)
            since += 1
            if value > best + self.least or (best == -inf < value):
                best, since = value, 0
        if since >= self.patience:
            run.stop(f"{self.metric} was not better for {since} epochs")

    def _value(self, record: EpochRecord) -> float:
        """The metric, the larger the better."""
        values = record.test or record.train
        if self.metric not in values:
            raise OptionError(f"EarlyStopping: no metric {self.metric!r}: there are {', '.join(values)}")
        return values[self.metric] if self.higher_is_better else -values[self.metric]
