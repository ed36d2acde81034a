"""Activation functions as layers; as functions they are ``nn.silu(x)`` or methods of the tensor, ``x.relu()``."""

from dataclasses import dataclass

from jaxtyping import Float

from moonxi import settings
from moonxi.losses import BinaryProbs, Probs
from moonxi.nn import activation_functions as functions
from moonxi.nn.activation_functions import GeluForm
from moonxi.nn.layer import Layer
from moonxi.nn.mode import Mode
from moonxi.traits import Tensor


@dataclass(frozen=True)
class Relu(Layer):
    """The larger of each element and 0."""

    def forward[T: Tensor](self, x: Float[T, "*axes"], mode: Mode | None = None, /) -> Float[T, "*axes"]:
        """Element by element; ``mode`` makes no difference.

        ``(x: Float[T, "*axes"]) -> Float[T, "*axes"]``"""
        return x.relu()


@dataclass(frozen=True)
class Tanh(Layer):
    """The hyperbolic tangent."""

    def forward[T: Tensor](self, x: Float[T, "*axes"], mode: Mode | None = None, /) -> Float[T, "*axes"]:
        """Element by element; ``mode`` makes no difference.

        ``(x: Float[T, "*axes"]) -> Float[T, "*axes"]``"""
        return x.tanh()


@dataclass(frozen=True)
class Sigmoid(Layer):
    """Probabilities of yes from scores: `binary_cross_entropy` wants the scores themselves.

    So it can stand at the end of a model and not within one; within, ``x.sigmoid()`` gives a tensor."""

    def forward[T: Tensor](self, x: Float[T, "*axes"], mode: Mode | None = None, /) -> Float[BinaryProbs[T], "*axes"]:
        """Element by element; ``mode`` makes no difference.

        ``(x: Float[T, "*axes"]) -> Float[BinaryProbs[T], "*axes"]``"""
        return BinaryProbs(x.sigmoid())


@dataclass(frozen=True)
class Silu(Layer):
    """`silu`: x * sigmoid(x)."""

    def forward[T: Tensor](self, x: Float[T, "*axes"], mode: Mode | None = None, /) -> Float[T, "*axes"]:
        """Element by element; ``mode`` makes no difference.

        ``(x: Float[T, "*axes"]) -> Float[T, "*axes"]``"""
        return functions.silu(x)


@dataclass(frozen=True)
class Gelu(Layer):
    """`gelu`, exact or in the form with ``tanh``."""

    form: GeluForm = "erf"

    def __post_init__(self) -> None:
        functions.check_form("Gelu", self.form)
        super().__post_init__()

    def forward[T: Tensor](self, x: Float[T, "*axes"], mode: Mode | None = None, /) -> Float[T, "*axes"]:
        """Element by element; ``mode`` makes no difference.

        ``(x: Float[T, "*axes"]) -> Float[T, "*axes"]``"""
        return functions.gelu(x, form=self.form)


@dataclass(frozen=True)
class Elu(Layer):
    """`elu`: an exponential below 0."""

    alpha: float = 1.0

    def __post_init__(self) -> None:
        settings.numbers("Elu", settings.ANY, alpha=self.alpha)
        super().__post_init__()

    def forward[T: Tensor](self, x: Float[T, "*axes"], mode: Mode | None = None, /) -> Float[T, "*axes"]:
        """Element by element; ``mode`` makes no difference.

        ``(x: Float[T, "*axes"]) -> Float[T, "*axes"]``"""
        return functions.elu(x, alpha=self.alpha)


@dataclass(frozen=True)
class LeakyRelu(Layer):
    """`leaky_relu`: a small slope below 0."""

    slope: float = 0.01

    def __post_init__(self) -> None:
        settings.numbers("LeakyRelu", settings.ANY, slope=self.slope)
        super().__post_init__()

    def forward[T: Tensor](self, x: Float[T, "*axes"], mode: Mode | None = None, /) -> Float[T, "*axes"]:
        """Element by element; ``mode`` makes no difference.

        ``(x: Float[T, "*axes"]) -> Float[T, "*axes"]``"""
        return functions.leaky_relu(x, slope=self.slope)


@dataclass(frozen=True)
class Softplus(Layer):
    """`softplus`: log(1 + exp(beta * x)) / beta."""

    beta: float = 1.0

    def __post_init__(self) -> None:
        settings.numbers("Softplus", settings.POSITIVE, beta=self.beta)
        super().__post_init__()

    def forward[T: Tensor](self, x: Float[T, "*axes"], mode: Mode | None = None, /) -> Float[T, "*axes"]:
        """Element by element; ``mode`` makes no difference.

        ``(x: Float[T, "*axes"]) -> Float[T, "*axes"]``"""
        return functions.softplus(x, beta=self.beta)


@dataclass(frozen=True)
class Mish(Layer):
    """`mish`: x * tanh(softplus(x))."""

    def forward[T: Tensor](self, x: Float[T, "*axes"], mode: Mode | None = None, /) -> Float[T, "*axes"]:
        """Element by element; ``mode`` makes no difference.

        ``(x: Float[T, "*axes"]) -> Float[T, "*axes"]``"""
        return functions.mish(x)


@dataclass(frozen=True)
class Hardswish(Layer):
    """`hardswish`: x * min(max(x + 3, 0), 6) / 6."""

    def forward[T: Tensor](self, x: Float[T, "*axes"], mode: Mode | None = None, /) -> Float[T, "*axes"]:
        """Element by element; ``mode`` makes no difference.

        ``(x: Float[T, "*axes"]) -> Float[T, "*axes"]``"""
        return functions.hardswish(x)


@dataclass(frozen=True)
class Softmax(Layer):
    """The probabilities of classes from their scores along the last axis: `cross_entropy` wants the scores themselves.

    So it can stand at the end of a model and not within one; within, ``x.softmax(axis)`` gives a tensor."""

    def forward[T: Tensor](self, x: Float[T, "*axes"], mode: Mode | None = None, /) -> Float[Probs[T], "*axes"]:
        """The shape stays; ``mode`` makes no difference.

        ``(x: Float[T, "*axes"]) -> Float[Probs[T], "*axes"]``"""
        return Probs(x.softmax(-1))
