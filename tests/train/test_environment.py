"""The number of threads that a run's bits depend on."""

import os

import pytest

from moonxi.train import threads


@pytest.mark.parametrize("name", ["OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"])
def test_the_number_of_threads_is_that_of_the_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for other in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "3")
    assert threads() == 3


@pytest.mark.parametrize("value", ["", "0", "many"])
def test_a_senseless_setting_counts_as_none(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, value)
    assert 1 <= threads() <= (os.cpu_count() or 1)
