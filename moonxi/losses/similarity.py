"""Losses of vectors by the angle between them."""

from jaxtyping import Bool, Float

from moonxi import settings, shapes
from moonxi.losses.reduction import Reduction, reduced
from moonxi.traits import Mask, Tensor


def cosine_similarity[T: Tensor](
    x: Float[T, "*batch n"], y: Float[T, "*batch n"], /, *, eps: float = 1e-8
) -> Float[T, "*batch"]:
    """The cosine of the angle between vectors along the last axis, which goes away.

    ``x . y / (max(|x|, eps) * max(|y|, eps))`` as PyTorch's: 0 for a vector of zeros. Raises `ShapeError` unless the
    shapes are equal."""
    settings.numbers("cosine_similarity", settings.NOT_NEGATIVE, eps=eps)
    shapes.equal("cosine_similarity (x and y)", x.shape, y.shape)
    return _cosine(x, y, eps)


def cosine_embedding[T: Tensor](
    x: Float[T, "*batch n"],
    y: Float[T, "*batch n"],
    similar: Bool[Mask[T], "*batch"],
    /,
    *,
    margin: float = 0.0,
    reduction: Reduction = "mean",
) -> T:
    """``1 - c`` where the mask is and ``max(0, c - margin)`` elsewhere, ``c`` being the `cosine_similarity`.

    ``x`` and ``y`` are ``(..., n)`` and ``similar`` ``(...)``: PyTorch's ``cosine_embedding_loss`` with a mask for its
    targets of 1 and -1. Raises `ShapeError` unless the shapes agree, and for the mean of an empty batch."""
    settings.numbers("cosine_embedding", settings.ANY, margin=margin)
    shapes.equal("cosine_embedding (x and y)", x.shape, y.shape)
    cosine = _cosine(x, y, 1e-8)
    shapes.equal("cosine_embedding (vectors and similar)", cosine.shape, similar.shape)
    return reduced("cosine_embedding", (1.0 - cosine).where(similar, (cosine - margin).relu()), reduction)


def _cosine[T: Tensor](x: T, y: T, eps: float) -> T:
    lengths = (one.norm(-1).maximum(eps) for one in (x, y))
    return (x * y).sum(-1) / next(lengths) / next(lengths)
