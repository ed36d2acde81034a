"""The Kullback-Leibler divergence."""

from jaxtyping import Float

from moonxi import shapes
from moonxi.losses.arguments import expect
from moonxi.losses.reduction import Reduction, reduced
from moonxi.losses.scores import LogProbs
from moonxi.traits import Tensor


def kl_divergence[T: Tensor](
    prediction: Float[LogProbs[T], "*batch classes"],
    target: Float[LogProbs[T], "*batch classes"],
    /,
    *,
    reduction: Reduction = "mean",
) -> T:
    """The sum over the classes of ``p * (log(p) - log(q))`` in nats: KL(p || q) of the target p and the prediction q.

    Both are ``(..., classes)`` and the divergences ``(...)``; their mean is what PyTorch calls "batchmean". A class
    with p = 0 counts for nothing, whatever q. Raises `ShapeError` unless the shapes are equal, and for the mean of an
    empty batch. (Kullback and Leibler 1951.)"""
    expect("kl_divergence", LogProbs, prediction, target)
    shapes.equal("kl_divergence (prediction and target)", prediction.shape, target.shape)
    possible = target.value > float("-inf")
    log_p, log_q = (one.value.where(possible, 0.0) for one in (target, prediction))
    # Before and after the product, or its derivative at p = 0 would be 0 times infinity.
    terms = (log_p.exp() * (log_p - log_q)).where(possible, 0.0)
    return reduced("kl_divergence", terms.sum(-1), reduction)
