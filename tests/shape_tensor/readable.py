"""What the tests need besides: shapes whose elements can be read, for calls of the conformance table that do so."""

from collections.abc import Mapping
from typing import override

import numpy as np

from moonxi.dims import Size, evaluate, symbol
from moonxi.dtypes import HostArray
from moonxi.shape_tensor.image import SymbolicImage
from moonxi.shapes import Sizes
from moonxi.traits import ImageModelTensor, MlpTensor, Shape


class Readable(SymbolicImage):
    """Shapes that give zeros to whoever reads them."""

    __slots__ = ()

    @override
    def to_host(self) -> HostArray:
        return np.zeros(numbers(self._shape))

    @override
    def item(self) -> float:
        return 0.0


MlpTensor.register(Readable)
ImageModelTensor.register(Readable)

VALUES = {"two": 2, "three": 3, "half": 2, "less": 4}
_EXPRESSIONS: Mapping[int, Size] = {
    2: symbol("two", least=1),
    3: symbol("three", least=1),
    4: 2 * symbol("half", least=1),
    5: symbol("less") + 1,
}


def symbolic(shape: Shape) -> Sizes:
    """The same shape with symbols in place of numbers, equal ones in place of equal ones."""
    return tuple(_EXPRESSIONS.get(size, size) for size in shape)


def numbers(sizes: Sizes) -> Shape:
    """The shape with its numbers again."""
    return tuple(evaluate(size, VALUES) for size in sizes)
