"""The right twins of the must-fail suite run: what mypy is told to accept also works."""

from collections.abc import Callable

import pytest

import moonxi as mx
from moonxi.errors import DeviceError
from tests.typecheck.programs import FILES, functions

KINDS = ("right_", "impossible_")
ALL = [(f"{file.stem}-{name}", run) for file in FILES for name, run in functions(file) if name.startswith(KINDS)]
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
        for file in FILES
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("def wrong_")
    }
    assert len(wrong) > 100
    right = {name for name, _ in ALL if "-impossible_" not in name}
    assert wrong == {name.replace("-right_gpu_", "-").replace("-right_", "-") for name in right}
