"""Tar archives, read from their beginning to their end and never unpacked onto the disk."""

import gzip
import io
import lzma
import struct
import tarfile
import zlib
from collections.abc import Buffer, Callable, Iterator
from pathlib import Path
from typing import IO, Final, override

from moonxi.errors import DataError

_LARGEST_FILE: Final = 1 << 26  # bytes; more than any file of the data sets here
_LARGEST_ARCHIVE: Final = 1 << 29  # bytes, without the compression
_MOST_FILES: Final = 200_000
_GZIP_MAGIC: Final = b"\x1f\x8b"
_XZ_MAGIC: Final = b"\xfd7"


def archive_files(path: Path, wanted: Callable[[str], bool], /) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the wanted regular files of a tar archive, compressed with gzip, xz or not at all.

    Names are as they stand in the archive, without ``./`` in front; nothing is written, so that a name, a link or a
    device in an archive can do no harm. Raises `DataError` if the archive is damaged, if one of the wanted files is
    larger than 64 MiB or occurs twice, or if the whole is larger than 512 MiB or 200,000 files."""
    try:
        with path.open("rb") as file:
            magic = file.read(2)
            file.seek(0)
            if magic == _GZIP_MAGIC:
                with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:
                    yield from _files(_Bounded(unpacked, path), path, wanted)
            elif magic == _XZ_MAGIC:
                with lzma.LZMAFile(file) as unxzed:
                    yield from _files(_Bounded(unxzed, path), path, wanted)
            else:
                yield from _files(_Bounded(file, path), path, wanted)
    except DataError:
        raise
    except tarfile.TarError as error:
        raise DataError(f"archive: {path}: expected a tar archive, found a damaged or another file: {error}") from error
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, struct.error, ValueError, OverflowError) as error:
        raise DataError(f"archive: {path}: expected a whole archive, found a damaged one: {error}") from error
    except OSError as error:
        raise DataError(f"archive: {path}: cannot be read: {error.strerror or error}") from error


class _Bounded(io.RawIOBase):
    """A stream that ends with an error where it has given more than an archive may hold."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile | lzma.LZMAFile, path: Path, /) -> None:
        self._stream = stream
        self._path = path
        self._left = _LARGEST_ARCHIVE

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer)
        content = self._stream.read(len(view))
        self._left -= len(content)
        if self._left < 0:
            raise DataError(f"archive: {self._path}: expected at most {_LARGEST_ARCHIVE} bytes unpacked, found more")
        view[: len(content)] = content
        return len(content)


def _files(stream: _Bounded, path: Path, wanted: Callable[[str], bool], /) -> Iterator[tuple[str, bytes]]:
    seen = set()
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for count, member in enumerate(archive):
            if count == _MOST_FILES:
                raise DataError(f"archive: {path}: expected at most {_MOST_FILES} files, found more")
            name = member.name.removeprefix("./")
            if not wanted(name):
                continue
            if not member.isreg() or member.issparse():
                raise DataError(f"archive: {path}: {name!r}: expected a regular file, found a link or something else")
            if member.size > _LARGEST_FILE:
                raise DataError(
                    f"archive: {path}: {name!r}: expected at most {_LARGEST_FILE} bytes, found {member.size}"
                )
            if name in seen:
                raise DataError(f"archive: {path}: {name!r}: expected one file of this name, found two")
            seen.add(name)
            file = archive.extractfile(member)
            content = b"" if file is None else file.read()
            if len(content) != member.size:
                raise DataError(f"archive: {path}: {name!r}: expected {member.size} bytes, found {len(content)}")
            yield name, content
