import gzip
import hashlib
import socket
from pathlib import Path

import numpy as np
import pytest

from moonxi.data import download
from moonxi.data.download import cache_folder, download_idx
from moonxi.data.idx import encode_idx, read_idx
from moonxi.errors import DataError
from tests.data.mirror import Answer, babbles, drips, hangs, mirror, sends

CONTENT = encode_idx(np.arange(1000, dtype=np.int32))
PACKED = gzip.compress(CONTENT)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def test_a_downloaded_file_is_stored_as_it_came(tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder" / "numbers.gz"
    with mirror({"numbers.gz": sends(PACKED)}) as there:
        download_idx([f"{there.url}/numbers.gz"], target, sha256=DIGEST)
    assert target.read_bytes() == PACKED
    assert [path.name for path in target.parent.iterdir()] == ["numbers.gz"]
    assert read_idx(target, sha256=DIGEST).shape == (1000,)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (sends(b"<html>sign in first</html>"), "expected an IDX file .* found the bytes 3c 68 74 6d"),
        (sends(b""), "expected an IDX header of 4 bytes or more, found 0 bytes"),
        (sends(PACKED[:-9], promised=len(PACKED)), "expected a whole gzip file, found one cut short"),
        (sends(PACKED[:40] + b"\xff" + PACKED[41:]), "expected a gzip file, found a damaged one|SHA-256"),
        (sends(gzip.compress(CONTENT[:-1] + b"!")), f"expected content with the SHA-256 {DIGEST}, found"),
        (babbles, "nonsense\n"),
        (hangs, "timed out"),
        (drips, "not complete after 0.2 s"),
    ],
)
def test_a_bad_answer_leaves_no_file_and_the_next_mirror_is_asked(answer: Answer, reason: str, tmp_path: Path) -> None:
    target = tmp_path / "numbers.gz"
    with mirror({"numbers.gz": answer}) as bad, mirror({"numbers.gz": sends(PACKED)}) as good:
        urls = [f"{bad.url}/numbers.gz", f"{good.url}/numbers.gz"]
        with pytest.raises(DataError, match=f"download: numbers.gz: no mirror gave it:\n  .*{urls[0]}: .*({reason})"):
            download_idx(urls[:1], target, sha256=DIGEST, timeout=0.1, deadline=0.2)
        assert list(tmp_path.iterdir()) == []
        download_idx(urls, target, sha256=DIGEST, timeout=1, deadline=1)
        assert len(good.asked) == 1
    assert target.read_bytes() == PACKED


def test_without_a_network_the_error_names_each_mirror_and_what_to_do(tmp_path: Path) -> None:
    nowhere = f"http://127.0.0.1:{closed_port()}/numbers.gz"
    with mirror({}) as empty:
        urls = [nowhere, f"{empty.url}/numbers.gz", "nonsense", "http://[/numbers.gz"]
        with pytest.raises(DataError, match=r"numbers\.gz: no mirror gave it:\n") as caught:
            download_idx(urls, tmp_path / "numbers.gz", sha256=DIGEST)
    _, first, second, third, fourth, advice = str(caught.value).split("\n")
    assert first.startswith(f"  {nowhere}: <urlopen error")
    assert second == f"  {urls[1]}: HTTP Error 404: Not Found"
    assert third == "  nonsense: unknown url type: 'nonsense'"
    assert fourth.startswith("  http://[/numbers.gz: ")
    assert advice == "Check the network, or get the files in another way and name their folder."
    assert list(tmp_path.iterdir()) == []


def test_an_answer_without_end_is_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_LARGEST_FILE", 5)
    with mirror({"numbers.gz": drips}) as there, pytest.raises(DataError, match="more than 5 bytes"):
        download_idx([f"{there.url}/numbers.gz"], tmp_path / "numbers.gz", sha256=DIGEST)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    target = tmp_path / "file" / "numbers.gz"
    with (
        mirror({"numbers.gz": sends(PACKED)}) as there,
        pytest.raises(DataError, match=f"download: {target}: cannot be written: "),
    ):
        download_idx([f"{there.url}/numbers.gz"], target, sha256=DIGEST)


def test_an_interrupted_write_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with mirror({"numbers.gz": sends(PACKED)}) as there, pytest.raises(KeyboardInterrupt):
        download_idx([f"{there.url}/numbers.gz"], tmp_path / "numbers.gz", sha256=DIGEST)
    assert list(tmp_path.iterdir()) == []


def test_the_cache_is_where_the_xdg_specification_puts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder("mnist") == tmp_path / "moonxi" / "mnist"
    default = Path.home() / ".cache" / "moonxi" / "mnist"
    for ignored in "relative/folder", "":
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert cache_folder("mnist") == default
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder("mnist") == default
