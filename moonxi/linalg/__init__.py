"""Functions of vectors, matrices and what has more axes, made of operations that every tensor class has.

There is neither a Cholesky factorisation nor a solver of triangular systems: the libraries beneath the backends compute
both, but none gives their gradients, and those are made of further triangular solves, which every backend would owe.
"""

from moonxi.linalg.products import einsum, outer, tensordot

__all__ = ["einsum", "outer", "tensordot"]
