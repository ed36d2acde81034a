"""The IDX format: one array a file, as MNIST and its relatives are distributed.

Two zero bytes, a byte for the element type, a byte for the rank, one big-endian 32-bit size an axis, then the
elements in row-major order, big-endian (Y. LeCun, "The MNIST database of handwritten digits", section "The IDX
file format"). Files are often compressed with gzip and as often renamed, so that is told from the content.
"""

import gzip
import hashlib
import struct
import zlib
from importlib.resources.abc import Traversable
from math import prod
from pathlib import Path
from typing import IO, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from moonxi.errors import DataError, OperandError

type IdxArray = NDArray[np.integer | np.floating]
"""What an IDX file can hold: uint8, int8, int16, int32, float32 or float64, in the machine's byte order."""

_ELEMENT_TYPES: Final[dict[int, np.dtype[np.integer | np.floating]]] = {
    0x08: np.dtype(np.uint8),
    0x09: np.dtype(np.int8),
    0x0B: np.dtype(np.int16),
    0x0C: np.dtype(np.int32),
    0x0D: np.dtype(np.float32),
    0x0E: np.dtype(np.float64),
}
_GZIP_MAGIC: Final = b"\x1f\x8b"
_MOST_AXES: Final = 64  # of a NumPy array; the format itself allows 255
_LARGEST_SIZE: Final = 2**32 - 1
_CHUNK: Final = 1 << 20


def read_idx(path: Path | str | Traversable, /, *, sha256: str | None = None) -> IdxArray:
    """Reads the array of an IDX file, plain or compressed with gzip.

    Raises `DataError` if the file cannot be read, is not IDX, is shorter or longer than its header says, is damaged,
    or if the SHA-256 of its (uncompressed) content is not ``sha256``."""
    source = Path(path) if isinstance(path, str) else path
    try:
        with source.open("rb") as stream:
            return decode_idx(stream, str(source), sha256=sha256)
    except FileNotFoundError:
        raise DataError(f"read_idx: {source}: expected an IDX file, found no file") from None
    except IsADirectoryError:
        raise DataError(f"read_idx: {source}: expected an IDX file, found a directory") from None
    except OSError as error:
        raise DataError(f"read_idx: {source}: cannot be read: {error.strerror or error}") from error


def decode_idx(stream: IO[bytes], name: str, /, *, sha256: str | None = None) -> IdxArray:
    """Reads the array of an open IDX file, plain or compressed with gzip; ``name`` is for the messages.

    The stream must be seekable and stand at its beginning; afterwards it stands anywhere. Raises as `read_idx` does."""
    compressed = stream.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    stream.seek(0)
    if not compressed:
        return _decode(stream, name, sha256)
    try:
        return _decode(gzip.GzipFile(fileobj=stream, mode="rb"), name, sha256)
    except EOFError as error:
        raise DataError(f"read_idx: {name}: expected a whole gzip file, found one cut short") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"read_idx: {name}: expected a gzip file, found a damaged one: {error}") from error


def encode_idx(array: NDArray[np.generic], /) -> bytes:
    """The IDX form of an array of uint8, int8, int16, int32, float32 or float64, in either byte order.

    Raises `OperandError` for any other element type, or a size above 2**32 - 1."""
    element = array.dtype.newbyteorder("=")
    codes = [code for code, known in _ELEMENT_TYPES.items() if known == element]
    if not codes:
        raise OperandError(
            f"encode_idx: array of {array.dtype}: IDX holds {_known_types()}: convert with array.astype(...) first"
        )
    if any(size > _LARGEST_SIZE for size in array.shape):
        raise OperandError(f"encode_idx: array of shape {array.shape}: a size in IDX is at most {_LARGEST_SIZE}")
    header = struct.pack(f">HBB{array.ndim}I", 0, codes[0], array.ndim, *array.shape)
    return header + array.astype(element.newbyteorder(">")).tobytes()


def write_idx(path: Path | str, array: NDArray[np.generic], /, *, compress: bool = False) -> None:
    """Writes an array as an IDX file, with gzip if asked to; the same array gives the same bytes each time.

    Raises as `encode_idx` does."""
    content = encode_idx(array)
    with Path(path).open("wb") as file:
        if compress:
            # Without a name and a time, the file does not depend on where and when it was written.
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=9, mtime=0) as packed:
                packed.write(content)
        else:
            file.write(content)


class _Bytes(Protocol):
    def read(self, count: int, /) -> bytes: ...


def _decode(stream: _Bytes, name: str, sha256: str | None, /) -> IdxArray:
    magic = _read(stream, 4)
    if len(magic) < 4:
        raise DataError(f"read_idx: {name}: expected an IDX header of 4 bytes or more, found {len(magic)} bytes")
    if magic[:2] != b"\0\0" or magic[2] not in _ELEMENT_TYPES:
        raise DataError(
            f"read_idx: {name}: expected an IDX file (00 00, an element type of 08 09 0b 0c 0d 0e, the rank), "
            f"found the bytes {magic.hex(' ')}"
        )
    element, rank = _ELEMENT_TYPES[magic[2]], magic[3]
    if rank > _MOST_AXES:
        raise DataError(f"read_idx: {name}: expected at most {_MOST_AXES} axes, found {rank}")
    sizes = _read(stream, 4 * rank)
    if len(sizes) < 4 * rank:
        raise DataError(
            f"read_idx: {name}: expected an IDX header of {4 + 4 * rank} bytes, found {4 + len(sizes)} bytes"
        )
    shape: tuple[int, ...] = struct.unpack(f">{rank}I", sizes)
    expected = prod(shape) * element.itemsize
    content = _read(stream, expected + 1)  # one more, to notice what does not belong there
    if len(content) != expected:
        found = "more" if len(content) > expected else f"{len(content)}"
        raise DataError(
            f"read_idx: {name}: expected {expected} bytes after the header (shape {shape}, {element}), found {found}"
        )
    if sha256 is not None:
        digest = hashlib.sha256(magic + sizes)
        digest.update(content)
        if digest.hexdigest() != sha256:
            raise DataError(
                f"read_idx: {name}: expected content with the SHA-256 {sha256}, found {digest.hexdigest()}: "
                "the file is damaged or another one"
            )
    try:
        array: IdxArray = np.frombuffer(content, element.newbyteorder(">")).reshape(shape)
    except ValueError as error:  # an empty array whose other sizes overflow
        raise DataError(f"read_idx: {name}: NumPy has no array of shape {shape}") from error
    return array.astype(element, copy=False)


def _read(stream: _Bytes, count: int, /) -> bytearray:
    """Up to ``count`` bytes, fewer only at the end; never reserves what a damaged header merely promises."""
    content = bytearray()
    while len(content) < count and (chunk := stream.read(min(_CHUNK, count - len(content)))):
        content += chunk
    return content


def _known_types() -> str:
    return ", ".join(map(str, _ELEMENT_TYPES.values()))
