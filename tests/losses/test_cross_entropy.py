"""What cross-entropy refuses, and the types of scores around it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import moonxi as mx
from moonxi.errors import LabelError, OperandError, ShapeError
from moonxi.losses import Logits, LogProbs, Probs, cross_entropy

LIKE = mx.numpy(mx.F64)
BACKENDS = pytest.mark.parametrize("like", [mx.numpy(), LIKE], ids=["F32", "F64"])


def logits(*shape: int, seed: int = 0) -> Logits[mx.NpArray[mx.F64]]:
    return Logits(LIKE.from_host(np.random.default_rng(seed).normal(size=shape)))


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_the_value_is_minus_the_mean_log_probability(batch: int, classes: int, seed: int) -> None:
    scores = logits(batch, classes, seed=seed)
    labels = np.random.default_rng(seed).integers(0, classes, batch)
    probabilities = scores.probs().value.to_host()
    expected = -np.log(probabilities[np.arange(batch), labels]).mean()
    assert cross_entropy(scores, LIKE.labels(labels)).item() == pytest.approx(expected, rel=1e-12, abs=1e-14)


@given(st.floats(-1e6, 1e6), st.integers(0, 2**32 - 1))
def test_a_constant_added_to_all_logits_changes_nothing(shift: float, seed: int) -> None:
    scores, labels = logits(4, 3, seed=seed), LIKE.labels(np.array([0, 1, 2, 0]))
    shifted = Logits(scores.value + shift)
    assert cross_entropy(shifted, labels).item() == pytest.approx(cross_entropy(scores, labels).item(), rel=1e-8)


def test_equal_logits_cost_the_logarithm_of_the_number_of_classes() -> None:
    found = cross_entropy(Logits(LIKE.full((5, 7), 1e4)), LIKE.labels(np.zeros(5, int)))
    assert found.item() == pytest.approx(np.log(7.0), rel=1e-12)


def test_one_class_costs_nothing_and_has_no_gradient() -> None:
    x = mx.variable(LIKE.full((4, 1), 3.0))
    loss = cross_entropy(Logits(x), LIKE.labels(np.zeros(4, int)).map(mx.constant))
    assert loss.value.item() == 0.0
    assert loss.backward().of(x).to_host().tolist() == [[0.0]] * 4


def test_the_gradient_sums_to_zero_over_the_classes() -> None:
    x = mx.variable(logits(6, 5).value)
    loss = cross_entropy(Logits(x), LIKE.labels(np.arange(6) % 5).map(mx.constant))
    np.testing.assert_allclose(loss.backward().of(x).to_host().sum(-1), 0.0, atol=1e-16)


@BACKENDS
@pytest.mark.parametrize("shape", [(0, 4), (3, 0, 4), (0, 3, 4)])
def test_an_empty_batch_is_refused[D: mx.F32 | mx.F64](like: mx.NpArray[D], shape: tuple[int, ...]) -> None:
    text = rf"^cross_entropy: \({', '.join(map(str, shape))}\), labels .*: the mean over an empty batch$"
    with pytest.raises(ShapeError, match=text):
        cross_entropy(Logits(like.zeros(shape)), like.labels(np.zeros(shape[:-1], int)))


@pytest.mark.parametrize(
    ("scores", "labels"),
    [((3, 4), (4,)), ((3, 4), (3, 1)), ((3, 4), (3, 4)), ((3, 4), ()), ((2, 3, 4), (3,)), ((4,), (4,))],
)
def test_shapes_that_do_not_fit_are_refused(scores: tuple[int, ...], labels: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match=r"labels must have the shape without its last axis$"):
        cross_entropy(logits(*scores), LIKE.labels(np.zeros(labels, int)))


@pytest.mark.parametrize("wrong", [-1, 4, 10**12])
def test_a_label_that_is_no_class_is_refused_by_its_place(wrong: int) -> None:
    labels = np.array([[0, 1, 2], [3, wrong, 0]])
    text = (
        rf"^cross_entropy: labels \(2, 3\): label {wrong} at \[1, 1\] is not a class from 0 to 3 \(1 of 6 labels are "
        r"outside\); number the classes from 0, one for each score; ignore= names a label that is to count for nothing$"
    )
    with pytest.raises(LabelError, match=text):
        cross_entropy(logits(2, 3, 4), LIKE.labels(labels))
    under_differentiation = Logits(mx.variable(logits(2, 3, 4).value))
    with pytest.raises(LabelError, match=text):
        cross_entropy(under_differentiation, LIKE.labels(labels).map(mx.constant))


@pytest.mark.parametrize("labels", [np.zeros(3), np.zeros(3, np.float32), np.zeros(3, bool), np.array(["a", "b", "c"])])
def test_labels_that_are_no_integers_are_refused(labels: NDArray[np.integer]) -> None:
    text = r"^labels: ndarray of .* \(3,\): expected a NumPy array of integers, one class index each; "
    with pytest.raises(OperandError, match=text + r".*array\.astype\(numpy\.int64\)$"):
        LIKE.labels(labels)


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64, np.uint64])
def test_every_kind_of_integer_makes_labels(kind: type[np.integer]) -> None:
    labels = LIKE.labels(np.array([2, 0, 1], kind))
    assert labels.to_host().dtype == np.int64
    assert np.isfinite(cross_entropy(logits(3, 3), labels).item())


def test_probabilities_and_log_probabilities_come_from_logits() -> None:
    scores = logits(4, 3)
    probabilities, log_probabilities = scores.probs(), scores.log_probs()
    assert type(probabilities) is Probs
    assert type(log_probabilities) is LogProbs
    np.testing.assert_allclose(probabilities.value.to_host().sum(-1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(log_probabilities.probs().value.to_host(), probabilities.value.to_host(), rtol=1e-14)
    assert scores.shape == probabilities.shape == log_probabilities.shape == (4, 3)
    np.testing.assert_array_equal(scores.predicted().to_host(), scores.value.to_host().argmax(-1))


def test_scores_map_to_another_interpreter() -> None:
    scores = logits(2, 3)
    for one in (scores, scores.probs(), scores.log_probs()):
        lifted = one.map(mx.constant)
        assert lifted.value.value is one.value
        assert lifted.__class__.__name__ == one.__class__.__name__
