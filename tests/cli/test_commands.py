"""The commands besides ``check``: what they print, their exit status, and no traceback."""

import gzip
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save, save_file

from moonxi.cli import main
from moonxi.cli.doctor import GPU, NEEDED, OPTIONAL
from moonxi.train import Checkpoints
from tests.data.mirror import mirror, sends
from tests.examples.program import CHECKOUT, environment
from tests.train.test_checkpoints import last, trained

type Captured = pytest.CaptureFixture[str]


def started(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "moonxi", *arguments],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# -- inspect -----------------------------------------------------------------------------------------------------


def test_inspect_says_what_is_in_a_checkpoint(tmp_path: Path, capsys: Captured) -> None:
    trained(Checkpoints(tmp_path / "run"), epochs=1)
    found = last(Checkpoints(tmp_path / "run"))
    assert main(["inspect", str(found.path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("checkpoint after 7 steps: 1 whole epochs, and 0 batches of the next\nmetrics: loss ")
    for part in ('"class": "Sgd"', '"lr": 0.1', "epoch 1: loss ", ": whole, ", "  parameters/weight "):
        assert part in out
    assert out.endswith("5 tensors, 31 numbers, 124 bytes\n")


def test_inspect_says_what_is_in_a_folder_and_which_is_damaged(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "run"
    trained(Checkpoints(folder), epochs=2)
    assert main(["inspect", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[:3] for line in lines[:2]] == [
        ["step-000000007.json", "step 7", "epoch 1"],
        ["step-000000014.json", "step 14", "epoch 2"],
    ]
    assert lines[2] == "best loss: step-000000014.json"
    (folder / last(Checkpoints(folder)).manifest.tensors).write_bytes(b"")
    assert main(["inspect", str(folder)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "damaged: 0 bytes" in lines[1]
    assert lines[2] == "best loss: step-000000007.json"


def test_inspect_names_the_best_by_the_metric_that_the_run_keeps_it_by(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "run"
    trained(Checkpoints(folder, metric="accuracy", higher_is_better=True, keep_last=3), epochs=3)
    assert main(["inspect", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    accuracies = [float(line.split("accuracy ")[1]) for line in lines[:-1]]
    best = lines[accuracies.index(max(accuracies))].split()[0]
    assert lines[-1] == f"best accuracy: {best}"


def test_a_name_that_a_terminal_would_obey_is_spelt(tmp_path: Path, capsys: Captured) -> None:
    save_file({"a\x1b[2J": np.zeros(1, np.float32)}, tmp_path / "w.safetensors")
    assert main(["inspect", str(tmp_path / "w.safetensors")]) == 0
    assert capsys.readouterr().out.startswith("  'a\\x1b[2J'  F32   1\n")


def test_inspect_reads_any_file_of_tensors_without_loading_it(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "weights.safetensors"
    save_file({"b": np.zeros((2, 3), np.int64), "a": np.zeros((), np.float32), "c": np.zeros(5, np.bool_)}, path)
    assert main(["inspect", str(path)]) == 0
    assert capsys.readouterr().out == (
        "  a  F32   one number\n  b  I64   2 x 3\n  c  BOOL  5\n3 tensors, 12 numbers, 57 bytes\n"
    )


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("gone.safetensors", None, "cannot be read: No such file or directory"),
        ("gone.json", None, "cannot be read: No such file or directory"),
        ("foreign.json", b'{"a": 1}', "not a manifest of moonxi: its format is not 'moonxi checkpoint'"),
        ("cut.json", b'{"format": "moonxi', "damaged, or not a manifest: "),
        ("pickle.pt", b"\x80\x04K\x01.", "not a whole safetensors file: "),
        ("empty.safetensors", b"", "not a whole safetensors file: "),
    ],
)
def test_inspect_says_in_a_line_what_it_cannot_read(
    tmp_path: Path, capsys: Captured, name: str, content: bytes | None, text: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert main(["inspect", str(tmp_path / name)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("moonxi: ")
    assert text in captured.err
    assert captured.err.count("\n") == 1


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_garbled_file_of_tensors_is_described_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "garbled.safetensors"
    content = bytearray(save({"a": np.zeros((2, 3), np.float32), "b": np.zeros(4, np.uint8)}))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    assert main(["inspect", str(path)]) in (0, 1)


def test_inspect_of_a_folder_without_checkpoints_says_so(tmp_path: Path, capsys: Captured) -> None:
    assert main(["inspect", str(tmp_path)]) == 1
    assert "no checkpoints in this folder" in capsys.readouterr().err


# -- doctor ------------------------------------------------------------------------------------------------------


def test_doctor_finds_what_is_there_and_says_what_brings_the_rest(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moonxi.cli.doctor.installed", lambda name: None if name == "rich" else "1.2")
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("ok Python 3.") for line in lines)
    assert any(line.startswith(f"ok NumPy {np.__version__} computes products by ") for line in lines)
    place = lines.index("-- rich is missing; it is for a bar of progress on a terminal")
    assert lines[place + 1] == "     pip install 'moonxi[progress]'"
    assert lines[-1] == "everything that is needed is there"


def test_doctor_fails_where_something_needed_is_missing(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moonxi.cli.doctor.installed", lambda name: None if name == "safetensors" else "1.2")
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "!! safetensors is missing\n     pip install safetensors\n" in out
    assert out.endswith("1 of what is needed is missing\n")


def test_doctor_knows_the_packages_of_the_project() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def names(requirements: list[str]) -> list[str]:
        return [requirement.split(">")[0].split("[")[0] for requirement in requirements]

    assert list(NEEDED) == names(project["dependencies"])
    extras = project["optional-dependencies"]
    assert {name: extra for name, (extra, _) in OPTIONAL.items()} == {
        names(extras[extra])[0]: extra for extra in ("progress", "plot", "images")
    }
    assert set(GPU) <= set(names(extras["gpu"]))


@pytest.fixture
def mnist_folder() -> Path:
    if "MOONXI_DATA" not in os.environ:
        pytest.skip("the full MNIST is not at hand: set MOONXI_DATA to a folder with the four files in mnist/")
    return Path(os.environ["MOONXI_DATA"]) / "mnist"


# -- data --------------------------------------------------------------------------------------------------------


def test_data_that_is_damaged_or_missing_is_said_in_words(tmp_path: Path, capsys: Captured) -> None:
    assert main(["data", "mnist", "--folder", str(tmp_path), "--offline"]) == 1
    assert capsys.readouterr().err == (
        f"moonxi: mnist: {tmp_path}: expected a file train-images-idx3-ubyte or train-images-idx3-ubyte.gz, "
        "found no such file\n"
    )
    assert main(["data", "cifar10", "--folder", str(tmp_path), "--offline"]) == 1
    neither = "cifar-10-binary.tar.gz or cifar-10-python.tar.gz, found neither"
    assert capsys.readouterr().err == f"moonxi: cifar10: {tmp_path}: expected {neither}\n"
    with mirror({"train-images-idx3-ubyte.gz": sends(gzip.compress(b"nonsense"))}) as server:
        assert main(["data", "mnist", "--folder", str(tmp_path), "--mirror", server.url]) == 1
    assert "train-images-idx3-ubyte.gz" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_whole_mnist_is_verified(tmp_path: Path, capsys: Captured, mnist_folder: Path) -> None:
    assert main(["data", "mnist", "--folder", str(mnist_folder), "--offline"]) == 0
    out = capsys.readouterr().out
    assert out == f"mnist: 60,000 training and 10,000 test samples in {mnist_folder}, verified\n"


# -- the page ---------------------------------------------------------------------------------------------------


def test_the_sessions_of_command_line_md(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (CHECKOUT / "docs" / "command-line.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    trained(Checkpoints("run"), epochs=2)
    last(Checkpoints("run")).path.write_bytes(b"")
    Path("digits").mkdir()
    sessions = re.findall(r"^```console\n\$ moonxi (.*?)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(sessions) == 2
    for command, shown in sessions:
        assert main(command.split()) == 1
        captured = capsys.readouterr()
        assert captured.out + captured.err == shown


# -- all ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["check", "inspect", "data", "doctor"])
def test_each_command_explains_itself(command: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert "exit status: 0 " in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["inspect"], ["data"], ["data", "imagenet"]])
def test_a_mistake_in_the_arguments_has_the_status_2(arguments: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: moonxi")


def test_a_process_ends_with_the_status_and_without_a_traceback(tmp_path: Path) -> None:
    done = started("inspect", tmp_path / "nothing.json")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("moonxi: checkpoint: ")


def test_ctrl_c_has_the_status_of_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("moonxi.cli.doctor.installed", interrupted)
    assert main(["doctor"]) == 130
