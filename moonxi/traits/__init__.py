"""The traits: what an interpreter can do. Each is a Protocol, used as the bound of a type parameter."""

from typing import Protocol, runtime_checkable

from moonxi.traits.blas import BlasTensor
from moonxi.traits.derived import DerivedBlas, DerivedTensor
from moonxi.traits.labels import Labels, Mask
from moonxi.traits.tensor import Axes, Index, Shape, Tensor


@runtime_checkable
class MlpTensor(Tensor, BlasTensor, Protocol):
    """What a multi-layer perceptron needs of its tensor."""


__all__ = [
    "Axes",
    "BlasTensor",
    "DerivedBlas",
    "DerivedTensor",
    "Index",
    "Labels",
    "Mask",
    "MlpTensor",
    "Shape",
    "Tensor",
]
