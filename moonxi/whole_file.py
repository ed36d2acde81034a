"""Files that are there whole or not at all, also after a power cut."""

import os
from contextlib import suppress
from errno import EISDIR
from pathlib import Path
from secrets import token_hex
from stat import S_ISDIR
from typing import Final

from moonxi.errors import CheckpointError

PART: Final = ".moonxi-part-"
"""How the names of files begin that are not whole yet, or never became so because the process was killed."""


def try_writing(path: Path, /) -> None:
    """Raise OSError or ValueError if no file could be written there; it leaves no trace."""
    probe = _part_beside(path)
    with suppress(FileNotFoundError):
        if S_ISDIR(path.stat().st_mode):
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    probe.touch()
    probe.unlink()


def _part_beside(path: Path) -> Path:
    """A name in the same folder for a file that is not whole yet; no other process has the same."""
    return path.parent / f"{PART}{os.getpid()}-{token_hex(8)}"


def write_whole(operation: str, path: Path, data: bytes, /) -> None:
    """What `replace_whole` does; raises `CheckpointError`, as ``operation``, if any of this fails."""
    try:
        replace_whole(path, data)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{operation}: {path}: cannot be written: {reason(error)}") from error


def replace_whole(path: Path, data: bytes, /) -> None:
    """Write a file beside its place, synchronise and rename it, and synchronise the folder.

    Raises OSError, or ValueError for a path that no file system takes; an older file of that name is then still there,
    or the new one."""
    part = _part_beside(path)
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(part, path)
        _synchronise(path.parent)
    except BaseException:  # also an interrupt leaves nothing behind
        with suppress(OSError, ValueError):
            part.unlink(missing_ok=True)
        raise


def reason(error: OSError | ValueError, /) -> str:
    """Why a path cannot be used; a ValueError is one that no file system takes."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _synchronise(folder: Path) -> None:
    """The folder's list of names on the disk. Windows has no such operation and needs none."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
