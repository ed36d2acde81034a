"""Shapes without data: an interpreter of the traits whose sizes may be symbols."""

from moonxi.shape_tensor.shape_tensor import ShapeTensor

__all__ = ["ShapeTensor"]
