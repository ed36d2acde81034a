"""The traits: what an interpreter can do. Each is a Protocol, used as the bound of a type parameter."""

from abc import ABCMeta
from typing import Protocol, runtime_checkable

from moonxi.shapes import ConvOptions, Edges, MeanPoolOptions, Padding, Pair, PoolOptions, TransposeOptions
from moonxi.traits.blas import BlasTensor
from moonxi.traits.derived import DerivedBlas, DerivedImage, DerivedTensor
from moonxi.traits.image import ImageTensor
from moonxi.traits.labels import Labels, Mask, expect_held
from moonxi.traits.notation import Axes, Index, Shape, Widths
from moonxi.traits.tensor import Tensor


@runtime_checkable
class MlpTensor(Tensor, BlasTensor, Protocol, metaclass=ABCMeta):
    """What a multi-layer perceptron needs of its tensor."""

    __slots__ = ()


@runtime_checkable
class ImageModelTensor(Tensor, BlasTensor, ImageTensor, Protocol, metaclass=ABCMeta):
    """What a convolutional network needs of its tensor."""

    __slots__ = ()


__all__ = [
    "Axes",
    "BlasTensor",
    "ConvOptions",
    "DerivedBlas",
    "DerivedImage",
    "DerivedTensor",
    "Edges",
    "ImageModelTensor",
    "ImageTensor",
    "Index",
    "Labels",
    "Mask",
    "MeanPoolOptions",
    "MlpTensor",
    "Padding",
    "Pair",
    "PoolOptions",
    "Shape",
    "Tensor",
    "TransposeOptions",
    "Widths",
    "expect_held",
]
