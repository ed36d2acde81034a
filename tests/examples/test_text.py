import re
from pathlib import Path

import numpy as np
import pytest

import moonxi as mx
from examples.text import Windows, Writer, write
from tests.examples.program import EXAMPLES, Ended, run

TEXT = EXAMPLES / "text.py"
SMALL = ("--width", "16", "--heads", "2", "--depth", "1", "--time", "8", "--stride", "4", "--lr", "0.01")
WORDS = "she sells sea shells by the sea shore. " * 60


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A text that is easily learned."""
    (tmp_path / "words.txt").write_text(WORDS, encoding="utf-8")
    return tmp_path / "words.txt"


def loss(ended: Ended) -> float:
    """Of the last line."""
    found = re.fullmatch(r"test loss: (\d+\.\d{4})", ended.out[-1])
    assert found is not None, ended
    return float(found[1])


def test_it_learns_to_write_what_it_has_read(file: Path) -> None:
    ended = run(TEXT, "--data", file, *SMALL, "--epochs", "12", "--write", "200", "--start", "she ", "--dropout", "0")
    assert (ended.code, ended.err) == (0, [])
    assert ended.out[0] == "2,340 characters, 12 different ones; 17 steps an epoch"
    assert loss(ended) < 0.5  # a guess among 12 has 2.5
    words = ended.out[-2].split()
    assert words[0] == "she"
    assert len({"sea", "by", "the", "sells", "shells", "shore."} & set(words)) >= 4, words


def test_a_run_goes_on_where_it_was(file: Path, tmp_path: Path) -> None:
    def trained(folder: str, epochs: str) -> float:
        ended = run(
            TEXT, "--data", file, *SMALL, "--write", "1", "--checkpoints", tmp_path / folder, "--epochs", epochs
        )
        assert ended.code == 0, ended
        return loss(ended)

    assert trained("whole", "2") > 0.0
    ended = run(
        TEXT, "--data", file, *SMALL, "--write", "1", "--checkpoints", tmp_path / "whole", "--resume", "--epochs", "2"
    )
    assert ended.code == 0, ended
    assert loss(ended) == trained("again", "2")


def test_windows_begin_each_stride_after_the_one_before() -> None:
    windows = Windows(mx.numpy(), np.arange(11), 4, 3)
    assert len(windows) == 3
    batch = windows.batch(np.array([0, 2]))
    np.testing.assert_array_equal(batch.tokens.to_host(), [[0, 1, 2, 3], [6, 7, 8, 9]])
    np.testing.assert_array_equal(batch.following.to_host(), [[1, 2, 3, 4], [7, 8, 9, 10]])


def test_a_character_sees_those_before_it_only() -> None:
    like = mx.numpy(mx.F64)
    model = Writer.init(5, 8, 2, 2, 6, 0.0, like=like, key=mx.Key(0))
    tokens = np.array([[0, 1, 2, 3, 4, 0], [0, 1, 2, 4, 0, 3]])
    first, second = model.forward(like.labels(tokens), mx.Eval()).value.to_host()
    np.testing.assert_allclose(first[:3], second[:3], rtol=0, atol=1e-12)
    assert not np.allclose(first[3:], second[3:])


def test_more_is_written_than_can_be_seen_at_once() -> None:
    like = mx.numpy()
    model = Writer.init(5, 8, 2, 1, 4, 0.0, like=like, key=mx.Key(0))
    written = write(model, like, [1, 2], 10, seed=0)
    assert written[:2] == [1, 2]
    assert len(written) == 12
    assert set(written) <= set(range(5))
    assert written == write(model, like, [1, 2], 10, seed=0)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--time", "400"), "expected at least 4010 characters for --time 400, found 2340"),
        (("--width", "10", "--heads", "4"), "--width 10 is to be a multiple of --heads 4"),
        (("--depth", "0"), "--depth: expected a number from 1, got 0"),
        (("--resume",), "--resume: name the folder of the run with --checkpoints DIR"),
    ],
)
def test_what_cannot_be_is_said(file: Path, arguments: tuple[str, ...], told: str) -> None:
    ended = run(TEXT, "--data", file, *arguments)
    assert ended.code != 0
    assert told in ended.err[-1]


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xfa", b""])
def test_a_file_that_is_no_text_is_said(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "file").write_bytes(content)
    ended = run(TEXT, "--data", tmp_path / "file")
    assert ended.code == 1
    assert len(ended.err) == 1
    assert f"{tmp_path / 'file'}: expected " in ended.err[0]
