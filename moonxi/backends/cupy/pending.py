"""Products with one number, and squares, that are computed when somebody asks for them: often nobody does.

What is added to or summed next is computed along, in one kernel instead of two; an optimizer is made of little else.
The numbers are the same: each product is rounded before it is added.
"""

from typing import Final, NamedTuple

from moonxi.backends.cupy.memory import DeviceArray, Space

BY: Final = "by"
"""Stands for a factor on the device."""


class Factored(NamedTuple):
    """An array and what it is to be multiplied by: the number at an address on the device, or else ``factor``."""

    base: DeviceArray
    by: int
    factor: float


class Pending(DeviceArray):
    """An array whose ``owner`` and ``pointer`` come into being when they are asked for."""

    __slots__ = ("_factor", "_space", "base", "by", "is_square")

    def __init__(
        self, space: Space, base: DeviceArray, factor: float, by: DeviceArray | None, *, is_square: bool = False
    ) -> None:
        self.shape, self.strides, self.itemsize = base.shape, base.strides, base.itemsize
        self.count, self.dense, self.last = base.count, base.dense, None
        self._space, self._factor, self.is_square = space, factor, is_square
        self.base: DeviceArray | None = base
        """What is multiplied; None once the elements are computed."""
        self.by = by
        """The number on the device that it is multiplied by, if it is by one."""

    @property
    def written(self) -> str | None:
        """The factor of the product that this is going to be, as a formula has numbers, or `BY` for one on the device;
        None for a square, and once the elements are computed."""
        if self.base is None or self.is_square:
            return None
        return self._factor.hex() if self.by is None else BY

    def factored(self) -> Factored | None:
        """The product that this is going to be; None for a square, and once the elements are computed."""
        if self.base is None or self.is_square:
            return None
        return Factored(self.base, 0 if self.by is None else self.by.pointer, self._factor)

    def __getattr__(self, name: str) -> object:
        # Python asks here for what a slot does not hold yet.
        if name not in ("owner", "pointer") or self.base is None:
            raise AttributeError(name)
        space, base = self._space, self.base
        out = space.like(base)
        if self.is_square:
            space.elementwise.launch("squared", out.count, base.pointer, out.pointer, out.count)
        elif self.by is not None:
            space.elementwise.launch("multiply_by", out.count, base.pointer, self.by.pointer, out.pointer, out.count)
        else:
            space.elementwise.launch("multiply_number", out.count, base.pointer, out.pointer, self._factor, out.count)
        self.owner, self.pointer, self.base, self.by = out.owner, out.pointer, None, None
        return getattr(self, name)


def product(space: Space, x: DeviceArray, factor: float) -> DeviceArray:
    """Each element times a number, later."""
    return Pending(space, space.dense(x), factor, None)


def product_by(space: Space, x: DeviceArray, y: DeviceArray) -> DeviceArray | None:
    """The product of arrays one of which is a single number, later; None if neither is."""
    if y.count == 1 and len(y.shape) <= len(x.shape) and x.dense:
        return Pending(space, x, 1.0, y)
    if x.count == 1 and len(x.shape) <= len(y.shape) and y.dense:
        return Pending(space, y, 1.0, x)
    return None


def square(space: Space, x: DeviceArray) -> DeviceArray:
    """Each element times itself, later."""
    return Pending(space, space.dense(x), 1.0, None, is_square=True)


def factored(x: DeviceArray) -> Factored:
    """An array as a product."""
    found = x.factored() if isinstance(x, Pending) else None
    return Factored(x, 0, 1.0) if found is None else found
