"""Metrics, told of what is not a prediction, or of truths that live elsewhere."""

import numpy as np

import moonxi as mx
from moonxi import F32, F64, GpuTensor, Labels, NpArray, metrics
from moonxi.losses import Logits, Probs

type Host = NpArray[F32]
type Device = GpuTensor[F32]


def scores() -> Logits[Host]:
    return Logits(mx.numpy().normal((4, 3), mx.Key(0)))


def truth() -> Labels[Host]:
    return mx.numpy().labels(np.array([0, 1, 2, 1]))


def wrong_labels_on_the_device(logits: Logits[Host], labels: Labels[Device]) -> None:
    metrics.Accuracy().add(logits, labels)  # E: [misc] "T"  # E: [tensor-mix] NpArray[F32] and GpuTensor[F32]


def right_labels_on_the_device() -> None:
    metrics.Accuracy().add(scores(), truth())


def wrong_bare_scores(tensor: Host, labels: Labels[Host]) -> None:
    metrics.Accuracy().add(tensor, labels)  # E: [arg-type]


def right_bare_scores() -> None:
    metrics.Accuracy().add(Logits(scores().value), truth())


def wrong_floats_as_classes(logits: Logits[Host], classes: Host) -> None:
    metrics.F1(3).add(logits, classes)  # E: [arg-type]


def right_floats_as_classes() -> None:
    metrics.F1(3).add(scores(), truth())


def wrong_probabilities_for_perplexity(probs: Probs[Host], labels: Labels[Host]) -> None:
    metrics.Perplexity().add(probs, labels)  # E: [arg-type]


def right_probabilities_for_perplexity() -> None:
    metrics.Perplexity().add(scores(), truth())


def wrong_classes_for_the_best_k(classes: Labels[Host], labels: Labels[Host]) -> None:
    metrics.TopK(2).add(classes, labels)  # E: [arg-type]


def right_classes_for_the_best_k() -> None:
    metrics.TopK(2).add(scores().probs(), truth())


def wrong_numbers_of_another_precision(predicted: Host, wanted: NpArray[F64]) -> None:
    metrics.MeanSquaredError().add(predicted, wanted)  # E: [tensor-mix] NpArray[F32]


def right_numbers_of_another_precision() -> None:
    metrics.MeanSquaredError().add(scores().value, scores().value * 0.5)


def wrong_average_by_another_name() -> None:
    metrics.Precision(3, average="mean")  # E: [arg-type]


def right_average_by_another_name() -> None:
    metrics.Precision(3, average="micro").add(scores(), truth())


def wrong_number_that_is_no_metric() -> metrics.Metric:
    return metrics.ConfusionMatrix(3)  # E: [return-value]


def right_number_that_is_no_metric() -> metrics.Metric:
    return metrics.Recall(3)
