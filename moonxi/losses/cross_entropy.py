"""Cross-entropy."""

from math import prod

from moonxi.errors import ShapeError
from moonxi.losses.scores import Logits
from moonxi.shapes import show
from moonxi.traits import Labels, Tensor


def cross_entropy[T: Tensor](logits: Logits[T], labels: Labels[T], /) -> T:
    """The mean over all labels of minus the log-probability of the right class: a scalar, in nats.

    ``logits`` are ``(..., classes)`` and ``labels`` ``(...)``. Raises `ShapeError` for an empty batch and where the
    shapes do not fit, `LabelError` for a label that is not a class."""
    if prod(labels.shape) == 0:
        raise ShapeError(
            f"cross_entropy: {show(logits.shape)}, labels {show(labels.shape)}: the mean over an empty batch"
        )
    return -logits.value.log_softmax(-1).pick(labels).mean()
