"""What metrics refuse, and where they would go wrong if they kept means or narrow sums."""

from collections.abc import Callable

import numpy as np
import pytest

import moonxi as mx
from moonxi import metrics
from moonxi.errors import DataError, LabelError, NonFiniteError, OptionError, ShapeError
from moonxi.losses import BinaryLogits, Logits, Probs

CPU = mx.numpy()


def logits(*shape: int) -> Logits[mx.NpArray[mx.F32]]:
    return Logits(CPU.normal(shape, mx.Key(1)))


def labels(*values: int) -> mx.Labels[mx.NpArray[mx.F32]]:
    return CPU.labels(np.array(values, np.int64))


BAD = Logits(CPU.from_host(np.array([[0.0, 1.0, 2.0], [0.0, np.nan, np.inf]])))


def test_scores_may_be_infinite_and_batches_empty() -> None:
    accuracy = metrics.Accuracy()
    accuracy.add(Logits(CPU.from_host(np.array([[-np.inf, 0.0], [np.inf, 0.0]]))), labels(1, 1))
    accuracy.add(logits(0, 3), labels())
    assert accuracy.value() == 0.5


def test_uneven_batches_count_by_their_samples() -> None:
    accuracy = metrics.Accuracy()
    accuracy.add(labels(1, 1, 1), labels(1, 1, 1))
    accuracy.add(labels(1), labels(0))
    assert accuracy.value() == 0.75


def test_sums_do_not_lose_small_errors_in_single_precision() -> None:
    error = metrics.MeanSquaredError()
    error.add(CPU.from_host(np.array([4096.0])), CPU.zeros((1,)))  # its square is 2**24, to which float32 adds no 1
    for _ in range(10):
        error.add(CPU.ones((1,)), CPU.zeros((1,)))
    assert error.value() == (2.0**24 + 10) / 11


def test_sequences_count_each_place() -> None:
    scores = logits(2, 3, 4)
    accuracy, top = metrics.Accuracy(), metrics.TopK(1)
    accuracy.add(scores, scores.predicted())
    top.add(scores, scores.predicted())
    assert (accuracy.value(), top.value()) == (1.0, 1.0)


def test_ignored_labels_do_not_count_for_perplexity() -> None:
    scores = logits(4, 3)
    all_of_them, some = metrics.Perplexity(), metrics.Perplexity(ignore=-1)
    all_of_them.add(Logits(scores.value[:2]), labels(0, 2))
    some.add(scores, labels(0, 2, -1, -1))
    assert some.value() == pytest.approx(all_of_them.value(), rel=1e-6)


def test_perplexity_of_equal_scores_is_the_number_of_classes_and_may_be_infinite() -> None:
    perplexity = metrics.Perplexity()
    perplexity.add(Logits(CPU.zeros((3, 7))), labels(1, 2, 6))
    assert perplexity.value() == pytest.approx(7.0, rel=1e-6)
    perplexity.add(Logits(CPU.from_host(np.array([[0.0, 1e30]]))), labels(0))
    assert perplexity.value() == np.inf


def test_counts_cannot_be_changed_from_outside() -> None:
    matrix = metrics.ConfusionMatrix(2)
    matrix.add(labels(0, 1), labels(0, 0))
    matrix.counts()[:] = 7
    assert matrix.counts().tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (metrics.Accuracy(), "Accuracy"),
        (metrics.TopK(2), "TopK"),
        (metrics.Precision(3), "Precision"),
        (metrics.F1(3, average="micro"), "F1"),
        (metrics.Auroc(), "Auroc"),
        (metrics.Perplexity(), "Perplexity"),
        (metrics.MeanSquaredError(), "MeanSquaredError"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_metric_of_nothing_is_refused(metric: metrics.Metric, name: str) -> None:
    with pytest.raises(DataError, match=rf"^{name}: no samples: add at least one before asking for the value$"):
        metric.value()


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (
            lambda: metrics.Accuracy().add(logits(4, 3), labels(1)),
            ShapeError,
            r"^Accuracy: predictions \(4,\), truths \(1,\): there must be one truth for each prediction$",
        ),
        (
            lambda: metrics.MeanAbsoluteError().add(CPU.ones((3, 1)), CPU.ones((3,))),
            ShapeError,
            r"^MeanAbsoluteError: predictions \(3, 1\), truths \(3,\): there must be one truth",
        ),
        (lambda: metrics.TopK(0), OptionError, r"^TopK: k=0: must be at least 1$"),
        (
            lambda: metrics.TopK(4).add(logits(1, 3), labels(1)),
            ShapeError,
            r"^TopK: scores \(1, 3\), k=4: there are only 3 classes$",
        ),
        (
            lambda: metrics.TopK(2).add(logits(2, 3), labels(1, 3)),
            LabelError,
            r"^TopK: label 3: the classes are 0 to 2$",
        ),
        (
            lambda: metrics.ConfusionMatrix(2).add(labels(0, 2), labels(0, 1)),
            LabelError,
            r"^ConfusionMatrix: prediction 2: the classes are 0 to 1$",
        ),
        (
            lambda: metrics.Recall(2).add(labels(0, 1), labels(0, -1)),
            LabelError,
            r"^ConfusionMatrix: label -1: the classes are 0 to 1$",
        ),
        (lambda: metrics.ConfusionMatrix(0), OptionError, r"^ConfusionMatrix: classes=0: must be at least 1$"),
        (lambda: metrics.Auroc(1), OptionError, r"^Auroc: classes=1: must be at least 2$"),
        (
            lambda: metrics.Auroc().add(logits(2, 3), labels(0, 1)),
            ShapeError,
            r"^Auroc: scores \(2, 3\): the last axis must be 2 classes$",
        ),
        (
            lambda: metrics.Auroc(3).add(BinaryLogits(CPU.ones((2,))), labels(0, 1)),
            ShapeError,
            r"^Auroc: BinaryLogits \(2,\): scores of 3 classes are needed$",
        ),
        (
            lambda: metrics.Auroc().add(BinaryLogits(CPU.full((2,), float("nan"))), labels(0, 1)),
            NonFiniteError,
            r"^Auroc: a score is NaN: look at the model, and at the data$",
        ),
        (lambda: metrics.Accuracy().add(BAD, labels(0, 1)), NonFiniteError, r"^Accuracy: a score is NaN: look at the"),
        (lambda: metrics.F1(3).add(BAD, labels(0, 1)), NonFiniteError, r"^ConfusionMatrix: a score is NaN: look"),
        (lambda: metrics.TopK(2).add(BAD, labels(0, 1)), NonFiniteError, r"^TopK: a score is NaN: look at the model"),
        (lambda: metrics.Perplexity().add(BAD, labels(0, 1)), NonFiniteError, r"^Perplexity: a loss is NaN: look at"),
        (
            lambda: metrics.MeanSquaredError().add(BAD.value, CPU.ones((2, 3))),
            NonFiniteError,
            r"^MeanSquaredError: a prediction is NaN: look at the model, and at the data$",
        ),
        (lambda: metrics.R2().add(CPU.ones((2, 3)), BAD.value), NonFiniteError, r"^R2: a truth is NaN: look at the mo"),
        (
            lambda: metrics.Accuracy().add(logits(2, 3), labels(0, 3)),
            LabelError,
            r"^Accuracy: label 3: the classes are 0 to 2$",
        ),
        (
            lambda: metrics.Accuracy().add(logits(2, 3), labels(0, -1)),
            LabelError,
            r"^Accuracy: label -1: the classes are 0 to 2$",
        ),
        (
            lambda: metrics.R2().add(CPU.ones((2, 2, 2)), CPU.ones((2, 2, 2))),
            ShapeError,
            r"^R2: \(2, 2, 2\): expected \(samples,\) or \(samples, outputs\)$",
        ),
    ],
    ids=lambda value: None if isinstance(value, type) or callable(value) else value[:30],
)
def test_what_does_not_fit_is_refused(wrong: Callable[[], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()


def test_an_area_needs_samples_of_each_kind() -> None:
    area = metrics.Auroc()
    area.add(Probs(CPU.full((2, 2), 0.5)), labels(1, 1))
    with pytest.raises(DataError, match=r"^Auroc: 2 of 2 samples are of class 1: the area needs both kinds$"):
        area.value()


def test_the_outputs_of_r2_stay_as_many() -> None:
    r2 = metrics.R2()
    r2.add(CPU.ones((2, 2)), CPU.ones((2, 2)))
    with pytest.raises(ShapeError, match=r"^R2: \(2, 3\): the batches before had 2 outputs$"):
        r2.add(CPU.ones((2, 3)), CPU.ones((2, 3)))
    with pytest.raises(DataError, match=r"^R2: 0 samples: at least 2 are needed for a variance$"):
        metrics.R2().value()


def test_another_average_is_refused() -> None:
    average: metrics.ClassAverage = "mean"  # type: ignore[assignment] # the mistake that is tested
    with pytest.raises(OptionError, match=r"^F1: average='mean': it is \"macro\" or \"micro\"$"):
        metrics.F1(3, average=average)
