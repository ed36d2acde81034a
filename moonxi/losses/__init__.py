"""Losses, and the types of what they take: logits are not probabilities."""

from moonxi.losses.cross_entropy import cross_entropy
from moonxi.losses.regression import mse
from moonxi.losses.scores import Logits, LogProbs, Probs

__all__ = ["LogProbs", "Logits", "Probs", "cross_entropy", "mse"]
