"""Makes it quick for mypy to see that a tensor class has a trait.

A method of a Protocol that speaks of ``Self`` has a type variable bounded by the Protocol. To look at one method of a
class, mypy checks that the class satisfies that bound, by looking at all its methods. With traits of 100 methods
that inherit others, a mention of ``Linear[NpArray[F32]]`` costs 0.4 s, a generic loss 20 s (mypy 2.4). The bound
says nothing there: the class is being compared with the Protocol already. So it goes, once a trait is analysed.

And what mypy has found it stores under a key by which only checks within checks look it up: each call with such a
tensor compares all methods again. So it is asked once, and the answer stored under the key by which it is looked up.
"""

from collections.abc import Mapping

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import FuncDef, MypyFile, TypeInfo
from mypy.subtypes import SubtypeContext, SubtypeVisitor, is_subtype
from mypy.types import CallableType, Instance, Type, TypeVarType, get_proper_type
from mypy.typestate import type_state

from moonxi.mypy_plugin.traits import is_trait, parts

_TRAITS = "moonxi.traits"
_CALL = SubtypeVisitor.build_subtype_kind(SubtypeContext(), proper_subtype=False)
_JOIN = SubtypeVisitor.build_subtype_kind(SubtypeContext(ignore_type_params=True), proper_subtype=True)
_TENSOR = "moonxi.traits.derived.tensor.DerivedTensor"


class Conformance:
    """What is known of the traits and of the tensor classes that have been met."""

    def __init__(self) -> None:
        self._asked_by = ""
        self._traits: dict[str, TypeInfo] = {}
        self._seen: set[Instance] = set()
        self._answers: list[tuple[Instance, Instance, bool]] = []

    def prepare(self, module: str, modules: Mapping[str, MypyFile]) -> None:
        """Loosen the traits. To be called while ``module`` is checked, or analysed and not moonxi's: none is half
        analysed then."""
        if module == self._asked_by:
            return
        self._asked_by = module
        for name, file in modules.items():
            if name == _TRAITS or name.startswith(f"{_TRAITS}."):
                for symbol in file.names.values():
                    node = symbol.node
                    if isinstance(node, TypeInfo) and node.fullname not in self._traits and is_trait(node):
                        self._traits[node.fullname] = node
                        _loosen(node)
        for answer in self._answers:  # mypy forgets them where a class that inherits a trait is defined
            _store(*answer)

    def learn(self, typ: Type) -> None:
        """Check a tensor class of moonxi, and those of which it is made, against all traits, once.

        Only of moonxi's classes, and in other people's modules: their definition is complete by then."""
        tensor = get_proper_type(typ)
        if not isinstance(tensor, Instance) or not tensor.type.fullname.startswith("moonxi.") or tensor in self._seen:
            return
        for part in parts(tensor):
            if not isinstance(part, Instance):
                return
            self.learn(part)
        self._seen.add(tensor)
        if not any(base.fullname == _TENSOR for base in tensor.type.mro):
            return
        for base in tensor.type.mro[:-1]:
            self._ask(map_instance_to_supertype(tensor, base))

    def alike(self, plain: Type, shaped: Type) -> None:
        """A tensor with an annotated shape, another key for mypy, has the traits of the class."""
        left, right = get_proper_type(plain), get_proper_type(shaped)
        if isinstance(left, Instance) and isinstance(right, Instance) and right not in self._seen:
            self.learn(plain)
            self._seen.add(right)
            answers = [(right, trait, answer) for one, trait, answer in self._answers if one == left]
            self._answers.extend(answers)
            for answer in answers:
                _store(*answer)

    def _ask(self, left: Instance) -> None:
        """Store which traits the class has."""
        for trait in self._traits.values():
            right = Instance(trait, [])
            lacks = any(left.type.get(member) is None for member in trait.protocol_members)
            answer = left, right, not lacks and is_subtype(left, right)
            self._answers.append(answer)
            _store(*answer)


def _store(left: Instance, right: Instance, answer: bool) -> None:
    """As mypy asks in calls, and where it joins two classes."""
    for kind in (_CALL, _JOIN):
        if answer:
            type_state.record_subtype_cache_entry(kind, left, right)
        else:
            type_state.record_negative_subtype_cache_entry(kind, left, right)


def _loosen(trait: TypeInfo) -> None:
    top = Instance(trait.mro[-1], [])
    for symbol in trait.names.values():
        typ = symbol.node.type if isinstance(symbol.node, FuncDef) else None
        for variable in typ.variables if isinstance(typ, CallableType) else ():
            if isinstance(variable, TypeVarType) and variable.id.is_self():
                variable.upper_bound = top
