"""A table of vectors, one for each word."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxtyping import Float, Int

from moonxi import settings
from moonxi.errors import OptionError
from moonxi.key import Key
from moonxi.nn.mode import Mode
from moonxi.nn.module import Module
from moonxi.traits import Labels, Tensor


@dataclass(frozen=True)
class Embedding[T: Tensor](Module[T]):
    """The row of the weight for each label. The row ``padding``, if there is one, gets no gradient."""

    weight: Float[T, "words features"]
    padding: int | None = None

    if TYPE_CHECKING:

        def map[U: Tensor](self, f: Callable[[T], U], /) -> "Embedding[U]": ...

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.padding is not None:
            _place(self.padding, self.words)

    @classmethod
    def init(cls, words: int, features: int, /, *, like: T, key: Key, padding: int | None = None) -> "Embedding[T]":
        """Standard normal numbers where ``like`` lives, as PyTorch's, and zeros in the row ``padding``.

        Raises `OptionError` for a padding that is no row."""
        weight = like.normal((words, features), key)
        if padding is not None:
            _place(padding, words)
            weight = weight[:padding].concatenate(like.zeros((1, features)), weight[padding + 1 :], axis=0)
        return cls(weight, padding)

    @property
    def words(self) -> int:
        """The number of rows."""
        return self.weight.shape[0]

    @property
    def features(self) -> int:
        """The size of each row."""
        return self.weight.shape[1]

    def forward(
        self, labels: Int[Labels[T], "*batch"], mode: Mode | None = None, /
    ) -> Float[T, "*batch {self.features}"]:
        """``(...) -> (..., features)``; ``mode`` makes no difference. Raises `LabelError` for a label without a row.

        ``(labels: Int[Labels[T], "*batch"]) -> Float[T, "*batch {self.features}"]``"""
        rows = self.weight.take(labels, 0)
        if self.padding is None:
            return rows
        padded = labels.carrier.equal(float(self.padding))
        return rows.stop_gradient().where(padded[..., None], rows)


def _place(padding: int, words: int) -> None:
    if not settings.is_whole(padding) or not 0 <= padding < words:
        raise OptionError(f"Embedding: padding {padding}, {words} words: it must be the number of a row")
