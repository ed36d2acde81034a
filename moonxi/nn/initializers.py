"""How parameters start. An initialiser gets a shape and makes the tensor where ``like`` lives.

Within the forward of a model they raise `ModuleError`."""

from math import prod, sqrt
from typing import Protocol

from moonxi import shapes
from moonxi.dims import maximum
from moonxi.errors import ModuleError, ShapeError
from moonxi.key import Key
from moonxi.nn.scope import active
from moonxi.shapes import show
from moonxi.traits import Shape, Tensor


class Initializer(Protocol):
    """A function that makes the first value of a parameter."""

    def __call__[T: Tensor](self, like: T, shape: Shape, key: Key, /) -> T: ...


def fans(shape: Shape) -> tuple[int, int]:
    """The number of inputs that one output sums over, and of outputs that one input feeds.

    Of ``(inputs, outputs)`` as in `Linear`, and of ``(outputs, inputs / groups, rows, columns)`` as in `Conv2d`."""
    shapes.sizes("initializer", shape)
    if len(shape) == 2:
        return shape[0], shape[1]
    if len(shape) == 4:
        return prod(shape[1:]), shape[0] * shape[2] * shape[3]
    raise ShapeError(
        f"initializer: {show(shape)}: fan-in and fan-out are defined for (inputs, outputs) and for "
        "(outputs, inputs, rows, columns)"
    )


def zeros[T: Tensor](like: T, shape: Shape, key: Key, /) -> T:
    """All 0."""
    return like.zeros(shape)


def xavier_uniform[T: Tensor](like: T, shape: Shape, key: Key, /) -> T:
    """Uniform within +-sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010)."""
    fan_in, fan_out = fans(shape)
    return _uniform(like, shape, key, sqrt(6.0 / maximum(1, fan_in + fan_out)))


def xavier_normal[T: Tensor](like: T, shape: Shape, key: Key, /) -> T:
    """Normal with variance 2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""
    fan_in, fan_out = fans(shape)
    return _normal(like, shape, key, sqrt(2.0 / maximum(1, fan_in + fan_out)))


def kaiming_uniform[T: Tensor](like: T, shape: Shape, key: Key, /) -> T:
    """Uniform within +-sqrt(6 / fan_in), for ReLU (He et al. 2015)."""
    return _uniform(like, shape, key, sqrt(6.0 / maximum(1, fans(shape)[0])))


def kaiming_normal[T: Tensor](like: T, shape: Shape, key: Key, /) -> T:
    """Normal with variance 2 / fan_in, for ReLU (He et al. 2015)."""
    return _normal(like, shape, key, sqrt(2.0 / maximum(1, fans(shape)[0])))


def lecun_uniform[T: Tensor](like: T, shape: Shape, key: Key, /) -> T:
    """Uniform within +-1 / sqrt(fan_in): what PyTorch's linear layers start from (LeCun et al. 1998)."""
    return _uniform(like, shape, key, sqrt(1.0 / maximum(1, fans(shape)[0])))


def _uniform[T: Tensor](like: T, shape: Shape, key: Key, bound: float) -> T:
    _refuse_within_a_forward(shape)
    return (like.uniform(shape, key) * 2.0 - 1.0) * bound


def _normal[T: Tensor](like: T, shape: Shape, key: Key, spread: float) -> T:
    _refuse_within_a_forward(shape)
    return like.normal(shape, key) * spread


def _refuse_within_a_forward(shape: Shape) -> None:
    if active() is not None:
        raise ModuleError(
            f"initializer: {show(shape)}: within the forward of a model: a parameter made there is a new one at each "
            "call, and never trained: make it outside, and let a field hold it"
        )
