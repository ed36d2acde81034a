"""The sum of a branch and its shortcut."""

from moonxi import shapes
from moonxi.traits import Tensor


def residual[T: Tensor](branch: T, shortcut: T, /) -> T:
    """``branch + shortcut`` of two tensors of equal shape; raises `ShapeError` where ``+`` would broadcast."""
    shapes.equal("residual (branch and shortcut)", branch.shape, shortcut.shape)
    return branch + shortcut
