"""Batch normalisation, forward and backward: as `norms` computes it, with nothing before or after."""

from functools import lru_cache

from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.norms import normalised, normalised_gradients
from moonxi.formulas import Formula, Kind
from moonxi.norms import NormGradients, Norms


def batch_norm(
    space: Space, x: DeviceArray, weight: DeviceArray, bias: DeviceArray, eps: float
) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """The result of ``(n, c, ...)``, and mean and variance of each channel."""
    y, mean, variance = normalised(space, _alone(eps), (x, weight, bias))
    return y, mean, variance


def batch_norm_grad(
    space: Space,
    x: DeviceArray,
    dy: DeviceArray,
    weight: DeviceArray,
    mean: DeviceArray,
    variance: DeviceArray,
    eps: float,
) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """The gradients of tensor, weight and bias."""
    dx, of_weight, of_bias = normalised_gradients(space, _gradient_alone(eps), (dy, x, weight, mean, variance))
    return dx, of_weight, of_bias


@lru_cache(maxsize=64)
def _alone(eps: float) -> Norms:
    return Norms((eps,), Formula((Kind.EACH,), (False,), (), (0,), ()))


@lru_cache(maxsize=64)
def _gradient_alone(eps: float) -> NormGradients:
    return NormGradients((eps,), Formula((Kind.EACH,), (False,), (), (), ()), 0)
