"""Remembers which tensor classes have which traits, because mypy does not.

mypy stores the outcome of a structural check under a key by which only checks within checks look it up. So every
mention of ``Linear[NpArray[F32]]`` and every call that takes such a tensor compares all methods again, and with a trait
that inherits others all methods for each method: 0.4 s on mypy 2.4. What is learned here is what mypy itself finds.
"""

from collections.abc import Mapping

from mypy.nodes import MypyFile, TypeInfo
from mypy.subtypes import SubtypeContext, SubtypeVisitor, is_subtype
from mypy.types import Instance, Type, get_proper_type
from mypy.typestate import type_state

from moonxi.mypy_plugin.traits import is_trait, parts

_OWN = "moonxi."
_TENSOR = "moonxi.traits.derived.DerivedTensor"


def is_own(name: str) -> bool:
    """Whether a module or class is moonxi's."""
    return name.startswith(_OWN)


def is_tensor(info: TypeInfo) -> bool:
    """Whether this is a tensor class of moonxi."""
    return is_own(info.fullname) and any(base.fullname == _TENSOR for base in info.mro)


class Conformance:
    """Learns about the tensor classes that it is shown."""

    def __init__(self) -> None:
        self._seen: set[Instance] = set()
        self._traits: list[TypeInfo] = []

    def learn(self, typ: Type, modules: Mapping[str, MypyFile]) -> None:
        """Check a tensor class of moonxi, and those of which it is made, against all traits, once.

        Only types of moonxi itself in other people's modules: their definition is complete by then."""
        tensor = get_proper_type(typ)
        if not isinstance(tensor, Instance) or not is_own(tensor.type.fullname) or tensor in self._seen:
            return
        for part in parts(tensor):
            if not isinstance(part, Instance):
                return
            self.learn(part, modules)
        self._seen.add(tensor)
        if not is_tensor(tensor.type):
            return
        kind = SubtypeVisitor.build_subtype_kind(SubtypeContext(), proper_subtype=False)
        for trait in self._all_traits(modules):
            right = Instance(trait, [])
            if is_subtype(tensor, right):
                type_state.record_subtype_cache_entry(kind, tensor, right)

    def _all_traits(self, modules: Mapping[str, MypyFile]) -> list[TypeInfo]:
        if not self._traits:
            homes = [file for name, file in modules.items() if name.startswith("moonxi.traits")]
            found = {
                symbol.node for file in homes for symbol in file.names.values() if isinstance(symbol.node, TypeInfo)
            }
            # Those that inherit nothing first: what is known of them makes the others quick.
            self._traits = sorted(filter(is_trait, found), key=lambda info: (len(info.mro), info.fullname))
        return self._traits
