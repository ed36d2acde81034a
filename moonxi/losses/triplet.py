"""The triplet loss: the same must lie nearer than the different."""

from jaxtyping import Float

from moonxi import settings, shapes
from moonxi.losses.reduction import Reduction, reduced
from moonxi.traits import Tensor


def triplet_margin[T: Tensor](
    anchor: Float[T, "*batch n"],
    positive: Float[T, "*batch n"],
    negative: Float[T, "*batch n"],
    /,
    *,
    margin: float = 1.0,
    order: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: Reduction = "mean",
) -> T:
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)`` (Balntas et al. 2016), as PyTorch's.

    The tensors are ``(..., n)`` and the losses ``(...)``; ``d(x, y)`` is the norm of ``x - y + eps`` of that order
    along the last axis. With ``swap``, ``d(positive, negative)`` counts instead of ``d(anchor, negative)`` where it is
    smaller. Raises `ShapeError` unless the shapes are equal, and for the mean of an empty batch; `OptionError` unless
    ``order`` is at least 1."""
    settings.numbers("triplet_margin", settings.ANY, margin=margin, eps=eps)
    settings.flags("triplet_margin", swap=swap)
    shapes.equal("triplet_margin (anchor and positive)", anchor.shape, positive.shape)
    shapes.equal("triplet_margin (anchor and negative)", anchor.shape, negative.shape)
    near, far = _distance(anchor, positive, order, eps), _distance(anchor, negative, order, eps)
    if swap:
        far = far.minimum(_distance(positive, negative, order, eps))
    return reduced("triplet_margin", (near - far + margin).relu(), reduction)


def _distance[T: Tensor](x: T, y: T, order: float, eps: float) -> T:
    return (x - y + eps).norm(-1, order=order)
