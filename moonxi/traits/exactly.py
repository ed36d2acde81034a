"""`Exactly[T]`: an operand that must be of the very class ``T`` that another operand has.

In ``def f[T: Tensor](x: T, y: T)`` a type checker may take the bare trait for ``T`` and let a host and a device tensor
in together. ``def f[T: Tensor](x: Exactly[T], y: T)`` does not let it: ``T`` appears there as an argument and as a
result, so only one class fits.
"""

from typing import Protocol

from moonxi.traits.tensor import Shape


class Exactly[T](Protocol):
    """A tensor of class ``T`` and no other."""

    @property
    def shape(self) -> Shape: ...
    def __add__(self, other: T | float, /) -> T: ...
    def __sub__(self, other: T | float, /) -> T: ...
