"""What a step reads from outside is found by its bytecode, and nothing else is taken for it."""

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial, singledispatch, wraps
from os import getenv
from types import ModuleType
from typing import ClassVar

import pytest

import moonxi as mx
from moonxi.compiled.names import names_in
from moonxi.errors import CompileError

type Host = mx.NpArray[mx.F32]

CPU = mx.numpy()
shape = CPU.ones((2,))  # a tensor with the name of an attribute
setting = 2.0
written: float


def test_a_global_with_the_name_of_an_attribute_is_not_read() -> None:
    def step(x: Host) -> Host:
        return x.reshape((*x.shape, 1))

    assert mx.compile(step)(CPU.ones((2,))).shape == (2, 1)


def test_a_global_is_found_where_an_attribute_has_its_name_too() -> None:
    def step(x: Host) -> Host:
        return x.reshape(x.shape) * shape

    with pytest.raises(CompileError, match=r"shape of .* is or holds a tensor"):
        mx.compile(step)(CPU.ones((2,)))


def test_names_are_globals_attributes_and_chains() -> None:
    def step(x: Host) -> float:
        def inner() -> float:
            return setting

        return inner() + sys.flags.optimize + x.shape[0]

    names = names_in(step.__code__)
    assert names.globals == {"setting", "sys", "float"}
    assert names.attributes == {"flags", "optimize", "shape"}
    assert names.chains_of("sys") == frozenset({("flags", "optimize")})
    assert names.hands_on("setting")
    assert not names.hands_on("sys")


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the user, with a number, a tensor, and a module within it."""
    module, inner = ModuleType("users_config"), ModuleType("users_config.inner")
    vars(module).update(rate=2.0, sum=CPU.ones(()), inner=inner)
    vars(inner).update(rate=5.0)
    monkeypatch.setitem(sys.modules, "users_config", module)
    return module


def test_what_is_read_of_a_module_belongs_to_the_graph_and_the_rest_does_not(config: ModuleType) -> None:
    def step(x: Host) -> Host:
        rate: float = config.rate * config.inner.rate
        return x.sum() * rate

    compiled = mx.compile(step)
    assert compiled(CPU.ones(())).item() == 10.0
    vars(config).update(rate=3.0, unused=1.0)
    assert compiled(CPU.ones(())).item() == 15.0
    vars(config.inner).update(rate=1.0)
    assert compiled(CPU.ones(())).item() == 3.0
    vars(config).update(sum=CPU.zeros(()))
    assert compiled(CPU.ones(())).item() == 3.0
    assert len(mx.compile_report(compiled).traces) == 3


def test_a_tensor_of_a_module_is_refused(config: ModuleType) -> None:
    def step(x: Host) -> Host:
        result: Host = x * config.sum
        return result

    with pytest.raises(CompileError, match=r"config\.sum is or holds a tensor that the step reads from outside"):
        mx.compile(step)(CPU.ones(()))


def test_of_a_module_that_is_handed_on_every_value_counts(config: ModuleType) -> None:
    def step(x: Host) -> Host:
        known = config
        result: Host = x * known.rate
        return result

    compiled = mx.compile(step)
    assert compiled(CPU.ones(())).item() == 2.0
    vars(config).update(rate=3.0)
    assert compiled(CPU.ones(())).item() == 3.0


def test_a_step_that_only_writes_a_global_is_refused_by_its_name() -> None:
    def step(x: Host) -> Host:
        global written
        written = 1.0
        return x * 2.0

    with pytest.raises(CompileError, match="the step changes written of"):
        mx.compile(step)(CPU.ones(()))


def test_a_partial_and_a_method_are_arguments_by_their_parts() -> None:
    def power(exponent: float, x: Host) -> Host:
        return x**exponent

    def step(f: Callable[[Host], Host], x: Host) -> Host:
        return f(x)

    compiled = mx.compile(step)
    x = CPU.full((), 3.0)
    assert compiled(partial(power, 2.0), x).item() == pytest.approx(9.0)
    assert compiled(partial(power, 2.0), x).item() == pytest.approx(9.0)
    assert compiled(partial(power, 3.0), x).item() == pytest.approx(27.0)
    assert len(mx.compile_report(compiled).traces) == 2

    layers = [mx.nn.Linear(CPU.full((1, 1), weight), None) for weight in (2.0, 5.0)]
    row = x.reshape((1, 1))
    assert [compiled(layer.forward, row).item() for layer in layers] == [6.0, 15.0]
    assert len(mx.compile_report(compiled).traces) == 3


class Config:
    """Settings as people write them down."""

    rate = 2.0
    text = "unused"


def tripled(x: Host) -> Host:
    return x * 3.0


def test_a_setting_of_a_class_belongs_to_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(x: Host) -> Host:
        return x * Config.rate

    compiled = mx.compile(step)
    assert compiled(CPU.ones(())).item() == 2.0
    monkeypatch.setattr(Config, "rate", 5.0)
    assert compiled(CPU.ones(())).item() == 5.0


@dataclass(frozen=True)
class Layer:
    """A layer with settings that are no fields."""

    weight: Host
    factor: ClassVar[float] = 2.0

    @property
    def doubled(self) -> Host:
        return self.weight * setting

    @cached_property
    def again(self) -> Host:
        return self.weight * setting

    def forward(self, x: Host) -> Host:
        return x * self.doubled * self.factor


def test_what_properties_and_classes_of_an_argument_read_belongs_to_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(layer: Layer, x: Host) -> Host:
        return layer.forward(x)

    compiled = mx.compile(step)
    layer = Layer(CPU.ones(()))
    assert compiled(layer, CPU.ones(())).item() == 4.0
    monkeypatch.setattr(Layer, "factor", 3.0)
    assert compiled(layer, CPU.ones(())).item() == 6.0
    monkeypatch.setitem(globals(), "setting", 10.0)
    assert compiled(layer, CPU.ones(())).item() == 30.0


def scaling(function: Callable[[Host], Host]) -> Callable[[Host], Host]:
    @wraps(function)
    def scaled(x: Host) -> Host:
        return function(x) * setting

    return scaled


def test_what_a_wrapper_reads_belongs_to_the_graph_as_well_as_what_it_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    rate = 3.0

    @scaling
    def inner(x: Host) -> Host:
        return x * rate

    def step(x: Host) -> Host:
        return inner(x)

    compiled = mx.compile(step)
    assert compiled(CPU.ones(())).item() == 6.0
    rate = 4.0
    assert compiled(CPU.ones(())).item() == 8.0
    monkeypatch.setitem(globals(), "setting", 5.0)
    assert compiled(CPU.ones(())).item() == 20.0


def test_writing_to_a_module_a_class_or_a_function_is_found(config: ModuleType) -> None:
    def module(x: Host) -> Host:
        vars(config)["seen"] = 1
        config.last = 1.0  # type: ignore[attr-defined]  # a module takes any
        return x * 2.0

    def cls(x: Host) -> Host:
        Config.last = 1.0  # type: ignore[attr-defined]  # that is the mistake
        return x * 2.0

    def function(x: Host) -> Host:
        tripled.calls = 1  # type: ignore[attr-defined]  # that is the mistake
        return tripled(x)

    for step, name in ((module, "config.last"), (cls, "Config.last"), (function, "tripled.calls")):
        with pytest.raises(CompileError, match=re.escape(f"the step changes {name}")):
            mx.compile(step)(CPU.ones(()))


def test_an_import_within_a_step_is_refused() -> None:
    def step(x: Host) -> Host:
        from tests.compiled.device_array import Repeated

        return x * float(Repeated.bytes)

    with pytest.raises(
        CompileError, match=r"step imports tests\.compiled\.device_array: a replay would not read it again"
    ):
        mx.compile(step)(CPU.ones((2,)))


class Rates:
    """A class that is an argument, and is read."""

    rate = 2.0

    @classmethod
    @mx.compile
    def scaled(cls, x: Host) -> Host:
        return x * cls.rate


def test_the_settings_of_a_class_that_is_an_argument_belong_to_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    @mx.compile
    def step(x: Host, settings: type[Rates]) -> Host:
        return x * settings.rate

    for rate in (2.0, 5.0):
        monkeypatch.setattr(Rates, "rate", rate)
        assert step(CPU.ones((1,)), Rates).item() == rate
        assert Rates.scaled(CPU.ones((1,))).item() == rate


def test_a_method_that_is_replaced_is_traced_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Scale:
        by: float

        def of(self) -> float:
            return self.by

        @staticmethod
        def more() -> float:
            return 0.0

        @property
        def half(self) -> float:
            return self.by / 2.0

    scale = Scale(2.0)

    @mx.compile
    def step(x: Host) -> Host:
        return x * (scale.of() + scale.half + Scale.more())

    x = CPU.ones((1,))
    assert step(x).item() == 3.0
    monkeypatch.setattr(Scale, "of", lambda self: 10.0)
    assert step(x).item() == 11.0
    monkeypatch.setattr(Scale, "half", property(lambda self: 20.0))
    assert step(x).item() == 30.0
    monkeypatch.setattr(Scale, "more", staticmethod(lambda: 300.0))
    assert step(x).item() == 330.0


def test_a_function_that_is_registered_later_is_traced_anew() -> None:
    @singledispatch
    def factor(kind: object) -> float:
        return 2.0

    @mx.compile
    def step(x: Host) -> Host:
        return x * factor(1)

    assert step(CPU.ones((1,))).item() == 2.0
    factor.register(int, lambda kind: 3.0)
    assert step(CPU.ones((1,))).item() == 3.0
    assert mx.compile_report(step).traces[-1].because == "registrations of factor changed"


READ = getenv


@pytest.mark.parametrize(
    ("read", "what"),
    [
        (lambda: os.environ["HOME"], "os.environ: the step reads the environment"),
        (lambda: os.getenv("HOME"), "os.getenv: the step reads the environment"),
        (lambda: READ("HOME"), "READ of .*: the step reads the environment"),
        (lambda: sys.argv[0], "sys.argv: the step reads the command line"),
    ],
)
def test_what_belongs_to_the_process_is_refused(read: Callable[[], str], what: str) -> None:
    def step(x: Host) -> Host:
        return x * float(len(read()))

    with pytest.raises(CompileError, match=f"{what}.*pass what it says as an argument"):
        mx.compile(step)(CPU.ones((1,)))
