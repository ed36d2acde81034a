"""Batch normalisation, forward and backward: as `norms` computes it, with nothing before or after."""

from functools import lru_cache

from moonxi.backends.cupy.centred import Centred, Mean
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.norms import Prepared, prepared
from moonxi.formulas import Formula, Kind
from moonxi.norms import NormGradients, Norms
from moonxi.traits import Shape


def batch_norm(
    space: Space, x: DeviceArray, weight: DeviceArray, bias: DeviceArray, eps: float
) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """The result of ``(n, c, ...)``, and mean and variance of each channel."""
    y, mean, variance = _alone(space, eps, x.shape).run((x, weight, bias))
    return y, Mean(mean, x), variance


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
    dx, of_weight, of_bias = _gradient_alone(space, eps, x.shape).run((dy, x, weight, mean, variance))
    if isinstance(mean, Mean) and mean.is_of(x):
        dx = Centred(dx)
    return dx, of_weight, of_bias


@lru_cache(maxsize=1024)
def _alone(space: Space, eps: float, shape: Shape) -> Prepared:
    return prepared(space, Norms((eps,), Formula((Kind.EACH,), (False,), (), (0,), ())), shape)


@lru_cache(maxsize=1024)
def _gradient_alone(space: Space, eps: float, shape: Shape) -> Prepared:
    return prepared(space, NormGradients((eps,), Formula((Kind.EACH,), (False,), (), (), ()), 0), shape)
