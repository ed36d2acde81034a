"""Products with one number, squares, and comparisons with a number, that are computed when somebody asks for them:
often nobody does.

What is added to or summed next is computed along, in one kernel instead of two; an optimizer is made of little else.
So is what a mask chooses from, as the gradient of ``relu`` does. The numbers are the same: each product is rounded
before it is added.
"""

from typing import Final, NamedTuple, override

from moonxi.backends.cupy.memory import DeviceArray, Space

BY: Final = "by"
"""Stands for a factor on the device."""


class Factored(NamedTuple):
    """An array and what it is to be multiplied by: the number at an address on the device, or else ``factor``."""

    base: DeviceArray
    by: int
    factor: float


class Later(DeviceArray):
    """An array whose ``owner`` and ``pointer`` come into being when they are asked for."""

    __slots__ = ("_space", "base")

    def __init__(self, space: Space, base: DeviceArray, itemsize: int) -> None:
        self.shape, self.strides, self.itemsize = base.shape, base.strides, itemsize
        self.count, self.dense, self.last, self.kept = base.count, base.dense, None, None
        self._space = space
        self.base: DeviceArray | None = base
        """What it is computed from, which lies alike; None once that is done."""

    def _compute(self, base: DeviceArray) -> DeviceArray:
        """The elements."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> object:
        # Python asks here for what a slot does not hold yet.
        if name not in ("owner", "pointer") or self.base is None:
            raise AttributeError(name)
        out = self._compute(self.base)
        self.owner, self.pointer, self.base = out.owner, out.pointer, None
        return getattr(self, name)


class Pending(Later):
    """A product or a square."""

    __slots__ = ("_factor", "by", "is_square", "written")

    def __init__(
        self, space: Space, base: DeviceArray, factor: float, by: DeviceArray | None, *, is_square: bool = False
    ) -> None:
        # As that of `Later`, which would be another call: an optimizer makes hundreds.
        self.shape, self.strides, self.itemsize = base.shape, base.strides, base.itemsize
        self.count, self.dense, self.last = base.count, base.dense, None
        self._space, self.base = space, base
        self._factor, self.is_square = factor, is_square
        self.by = by
        """The number on the device that it is multiplied by, if it is by one."""
        self.written: str | None = None if is_square else factor.hex() if by is None else BY

    def factored(self) -> Factored | None:
        """The product that this is going to be; None for a square, and once the elements are computed."""
        if self.base is None or self.is_square:
            return None
        return Factored(self.base, 0 if self.by is None else self.by.pointer, self._factor)

    @override
    def _compute(self, base: DeviceArray) -> DeviceArray:
        space, by = self._space, self.by
        out = space.like(base)
        if self.is_square:
            space.elementwise.launch("squared", out.count, base.pointer, out.pointer, out.count)
        elif by is not None:
            space.elementwise.launch("multiply_by", out.count, base.pointer, by.pointer, out.pointer, out.count)
        else:
            space.elementwise.launch("multiply_number", out.count, base.pointer, out.pointer, self._factor, out.count)
        self.by = self.written = None
        return out


class Comparison(Later):
    """Where the elements are less than a number, and the like: a byte each."""

    __slots__ = ("_name", "_number")

    def __init__(self, space: Space, name: str, base: DeviceArray, number: float) -> None:
        super().__init__(space, base, 1)
        self._name, self._number = name, number

    @override
    def _compute(self, base: DeviceArray) -> DeviceArray:
        out = self._space.like(base, 1)
        launch = self._space.elementwise.launch
        launch(f"{self._name}_number", out.count, base.pointer, out.pointer, self._number, out.count)
        return out

    def choose(self, space: Space, x: DeviceArray, other: float) -> DeviceArray | None:
        """The elements of an array where the comparison holds, and a number elsewhere; None if that is not one step."""
        base = self.base
        if base is None or space is not self._space or x.strides != base.strides or x.shape != base.shape:
            return None
        out = space.like(x)
        numbers = (self._number, other, x.count)
        space.elementwise.launch(f"where_{self._name}", x.count, base.pointer, x.pointer, out.pointer, *numbers)
        return out


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
