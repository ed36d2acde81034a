"""The benchmark of training steps on the GPU runs, and what it compares trains the same. No times are tested."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import gpu_jax, mlp_moonxi, repeat_losses, train_step
from benchmarks.mlp import make_task
from moonxi.dtypes import F32
from tests.backends.on_gpu import ON_HOST, gpu_or_skip


def measured(folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> list[dict[str, Any]]:
    """The rows that the program writes for the MLP."""
    if ON_HOST:
        monkeypatch.setattr(train_step, "synchronize", lambda value=None: None)
        monkeypatch.setattr(train_step, "versions", dict)
    file = folder / "steps.json"
    given = ["--workloads", "mlp 64", "--precisions", "fp32", *options, "--json", str(file)]
    monkeypatch.setattr(sys, "argv", ["train_step", *given])
    train_step.main()
    rows: list[dict[str, Any]] = json.loads(file.read_text())["rows"]
    return rows


@pytest.mark.gpu
def test_every_system_of_moonxi_trains_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu_or_skip(F32)()
    own = [name for name in train_step.SYSTEMS if name.startswith("moonxi")]
    rows = {row["system"]: row for row in measured(tmp_path, monkeypatch, "--rounds", "2", "--systems", *own)}
    assert set(rows) == set(own)
    first = rows["moonxi eager"]["losses"]
    for name in "moonxi replay", "moonxi compiled":
        np.testing.assert_allclose(rows[name]["losses"], first, rtol=1e-5)
    assert rows["moonxi repeat"]["losses"][-1] < 0.1  # after 400 steps on 256 images


@pytest.mark.gpu
def test_many_steps_at_a_call_have_the_losses_of_single_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gpu_or_skip(F32)()
    file = tmp_path / "losses.json"
    monkeypatch.setattr(sys, "argv", ["repeat_losses", "--steps", "9", "--json", str(file)])
    repeat_losses.main()
    found = json.loads(file.read_text())
    assert len(set(found["eager"])) == 9
    np.testing.assert_array_equal(found["repeat"], found["compiled"])
    np.testing.assert_allclose(found["repeat"], found["eager"], rtol=1e-5)
    assert "repeat beside compiled: 9 of 9 equal, at most 0.0e+00 apart" in capsys.readouterr().out


@pytest.mark.gpu
def test_steps_without_each_pass_train_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu_or_skip(F32)()
    monkeypatch.setitem(train_step.COUNTS, "mlp 64", 2)
    first, *others = measured(tmp_path, monkeypatch, "--rounds", "1", "--passes")
    assert [row["system"] for row in others] == [f"moonxi without {one}" for one in train_step.ON_DEVICE]
    for row in others:
        np.testing.assert_allclose(row["losses"], first["losses"], rtol=1e-5)


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
@pytest.mark.filterwarnings("default")  # JAX's own, on machines without a GPU
def test_jax_trains_the_same() -> None:
    task = make_task()
    batches = len(task.images)
    own, other = mlp_moonxi.make_step(task), gpu_jax.step(task, "fp32")
    count = 2 * batches + 1
    losses = [float(own(number % batches).item()) for number in range(count)]
    np.testing.assert_allclose([float(other().item()) for _ in range(count)], losses, rtol=1e-5)
    assert float(gpu_jax.scan(task, "fp32", count)().item()) == pytest.approx(losses[-1], rel=1e-5)
