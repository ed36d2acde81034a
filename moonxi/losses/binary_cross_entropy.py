"""Cross-entropy of yes or no."""

from jaxtyping import Float

from moonxi import settings, shapes
from moonxi.losses.arguments import expect, expect_tensor
from moonxi.losses.binary_scores import BinaryLogits
from moonxi.losses.reduction import Reduction, reduced
from moonxi.traits import Tensor


def binary_cross_entropy[T: Tensor](
    logits: Float[BinaryLogits[T], "*shape"],
    target: Float[T, "*shape"],
    /,
    *,
    positive_weight: float = 1.0,
    reduction: Reduction = "mean",
) -> T:
    """``-(w * t * log(p) + (1 - t) * log(1 - p))`` in nats, ``p`` being the sigmoid of each logit; without overflow.

    ``target`` holds the probabilities ``t`` of yes, mostly 0 or 1, in the shape of the logits. ``w`` is
    ``positive_weight``, PyTorch's ``pos_weight``: above 1 it makes a missed yes costlier. Raises `ShapeError` unless
    the shapes are equal, and for the mean of an empty batch; `OptionError` for a negative weight."""
    expect("binary_cross_entropy", BinaryLogits, logits)
    expect_tensor("binary_cross_entropy: target", target)
    shapes.equal("binary_cross_entropy (logits and target)", logits.shape, target.shape)
    settings.numbers("binary_cross_entropy", settings.NOT_NEGATIVE, positive_weight=positive_weight)
    # -log(p) is softplus(-x) and -log(1 - p) is softplus(x): no difference of large numbers.
    yes = target * (-logits.value).softplus()
    no = (1.0 - target) * logits.value.softplus()
    return reduced("binary_cross_entropy", (yes if positive_weight == 1.0 else yes * positive_weight) + no, reduction)
