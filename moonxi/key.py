"""Random keys: the same key gives the same numbers, on every backend.

A key is 128 bits. It is folded and split with the Philox 4x64-10 bijection of Salmon, Moraes, Dror and Shaw,
"Parallel random numbers: as easy as 1, 2, 3" (SC 2011), and the random numbers of a tensor are the words of the
same generator in counter mode, so that a device can make them from the key alone.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from moonxi import settings
from moonxi.errors import OptionError

_MASK: Final = 0xFFFF_FFFF_FFFF_FFFF
_MULTIPLIER_0: Final = 0xD2E7_470E_E14C_6C93
_MULTIPLIER_1: Final = 0xCA5A_8263_9512_1157
_WEYL_0: Final = 0x9E37_79B9_7F4A_7C15
_WEYL_1: Final = 0xBB67_AE85_84CA_A73B


def philox(counter: tuple[int, int, int, int], key: tuple[int, int], /) -> tuple[int, int, int, int]:
    """Ten rounds of Philox 4x64: four 64-bit words for a 256-bit counter and a 128-bit key."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        product_0 = _MULTIPLIER_0 * c0
        product_1 = _MULTIPLIER_1 * c2
        c0, c1, c2, c3 = (product_1 >> 64) ^ c1 ^ k0, product_1 & _MASK, (product_0 >> 64) ^ c3 ^ k1, product_0 & _MASK
        k0 = (k0 + _WEYL_0) & _MASK
        k1 = (k1 + _WEYL_1) & _MASK
    return c0, c1, c2, c3


@dataclass(frozen=True, slots=True)
class Key:
    """A random key, made from a seed: ``Key(0)``.

    A key is a value and is never used up. Use each key for one purpose, and ``fold`` or ``split`` it for the next.
    """

    low: int
    high: int = 0

    def __post_init__(self) -> None:
        if not all(map(_is_word, (self.low, self.high))):
            raise OptionError(f"Key({self.low}, {self.high}): each word is an integer from 0 to 2**64 - 1")

    def fold(self, data: int | str, /) -> "Key":
        """Another key, fixed by this one and ``data`` (a number such as the step, or a name)."""
        if isinstance(data, str):
            digest = blake2b(data.encode(), digest_size=16).digest()
            counter = (int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little"), 1, 0)
        else:
            if not settings.is_whole(data):
                raise OptionError(f"Key.fold: {data!r}: expected a whole Python number or a text")
            counter = (data & _MASK, (data >> 64) & _MASK, 0, 0)
        low, high, _, _ = philox(counter, (self.low, self.high))
        return Key(low, high)

    def split(self, count: int = 2, /) -> tuple["Key", ...]:
        """``count`` keys that share nothing with this one or with each other.

        Raises `OptionError` for a negative number."""
        settings.whole("Key.split", 0, count=count)
        return tuple(self.fold(index) for index in range(count))


def _is_word(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MASK
