"""The right twins of the must-fail suite run: what mypy is told to accept also works."""

import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import FunctionType

import pytest

import moonxi as mx
from moonxi.errors import DeviceError
from tests.examples.program import CHECKOUT

CASES = CHECKOUT / "typecheck_tests" / "cases"


def twins(file: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """The twins of a file, by name."""
    spec = spec_from_file_location(f"typecheck_tests.cases.{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their own module up
    spec.loader.exec_module(module)
    for name, value in vars(module).items():
        if name.startswith("right_") and isinstance(value, FunctionType):
            yield name, value


ALL = [(f"{file.stem}-{name}", run) for file in sorted(CASES.glob("*.py")) for name, run in twins(file)]
ON_HOST = [pytest.param(run, id=name) for name, run in ALL if "-right_gpu_" not in name]
ON_DEVICE = [pytest.param(run, id=name) for name, run in ALL if "-right_gpu_" in name]


@pytest.fixture
def device() -> None:
    try:
        mx.gpu()
    except DeviceError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("twin", ON_HOST)
def test_the_right_twin_runs(twin: Callable[[], None]) -> None:
    twin()


@pytest.mark.gpu
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("twin", ON_DEVICE)
def test_the_right_twin_runs_on_the_device(twin: Callable[[], None]) -> None:
    twin()


def test_no_case_is_without_a_twin() -> None:
    wrong = {
        f"{file.stem}-{line.removeprefix('def wrong_').partition('(')[0].partition('[')[0]}"
        for file in CASES.glob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("def wrong_")
    }
    assert len(wrong) > 100
    assert wrong == {name.replace("-right_gpu_", "-").replace("-right_", "-") for name, _ in ALL}
