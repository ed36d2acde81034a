import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonxi.data import archive
from moonxi.data.archive import archive_files
from moonxi.errors import DataError
from tests.data.cifar_files import tar

FILES = {"a/one": b"1" * 700, "a/two": b"", "b/three": bytes(range(256))}


def everything(_: str) -> bool:
    return True


def with_member(kind: bytes, name: str, link: str = "") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as file:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, link
        file.addfile(member)
    return packed.getvalue()


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bytes])
def test_wanted_files_are_read_whatever_the_compression(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "any name"
    path.write_bytes(pack(gzip.decompress(tar(FILES))))
    assert dict(archive_files(path, everything)) == FILES
    assert dict(archive_files(path, lambda name: name.startswith("a/"))) == {"a/one": b"1" * 700, "a/two": b""}
    path.write_bytes(pack(gzip.decompress(tar({f"./{name}": content for name, content in FILES.items()}))))
    assert dict(archive_files(path, everything)) == FILES


def test_names_that_lead_out_of_the_folder_write_nothing(tmp_path: Path) -> None:
    path = tmp_path / "inner" / "evil.tar.gz"
    path.parent.mkdir()
    names = ["../out", f"{tmp_path}/absolute", "a/../../out"]
    path.write_bytes(tar(dict.fromkeys(names, b"evil")))
    assert sorted(name for name, _ in archive_files(path, everything)) == sorted(names)
    assert sorted(tmp_path.rglob("*")) == [path.parent, path]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_a_wanted_file_that_is_none_is_refused(kind: bytes, tmp_path: Path) -> None:
    path = tmp_path / "evil.tar"
    path.write_bytes(with_member(kind, "a", "/etc/passwd"))
    with pytest.raises(DataError, match=f"^archive: {path}: 'a': expected a regular file, found a link or something"):
        list(archive_files(path, everything))
    assert list(archive_files(path, lambda _: False)) == []


def test_a_name_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.tar.gz"
    path.write_bytes(tar({"a": b"1", "./a": b"2"}))
    with pytest.raises(DataError, match=f"^archive: {path}: 'a': expected one file of this name, found two$"):
        list(archive_files(path, everything))


def test_sizes_and_numbers_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.tar.gz"
    path.write_bytes(tar(FILES))
    for bound, value, message in [
        ("_LARGEST_FILE", 600, "'a/one': expected at most 600 bytes, found 700"),
        ("_LARGEST_ARCHIVE", 5000, "expected at most 5000 bytes unpacked, found more"),
        ("_MOST_FILES", 2, "expected at most 2 files, found more"),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(archive, bound, value)
            with pytest.raises(DataError, match=f"^archive: {path}: {message}$"):
                list(archive_files(path, everything))


def test_a_file_that_unpacks_without_end_is_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_LARGEST_ARCHIVE", 1 << 20)
    path = tmp_path / "bomb.tar.gz"
    path.write_bytes(tar({"unwanted": bytes(1 << 24)}))
    with pytest.raises(DataError, match=r"expected at most 1048576 bytes unpacked, found more$"):
        list(archive_files(path, lambda name: name == "wanted"))


def test_what_is_no_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"<html>sign in first</html>" * 50)
    with pytest.raises(DataError, match=f"^archive: {path}: expected a tar archive, found a damaged or another file: "):
        list(archive_files(path, everything))
    with pytest.raises(DataError, match=f"^archive: {tmp_path}: cannot be read: Is a directory$"):
        list(archive_files(tmp_path, everything))
    with pytest.raises(DataError, match=f"^archive: {tmp_path / 'none'}: cannot be read: No such file"):
        list(archive_files(tmp_path / "none", everything))


PLAIN = gzip.decompress(tar(FILES))


@settings(max_examples=150, deadline=None)
@given(data=st.data(), pack=st.sampled_from([gzip.compress, lzma.compress, bytes]))
def test_damage_anywhere_is_a_data_error_or_does_no_harm(
    data: st.DataObject, pack: Callable[[bytes], bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = bytearray(pack(PLAIN))
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, min(2000, len(content) - 1)))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.none() | st.integers(0, len(content)))
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(content[:cut])
    with suppress(DataError):
        files = dict(archive_files(path, everything))
        assert sum(map(len, files.values())) <= len(PLAIN)
