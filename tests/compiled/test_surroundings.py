"""What a step reads from outside is found by its bytecode, and nothing else is taken for it."""

import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType

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
    assert names.of_variable("sys") == frozenset({("flags", "optimize")})
    assert names.of_variable("setting") is None


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
