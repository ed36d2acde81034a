"""The hinge: no loss once the right side has won by a margin."""

from jaxtyping import Bool, Float, Int

from moonxi import settings, shapes
from moonxi.losses.arguments import expect, picked
from moonxi.losses.reduction import Reduction, reduced
from moonxi.losses.scores import Logits
from moonxi.traits import Labels, Mask, Tensor, expect_held


def hinge[T: Tensor](
    score: Float[T, "*shape"],
    positive: Bool[Mask[T], "*shape"],
    /,
    *,
    margin: float = 1.0,
    reduction: Reduction = "mean",
) -> T:
    """``max(0, margin - s)`` where the mask is and ``max(0, margin + s)`` elsewhere, for each score ``s``.

    The loss of support-vector machines (Cortes and Vapnik 1995). Raises `ShapeError` unless the shapes are equal, and
    for the mean of an empty batch."""
    settings.numbers("hinge", settings.ANY, margin=margin)
    shapes.equal("hinge (score and positive)", score.shape, positive.shape)
    return reduced("hinge", (margin - score.where(positive, -score)).relu(), reduction)


def multiclass_hinge[T: Tensor](
    logits: Float[Logits[T], "*batch classes"],
    labels: Int[Labels[T], "*batch"],
    /,
    *,
    margin: float = 1.0,
    reduction: Reduction = "mean",
) -> T:
    """The sum over the wrong classes of ``max(0, margin - x[right] + x[wrong])``, over the number of classes.

    ``logits`` are ``(..., classes)`` and ``labels`` ``(...)``. PyTorch's ``multi_margin_loss`` (Weston and Watkins
    1999). Raises `ShapeError` for the mean of an empty batch and where the shapes do not fit,
    `LabelError` for a label that is not a class."""
    expect("multiclass_hinge", Logits, logits)
    settings.numbers("multiclass_hinge", settings.ANY, margin=margin)
    expect_held("multiclass_hinge", labels)
    scores = logits.value
    shapes.pick(scores.shape, labels.shape, "multiclass_hinge")
    how = "number the classes from 0, one for each score"
    right = picked("multiclass_hinge", scores, labels, how).unsqueeze(-1)
    classes = scores.shape[-1]
    wrong = scores.one_hot(labels, classes).equal(0.0)
    terms = (margin - right + scores).relu().where(wrong, 0.0)
    return reduced("multiclass_hinge", terms.sum(-1) / float(classes), reduction)
