"""The page on training: its programs run, one after the other, and a second time they resume."""

import re
import subprocess
import sys
from pathlib import Path

from tests.examples.program import CHECKOUT, environment

PAGE = (CHECKOUT / "docs" / "training.md").read_text(encoding="utf-8")
PROGRAM = "\n\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def run(folder: Path, program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_programs_of_training_md_run_and_a_second_time_resume(tmp_path: Path) -> None:
    out = run(tmp_path, PROGRAM)
    progress = ("epoch ", "resumed ", "the step is compiled: ")
    assert [line for line in out.splitlines() if not line.startswith(progress)] == [
        "3 epochs, 96 steps",
        "128 steps",
        "best: True",
        "10 steps were the budget",
        "8 steps from 32 batches",
        "frozen: True",
        "loss of the averages: True",
        "2 graphs: the last batch of an epoch is smaller",
        "(10,) 500 True",
        "by hand: True",
    ]
    assert "resumed from run/step-000000096.json: epoch 4, batch 0\n" in out
    assert (tmp_path / "log.csv").read_text().startswith("epoch,steps,train_loss,train_accuracy,test_loss,")
    again = run(tmp_path, PROGRAM)
    assert "resumed from run/step-000000128.json: epoch 4, the last, is done\n4 epochs, 128 steps\n" in again


def test_the_page_names_every_metric() -> None:
    from moonxi import metrics

    missing = [name for name in metrics.__all__ if name not in PAGE and name not in ("ClassAverage", "Metric")]
    assert missing == []
