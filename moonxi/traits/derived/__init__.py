"""What an interpreter owes and what it gets: the primitives, and the operations derived from them once.

An interpreter inherits `DerivedImage`, `DerivedBlas` or `DerivedTensor`, with itself as the parameter, and writes the
abstract methods; it may override a derived operation where it knows a faster or more exact way. The parameter makes the
base invariant: a list of tensors of two backends has no common tensor class, so a checker refuses to compute with it.
"""

from moonxi.traits.derived.blas import DerivedBlas
from moonxi.traits.derived.image import DerivedImage
from moonxi.traits.derived.tensor import DerivedTensor

__all__ = ["DerivedBlas", "DerivedImage", "DerivedTensor"]
