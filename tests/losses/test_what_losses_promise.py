"""What holds for all inputs of the losses, and at the edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import moonxi as mx
from moonxi import losses
from moonxi.losses import BinaryLogits, BinaryProbs, Logits, LogProbs

type Array = mx.NpArray[mx.F64]

LIKE = mx.numpy(mx.F64)
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 5)


def draw(seed: int, *shape: int) -> Array:
    return LIKE.from_host(np.random.default_rng(seed).normal(size=shape) * 3.0)


@given(seeds, sizes, sizes, st.floats(0.01, 5.0))
def test_huber_lies_between_the_square_and_the_absolute_value(seed: int, rows: int, n: int, delta: float) -> None:
    x, y = draw(seed, rows, n), draw(seed + 1, rows, n)
    found = losses.huber(x, y, delta=delta, reduction="none").to_host()
    difference = np.abs(x.to_host() - y.to_host())
    expected = np.where(difference <= delta, difference**2 / 2.0, delta * (difference - delta / 2.0))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(
        losses.smooth_l1(x, y, beta=delta, reduction="none").to_host(), expected / delta, rtol=1e-12
    )


@given(seeds, sizes, sizes, st.integers(-3, 3), st.floats(0.0, 1.0), st.booleans())
def test_cross_entropy_is_the_sum_over_the_target_distribution(
    seed: int, rows: int, classes: int, ignore: int, smoothing: float, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    scores, classes_of = Logits(draw(seed, rows, classes)), rng.integers(0, classes, rows)
    weight = rng.uniform(0.1, 2.0, classes) if weighted else np.ones(classes)
    target = (1.0 - smoothing) * np.eye(classes)[classes_of] + smoothing / classes
    each = -(target * weight * scores.log_probs().value.to_host()).sum(-1)
    kept = classes_of != ignore
    given_weight = LIKE.from_host(weight) if weighted else None
    with np.errstate(invalid="ignore"):  # nothing over nothing where all are ignored
        found = losses.cross_entropy(
            scores, LIKE.labels(classes_of), weight=given_weight, ignore=ignore, smoothing=smoothing
        ).item()
    if kept.any():
        assert found == pytest.approx(each[kept].sum() / weight[classes_of][kept].sum(), rel=1e-10, abs=1e-12)
    else:
        assert np.isnan(found)


@given(seeds, sizes, sizes)
def test_ignored_labels_have_no_gradient(seed: int, rows: int, classes: int) -> None:
    x = mx.variable(draw(seed, rows + 1, classes))
    labels = np.arange(rows + 1) % classes
    labels[0] = -7
    loss = losses.cross_entropy(Logits(x), x.labels(labels), ignore=-7, smoothing=0.1)
    gradient = loss.backward().of(x).to_host()
    assert not gradient[0].any()
    assert np.isfinite(gradient).all()


@given(seeds, sizes, sizes)
def test_the_divergence_is_not_negative_and_0_of_the_same(seed: int, rows: int, classes: int) -> None:
    p, q = Logits(draw(seed, rows, classes)).log_probs(), Logits(draw(seed + 1, rows, classes)).log_probs()
    assert (losses.kl_divergence(q, p, reduction="none").to_host() >= -1e-12).all()
    assert losses.kl_divergence(p, p).item() == 0.0


def test_a_class_that_cannot_be_counts_for_nothing_in_the_divergence() -> None:
    p = mx.variable(LIKE.from_host(np.log([[0.5, 0.5, 1.0]]))) + mx.constant(
        LIKE.from_host(np.array([[0.0, 0.0, -np.inf]]))
    )
    x = mx.variable(LIKE.from_host(np.array([[np.log(0.25), np.log(0.75), -np.inf]])))
    loss = losses.kl_divergence(LogProbs(x), LogProbs(p))
    assert loss.item() == pytest.approx(0.5 * np.log(2.0) + 0.5 * np.log(2.0 / 3.0))
    assert loss.backward().of(x).to_host().tolist() == [[-0.5, -0.5, 0.0]]
    certain = LogProbs(LIKE.from_host(np.array([[0.0, -np.inf]])))
    assert losses.kl_divergence(certain, LogProbs(LIKE.from_host(np.log([[0.5, 0.5]])))).item() == np.inf


@given(seeds, sizes)
def test_binary_cross_entropy_is_minus_the_log_of_the_probability(seed: int, n: int) -> None:
    scores, yes = BinaryLogits(draw(seed, n)), np.random.default_rng(seed).integers(0, 2, n)
    p = scores.probs().value.to_host()
    expected = -np.log(np.where(yes, p, 1.0 - p)).mean()
    assert losses.binary_cross_entropy(scores, LIKE.from_host(yes)).item() == pytest.approx(expected, rel=1e-9)


def test_binary_cross_entropy_of_sure_scores_neither_overflows_nor_loses_digits() -> None:
    x = mx.variable(LIKE.from_host(np.array([1e4, -1e4, 40.0, -40.0, 1e4])))
    target = mx.constant(LIKE.from_host(np.array([1.0, 0.0, 1.0, 0.0, 0.0])))
    loss = losses.binary_cross_entropy(BinaryLogits(x), target, reduction="none")
    np.testing.assert_allclose(loss.to_host(), [0.0, 0.0, np.exp(-40.0), np.exp(-40.0), 1e4], rtol=1e-12)
    np.testing.assert_allclose(
        loss.sum().backward().of(x).to_host(), [0.0, 0.0, -np.exp(-40.0), np.exp(-40.0), 1.0], rtol=1e-12
    )


def test_binary_scores_map_to_another_interpreter_and_say_what_is_likelier() -> None:
    scores = BinaryLogits(LIKE.from_host(np.array([-1.0, 0.0, 2.0])))
    assert scores.predicted().to_host().tolist() == [False, False, True]
    assert type(scores.probs()) is BinaryProbs
    for one in (scores, scores.probs()):
        lifted = one.map(mx.constant)
        assert lifted.value.value is one.value
        assert lifted.shape == (3,)


@given(seeds, sizes, sizes, st.floats(0.01, 100.0))
def test_the_cosine_does_not_depend_on_lengths(seed: int, rows: int, n: int, length: float) -> None:
    x, y = draw(seed, rows, n), draw(seed + 1, rows, n)
    found = losses.cosine_similarity(x * length, y).to_host()
    np.testing.assert_allclose(found, losses.cosine_similarity(x, y).to_host(), rtol=1e-9)
    assert (np.abs(found) <= 1.0 + 1e-12).all()


def test_the_cosine_of_a_vector_of_zeros_is_0_with_a_finite_gradient() -> None:
    x = mx.variable(LIKE.zeros((1, 3)))
    cosine = losses.cosine_similarity(x, mx.constant(LIKE.ones((1, 3))))
    assert cosine.to_host().tolist() == [0.0]
    assert np.isfinite(cosine.sum().backward().of(x).to_host()).all()


@given(seeds, sizes, sizes)
def test_hinges_are_0_beyond_the_margin(seed: int, rows: int, classes: int) -> None:
    right = np.random.default_rng(seed).integers(0, classes, rows)
    scores = LIKE.from_host(np.eye(classes)[right] * 2.5)
    assert losses.multiclass_hinge(Logits(scores), LIKE.labels(right)).item() == 0.0
    x = draw(seed, rows)
    assert losses.hinge(x * 1e6, x > 0.0, margin=1e-9).item() == pytest.approx(0.0, abs=1e-6)
    assert losses.hinge(-x.abs(), x.abs() > 0.0).item() >= 1.0


@given(seeds, sizes, sizes)
def test_the_triplet_loss_is_the_margin_if_both_are_alike(seed: int, rows: int, n: int) -> None:
    anchor, other = draw(seed, rows, n), draw(seed + 1, rows, n)
    assert losses.triplet_margin(anchor, other, other, margin=0.75).item() == pytest.approx(0.75)
    far = losses.triplet_margin(anchor, other, draw(seed + 2, rows, n), reduction="none").to_host()
    swapped = losses.triplet_margin(anchor, other, draw(seed + 2, rows, n), swap=True, reduction="none").to_host()
    assert (swapped >= far).all()
