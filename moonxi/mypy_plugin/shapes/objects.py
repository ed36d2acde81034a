"""Values made from declared types, and objects whose fields have annotated shapes."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from math import nan

from mypy.nodes import Decorator, FuncDef, TypeInfo, Var
from mypy.types import (
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    ProperType,
    TupleType,
    Type,
    TypeVarType,
    UnionType,
    get_proper_type,
)

from moonxi.dims import Dim, Size, unknowns
from moonxi.mypy_plugin.shapes.attached import attached, declared
from moonxi.mypy_plugin.shapes.equations import argument, size_of
from moonxi.mypy_plugin.shapes.formulas import formulas
from moonxi.mypy_plugin.shapes.values import TENSOR, UNKNOWN, Each, Shaped, scores_named
from moonxi.mypy_plugin.traits import is_trait
from moonxi.shape_tensor import ShapeTensor
from moonxi.shapes import Sizes
from moonxi.shapes.specification import Names, read, sizes_for
from moonxi.traits import Labels, Mask

_TENSOR = "moonxi.traits.derived.tensor.DerivedTensor"
_LAYER = "moonxi.nn.layer.Layer"
_SEQUENCES = (
    "builtins.list",
    "builtins.tuple",
    "typing.Sequence",
    "typing.Iterable",
    "typing.Iterator",
    "typing.Collection",
)
_HELD = {"moonxi.traits.labels.Labels": Labels, "moonxi.traits.labels.Mask": Mask}


class Maker:
    """Makes values from the declared types of one scope, in which a name in annotations stands for one size."""

    def __init__(
        self,
        size: Callable[[str], Size],
        anonymous: Callable[[], Size],
        *,
        names: Names | None = None,
        arguments: Mapping[str, object] | None = None,
    ) -> None:
        self.names = Names() if names is None else names
        self.arguments: dict[str, object] = dict(arguments or {})
        self.size = size
        self._anonymous = anonymous

    def shape(self, text: str) -> Sizes | None:
        """A shape as annotated; None where the annotation leaves open how many axes there are, or what they are."""
        try:
            for item in read(text):
                if item.broadcasts or (item.several and item.text not in self.names.several):
                    return None
            return sizes_for(
                text, self.names, self.arguments, size=self.size, anonymous=lambda place: self._anonymous()
            )
        except Exception:  # what stands in braces is any expression, and may depend on what is not known
            return None

    def value(self, typ: Type | None, path: str) -> object:
        """A value of the type; integers and objects are called by their path."""
        text = attached(typ)
        proper = _without_none(typ)
        if text is not None:
            shape = self.shape(text)
            return _with_shape(proper, shape) if shape is not None else TENSOR if is_tensor(proper) else UNKNOWN
        match proper:
            case _ if is_tensor(proper):
                return TENSOR
            case LiteralType(value=int(value)):
                return value
            case TupleType() if proper.partial_fallback.type.fullname == "builtins.tuple":
                return tuple(self.value(item, f"{path}[{place}]") for place, item in enumerate(proper.items))
            case Instance(type=TypeInfo(fullname="builtins.int")) if not isinstance(typ, UnionType):
                return argument(path)
            case Instance(type=TypeInfo(fullname="builtins.float")):
                return nan
            case Instance(type=TypeInfo(fullname=name), args=(item,)) if name in _SEQUENCES:
                return self._several(item, path)
            case Instance() if is_frozen(proper.type):
                return Object(proper.type, path, self._anonymous)
        return UNKNOWN

    def _several(self, item: Type, path: str) -> Each:
        """Elements of one type; of two of them nothing says that they are the same."""
        numbers = count()
        return Each(lambda: self.value(item, f"{path}[{next(numbers)}]"))


class Object:
    """An object that does not change, such as a layer. Its attributes are those of its class, made when asked for."""

    def __init__(
        self,
        info: TypeInfo,
        path: str,
        anonymous: Callable[[], Size],
        size: Callable[[str], Size] | None = None,
        *,
        exact: bool = False,
    ) -> None:
        self.info = info
        self.path = path
        self.exact = exact
        """Whether it is of this class and no other that derives from it, and its fields are those that were given."""
        self.maker = Maker(size or (lambda name: size_of(f"{path}.{name}")), anonymous)
        self.fields: dict[str, object] = {}

    def attribute(self, name: str) -> object:
        """What is known of a field or of a property that is a formula of fields."""
        if name not in self.fields:
            self.fields[name] = UNKNOWN  # while it is made, as a formula could lead back to itself
            self.fields[name] = self._made(name)
        return self.fields[name]

    def __getattr__(self, name: str) -> object:
        """As Python, which works out what stands in braces, asks."""
        if name.startswith("__"):
            raise AttributeError(name)
        return self.attribute(name)

    def _made(self, name: str) -> object:
        symbol = self.info.get(name)
        if symbol is None:
            return UNKNOWN
        if isinstance(symbol.node, Var):
            return self.maker.value(declared(self.info, name), f"{self.path}.{name}")
        if isinstance(symbol.node, Decorator) and symbol.node.func.is_property:
            return self._property(name, symbol.node.func.type)
        return UNKNOWN

    def _property(self, name: str, typ: Type | None) -> object:
        """A formula of fields; else an integer, which is the size of that name in the annotations of the fields.

        mypy drops the bodies of packages that are installed, so that their formulas are not known."""
        formula = formulas(self.info).get(name)
        value: object = UNKNOWN
        if formula is not None:
            with suppress(Exception):  # the formula needs what is not known
                value = eval(formula, {"__builtins__": {}, "len": len}, {"self": self})
        if isinstance(value, int) or (isinstance(value, Dim) and len(unknowns(value)) < 2):
            return value
        result = get_proper_type(typ.ret_type) if isinstance(typ, CallableType) else None
        if not isinstance(result, Instance) or result.type.fullname != "builtins.int":
            return UNKNOWN
        for base in self.info.mro:
            for field, symbol in base.names.items():
                if isinstance(symbol.node, Var) and attached(symbol.node.type) is not None:
                    self.attribute(field)
        return self.maker.names.sizes.get(name, size_of(f"{self.path}.{name}"))


def method(info: TypeInfo, name: str) -> FuncDef | None:
    """The method of the name, decorated or not; no property."""
    symbol = info.get(name)
    node = getattr(symbol.node, "func", symbol.node) if symbol is not None else None
    return node if isinstance(node, FuncDef) and not node.is_property else None


def is_tensor(typ: ProperType) -> bool:
    """Whether values of the type have the operations of moonxi's traits."""
    if isinstance(typ, TypeVarType):
        typ = get_proper_type(typ.upper_bound)
    return isinstance(typ, Instance) and any(base.fullname == _TENSOR or is_trait(base) for base in typ.type.mro)


def is_frozen(info: TypeInfo) -> bool:
    """Whether objects of the class stay as they are: layers do, and dataclasses that are declared so."""
    for base in info.mro:
        described = base.metadata.get("dataclass")
        if base.fullname == _LAYER or (isinstance(described, dict) and described.get("frozen")):
            return True
    return False


def _without_none(typ: Type | None) -> ProperType:
    proper = get_proper_type(typ)
    if isinstance(proper, UnionType):
        rest = [get_proper_type(item) for item in proper.items]
        rest = [item for item in rest if not isinstance(item, NoneType)]
        return rest[0] if len(rest) == 1 else proper
    return proper if proper is not None else NoneType()


def _with_shape(typ: ProperType, shape: Sizes) -> object:
    if is_tensor(typ):
        return ShapeTensor(shape)
    name = typ.type.fullname if isinstance(typ, Instance) else ""
    held = _HELD.get(name) or scores_named(name)
    return held(ShapeTensor(shape)) if held is not None else Shaped(shape)


def is_settled(value: object) -> bool:
    """Whether all sizes of the value have been said, so that two of its kind are alike."""
    if isinstance(value, tuple):
        return all(map(is_settled, value))
    if not isinstance(value, Object):
        return value is not UNKNOWN and value is not TENSOR
    described = value.info.metadata.get("dataclass")
    attributes = described.get("attributes", []) if isinstance(described, dict) else []
    names = [one.get("name") for one in attributes if isinstance(one, dict)]
    return value.exact and all(name in value.fields and is_settled(value.fields[name]) for name in names)
