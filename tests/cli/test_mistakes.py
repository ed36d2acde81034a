"""Mistakes at the command line: each has its exit status and is said in words, and none is a traceback."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from moonxi.cli import main
from moonxi.train import Checkpoints
from tests.examples.program import environment
from tests.train.test_checkpoints import trained

USAGE = "usage: moonxi"
MISTAKES: list[tuple[list[str], int, str]] = [
    ([], 2, "the following arguments are required: COMMAND"),
    (["train"], 2, "invalid choice: 'train'"),
    (["--versoin"], 2, USAGE),
    (["inspect"], 2, "the following arguments are required: FILE"),
    (["inspect", "run", "weights.safetensors"], 2, "unrecognized arguments: weights.safetensors"),
    (["inspect", "--best", "run"], 2, "unrecognized arguments: --best"),
    (["inspect", "nowhere"], 1, "inspect: nowhere: cannot be read: No such file or directory"),
    (["inspect", "nowhere.json"], 1, "checkpoint: nowhere.json: cannot be read: No such file or directory"),
    (["inspect", "nowhere.safetensors"], 1, "inspect: nowhere.safetensors: cannot be read: No such file or direct"),
    (["inspect", "empty"], 1, "inspect: empty: no checkpoints in this folder: their names are step-....json"),
    (["inspect", ""], 1, "no checkpoints in this folder"),
    (["inspect", "open.json"], 1, "checkpoint: open.json: damaged, or not a manifest: "),
    (["inspect", "cut.safetensors"], 1, "inspect: cut.safetensors: not a whole safetensors file: "),
    (["inspect", "model.txt"], 1, "inspect: model.txt: not a whole safetensors file: "),
    (["inspect", "damaged"], 1, "damaged/step-000000014.json: not a manifest of moonxi"),
    (["data"], 2, "the following arguments are required: NAME"),
    (["data", "imagenet"], 2, "invalid choice: 'imagenet' (choose from 'mnist', 'fashion_mnist', 'cifar10')"),
    (["data", "mnist", "--folder"], 2, "argument --folder: expected one argument"),
    (["data", "mnist", "--folder", "nowhere", "--offline"], 1, "mnist: nowhere: expected a file train-images-idx3-ub"),
    (["data", "mnist", "--folder", "cut.safetensors", "--offline"], 1, "mnist: cut.safetensors: expected a file tr"),
    (["data", "fashion_mnist", "--folder", "empty", "--mirror", "here"], 1, "unknown url type: 'here/train-images-"),
    (["data", "cifar10", "--folder", "empty", "--offline"], 1, "cifar10: empty: expected cifar-10-binary.tar.gz or"),
    (["check"], 2, "the following arguments are required: FILE"),
    (["check", "nowhere.py"], 2, "nowhere.py: cannot be read: No such file or directory"),
    (["check", "empty"], 2, "empty: cannot be read: Is a directory"),
    (["check", "open.py"], 2, "open.py:1: SyntaxError: '(' was never closed"),
    (["check", "bytes.py"], 2, "bytes.py: cannot be read: 'utf-8' codec can't decode byte 0xff"),
    (["check", "imports.py"], 2, "imports.py:1: the import raises ModuleNotFoundError: No module named 'nonsense'"),
    (["check", "nothing.py"], 2, "nothing.py: nothing to check: no layer and no function with shapes in its annot"),
    (["check", "model.txt"], 2, "model.txt: nothing to check: no layer and no function with shapes in its annotati"),
    (["doctor", "me"], 2, "unrecognized arguments: me"),
    (["bench", "--rounds", "0"], 2, "argument --rounds: '0': expected a whole number from 1"),
    (["bench", "--steps", "many"], 2, "argument --steps: 'many': expected a whole number from 1"),
    (["bench", "--torch-python", "nowhere"], 1, "bench: --torch-python nowhere: there is no such program"),
    (["bench", "--json", "nowhere/rows.json"], 1, "bench: nowhere/rows.json: cannot be written: No such file or"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mistakes")
    (made / "empty").mkdir()
    for name, text in {
        "open.json": "{",
        "open.py": "x = (",
        "imports.py": "import nonsense",
        "nothing.py": "x = 1",
        "model.txt": "x = 1",
    }.items():
        (made / name).write_text(text)
    (made / "bytes.py").write_bytes(b"\xff\xfe")
    save_file({"a": np.zeros(9)}, made / "whole.safetensors")
    (made / "cut.safetensors").write_bytes((made / "whole.safetensors").read_bytes()[:60])
    trained(Checkpoints(made / "run"))
    trained(Checkpoints(made / "damaged"))
    (made / "damaged" / "step-000000014.json").write_text("{}")
    return made


@pytest.mark.parametrize(("arguments", "status", "said"), MISTAKES, ids=[" ".join(one[0]) for one in MISTAKES])
def test_a_mistake_has_its_status_and_is_said_in_words(
    arguments: list[str],
    status: int,
    said: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    try:
        found = main(arguments)
    except SystemExit as ended:  # as argparse does
        found = ended.code if isinstance(ended.code, int) else -1
    captured = capsys.readouterr()
    assert found == status
    assert said in captured.out + captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize("command", [["inspect", "run"], ["doctor"]], ids=["inspect", "doctor"])
def test_an_output_that_is_full_or_closed_is_no_traceback(command: list[str], folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full, to which nothing can be written")

    def run(redirected: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["/bin/sh", "-c", f'exec "$0" -m moonxi "$@" {redirected}', sys.executable, *command],
            env=environment(),
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )

    full, closed = run("> /dev/full"), run(">&-")
    assert (full.returncode, full.stderr) == (1, "moonxi: the output cannot be written: No space left on device\n")
    assert (closed.returncode, closed.stderr) == (0, "")
