"""A plugin that fails, or meets a mypy that it does not know, leaves mypy at work."""

import pytest

from moonxi.mypy_plugin import plugin
from moonxi.mypy_plugin.hooks import MapOnly, MoonxiPlugin
from tests.mypy_plugin.checking import Project

PROGRAM = """
from dataclasses import dataclass

import moonxi as mx
from moonxi import F32, NpArray, nn


def joined[T: mx.Tensor](x: T, y: T) -> T:
    return x + y


def keep(x: mx.Tensor) -> None: ...


@dataclass(frozen=True)
class Net[T: mx.Tensor](nn.Module[T]):
    weight: T


def run(host: NpArray[F32]) -> str:
    joined(host, host)
    return joined(host, host.exp())
"""
MISTAKE = "program.py:21: [return-value]"
BREAKING = """
from mypy.plugin import Plugin
from moonxi.mypy_plugin import annotations, conformance, hooks, messages, mixing


def fail(*arguments: object, **options: object) -> None:
    raise RuntimeError("broken for a test")


PLACES = fail


def plugin(version: str) -> type[Plugin]:
    return Plugin
"""
PLACES = {
    "where mypy enters": "hooks.checked = hooks.add_map = annotations._annotations = conformance._loosen",
    "which names are met": "hooks.is_trait = hooks.is_module = conformance.Conformance.learn",
    "inside": "mixing.meetings = messages.value_of_trait",
}


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_failure_inside_does_not_stop_mypy(project: Project, place: str) -> None:
    project.configure(plugins="plugin_breaking.py, moonxi.mypy_plugin", raises=False)
    project.write(plugin_breaking=BREAKING.replace("PLACES", PLACES[place]), program=PROGRAM)
    report = project.check()
    assert report.brief == [MISTAKE]
    assert report.stderr == ""


@pytest.mark.slow
def test_a_failure_is_shown_to_who_asks_for_tracebacks(project: Project) -> None:
    project.configure(plugins="plugin_breaking.py, moonxi.mypy_plugin", raises=False)
    project.write(plugin_breaking=BREAKING.replace("PLACES", "hooks.checked"), program=PROGRAM)
    done = project.run("--show-traceback")
    assert "RuntimeError: broken for a test" in done.stdout + done.stderr


@pytest.mark.slow
def test_a_failure_stops_mypy_where_it_is_to_raise_exceptions(project: Project) -> None:
    project.configure(plugins="plugin_breaking.py, moonxi.mypy_plugin")
    project.write(plugin_breaking=BREAKING.replace("PLACES", "hooks.checked"), program=PROGRAM)
    done = project.run()
    assert done.returncode == 2
    assert "RuntimeError: broken for a test" in done.stdout + done.stderr


@pytest.mark.parametrize("version", ["2.4.0", "2.4.1", "2.4.1+dev.0123abc"])
def test_a_release_that_was_tested_is_checked_without_a_word(version: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert plugin(version) is MoonxiPlugin
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("version", ["2.3.9", "2.5.0", "2.40.0", "3.0.0", "12.4.1"])
def test_a_release_that_was_not_tested_gets_one_note(version: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert plugin(version) is MapOnly
    assert capsys.readouterr().err == (
        f"moonxi.mypy_plugin: mypy {version}: tested with mypy 2.4 only: tensor-mix and tensor-shape are not checked\n"
    )


UNTESTED = """
from mypy.plugin import Plugin
import moonxi.mypy_plugin


moonxi.mypy_plugin.TESTED = ("0.1",)


def plugin(version: str) -> type[Plugin]:
    return Plugin
"""
MIXING = """
from dataclasses import dataclass

import moonxi as mx
from moonxi import F32, F64, GpuTensor, NpArray, nn


def joined[T: mx.Tensor](x: T, y: T) -> T:
    return x + y


@dataclass(frozen=True)
class Net[T: mx.Tensor](nn.Module[T]):
    weight: T


def run(host: NpArray[F32], device: GpuTensor[F32], net: Net[NpArray[F32]]) -> None:
    joined(host, device)
    reveal_type(net.map(lambda x: device))
"""


@pytest.mark.slow
def test_on_an_untested_mypy_programs_are_checked_without_the_code(project: Project) -> None:
    project.configure("disable_error_code = tensor-mix", plugins="plugin_untested.py, moonxi.mypy_plugin")
    project.write(plugin_untested=UNTESTED, program=MIXING, more=MIXING)
    report = project.check()
    assert report.errors == []
    assert set(report.notes) == {
        f'{name}.py:18: Revealed type is "{name}.Net[moonxi.backends.cupy.array.GpuTensor[moonxi.dtypes.F32]]"'
        for name in ("more", "program")
    }
    assert report.stderr.count("\n") == 1
    assert "tested with mypy 0.1 only: tensor-mix and tensor-shape are not checked" in report.stderr
