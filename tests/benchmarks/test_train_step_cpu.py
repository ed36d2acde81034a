"""The benchmark of compiled steps runs, and what it compares trains the same. No times are tested."""

import json
import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def test_the_smallest_run_measures_every_system(tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.train_step_cpu", "--rounds", "2", "--steps", "2"),
            *("--threads", "1", "--json", str(file)),
        ],
        cwd=CHECKOUT,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(file.read_text())["rows"]
    assert {row["system"] for row in rows} == {"moonxi eager", "moonxi compiled", "NumPy by hand"}
    assert all(0.0 < row["ms_min"] <= row["ms_median"] <= row["ms_max"] for row in rows)
