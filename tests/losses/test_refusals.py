"""What every loss refuses, and the texts."""

from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import losses
from moonxi.errors import AxisError, LabelError, OptionError, ShapeError
from moonxi.losses import BinaryLogits, Logits, LogProbs, Reduction

type Array = mx.NpArray[mx.F64]

LIKE = mx.numpy(mx.F64)
RULE = "the shapes must be equal; reshape one of them if you mean it$"


def labels(*shape: int) -> mx.Labels[Array]:
    return LIKE.labels(np.zeros(shape, int))


def loss_of_two(name: str, x: Array, y: Array, reduction: Reduction = "mean") -> Array:
    """A loss of two operands of one shape, or of scores and a mask or labels."""
    match name:
        case "mse":
            return losses.mse(x, y, reduction=reduction)
        case "l1":
            return losses.l1(x, y, reduction=reduction)
        case "huber":
            return losses.huber(x, y, reduction=reduction)
        case "smooth_l1":
            return losses.smooth_l1(x, y, reduction=reduction)
        case "binary_cross_entropy":
            return losses.binary_cross_entropy(BinaryLogits(x), y, reduction=reduction)
        case "kl_divergence":
            return losses.kl_divergence(LogProbs(x), LogProbs(y), reduction=reduction)
        case "hinge":
            return losses.hinge(x, y > 0.0, reduction=reduction)
        case "cosine_embedding":
            return losses.cosine_embedding(x, y, y.sum(-1) > 0.0, reduction=reduction)
        case "triplet_margin":
            return losses.triplet_margin(x, y, x, reduction=reduction)
        case "nll":
            return losses.nll(LogProbs(x), labels(*y.shape[:-1]), reduction=reduction)
        case "cross_entropy":
            return losses.cross_entropy(Logits(x), labels(*y.shape[:-1]), reduction=reduction)
        case "multiclass_hinge":
            return losses.multiclass_hinge(Logits(x), labels(*y.shape[:-1]), reduction=reduction)
    raise AssertionError(name)


OPERANDS = {
    "mse": "prediction and target",
    "l1": "prediction and target",
    "huber": "prediction and target",
    "smooth_l1": "prediction and target",
    "binary_cross_entropy": "logits and target",
    "kl_divergence": "prediction and target",
    "hinge": "score and positive",
    "cosine_embedding": "x and y",
    "triplet_margin": "anchor and positive",
}
EACH = (*OPERANDS, "nll", "cross_entropy", "multiclass_hinge")


@pytest.mark.parametrize(("left", "right"), [((3, 1), (3,)), ((3,), (3, 1)), ((2, 3), (3,)), ((2, 3), (1, 3))])
@pytest.mark.parametrize("name", OPERANDS)
def test_shapes_that_would_broadcast_are_refused(name: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match=rf"^{name} \({OPERANDS[name]}\): \(.*\) and \(.*\): {RULE}"):
        loss_of_two(name, LIKE.zeros(left), LIKE.zeros(right))


@pytest.mark.parametrize("name", EACH)
def test_the_mean_over_nothing_is_refused_and_the_sum_is_0(name: str) -> None:
    x = LIKE.zeros((0, 4))
    with pytest.raises(ShapeError, match=rf"^{name}: \(0.*\).*: the mean over an empty batch$"):
        loss_of_two(name, x, x)
    assert loss_of_two(name, x, x, "sum").item() == 0.0
    assert loss_of_two(name, x, x, "none").to_host().size == 0


@pytest.mark.parametrize("name", EACH)
def test_a_batch_of_one_is_its_own_mean(name: str) -> None:
    x = LIKE.normal((1, 1), mx.Key(2))
    each = loss_of_two(name, x, x + 0.5, "none")
    assert each.to_host().size == 1
    assert loss_of_two(name, x, x + 0.5).item() == loss_of_two(name, x, x + 0.5, "sum").item() == each.to_host().item()


@pytest.mark.parametrize("name", EACH)
def test_an_unknown_reduction_is_refused(name: str) -> None:
    wrong: Any = "batchmean"
    with pytest.raises(OptionError, match=rf"""^{name}: reduction 'batchmean': it is "mean", "sum" or "none"$"""):
        loss_of_two(name, LIKE.ones((2, 3)), LIKE.ones((2, 3)), wrong)


@pytest.mark.parametrize("name", ["nll", "cross_entropy"])
def test_the_shape_of_the_weights_is_that_of_the_classes(name: str) -> None:
    scores = LogProbs(LIKE.zeros((2, 3)))

    def loss(weight: Array) -> Array:
        if name == "nll":
            return losses.nll(scores, labels(2), weight=weight)
        return losses.cross_entropy(Logits(scores.value), labels(2), weight=weight)

    for shape in ((2,), (3, 1), ()):
        with pytest.raises(ShapeError, match=rf"^{name} \(weight and classes\): .* and \(3,\): {RULE}"):
            loss(LIKE.ones(shape))


def test_targets_of_other_shapes_are_refused() -> None:
    x = LIKE.zeros((2, 3))
    with pytest.raises(ShapeError, match=rf"^cosine_embedding \(vectors and similar\): \(2,\) and \(2, 3\): {RULE}"):
        losses.cosine_embedding(x, x, x > 0.0)
    with pytest.raises(ShapeError, match=rf"^triplet_margin \(anchor and negative\): \(2, 3\) and \(3,\): {RULE}"):
        losses.triplet_margin(x, x, LIKE.zeros((3,)))
    with pytest.raises(ShapeError, match=rf"^cosine_similarity \(x and y\): \(2, 3\) and \(3,\): {RULE}"):
        losses.cosine_similarity(x, LIKE.zeros((3,)))
    for loss in (losses.nll(LogProbs(x), labels(2)), losses.multiclass_hinge(Logits(x), labels(2))):
        assert loss.shape == ()
    with pytest.raises(ShapeError, match=r"labels must have the shape without its last axis$"):
        losses.nll(LogProbs(x), labels(3))
    with pytest.raises(ShapeError, match=r"labels must have the shape without its last axis$"):
        losses.multiclass_hinge(Logits(x), labels(2, 1))


def test_losses_of_vectors_need_an_axis() -> None:
    x = LIKE.zeros(())
    with pytest.raises(AxisError, match=r"axis -1"):
        losses.cosine_similarity(x, x)
    with pytest.raises(AxisError, match=r"axis -1"):
        losses.triplet_margin(x, x, x)
    with pytest.raises(AxisError, match=r"axis -1"):
        losses.kl_divergence(LogProbs(x), LogProbs(x))


def test_a_label_that_is_no_class_is_refused_unless_it_is_the_ignored_one() -> None:
    scores = Logits(LIKE.zeros((3, 2)))
    wrong = LIKE.labels(np.array([0, -1, 1]))
    with pytest.raises(
        LabelError, match=r"^cross_entropy: labels \(3,\): label -1 at \[1\] is not a class from 0 to 1"
    ):
        losses.cross_entropy(scores, wrong)
    with pytest.raises(
        LabelError, match=r"^multiclass_hinge: labels \(3,\): label -1 at \[1\] is not a class from 0 to 1"
    ):
        losses.multiclass_hinge(scores, wrong)
    with pytest.raises(LabelError, match=r"^nll: labels \(3,\): label -1 at \[1\] is not a class from 0 to 1"):
        losses.nll(scores.log_probs(), wrong, ignore=-100)
    assert losses.nll(scores.log_probs(), wrong, ignore=-1).item() == pytest.approx(np.log(2.0))


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_options_out_of_range_are_refused(wrong: float) -> None:
    x, scores = LIKE.zeros((2, 3)), Logits(LIKE.zeros((2, 3)))
    with pytest.raises(OptionError, match=rf"^cross_entropy: smoothing={wrong}: must lie between 0 and 1$"):
        losses.cross_entropy(scores, labels(2), smoothing=wrong)
    if wrong > 1.0:
        return
    with pytest.raises(OptionError, match=rf"^smooth_l1: beta={wrong}: must be finite and not negative$"):
        losses.smooth_l1(x, x, beta=wrong)
    with pytest.raises(OptionError, match=rf"^huber: delta={wrong}: must be positive$"):
        losses.huber(x, x, delta=wrong)
    with pytest.raises(OptionError, match=rf"^binary_cross_entropy: positive_weight={wrong}: must be finite"):
        losses.binary_cross_entropy(BinaryLogits(x), x, positive_weight=wrong)
    with pytest.raises(OptionError, match=r"^norm: .*order"):
        losses.triplet_margin(x, x, x, order=wrong)
