"""The learning rate lowered where a metric no longer gets better."""

from dataclasses import dataclass
from math import inf
from typing import Final

from moonxi.errors import OptionError
from moonxi.settings import NOT_NEGATIVE, Range, flags, numbers, whole

_FACTOR: Final = Range("must be greater than 0 and less than 1", 0.0, 1.0, without_least=True, without_most=True)


@dataclass(frozen=True)
class PlateauState:
    """What `Plateau` knows of the metrics so far."""

    lr: float
    """The learning rate for the next updates."""
    best: float
    """The best metric."""
    waited: int = 0
    """How many metrics since then were not better."""
    cooling: int = 0
    """How many metrics still do not count after the last reduction."""


@dataclass(frozen=True, kw_only=True)
class Plateau:
    """Multiplies the learning rate by ``factor`` when a metric was not better for more than ``patience`` times.

    As PyTorch's ``ReduceLROnPlateau``, but for negative metrics. Better is lower, or with ``higher_is_better`` higher,
    by more than ``threshold`` of the best's distance from 0, or with ``absolute`` by more than ``threshold`` itself.
    NaN is never better. After a reduction ``cooldown`` metrics do not count. It is not a function of the step: the
    state goes in and comes out, and its ``lr`` into the optimizer::

        plateau = plateau_settings.after(plateau, validation_loss)
        optimizer = replace(optimizer, lr=plateau.lr)
    """

    lr: float
    factor: float = 0.1
    patience: int = 10
    threshold: float = 1e-4
    absolute: bool = False
    cooldown: int = 0
    min_lr: float = 0.0
    higher_is_better: bool = False

    def __post_init__(self) -> None:
        numbers("Plateau", _FACTOR, factor=self.factor)
        numbers("Plateau", NOT_NEGATIVE, lr=self.lr, min_lr=self.min_lr, threshold=self.threshold)
        if self.min_lr > self.lr:
            raise OptionError(f"Plateau: lr={self.lr}, min_lr={self.min_lr}: must be 0 <= min_lr <= lr")
        whole("Plateau", 0, patience=self.patience, cooldown=self.cooldown)
        flags("Plateau", absolute=self.absolute, higher_is_better=self.higher_is_better)

    def init(self) -> PlateauState:
        """The state before the first metric."""
        return PlateauState(self.lr, -inf if self.higher_is_better else inf)

    def after(self, state: PlateauState, metric: float, /) -> PlateauState:
        """The state after one more metric."""
        better = self._is_better(metric, state.best)
        best = metric if better else state.best
        waited = 0 if better or state.cooling else state.waited + 1
        cooling = max(0, state.cooling - 1)
        if waited <= self.patience:
            return PlateauState(state.lr, best, waited, cooling)
        return PlateauState(max(state.lr * self.factor, self.min_lr), best, 0, self.cooldown)

    def _is_better(self, metric: float, best: float) -> bool:
        margin = self.threshold if self.absolute else self.threshold * abs(best)
        if best in (inf, -inf):  # nothing seen yet, and infinity less a part of it is no number to compare with
            return metric > best if self.higher_is_better else metric < best
        return metric > best + margin if self.higher_is_better else metric < best - margin
