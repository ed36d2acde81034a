"""Numbers that stand for symbolic sizes, for code that cannot do with a symbol: ``range``, NumPy, a comparison."""

from typing import override

from moonxi.dims.dim import Dim, Size


class Example(int):
    """One of the values that a size can have, which still says of which size.

    To Python and NumPy it is an ``int``; what arithmetic with other numbers gives stands for the size that the same
    arithmetic gives. Made by `example`."""

    size: Dim

    @override
    def __repr__(self) -> str:
        return str(self.size)

    __str__ = __repr__

    def __getnewargs__(self) -> tuple[int]:
        return (int(self),)

    def __neg__(self) -> int:
        return example(-int(self), -self.size)

    def __add__(self, other: int, /) -> int:
        if not isinstance(other, int):
            return NotImplemented
        return example(int(self) + int(other), self.size + symbolic(other))

    __radd__ = __add__

    def __sub__(self, other: int, /) -> int:
        if not isinstance(other, int):
            return NotImplemented
        return example(int(self) - int(other), self.size - symbolic(other))

    def __rsub__(self, other: int, /) -> int:
        if not isinstance(other, int):
            return NotImplemented
        return example(int(other) - int(self), symbolic(other) - self.size)

    def __mul__(self, other: int, /) -> int:
        if not isinstance(other, int):
            return NotImplemented
        return example(int(self) * int(other), self.size * symbolic(other))

    __rmul__ = __mul__

    def __floordiv__(self, other: int, /) -> int:
        if not isinstance(other, int):
            return NotImplemented
        return example(int(self) // int(other), self.size // symbolic(other))

    def __rfloordiv__(self, other: int, /) -> int:
        if not isinstance(other, int):
            return NotImplemented
        return example(int(other) // int(self), symbolic(other) // self.size)

    def __mod__(self, other: int, /) -> int:
        if not isinstance(other, int):
            return NotImplemented
        return example(int(self) % int(other), self.size % symbolic(other))

    def __rmod__(self, other: int, /) -> int:
        if not isinstance(other, int):
            return NotImplemented
        return example(int(other) % int(self), symbolic(other) % self.size)


def example(value: int, size: Size) -> int:
    """The value, which stands for the size if that is no number itself."""
    if isinstance(size, int):
        return value
    made = Example(value)
    made.size = size
    return made


def symbolic(size: Size) -> Size:
    """The size that a number stands for; any other size itself."""
    return size.size if isinstance(size, Example) else size
