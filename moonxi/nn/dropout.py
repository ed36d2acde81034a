"""Dropout."""

from dataclasses import dataclass

from jaxtyping import Float

from moonxi import settings
from moonxi.key import Key
from moonxi.nn.layer import Layer
from moonxi.nn.mode import Eval, Mode, Train
from moonxi.nn.scope import layer_key
from moonxi.traits import Shape, Tensor


def dropout[T: Tensor](x: T, rate: float, key: Key, /) -> T:
    """Each element becomes 0 with probability ``rate``, and the others are divided by ``1 - rate`` (Srivastava 2014).

    Raises `OptionError` for a rate that is not a probability."""
    settings.numbers("dropout", settings.UNIT, rate=rate)
    return _dropped(x, rate, key, x.shape)


def _dropped[T: Tensor](x: T, rate: float, key: Key, shape: Shape) -> T:
    """``x`` without what a mask of ``shape``, which broadcasts, drops."""
    if rate == 0.0:
        return x
    kept = x.uniform(shape, key) >= rate
    return (x / (1.0 - rate) if rate < 1.0 else x).where(kept, 0.0)


@dataclass(frozen=True)
class Dropout(Layer):
    """`dropout` in training, with a key of its own; nothing in evaluation."""

    rate: float

    def __post_init__(self) -> None:
        settings.numbers(type(self).__name__, settings.UNIT, rate=self.rate)
        super().__post_init__()

    def forward[T: Tensor](self, x: Float[T, "*axes"], mode: Mode, /) -> Float[T, "*axes"]:
        """The mode must be given: `Train` brings the key, `Eval` switches it off.

        ``(x: Float[T, "*axes"]) -> Float[T, "*axes"]``"""
        match mode:
            case Train(key):
                return dropout(x, self.rate, layer_key(self, key))
            case Eval():
                return x


@dataclass(frozen=True)
class Dropout2d(Layer):
    """Whole channels become 0 in training, each with probability ``rate`` (Tompson et al. 2015)."""

    rate: float

    def __post_init__(self) -> None:
        settings.numbers(type(self).__name__, settings.UNIT, rate=self.rate)
        super().__post_init__()

    def forward[T: Tensor](
        self, x: Float[T, "batch channels height width"], mode: Mode, /
    ) -> Float[T, "batch channels height width"]:
        """The mode must be given: `Train` brings the key, `Eval` switches it off.

        ``(x: Float[T, "batch channels height width"]) -> Float[T, "batch channels height width"]``"""
        match mode:
            case Train(key):
                return _dropped(x, self.rate, layer_key(self, key), (*x.shape[:2], 1, 1))
            case Eval():
                return x
