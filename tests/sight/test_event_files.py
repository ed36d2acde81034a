"""Event files for TensorBoard: the bytes, and what the log puts there."""

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonxi.errors import DataError, OptionError
from moonxi.sight import TensorBoardLog
from moonxi.sight.event_file import crc32c, record, scalars_event, version_event
from moonxi.train import Checkpoints
from tests.sight.runs import LOADER
from tests.train.test_trainer import new_trainer


@pytest.mark.parametrize(
    ("data", "crc"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),  # RFC 3720, B.4, here and below; there the bytes are written the other way round
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
    ],
)
def test_the_checksum_is_that_of_the_standard(data: bytes, crc: int) -> None:
    assert crc32c(data) == crc


def test_a_file_begins_as_tensorboards_own_writer_begins_it() -> None:
    assert version_event(1.0) == b"\x09" + struct.pack("<d", 1.0) + b"\x1a\x0dbrain.Event:2"
    # Checksums of the length and of the data as google-crc32c gives them, masked.
    assert record(b"abc").hex() == "0300000000000000b099490e6162636e57f121"


def records(path: Path) -> Iterator[bytes]:
    """The data of a file's records."""
    content = path.read_bytes()
    while content:
        (size,) = struct.unpack_from("<Q", content)
        yield content[12 : 12 + size]
        assert content[: 16 + size] == record(content[12 : 12 + size])
        content = content[16 + size :]


def test_numbers_too_large_for_single_precision_are_infinite() -> None:
    event = scalars_event(0.0, 1, {"a": 1e300, "b": -1e300, "c": float("nan")})
    assert struct.pack("<f", float("inf")) in event
    assert struct.pack("<f", float("-inf")) in event
    assert event.endswith(struct.pack("<f", float("nan")))


def test_a_run_writes_its_steps_and_epochs_to_a_file_of_its_own(tmp_path: Path) -> None:
    for _ in range(2):
        new_trainer().fit(LOADER, epochs=2, progress=False, callbacks=[TensorBoardLog(tmp_path / "a" / "b", every=2)])
    first, second = sorted((tmp_path / "a" / "b").iterdir())
    assert len(list(records(first))) == 2 + 7 + 2  # version and start, every second of 14 steps, 2 epochs
    names = ["step" if b"step/accuracy" in one else "epoch" if b"train/loss" in one else "" for one in records(second)]
    assert names == ["", "", *["step"] * 3, "epoch", *["step"] * 4, "epoch"]


def test_a_run_that_is_resumed_says_with_which_step(tmp_path: Path) -> None:
    for epochs in (1, 2):
        new_trainer().fit(
            LOADER,
            epochs=epochs,
            progress=False,
            callbacks=[TensorBoardLog(tmp_path / "log")],
            checkpoints=Checkpoints(tmp_path / "run"),
            resume=True,
        )
    _, second = sorted((tmp_path / "log").iterdir())
    assert list(records(second))[1][9:] == b"\x10\x08\x3a\x02\x08\x01"  # step 8, a session log, START


def test_a_place_that_cannot_be_written_and_a_senseless_number_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"^TensorBoardLog: .*/events\.out\.tfevents\.\d+\.moonxi: cannot be writ"):
        new_trainer().fit(LOADER, epochs=1, progress=False, callbacks=[TensorBoardLog(tmp_path / "file")])
    with pytest.raises(OptionError, match=r"^TensorBoardLog: every=0: must be at least 1 step$"):
        TensorBoardLog(tmp_path, every=0)
