"""Losses of numbers against numbers. The shapes must be equal: broadcasting there is nearly always a mistake."""

from jaxtyping import Float

from moonxi import settings, shapes
from moonxi.losses.reduction import Reduction, reduced
from moonxi.traits import Tensor


def mse[T: Tensor](
    prediction: Float[T, "*shape"], target: Float[T, "*shape"], /, *, reduction: Reduction = "mean"
) -> T:
    """The squared differences; their mean is a scalar.

    Raises `ShapeError` unless the shapes are equal, and for the mean of an empty batch."""
    shapes.equal("mse (prediction and target)", prediction.shape, target.shape)
    return reduced("mse", (prediction - target).square(), reduction)


def l1[T: Tensor](prediction: Float[T, "*shape"], target: Float[T, "*shape"], /, *, reduction: Reduction = "mean") -> T:
    """The absolute differences, whose derivative is 0 where the two are the same.

    Raises `ShapeError` unless the shapes are equal, and for the mean of an empty batch."""
    shapes.equal("l1 (prediction and target)", prediction.shape, target.shape)
    return reduced("l1", (prediction - target).abs(), reduction)


def huber[T: Tensor](
    prediction: Float[T, "*shape"], target: Float[T, "*shape"], /, *, delta: float = 1.0, reduction: Reduction = "mean"
) -> T:
    """Half the squared difference ``d`` up to ``delta``, and ``delta * (|d| - delta / 2)`` beyond (Huber 1964).

    Raises `ShapeError` unless the shapes are equal, and for the mean of an empty batch; `OptionError` unless ``delta``
    is positive."""
    shapes.equal("huber (prediction and target)", prediction.shape, target.shape)
    settings.numbers("huber", settings.POSITIVE_OR_INFINITE, delta=delta)
    return reduced("huber", _huber(prediction - target, delta), reduction)


def smooth_l1[T: Tensor](
    prediction: Float[T, "*shape"], target: Float[T, "*shape"], /, *, beta: float = 1.0, reduction: Reduction = "mean"
) -> T:
    """`huber` over its ``delta``, here ``beta`` (Girshick 2015, equation 3); `l1` if that is 0.

    Raises `ShapeError` unless the shapes are equal, and for the mean of an empty batch; `OptionError` for a negative
    ``beta``."""
    shapes.equal("smooth_l1 (prediction and target)", prediction.shape, target.shape)
    settings.numbers("smooth_l1", settings.NOT_NEGATIVE, beta=beta)
    difference = prediction - target
    return reduced("smooth_l1", _huber(difference, beta) / beta if beta > 0.0 else difference.abs(), reduction)


def _huber[T: Tensor](difference: T, delta: float) -> T:
    near = difference.clip(-delta, delta)
    return near * (difference - near * 0.5)
