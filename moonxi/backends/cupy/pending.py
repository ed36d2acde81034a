"""Products with a number, and squares, that are computed when somebody asks for them: often nobody does.

What is added to or summed next is computed along, in one kernel instead of two; an optimizer is made of little else.
The numbers are the same: each product is rounded before it is added.
"""

from typing import Literal

from moonxi.backends.cupy.memory import DeviceArray, Space

type Name = Literal["multiply", "squared"]


class Pending(DeviceArray):
    """An array whose ``owner`` and ``pointer`` come into being when they are asked for."""

    __slots__ = ("_space", "base", "factor", "name")

    def __init__(self, space: Space, name: Name, base: DeviceArray, factor: float) -> None:
        self.shape, self.strides, self.itemsize = base.shape, base.strides, base.itemsize
        self.count, self.dense = base.count, base.dense
        self._space, self.name, self.factor = space, name, factor
        self.base: DeviceArray | None = base
        """What is multiplied; None once the elements are computed."""

    def __getattr__(self, name: str) -> object:
        # Python asks here for what a slot does not hold yet.
        if name not in ("owner", "pointer") or self.base is None:
            raise AttributeError(name)
        space, base = self._space, self.base
        out = space.like(base)
        if self.name == "multiply":
            space.elementwise.launch("multiply_number", out.count, base.pointer, out.pointer, self.factor, out.count)
        else:
            space.elementwise.launch("squared", out.count, base.pointer, out.pointer, out.count)
        self.owner, self.pointer, self.base = out.owner, out.pointer, None
        return getattr(self, name)


def product(space: Space, x: DeviceArray, factor: float) -> DeviceArray:
    """Each element times a number, later."""
    return Pending(space, "multiply", space.dense(x), factor)


def square(space: Space, x: DeviceArray) -> DeviceArray:
    """Each element times itself, later."""
    return Pending(space, "squared", space.dense(x), 1.0)


def factored(x: DeviceArray) -> tuple[DeviceArray, float]:
    """An array and a number whose product it is."""
    if isinstance(x, Pending) and x.base is not None and x.name == "multiply":
        return x.base, x.factor
    return x, 1.0
