"""Cross-entropy, and what it is of log-probabilities: the negative log-likelihood."""

from typing import Final

from jaxtyping import Float, Int

from moonxi import settings, shapes
from moonxi.losses.arguments import expect, expect_tensor, picked
from moonxi.losses.reduction import Reduction, reduced, refuse_empty
from moonxi.losses.scores import Logits, LogProbs
from moonxi.traits import Labels, Tensor, expect_held

_LEAST_LABEL: Final = -(2**63)
_HOW: Final = "number the classes from 0, one for each score; ignore= names a label that is to count for nothing"


def cross_entropy[T: Tensor](
    logits: Float[Logits[T], "*batch classes"],
    labels: Int[Labels[T], "*batch"],
    /,
    *,
    weight: Float[T, " classes"] | None = None,
    ignore: int | None = None,
    smoothing: float = 0.0,
    reduction: Reduction = "mean",
) -> T:
    """Minus the log-probability of the right class, in nats; by default the mean over all labels, a scalar.

    ``logits`` are ``(..., classes)`` and ``labels`` ``(...)``. The options are those of `nll`. Raises `ShapeError` for
    the mean of an empty batch and where the shapes do not fit, `LabelError` for a label that is not a class."""
    expect("cross_entropy", Logits, logits)
    return _cross_entropy("cross_entropy", logits.log_probs(), labels, weight, ignore, smoothing, reduction)


def nll[T: Tensor](
    log_probs: Float[LogProbs[T], "*batch classes"],
    labels: Int[Labels[T], "*batch"],
    /,
    *,
    weight: Float[T, " classes"] | None = None,
    ignore: int | None = None,
    smoothing: float = 0.0,
    reduction: Reduction = "mean",
) -> T:
    """Minus the log-probability of the right class, in nats; by default the mean over all labels, a scalar.

    ``log_probs`` are ``(..., classes)`` and ``labels`` ``(...)``. ``weight``, of shape ``(classes,)``, multiplies the
    loss of each class, and the mean is over the weights of the labels. A label equal to ``ignore``, which need not be
    a class, counts for nothing; the mean is NaN if that is each of them. ``smoothing`` is the part of the target that
    is spread over all classes alike (Szegedy et al. 2016, section 7). All as PyTorch's ``cross_entropy``. Raises
    `ShapeError` for the mean of an empty batch and where the shapes do not fit, `LabelError` for a label that is not a
    class, `OptionError` for a smoothing that is not from 0 to 1."""
    expect("nll", LogProbs, log_probs)
    return _cross_entropy("nll", log_probs, labels, weight, ignore, smoothing, reduction)


def _cross_entropy[T: Tensor](
    loss: str,
    log_probs: LogProbs[T],
    labels: Labels[T],
    weight: T | None,
    ignore: int | None,
    smoothing: float,
    reduction: Reduction,
) -> T:
    expect_held(loss, labels)
    scores = log_probs.value
    shapes.pick(scores.shape, labels.shape, loss)
    if weight is not None:
        expect_tensor(f"{loss} (weight)", weight)
        shapes.equal(f"{loss} (weight and classes)", weight.shape, scores.shape[-1:])
    settings.numbers(loss, settings.UNIT, smoothing=smoothing)
    if ignore is not None:
        settings.whole(loss, _LEAST_LABEL, ignore=ignore)
    if reduction == "mean":
        operands = f"{shapes.show(scores.shape)}, labels {shapes.show(labels.shape)}"
        refuse_empty(loss, operands, labels.carrier)
    kept = None if ignore is None else ~labels.carrier.equal(float(ignore))
    # What is ignored needs some class to be looked up, whose loss is dropped again.
    classes = labels if kept is None else Labels(labels.carrier.where(kept, labels.carrier.full((), 0.0)))
    values: T = -picked(loss, scores, classes, _HOW)
    weights = None if weight is None else weight.take(classes, 0)
    if weights is not None:
        values = values * weights
    if smoothing > 0.0:
        weighted = scores if weight is None else scores * weight
        spread = -weighted.sum(-1) / float(scores.shape[-1])
        values = values * (1.0 - smoothing) + spread * smoothing
    if kept is not None:
        values = values.where(kept, 0.0)
    if reduction != "mean" or (weights is None and kept is None):
        return reduced(loss, values, reduction)
    counted = values.ones(values.shape) if weights is None else weights
    return values.sum() / (counted if kept is None else counted.where(kept, 0.0)).sum()
