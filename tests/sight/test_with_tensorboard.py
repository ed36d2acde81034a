"""Event files, read back by the real TensorBoard."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from moonxi.sight import TensorBoardLog
from moonxi.train import Checkpoints
from tests.sight.runs import LOADER
from tests.train.test_trainer import new_trainer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("tensorboard") is None, reason="the package tensorboard is not installed"),
]

# In a process of its own: the package warns of many things, and warnings are errors here.
READER = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
found = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0}).Reload()
print(json.dumps({tag: [[e.step, e.value] for e in found.Scalars(tag)] for tag in found.Tags()["scalars"]}))
"""


def read(folder: Path) -> dict[str, list[tuple[int, float]]]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READER, folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {tag: [(step, value) for step, value in points] for tag, points in json.loads(done.stdout).items()}


def test_tensorboard_reads_every_number(tmp_path: Path) -> None:
    history = new_trainer().fit(LOADER, epochs=3, test=LOADER, progress=False, callbacks=[TensorBoardLog(tmp_path)])
    found = read(tmp_path)
    assert found.keys() == {
        "step/loss",
        "step/accuracy",
        "train/loss",
        "train/accuracy",
        "test/loss",
        "test/accuracy",
        "samples_per_second",
    }
    assert [step for step, _ in found["step/loss"]] == list(range(1, 22))
    for kind in ("train", "test"):
        for name in ("loss", "accuracy"):
            expected = [(one.steps, getattr(one, kind)[name]) for one in history.epochs]
            assert [step for step, _ in found[f"{kind}/{name}"]] == [step for step, _ in expected]
            assert [value for _, value in found[f"{kind}/{name}"]] == pytest.approx([value for _, value in expected])


def test_nothing_is_there_twice_after_a_break(tmp_path: Path) -> None:
    """The first run goes further than its last checkpoint, as one that is killed does."""
    log = TensorBoardLog(tmp_path / "log")
    checkpoints = Checkpoints(tmp_path / "run", every=5)
    first = new_trainer()
    first.fit(LOADER, epochs=2, progress=False, callbacks=[log], checkpoints=checkpoints)
    newest = max((tmp_path / "run").glob("*.json"))
    newest.unlink()  # of step 14: what is left is of step 10
    again = new_trainer()
    again.fit(LOADER, epochs=3, progress=False, callbacks=[log], checkpoints=checkpoints, resume=True)
    found = read(tmp_path / "log")
    assert [step for step, _ in found["step/loss"]] == list(range(1, 22))
    assert [step for step, _ in found["train/loss"]] == [7, 14, 21]


def test_a_file_that_a_kill_cut_off_does_not_hide_the_next(tmp_path: Path) -> None:
    for epochs in (1, 2):
        new_trainer().fit(
            LOADER,
            epochs=epochs,
            progress=False,
            callbacks=[TensorBoardLog(tmp_path / "log")],
            checkpoints=Checkpoints(tmp_path / "run"),
            resume=True,
        )
        if epochs == 1:
            [first] = (tmp_path / "log").iterdir()
            first.write_bytes(first.read_bytes()[:-3])  # within the record of the epoch
    found = read(tmp_path / "log")
    assert [step for step, _ in found["step/loss"]] == list(range(1, 15))
    assert [step for step, _ in found["train/loss"]] == [14]
