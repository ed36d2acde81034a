"""Losses, and the types of what they take: logits are not probabilities."""

from moonxi.losses.binary_cross_entropy import binary_cross_entropy
from moonxi.losses.binary_scores import BinaryLogits, BinaryProbs
from moonxi.losses.cross_entropy import cross_entropy, nll
from moonxi.losses.divergence import kl_divergence
from moonxi.losses.hinge import hinge, multiclass_hinge
from moonxi.losses.reduction import Reduction
from moonxi.losses.regression import huber, l1, mse, smooth_l1
from moonxi.losses.scores import Logits, LogProbs, Probs
from moonxi.losses.similarity import cosine_embedding, cosine_similarity
from moonxi.losses.triplet import triplet_margin

__all__ = [
    "BinaryLogits",
    "BinaryProbs",
    "LogProbs",
    "Logits",
    "Probs",
    "Reduction",
    "binary_cross_entropy",
    "cosine_embedding",
    "cosine_similarity",
    "cross_entropy",
    "hinge",
    "huber",
    "kl_divergence",
    "l1",
    "mse",
    "multiclass_hinge",
    "nll",
    "smooth_l1",
    "triplet_margin",
]
