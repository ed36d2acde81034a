"""Small files in the forms in which CIFAR-10 is published, made here."""

import gzip
import io
import struct
import tarfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TRAIN = [f"data_batch_{number}" for number in range(1, 6)]
NAMES = [*TRAIN, "test_batch"]


def images(count: int, seed: int) -> NDArray[np.uint8]:
    """Rows of 3,072 bytes, all of them different."""
    return np.random.default_rng(seed).integers(0, 256, (count, 3072), np.uint8)


def labels(count: int, seed: int) -> list[int]:
    found: list[int] = np.random.default_rng(seed).integers(0, 10, count).tolist()
    return found


def python_batch(data: NDArray[np.uint8], classes: list[int], *, by_columns: bool = False) -> bytes:
    """The pickle that Python 2 and NumPy 1 write for a batch, instruction for instruction."""
    memory = iter(range(1, 255))

    def kept(code: bytes) -> bytes:
        return code + b"q" + bytes([next(memory)])

    def text(value: str) -> bytes:
        return kept(b"U" + bytes([len(value)]) + value.encode())

    def number(value: int) -> bytes:
        return b"K" + bytes([value]) if value < 256 else b"M" + struct.pack("<H", value)

    content = data.tobytes(order="F" if by_columns else "C")
    rows, columns = data.shape
    return b"".join(
        [
            b"\x80\x02" + kept(b"}") + b"(",
            text("batch_label") + text("training batch 1 of 5"),
            text("labels") + kept(b"]") + b"(" + b"".join(map(number, classes)) + b"e",
            text("data"),
            kept(b"cnumpy.core.multiarray\n_reconstruct\n") + kept(b"cnumpy\nndarray\n"),
            b"K\x00" + kept(b"\x85") + text("b") + kept(b"\x87") + kept(b"R"),
            b"(K\x01" + number(rows) + number(columns) + kept(b"\x86"),
            kept(b"cnumpy\ndtype\n") + text("u1") + b"K\x00K\x01" + kept(b"\x87") + kept(b"R"),
            b"(K\x03" + text("|") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb",
            b"\x88" if by_columns else b"\x89",
            kept(b"T" + struct.pack("<i", len(content)) + content) + b"tb",
            text("filenames") + kept(b"]") + b"(" + b"".join(text(f"image_{i}.png") for i in range(3)) + b"e",
            b"u.",
        ]
    )


def binary_batch(data: NDArray[np.uint8], classes: list[int]) -> bytes:
    return b"".join(bytes([label]) + row.tobytes() for row, label in zip(data, classes, strict=True))


def python_files() -> dict[str, bytes]:
    """The six files of the "python" version: batch ``i`` has 3 images, and they are those of `binary_files`."""
    return {name: python_batch(images(3, i), labels(3, i)) for i, name in enumerate(NAMES)}


def binary_files() -> dict[str, bytes]:
    return {f"{name}.bin": binary_batch(images(3, i), labels(3, i)) for i, name in enumerate(NAMES)}


def tar(files: Mapping[str, bytes]) -> bytes:
    """A tar archive compressed with gzip."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), 1, mtime=0)


def archive(form: str) -> bytes:
    """An archive as published, of the form "python" or "binary"."""
    folder, files = {
        "python": ("cifar-10-batches-py", python_files()),
        "binary": ("cifar-10-batches-bin", binary_files()),
    }[form]
    return tar({f"{folder}/readme.html": b"<html>"} | {f"{folder}/{name}": files[name] for name in files})


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
