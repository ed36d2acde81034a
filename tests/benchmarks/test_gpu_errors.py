"""The errors of each operation of a training step are measured, and are those of rounding."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks import gpu_errors
from moonxi.dtypes import F32
from tests.backends.on_gpu import ON_HOST, gpu_or_skip


@pytest.mark.gpu
def test_each_operation_is_off_by_rounding_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu_or_skip(F32)()
    if ON_HOST:
        monkeypatch.setattr(gpu_errors, "versions", dict)
    file = tmp_path / "errors.json"
    monkeypatch.setattr(sys, "argv", ["gpu_errors", "--batch", "2", "--precisions", "fp32", "--json", str(file)])
    gpu_errors.main()
    found = json.loads(file.read_text())["fp32"]
    assert found["loss"]["moonxi"] == pytest.approx(found["loss"]["float64"], rel=0.02)
    operations = found["operations"]
    names = {row["operation"] for row in operations}
    assert names > {"conv2d", "conv2d_input_grad", "conv2d_weight_grad", "batch_norm"}
    assert {row["pass"] for row in operations} == {"forward", "input gradient", "weight gradient"}
    assert max(row["relative_error"] for row in operations) < 1e-5
