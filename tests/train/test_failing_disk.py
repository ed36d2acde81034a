"""Whatever fails while a checkpoint is written: the older ones are there."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from moonxi.errors import CheckpointError
from moonxi.train import Checkpoints
from tests.train.test_checkpoints import last, loader, names, trained
from tests.train.test_trainer import new_trainer, weights


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS], ids=["ENOSPC", "EROFS"])
@pytest.mark.parametrize(
    ("operation", "number"),
    [(name, at) for name, calls in {"open": 4, "write": 2, "fsync": 4, "replace": 2}.items() for at in range(calls)],
)
def test_a_disk_that_fails_costs_no_older_checkpoint(
    folder: Path, monkeypatch: pytest.MonkeyPatch, operation: str, code: int, number: int
) -> None:
    trained(Checkpoints(folder), epochs=1)
    before = {name: (folder / name).read_bytes() for name in names(folder)}
    trainer = new_trainer()
    original = getattr(os, operation)
    calls = iter(range(1000))

    def failing(*args: Any) -> Any:
        if next(calls) == number:
            raise OSError(code, os.strerror(code))
        return original(*args)

    with monkeypatch.context() as patched:
        patched.setattr(os, operation, failing)
        with pytest.raises(CheckpointError, match=rf"cannot be written: {os.strerror(code)}$") as caught:
            trainer.fit(loader(), epochs=2, progress=False, checkpoints=Checkpoints(folder), resume=True)
    assert isinstance(caught.value.__cause__, OSError)
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert not [name for name in names(folder) if name.startswith(".")]
    resumed, unbroken = new_trainer(), new_trainer()
    resumed.fit(loader(), epochs=2, progress=False, checkpoints=Checkpoints(folder), resume=True)
    unbroken.fit(loader(), epochs=2, progress=False)
    assert weights(resumed.model) == weights(unbroken.model)


def test_a_disk_that_lets_nothing_be_removed_is_reported_and_the_newest_is_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained(Checkpoints(folder, keep_last=1), epochs=1)
    trainer = new_trainer()

    def failing(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", failing)
        with pytest.raises(CheckpointError, match=r"run: old ones cannot be removed: Read-only file system$"):
            trainer.fit(loader(), epochs=2, progress=False, checkpoints=Checkpoints(folder, keep_last=1), resume=True)
    assert last(Checkpoints(folder)).step == 14


def test_a_disk_that_takes_a_little_at_a_time_gets_all(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.write

    def little(descriptor: int, data: bytes) -> int:
        return whole(descriptor, data[:7])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", little)
        trainer = trained(Checkpoints(folder), epochs=1)
    assert weights(last(Checkpoints(folder)).model(new_trainer().model)) == weights(trainer.model)
