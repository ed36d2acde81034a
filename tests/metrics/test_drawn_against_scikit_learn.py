"""Metrics are those of the scikit-learn that is installed, on drawn scores and labels, with ties and absent classes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from moonxi import metrics
from moonxi.losses import BinaryLogits, Logits
from tests.metrics.test_against_scikit_learn import CPU, cuts, parts

learn: Any = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed: pip install '.[dev]'")
seeds = st.integers(0, 2**32 - 1)


def drawn(seed: int, classes: int, samples: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Scores of which many are equal, and labels of which one class may be absent."""
    random = np.random.default_rng(seed)
    absent = random.integers(0, classes + 1)
    labels = random.integers(0, classes, samples)
    labels = np.where(labels == absent, (absent + 1) % classes, labels)
    return np.round(random.normal(size=(samples, classes)), 1), labels


@settings(max_examples=50, deadline=None)
@given(seed=seeds, classes=st.integers(2, 6), samples=st.integers(1, 60), places=cuts)
def test_metrics_of_drawn_classes(seed: int, classes: int, samples: int, places: list[float]) -> None:
    scores, labels = drawn(seed, classes, samples)
    accuracy, matrix = metrics.Accuracy(), metrics.ConfusionMatrix(classes)
    scored = {"precision": metrics.Precision(classes), "recall": metrics.Recall(classes), "f1": metrics.F1(classes)}
    for one in parts(samples, places):
        logits, truth = Logits(CPU.from_host(scores[one])), CPU.labels(labels[one])
        accuracy.add(logits, truth)
        matrix.add(logits, truth)
        for metric in scored.values():
            metric.add(logits, truth)
    predicted, every = scores.argmax(1), list(range(classes))
    assert accuracy.value() == pytest.approx(learn.accuracy_score(labels, predicted), rel=1e-14)
    np.testing.assert_array_equal(matrix.counts(), learn.confusion_matrix(labels, predicted, labels=every))
    for name, metric in scored.items():
        function = getattr(learn, f"{name}_score")
        per_class = function(labels, predicted, labels=every, average=None, zero_division=0)
        np.testing.assert_allclose(metric.per_class(), per_class, rtol=1e-14)
        macro = function(labels, predicted, labels=every, average="macro", zero_division=0)
        assert metric.value() == pytest.approx(macro, rel=1e-14)


@settings(max_examples=50, deadline=None)
@given(seed=seeds, samples=st.integers(2, 60), places=cuts)
def test_the_area_under_the_curve_of_drawn_scores(seed: int, samples: int, places: list[float]) -> None:
    scores, labels = drawn(seed, 2, samples)
    labels[:2] = (0, 1)  # without both there is no curve
    area = metrics.Auroc()
    for one in parts(samples, places):
        area.add(BinaryLogits(CPU.from_host(scores[one, 0])), CPU.labels(labels[one]))
    assert area.value() == pytest.approx(learn.roc_auc_score(labels, scores[:, 0]), rel=1e-13, abs=1e-15)


@settings(max_examples=50, deadline=None)
@given(seed=seeds, samples=st.integers(1, 60), classes=st.integers(3, 6), places=cuts)
def test_the_best_k_of_drawn_scores_without_ties(seed: int, samples: int, classes: int, places: list[float]) -> None:
    _, labels = drawn(seed, classes, samples)
    scores = np.random.default_rng(seed).permuted(np.tile(np.arange(float(classes)), (samples, 1)), axis=1)
    top = metrics.TopK(2)
    for one in parts(samples, places):
        top.add(Logits(CPU.from_host(scores[one])), CPU.labels(labels[one]))
    found = learn.top_k_accuracy_score(labels, scores, k=2, labels=list(range(classes)))
    assert top.value() == pytest.approx(found, rel=1e-14)


@settings(max_examples=50, deadline=None)
@given(seed=seeds, samples=st.integers(2, 60), offset=st.sampled_from([0.0, 1e3, -1e6]), places=cuts)
def test_metrics_of_drawn_numbers(seed: int, samples: int, offset: float, places: list[float]) -> None:
    random = np.random.default_rng(seed)
    truth = random.normal(size=samples) + offset
    predicted = truth + random.normal(size=samples)
    mse, mae, r2 = metrics.MeanSquaredError(), metrics.MeanAbsoluteError(), metrics.R2()
    for one in parts(samples, places):
        for metric in (mse, mae, r2):
            metric.add(CPU.from_host(predicted[one]), CPU.from_host(truth[one]))
    assert mse.value() == pytest.approx(learn.mean_squared_error(truth, predicted), rel=1e-9)
    assert mae.value() == pytest.approx(learn.mean_absolute_error(truth, predicted), rel=1e-9)
    assert r2.value() == pytest.approx(learn.r2_score(truth, predicted), rel=1e-6, abs=1e-6)
