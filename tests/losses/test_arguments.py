"""Losses without a checker: what is not what it should be is refused, and never computed with."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import losses
from moonxi.errors import OperandError, ShapeError
from moonxi.losses import (
    BinaryLogits,
    BinaryProbs,
    Logits,
    LogProbs,
    Probs,
    cross_entropy,
    kl_divergence,
    multiclass_hinge,
    nll,
)
from moonxi.losses import binary_cross_entropy as bce

x: Any = mx.numpy().ones((2, 3))
labels: Any = x.labels(np.zeros(2, int))
weighted: Callable[..., object] = cross_entropy
WRONG: dict[str, tuple[Callable[..., object], tuple[Any, ...], str]] = {
    "probabilities as logits": (cross_entropy, (Probs(x), labels), "cross_entropy: Probs: expected Logits"),
    "a tensor as logits": (cross_entropy, (x, labels), "cross_entropy: NpArray: expected Logits"),
    "logits of logits": (Logits, (Logits(x),), "Logits: Logits[F32]: expected a tensor"),
    "logits of an array": (
        Logits,
        (np.ones((2, 3)),),
        "Logits: ndarray of float64 (2, 3): expected a tensor; bring the",
    ),
    "yes and no of numbers": (BinaryLogits, ([0.5],), "BinaryLogits: list: expected a tensor; bring numbers in with"),
    "weights in a list": (
        partial(weighted, weight=[1.0, 2.0, 3.0]),
        (Logits(x), labels),
        "(weight): list: expected",
    ),
    "logits as log-probabilities": (nll, (Logits(x), labels), "nll: Logits: expected LogProbs"),
    "a target of logits": (kl_divergence, (LogProbs(x), Logits(x)), "kl_divergence: Logits: expected LogProbs"),
    "probabilities of classes": (multiclass_hinge, (Probs(x), labels), "multiclass_hinge: Probs: expected Logits"),
    "probabilities of yes": (bce, (BinaryProbs(x), x), "binary_cross_entropy: BinaryProbs: expected BinaryLogits"),
    "floats as labels": (cross_entropy, (Logits(x), x), "expected Labels or a Mask"),
}


@pytest.mark.parametrize(("loss", "given", "text"), WRONG.values(), ids=WRONG.keys())
def test_what_a_checker_refuses_is_refused_at_run_time_too(
    loss: Callable[..., object], given: tuple[Any, ...], text: str
) -> None:
    with pytest.raises(OperandError) as raised:
        loss(*given)
    assert text in str(raised.value)


def test_a_mask_or_labels_as_targets_of_numbers_are_refused_with_the_way_to_make_numbers() -> None:
    x = mx.numpy().zeros((2,))
    mask: Any = x > 0.0
    with pytest.raises(OperandError) as caught:
        bce(BinaryLogits(x), mask)
    assert str(caught.value) == (
        "binary_cross_entropy: target: Mask[Bool]: expected a tensor; numbers of a mask are "
        "x.ones(mask.shape).where(mask, 0.0)"
    )
    labels: Any = x.labels(np.array([0, 1]))
    with pytest.raises(OperandError) as caught:
        bce(BinaryLogits(x), labels)
    assert str(caught.value) == (
        "binary_cross_entropy: target: Labels[I64]: expected a tensor; numbers of labels are "
        "x.from_host(labels.to_host()), or x.one_hot(labels, classes)"
    )
    bce(BinaryLogits(x), x.ones(mask.shape).where(mask, 0.0))


def test_labels_of_another_shape_are_named_by_the_loss() -> None:
    x = mx.numpy().zeros((2, 3))
    labels = x.labels(np.array([0, 1, 1]))
    rule = r"\(2, 3\), labels \(3,\): labels must have the shape without its last axis$"
    with pytest.raises(ShapeError, match=f"^cross_entropy: {rule}"):
        losses.cross_entropy(Logits(x), labels)
    with pytest.raises(ShapeError, match=f"^nll: {rule}"):
        losses.nll(Logits(x).log_probs(), labels)
    with pytest.raises(ShapeError, match=f"^multiclass_hinge: {rule}"):
        losses.multiclass_hinge(Logits(x), labels)
