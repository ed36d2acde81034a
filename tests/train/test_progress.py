"""What a run shows while it goes on: a bar on a terminal, and lines elsewhere."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from moonxi.train.memory import memory_in_use
from tests.examples.program import environment

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals")

PROGRAM = """
from moonxi.data import DataLoader
from tests.train.test_trainer import dataset, new_trainer
new_trainer().fit(DataLoader(dataset(), batch_size=8), epochs=2)
"""


def shown_on_a_terminal() -> str:
    """What the program writes to a terminal of 200 columns, which is its standard error."""
    ours, theirs = pty.openpty()
    settings = {**environment(), "TERM": "xterm", "COLUMNS": "200", "LINES": "24"}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], env=settings, stdout=subprocess.PIPE, stderr=theirs):
        os.close(theirs)
        chunks: list[bytes] = []
        while True:
            try:
                chunk = os.read(ours, 4096)
            except OSError:  # so ends a terminal that nobody has open any more
                break
            if not chunk:
                break
            chunks.append(chunk)
    os.close(ours)
    return b"".join(chunks).decode()


def test_the_bar_has_the_steps_left_time_loss_metrics_speed_and_memory() -> None:
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown_on_a_terminal())
    assert re.search(
        r"epoch 1/2 .* \d/7 .* \d+:\d\d:\d\d +loss \d\.\d{4}  accuracy [01]\.\d{4}  [\d,]+ samples/s", text
    )
    assert re.search(r"samples/s +[\d,]+ MB", text) or not memory_in_use()
    assert "epoch 2/2" in text


def test_a_program_that_is_no_terminals_shows_no_bar() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert [line[:9] for line in done.stdout.splitlines()] == ["epoch 1/2", "epoch 2/2"]


def test_memory_is_said_in_megabytes_and_that_of_a_gpu_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = SimpleNamespace(used_bytes=lambda: 1_024_000_000)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(get_default_memory_pool=lambda: pool))
    assert re.fullmatch(r"([\d,]+ MB, )?GPU 1,024 MB", memory_in_use())
