"""Metrics: numbers that say how good predictions are, exact over batches of any sizes.

A metric is told of predictions and truths batch by batch with ``add`` and asked with ``value``. It keeps counts and
sums, in float64 and integers on the host, and never means of batches; tensors of any class may be added, as long as
predictions and truths are of the same.
"""

from moonxi.metrics.accuracy import Accuracy, TopK
from moonxi.metrics.auroc import Auroc
from moonxi.metrics.class_scores import F1, ClassAverage, Precision, Recall
from moonxi.metrics.confusion import ConfusionMatrix
from moonxi.metrics.metric import Metric
from moonxi.metrics.perplexity import Perplexity
from moonxi.metrics.r2 import R2
from moonxi.metrics.regression import MeanAbsoluteError, MeanSquaredError

__all__ = [
    "F1",
    "R2",
    "Accuracy",
    "Auroc",
    "ClassAverage",
    "ConfusionMatrix",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "Metric",
    "Perplexity",
    "Precision",
    "Recall",
    "TopK",
]
