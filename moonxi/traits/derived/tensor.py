"""The rest of the trait `Tensor`."""

from typing import Self

from moonxi import shapes
from moonxi.traits.as_array import refuse
from moonxi.traits.derived.indexed import DerivedIndexed
from moonxi.traits.notation import Shape


class DerivedTensor[I](DerivedIndexed):
    """The rest of the trait `Tensor`, for the interpreter ``I``."""

    __slots__ = ()

    def _same_interpreter(self, other: I, /) -> I:
        """Never called: it makes the class invariant in ``I``."""
        return other

    def zeros(self, shape: Shape, /) -> Self:
        return self.full(shape, 0.0)

    def ones(self, shape: Shape, /) -> Self:
        return self.full(shape, 1.0)

    def item(self) -> float:
        shapes.item(self.shape)
        return float(self.to_host().reshape(()))

    # To return no array keeps type checkers from taking a tensor for something that NumPy's functions accept.
    def __array__(self, dtype: object = None, /, *, copy: object = None) -> None:
        """Refuses: to NumPy a tensor goes by `to_host`."""
        refuse(self, self.shape)
