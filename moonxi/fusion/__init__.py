"""Element-wise work on many tensors at once, for tensor classes that compute formulas (`moonxi.formulas`)."""

from moonxi.fusion.members import can_fuse, formula_of, of_members
from moonxi.fusion.symbol import NotElementwise, Symbol

__all__ = ["NotElementwise", "Symbol", "can_fuse", "formula_of", "of_members"]
