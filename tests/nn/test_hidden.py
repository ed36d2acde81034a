"""Tensors where nothing would find and train them are refused, wherever they hide."""

import functools
import sys
from collections import UserDict, UserList, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn
from moonxi.errors import ModuleError
from tests.nn.models import CPU, Array, Gate, Holder, line, numbers

HIDDEN = numbers(2)
LAYER = line(2, 3)


def closure(value: object) -> Callable[[], object]:
    return lambda: value


def default(value: object) -> Callable[[], object]:
    def function(one: object = value, *, other: object = None) -> object:
        return one, other

    return function


def keyword_default(value: object) -> Callable[[], object]:
    def function(*, one: object = value) -> object:
        return one

    return function


class Slotted:
    __slots__ = ("inside",)

    def __init__(self, inside: object) -> None:
        self.inside = inside


class Foreign:
    def __init__(self, inside: object) -> None:
        self._inside = inside

    def method(self) -> object:
        return self._inside


def waiting(value: object) -> Iterator[object]:
    """A generator that has begun."""

    def steps() -> Iterator[object]:
        kept = value
        yield 1
        yield kept

    iterator = steps()
    next(iterator)
    return iterator


class ListWithMore(list[object]):
    more: object = None


class TextWithMore(str):
    more: object = None


def with_more(holder: Any, value: object) -> object:
    holder.more = value
    return holder


def enumerated(value: object) -> object:
    class Choice(Enum):
        ONE = (value,)

    return Choice.ONE


def with_class_attribute(value: object) -> type:
    return type("Shared", (), {"inside": [value]})


def decorated(value: object) -> Callable[[], object]:
    @functools.wraps(closure(value))
    def function() -> object:
        return None

    return function


PLACES: dict[str, tuple[Callable[[Any], object], str]] = {
    "set": (lambda x: {x}, "set"),
    "frozenset": (lambda x: frozenset([x]), "frozenset"),
    "deque": (lambda x: deque([x]), "deque"),
    "closure": (closure, "function"),
    "default": (default, "function"),
    "keyword default": (keyword_default, "function"),
    "decorated": (decorated, "function"),
    "partial": (lambda x: functools.partial(print, x), "partial"),
    "partial keyword": (lambda x: functools.partial(print, end=x), "partial"),
    "foreign object": (Foreign, "Foreign"),
    "method": (lambda x: Foreign(x).method, "method"),
    "slots": (Slotted, "Slotted"),
    "namespace": (lambda x: SimpleNamespace(a=[{"b": (x,)}]), "SimpleNamespace"),
    "mapping proxy": (lambda x: MappingProxyType({"a": x}), "mappingproxy"),
    "user dict": (lambda x: UserDict({"a": x}), "UserDict"),
    "user list": (lambda x: UserList([x]), "UserList"),
    "set of a tuple": (lambda x: {("a", (x,))}, "set"),
    "generator": (waiting, "generator"),
    "generator expression": (lambda x: (one for one in [x]), "generator"),
    "iterator": (lambda x: iter([x]), "list_iterator"),
    "map": (lambda x: map(str, [x]), "map"),
    "values of a dict": (lambda x: {"a": x}.values(), "dict_values"),
    "slice": (lambda x: slice(x, None), "slice"),
    "method of a list": (lambda x: [x].append, "builtin_function_or_method"),
    "static method": (lambda x: staticmethod(closure(x)), "staticmethod"),
    "member of an enumeration": (enumerated, "Choice"),
    "attribute of a list": (lambda x: with_more(ListWithMore(), x), "ListWithMore"),
    "attribute of a text": (lambda x: with_more(TextWithMore(), x), "TextWithMore"),
    "attribute of a class": (with_class_attribute, "type"),
    "attribute of the class of an object": (lambda x: with_class_attribute(x)(), "Shared"),
    "foreign in foreign": (lambda x: Foreign(Foreign(closure(x))), "Foreign"),
}
each_place = pytest.mark.parametrize("place", PLACES)


def refusal(holder: str, held: str) -> str:
    return (
        rf"^model: field held: a {holder} hides a {held}, which would never be trained; "
        r"put it into a field of its own, a list, a tuple or a dict$"
    )


@each_place
@pytest.mark.parametrize(
    ("hidden", "name"),
    [
        (HIDDEN, "NpArray"),
        (mx.State(HIDDEN), "State"),
        (LAYER, "Linear"),
        (CPU.labels(np.array([1])), "Labels"),
        (HIDDEN > 0.0, "Mask"),
    ],
    ids=["tensor", "state", "layer", "labels", "mask"],
)
def test_a_tensor_that_is_hidden_is_refused_by_name(place: str, hidden: object, name: str) -> None:
    make, holder = PLACES[place]
    model = Holder(numbers(1), make(hidden))
    with pytest.raises(ModuleError, match=refusal(holder, name)):
        model.parameters()
    with pytest.raises(ModuleError, match=f"hides a {name}"):
        model.map(mx.variable)


@each_place
def test_the_same_places_may_hold_what_is_no_tensor(place: str) -> None:
    harmless = PLACES[place][0]("text")
    assert list(Holder(numbers(1), harmless).named_parameters()) == ["weight"]


def test_a_setting_is_refused_again_when_asked_again() -> None:
    model = Holder(numbers(1), closure(HIDDEN))
    for _ in range(3):
        with pytest.raises(ModuleError):
            model.parameters()


def test_the_path_of_a_setting_deep_in_the_model_is_named() -> None:
    model = Holder(numbers(1), [Gate(numbers(1)), {"a": ({HIDDEN},)}])
    with pytest.raises(ModuleError, match=r"^model: field held\[1\]\['a'\]\[0\]: a set hides a NpArray"):
        model.parameters()


def test_an_ndarray_is_refused_with_the_two_ways_to_bring_it_in() -> None:
    text = (
        r"^model: field held: an ndarray is neither a parameter nor state; bring it in with "
        r"like\.from_host\(array\), and wrap it in State\(\.\.\.\) if it is not trained$"
    )
    with pytest.raises(ModuleError, match=text):
        Holder(numbers(1), np.zeros(3)).parameters()


def test_a_module_that_is_no_dataclass_is_told_to_become_one() -> None:
    class Plain(nn.Module[Array]):
        def __init__(self) -> None:
            self.weight = HIDDEN

        def forward(self, x: Array) -> Array:
            return x * self.weight

    text = r"hides a NpArray, which would never be trained; make Plain a dataclass: @dataclass\(frozen=True\)$"
    with pytest.raises(ModuleError, match=r"^model: a Plain " + text):
        Plain().parameters()
    with pytest.raises(ModuleError, match=r"^model: field held: a Plain " + text):
        Holder(numbers(1), Plain()).parameters()


def test_a_layer_of_ones_own_without_tensors_may_be_no_dataclass() -> None:
    class Double:
        def forward(self, x: Array, mode: nn.Mode, /) -> Array:
            return x * 2.0

    model = nn.Sequential[Array](Double(), Double())
    assert model.parameters() == ()
    assert model.forward(CPU.ones((1,)), mx.Eval()).item() == 4.0


def test_functions_that_refer_to_themselves_and_cells_not_bound_yet_are_searched() -> None:
    def countdown(n: int) -> int:
        return countdown(n - 1) if n else 0

    def early() -> object:
        return later

    assert Holder(numbers(1), [countdown, early]).parameters()
    later = 1


def test_objects_that_refer_to_each_other_are_searched_once() -> None:
    one, other = Foreign(None), Foreign(None)
    one._inside, other._inside = other, [one, {"other": other}]
    assert Holder(numbers(1), one).parameters()


def test_properties_of_foreign_objects_are_not_run() -> None:
    @dataclass
    class Lazy:
        loaded: bool = False

        @property
        def weight(self) -> Array:
            raise AssertionError("the search has run a property")

    assert Holder(numbers(1), Foreign(Lazy())).parameters()


def test_a_tensor_among_the_keys_of_a_dict_is_refused() -> None:
    text = r"^model: field held: a key of a dict hides a NpArray, which would never be trained; put it into a "
    for keys in ({HIDDEN: 1}, {("a", HIDDEN): 1}):
        with pytest.raises(ModuleError, match=text):
            Holder(numbers(1), keys).parameters()
    assert Holder(numbers(1), {("a", 1): 1, None: 2}).parameters()


def test_a_tensor_that_a_class_of_models_shares_is_refused() -> None:
    @dataclass(frozen=True)
    class Scaled(nn.Module[Array]):
        weight: Array
        start: Array = HIDDEN
        scale: ClassVar[Array] = HIDDEN

    @dataclass(frozen=True)
    class Heir(Scaled):
        more: Array = HIDDEN

    @dataclass(frozen=True)
    class Defaults(nn.Module[Array]):
        weight: Array
        start: Array = HIDDEN
        names: ClassVar[tuple[str, ...]] = ("a", "b")

    text = (
        r"^model: {}\.scale: an attribute of the class holds a NpArray, which would never be trained or go where the "
        r"model goes; make it a field, a State if it is not trained$"
    )
    for _ in range(2):
        with pytest.raises(ModuleError, match=text.format("Scaled")):
            Scaled(numbers(1)).parameters()
        with pytest.raises(ModuleError, match=text.format("Heir")):
            Heir(numbers(1)).parameters()
    assert len(Defaults(numbers(1)).parameters()) == 2


def test_a_model_nested_deeper_than_python_calls_is_refused_with_advice() -> None:
    model: Any = line(2, 2)
    for _ in range(2 * sys.getrecursionlimit()):
        model = nn.Sequential(model)
    endless: Any = Holder(numbers(1), [])
    endless.held.append(endless.held)
    text = (
        r"^model: {}: its parts are nested deeper than the \d+ calls that Python makes within each other, or hold "
        r"themselves: put the parts of a chain into one list or tuple$"
    )
    for one, name in ((model, "Sequential"), (endless, "Holder")):
        for use in (
            lambda one: one.parameters(),
            lambda one: one.map(mx.variable),
            lambda one: one.summary(),
            lambda one: mx.Sgd(lr=0.1).init(one),
        ):
            with pytest.raises(ModuleError, match=text.format(name)):
                use(one)
