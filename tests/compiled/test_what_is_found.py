"""What a step may read in a way that its bytecode does not show at first sight: a change makes another graph."""

import enum
import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

import moonxi as mx
from moonxi.errors import CompileError, OptionError

type Host = mx.NpArray[mx.F32]

CPU = mx.numpy()
X = CPU.ones((2,))
rate = [1.0]
by_name = 1.0
MISSING = object()


@dataclass
class Config:
    """Settings with defaults that are made anew."""

    factor: float = 1.0
    steps: list[float] = field(default_factory=lambda: [1.0])
    more: dict[str, float] = field(default_factory=dict)


class Base:
    """Settings of a class that are no plain values, or not at first."""

    late: ClassVar[float | None] = None
    table: ClassVar[dict[str, float]] = {"a": 1.0}
    steps: ClassVar[list[float]] = [1.0]
    cache: ClassVar[dict[str, Host]] = {"a": X}
    """Nobody reads it."""


@dataclass
class Derived(Base):
    """An argument."""

    factor: float = 1.0


class Act(enum.Enum):
    """An enumeration with a method."""

    PLAIN = 1
    OTHER = 2

    def apply(self, x: Host) -> Host:
        return x * rate[0]


class Kind:
    """Has a member of an enumeration as a setting."""

    act: ClassVar[Act] = Act.PLAIN


class Number(int):
    """A number with a method."""

    def scaled(self, x: Host) -> Host:
        return x * rate[0] * int(self)


class Pair(NamedTuple):
    """A tuple with a method."""

    x: Host
    factor: float

    def scaled(self) -> Host:
        return self.x * rate[0] * self.factor


def made(step: Callable[..., Host]) -> Callable[..., Host]:
    return mx.compile(step)


def first(compiled: Callable[..., Host], *arguments: object) -> float:
    return float(compiled(*arguments).to_host()[0])


def test_a_dataclass_with_made_defaults_goes_in_and_is_read_from_outside() -> None:
    config = Config()
    outside = made(lambda x: x * config.factor * config.steps[0] * config.more.get("a", 1.0))
    inside = made(lambda x, config: x * config.factor * config.steps[0] * config.more.get("a", 1.0))
    changes: list[Callable[[], None]] = [
        lambda: None,
        lambda: setattr(config, "factor", 2.0),
        lambda: config.steps.append(config.steps.pop() + 2.0),
        lambda: config.more.update(a=5.0),
    ]
    for change in changes:
        change()
        expected = config.factor * config.steps[0] * config.more.get("a", 1.0)
        assert first(outside, X) == first(inside, X, config) == expected


def test_a_sentinel_is_a_value() -> None:
    def step(x: Host, factor: object = MISSING) -> Host:
        return x if factor is MISSING else x * 2.0

    compiled = mx.compile(step)
    assert [first(compiled, X), first(compiled, X, 1), first(compiled, X)] == [1.0, 2.0, 1.0]


def test_lists_dicts_and_none_in_a_class_are_compared_if_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(x: Host, one: Derived) -> Host:
        return x * (1.0 if one.late is None else one.late) * one.table["a"] * one.steps[0]

    compiled, one = mx.compile(step), Derived()
    assert first(compiled, X, one) == 1.0
    monkeypatch.setitem(Base.table, "a", 2.0)
    assert first(compiled, X, one) == 2.0
    monkeypatch.setattr(Base, "steps", [3.0])
    assert first(compiled, X, one) == 6.0
    Base.steps[0] = 5.0
    assert first(compiled, X, one) == 10.0
    monkeypatch.setattr(Base, "late", 7.0)
    assert first(compiled, X, one) == 70.0


def test_a_tensor_in_a_class_is_refused_if_it_is_read() -> None:
    with pytest.raises(CompileError, match=r"Base\.cache is or holds a tensor"):
        made(lambda x, one: x * one.cache["a"])(X, Derived())


def test_a_member_of_an_enumeration_as_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = made(lambda x: x * float(Kind.act.value))
    assert first(compiled, X) == 1.0
    monkeypatch.setattr(Kind, "act", Act.OTHER)
    assert first(compiled, X) == 2.0


def test_methods_of_enumerations_numbers_and_named_tuples(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [
        (made(lambda x, act: act.apply(x)), (X, Act.PLAIN)),
        (made(lambda x, number: number.scaled(x)), (X, Number(1))),
        (made(lambda pair: pair.scaled()), (Pair(X, 1.0),)),
    ]
    for value in (1.0, 2.0, 3.0):
        monkeypatch.setattr(sys.modules[__name__], "rate", [value])
        assert [first(compiled, *arguments) for compiled, arguments in steps] == [value] * 3


def test_what_is_read_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("users_names")
    monkeypatch.setattr(module, "factor", 1.0, raising=False)
    steps = [
        made(lambda x: x * getattr(module, "factor")),  # noqa: B009  # that is what is tested
        made(lambda x: x * module.__dict__["factor"]),
        made(lambda x: x * vars(module)["factor"]),
        made(lambda x: x * globals()["by_name"]),
    ]
    for value in (1.0, 2.0, 3.0):
        monkeypatch.setattr(module, "factor", value)
        monkeypatch.setattr(sys.modules[__name__], "by_name", value)
        assert [first(compiled, X) for compiled in steps] == [value] * 4


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda x: x * eval("by_name"), "calls eval: what that reads cannot be looked up"),
        (lambda x: x * sys.modules[__name__].by_name, "the step reads the table of modules"),
    ],
)
def test_what_cannot_be_looked_up_is_refused(step: Callable[..., Host], message: str) -> None:
    with pytest.raises(CompileError, match=message):
        mx.compile(step)(X)


def test_code_that_is_exchanged_in_place_is_traced_anew() -> None:
    """As notebooks do it that load edited modules again."""

    def scaled(x: Host) -> Host:
        return x * 2.0

    def edited(x: Host) -> Host:
        return x * 3.0

    compiled = made(lambda x: scaled(x))
    assert first(compiled, X) == 2.0
    scaled.__code__ = edited.__code__
    assert first(compiled, X) == 3.0
    assert mx.compile_report(compiled).traces[1].because.startswith("the code of ")


def test_an_error_that_is_caught_is_an_error() -> None:
    def step(x: Host) -> Host:
        try:
            return x * x.sum().item()
        except CompileError:
            return x

    with pytest.raises(CompileError, match=r"item: .*the step needs the elements"):
        mx.compile(step)(X)


def test_a_partial_with_names_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(x: Host, factor: float, *, more: float = 1.0) -> Host:
        return x * factor * more * rate[0]

    compiled = mx.compile(functools.partial(step, more=3.0))
    assert [first(compiled, X, 2.0), first(compiled, X, 2.0), float(compiled(X, 2.0, more=1.0).to_host()[0])] == [
        6,
        6,
        2,
    ]
    monkeypatch.setattr(sys.modules[__name__], "rate", [2.0])
    assert first(compiled, X, 2.0) == 12.0


def test_numbers_of_numpy_and_ellipses_are_values() -> None:
    compiled = made(lambda x, size, at: x.reshape((size, -1))[at])
    for size in (np.int64(1), np.int32(2)):
        assert compiled(X, size, (..., 0)).shape == (int(size),)
    nan = made(lambda x, value: x)
    for _ in range(3):
        nan(X, np.float32("nan"))
    assert len(mx.compile_report(nan).traces) == 1


def test_messages_have_the_names_of_arguments() -> None:
    step = made(lambda x, data, *, other=None: x)
    with pytest.raises(CompileError, match=r"argument data\['a'\] is of class ndarray: .*x\.from_host\(array\)"):
        step(X, {"a": np.ones(2)})
    with pytest.raises(CompileError, match="argument other is of class set"):
        step(X, 1, other={1})
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(CompileError, match="holds itself"):
        step(X, endless)
    with pytest.raises(CompileError, match="there is no tensor among the arguments"):
        made(lambda: X)()
    with pytest.raises(CompileError, match="reads it from outside, and from call to call it has no value"):
        made(lambda x: x * len(Unlike.one))(X)


class Unlike:
    """Has no value to compare."""

    one: ClassVar[set[int]] = {1}


def test_what_gives_its_results_piece_by_piece_is_refused_at_once() -> None:
    async def later(x: Host) -> Host:
        return x

    with pytest.raises(OptionError, match="piece by piece"):
        mx.compile(later)

    def one_by_one(x: Host) -> Iterator[Host]:
        yield x

    with pytest.raises(OptionError, match="piece by piece"):
        mx.compile(one_by_one)
