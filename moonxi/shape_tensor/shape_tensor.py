"""`ShapeTensor`: the complete class of shapes without data."""

from typing import TYPE_CHECKING, final

from moonxi.dtypes import DType, Floating
from moonxi.shape_tensor.image import SymbolicImage
from moonxi.traits import ImageModelTensor, MlpTensor


@final
class ShapeTensor(SymbolicImage):
    """A tensor of which only the shape and the element type exist; its sizes may be symbols (`moonxi.dims`).

    ``ShapeTensor((symbol("batch"), 784))`` goes through a model as any tensor does, and what comes out says what the
    shape is for every batch: ``(batch, 10)``. Sizes that can differ where an operation needs them equal are a
    `ShapeError`; to read an element is a `NoElementsError`. The element type is `F32` unless another is given."""

    __slots__ = ()

    def cast(self, dtype: type[DType], /) -> "ShapeTensor":
        """The same shape with elements of another type; class indices and masks stay what they are."""
        return ShapeTensor(self._shape, dtype if issubclass(self._dtype, Floating) else self._dtype)


# Run-time shape checks then look at the class, not at each of its methods.
MlpTensor.register(ShapeTensor)
ImageModelTensor.register(ShapeTensor)
if TYPE_CHECKING:
    _: type[ImageModelTensor] = ShapeTensor
