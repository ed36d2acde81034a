"""How many classes a model is as unsure about as if they were equally likely."""

from math import exp, inf

import numpy as np

from moonxi.losses import Logits, LogProbs, cross_entropy, nll
from moonxi.metrics.metric import refuse_nan, refuse_nothing
from moonxi.traits import Labels, Tensor


class Perplexity:
    """``exp`` of the mean of minus the log-probability of the right class, in nats (Jelinek et al. 1977).

    Labels equal to ``ignore``, such as a padding, do not count."""

    def __init__(self, *, ignore: int | None = None) -> None:
        self._ignore = ignore
        self._sum = 0.0
        self._count = 0

    def add[T: Tensor](self, scores: Logits[T] | LogProbs[T], labels: Labels[T], /) -> None:
        """Count a batch in: scores ``(..., classes)``, labels ``(...)``.

        Raises `ShapeError` where these do not fit, `LabelError` for a label that is no class, and `NonFiniteError` for
        scores of which there is no probability, such as NaN."""
        if isinstance(scores, Logits):
            losses = cross_entropy(scores, labels, ignore=self._ignore, reduction="none")
        else:
            losses = nll(scores, labels, ignore=self._ignore, reduction="none")
        refuse_nan("Perplexity", "a loss", losses)
        self._sum += float(losses.to_host().sum(dtype=np.float64))
        truth = labels.to_host()
        self._count += truth.size if self._ignore is None else int((truth != self._ignore).sum())

    def value(self) -> float:
        """At least 1, and infinite where a right class had no probability. Raises `DataError` while nothing counts."""
        refuse_nothing("Perplexity", self._count)
        try:
            return exp(self._sum / self._count)
        except OverflowError:
            return inf
