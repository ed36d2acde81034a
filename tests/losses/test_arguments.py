"""Losses without a checker: what is not what it should be is refused, and never computed with."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi.errors import OperandError
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
    "logits of logits": (Logits, (Logits(x),), "Logits: Logits: expected a tensor"),
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
