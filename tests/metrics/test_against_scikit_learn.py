"""Metrics are those of scikit-learn, however the samples are cut into batches."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import moonxi as mx
from moonxi import metrics
from moonxi.losses import BinaryLogits, BinaryProbs, Logits, LogProbs, Probs
from moonxi.traits import Labels

type Array = mx.NpArray[mx.F64]

CPU = mx.numpy(mx.F64)
REFERENCES = dict(np.load(Path(__file__).with_name("references") / "metrics.npz"))
CLASSES = ("ordinary", "absent", "pair")
NUMBERS = ("vector", "matrix", "far")

cuts = st.lists(st.floats(0.0, 1.0), max_size=5)


def parts(samples: int, places: list[float]) -> list[slice]:
    """The samples cut at these places, some parts being empty."""
    ends = sorted(int(place * samples) for place in places)
    return [slice(start, end) for start, end in zip([0, *ends], [*ends, samples], strict=True)]


def cut(name: str, places: list[float]) -> list[tuple[Logits[Array], Labels[Array]]]:
    logits, labels = REFERENCES[f"classes/{name}/logits"], REFERENCES[f"classes/{name}/labels"]
    return [(Logits(CPU.from_host(logits[one])), CPU.labels(labels[one])) for one in parts(len(labels), places)]


def reference(name: str, key: str) -> float:
    return float(REFERENCES[f"classes/{name}/{key}"])


@settings(max_examples=25, deadline=None)
@given(places=cuts)
@pytest.mark.parametrize("name", CLASSES)
def test_metrics_of_classes_are_those_of_scikit_learn(name: str, places: list[float]) -> None:
    batches = cut(name, places)
    classes = batches[0][0].shape[1]
    accuracy, perplexity, matrix = metrics.Accuracy(), metrics.Perplexity(), metrics.ConfusionMatrix(classes)
    for logits, labels in batches:
        accuracy.add(logits, labels)
        perplexity.add(logits.log_probs(), labels)
        matrix.add(logits.predicted(), labels)
    assert accuracy.value() == reference(name, "accuracy")
    assert perplexity.value() == pytest.approx(reference(name, "perplexity"), rel=1e-12)
    np.testing.assert_array_equal(matrix.counts(), REFERENCES[f"classes/{name}/confusion"])
    for k in range(1, max(classes, 2)):
        top = metrics.TopK(k)
        for logits, labels in batches:
            top.add(logits, labels)
        assert top.value() == reference(name, f"top{k}")


@settings(max_examples=10, deadline=None)
@given(places=cuts)
@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("kind", ["precision", "recall", "f1"])
def test_scores_of_classes_are_those_of_scikit_learn(name: str, kind: str, places: list[float]) -> None:
    batches = cut(name, places)
    classes = batches[0][0].shape[1]
    macro, micro = {
        "precision": (metrics.Precision(classes), metrics.Precision(classes, average="micro")),
        "recall": (metrics.Recall(classes), metrics.Recall(classes, average="micro")),
        "f1": (metrics.F1(classes), metrics.F1(classes, average="micro")),
    }[kind]
    for logits, labels in batches:
        macro.add(logits, labels)
        micro.add(logits.probs(), labels)
    np.testing.assert_allclose(macro.per_class(), REFERENCES[f"classes/{name}/{kind}_per_class"], rtol=1e-14)
    assert macro.value() == pytest.approx(reference(name, f"{kind}_macro"), rel=1e-14)
    assert micro.value() == pytest.approx(reference(name, f"{kind}_micro"), rel=1e-14)


@settings(max_examples=10, deadline=None)
@given(places=cuts)
@pytest.mark.parametrize("name", ["ordinary", "tied"])
def test_the_area_under_the_curve_is_that_of_scikit_learn(name: str, places: list[float]) -> None:
    scores, labels = REFERENCES[f"auroc/{name}/scores"], REFERENCES[f"auroc/{name}/labels"]
    as_logits, as_probs = metrics.Auroc(), metrics.Auroc()
    for one in parts(len(labels), places):
        as_logits.add(BinaryLogits(CPU.from_host(scores[one])), CPU.labels(labels[one]))
        as_probs.add(BinaryProbs(CPU.from_host(scores[one])), CPU.labels(labels[one]))
    assert as_logits.value() == pytest.approx(float(REFERENCES[f"auroc/{name}/value"]), rel=1e-14)
    assert as_probs.value() == as_logits.value()


@pytest.mark.parametrize("name", ["ordinary", "pair"])
def test_the_area_over_classes_is_that_of_scikit_learn(name: str) -> None:
    area = metrics.Auroc(5 if name == "ordinary" else None)
    for logits, labels in cut(name, [0.3, 0.31]):
        area.add(logits.probs(), labels)
    assert area.value() == pytest.approx(reference(name, "auroc"), rel=1e-14)


def test_two_logits_count_by_their_difference_like_log_probabilities() -> None:
    from_logits, from_logs = metrics.Auroc(), metrics.Auroc()
    for logits, labels in cut("pair", []):
        from_logits.add(logits, labels)
        from_logs.add(logits.log_probs(), labels)
    assert from_logits.value() == pytest.approx(reference("pair", "auroc"), rel=1e-14)
    assert from_logs.value() == pytest.approx(from_logits.value(), rel=1e-14)


@settings(max_examples=25, deadline=None)
@given(places=cuts)
@pytest.mark.parametrize("name", NUMBERS)
def test_metrics_of_numbers_are_those_of_scikit_learn(name: str, places: list[float]) -> None:
    predicted, truth = REFERENCES[f"numbers/{name}/predicted"], REFERENCES[f"numbers/{name}/truth"]
    mse, mae, r2 = metrics.MeanSquaredError(), metrics.MeanAbsoluteError(), metrics.R2()
    for one in parts(len(truth), places):
        for metric in (mse, mae, r2):
            metric.add(CPU.from_host(predicted[one]), CPU.from_host(truth[one]))
    assert mse.value() == pytest.approx(float(REFERENCES[f"numbers/{name}/mse"]), rel=1e-12)
    assert mae.value() == pytest.approx(float(REFERENCES[f"numbers/{name}/mae"]), rel=1e-12)
    assert r2.value() == pytest.approx(float(REFERENCES[f"numbers/{name}/r2"]), rel=1e-9)


def test_constant_truths_are_explained_by_exact_predictions_only() -> None:
    exact, other = metrics.R2(), metrics.R2()
    for _ in range(2):
        exact.add(CPU.ones((3,)), CPU.ones((3,)))
        other.add(CPU.ones((3,)) * 2.0, CPU.ones((3,)))
    assert (exact.value(), other.value()) == (1.0, 0.0)


def test_probabilities_and_their_logarithms_are_scores_like_logits() -> None:
    [(logits, labels)] = cut("ordinary", [])
    found = set()
    for scores in (logits, logits.log_probs(), logits.probs()):
        metric = metrics.TopK(2)
        metric.add(scores, labels)
        found.add(metric.value())
    assert found == {reference("ordinary", "top2")}
    assert isinstance(logits.log_probs(), LogProbs)
    assert isinstance(logits.probs(), Probs)
