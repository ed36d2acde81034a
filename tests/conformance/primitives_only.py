"""An interpreter as somebody else would write it: the primitives only, everything else as derived in the traits."""

from moonxi.backends.numpy import NpArray
from moonxi.dtypes import Floating
from moonxi.traits import DerivedImage

DERIVED = {
    name: member
    for part in reversed(DerivedImage.__mro__)
    if part.__module__.startswith("moonxi.traits.derived")
    for name, member in vars(part).items()
    if callable(member) and not getattr(member, "__isabstractmethod__", False) and not name.startswith("_same")
}


class PrimitivesOnly[D: Floating](NpArray[D]):
    """`NpArray` without its own, faster ways; as a subclass it also shows that results keep the class."""

    __slots__ = ()


for name, member in DERIVED.items():
    setattr(PrimitivesOnly, name, member)
