import gzip
import hashlib
import io
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray

from moonxi.data.idx import IdxArray, decode_idx, encode_idx, read_idx, write_idx
from moonxi.errors import DataError, OperandError

ELEMENT_TYPES = ["u1", "i1", "<i2", ">i2", "<i4", ">i4", "<f4", ">f4", "<f8", ">f8"]
SHAPES = npst.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=6)


def idx_arrays() -> st.SearchStrategy[NDArray[np.generic]]:
    return st.sampled_from(ELEMENT_TYPES).flatmap(lambda name: npst.arrays(np.dtype(name), SHAPES))


def decode(content: bytes, *, sha256: str | None = None) -> IdxArray:
    return decode_idx(io.BytesIO(content), "a file", sha256=sha256)


def complaint(content: bytes) -> str:
    """What is wrong with the content; the beginning of a complaint if nothing is."""
    try:
        decode(content)
    except DataError as error:
        return str(error)
    return "read_idx: a file: "


@given(array=idx_arrays(), compress=st.booleans())
def test_what_is_written_is_read_back(
    array: NDArray[np.generic], compress: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "round_trip"
    write_idx(path, array, compress=compress)
    back = read_idx(path)
    assert back.dtype == array.dtype.newbyteorder("=")
    assert back.dtype.isnative
    assert back.shape == array.shape
    assert back.tobytes() == array.astype(back.dtype).tobytes()  # bytes: NaN payloads and signs of zero as well


@pytest.mark.parametrize(
    ("code", "element", "content", "expected"),
    [
        (0x08, np.uint8, "fe01", [254, 1]),
        (0x09, np.int8, "fe01", [-2, 1]),
        (0x0B, np.int16, "fffe 0100", [-2, 256]),
        (0x0C, np.int32, "fffffffe 00000100", [-2, 256]),
        (0x0D, np.float32, "3f800000 c0490fdb", [1.0, np.float32(-np.pi)]),
        (0x0E, np.float64, "3ff0000000000000 c00921fb54442d18", [1.0, -np.pi]),
    ],
)
def test_each_element_type_is_read_from_big_endian_bytes(
    code: int, element: type[np.generic], content: str, expected: list[float]
) -> None:
    array = decode(bytes([0, 0, code, 1]) + struct.pack(">I", 2) + bytes.fromhex(content))
    assert array.dtype == element
    assert array.tolist() == expected


def test_the_first_axis_varies_slowest() -> None:
    assert decode(bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, *range(6)])).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_rank_of_zero_is_one_element() -> None:
    array = decode(bytes([0, 0, 8, 0, 7]))
    assert array.shape == ()
    assert array == 7


def test_arrays_read_are_writable() -> None:
    assert decode(encode_idx(np.zeros(3, np.uint8))).flags.writeable
    assert decode(encode_idx(np.zeros(3, np.float32))).flags.writeable


def test_arrays_that_are_not_contiguous_are_written_in_row_major_order() -> None:
    array = np.arange(12, dtype=np.int32).reshape(3, 4).T[::2]
    assert decode(encode_idx(array)).tolist() == array.tolist()


def test_compression_is_told_from_the_content_and_not_from_the_name(tmp_path: Path) -> None:
    array = np.arange(5, dtype=np.uint8)
    write_idx(tmp_path / "compressed", array, compress=True)
    write_idx(tmp_path / "plain.gz", array)
    assert (tmp_path / "compressed").read_bytes()[:2] == b"\x1f\x8b"
    assert read_idx(tmp_path / "compressed").tolist() == array.tolist()
    assert read_idx(str(tmp_path / "plain.gz")).tolist() == array.tolist()


def test_a_gzip_file_of_several_members_is_read() -> None:
    content = encode_idx(np.arange(9, dtype=np.int16))
    assert decode(gzip.compress(content[:11]) + gzip.compress(content[11:])).tolist() == list(range(9))


def test_a_compressed_file_does_not_depend_on_its_name(tmp_path: Path) -> None:
    for name in "a", "b":
        write_idx(tmp_path / name, np.arange(100, dtype=np.uint8), compress=True)
    first, second = (tmp_path / "a").read_bytes(), (tmp_path / "b").read_bytes()
    assert first == second
    assert first[4:8] == bytes(4)  # nor on the time


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected an IDX header of 4 bytes or more, found 0 bytes"),
        (b"\0\0\x08", "expected an IDX header of 4 bytes or more, found 3 bytes"),
        (b"\0\1\x08\1\0\0\0\0", "expected an IDX file .* found the bytes 00 01 08 01"),
        (b"\0\0\x0a\1\0\0\0\0", "expected an IDX file .* found the bytes 00 00 0a 01"),
        (b"<html></html>", "expected an IDX file .* found the bytes 3c 68 74 6d"),
        (b"\0\0\x08\3\0\0\0\2", "expected an IDX header of 16 bytes, found 8 bytes"),
        (b"\0\0\x0b\1\0\0\0\2abc", r"expected 4 bytes after the header \(shape \(2,\), int16\), found 3"),
        (b"\0\0\x0b\1\0\0\0\2abcde", r"expected 4 bytes after the header \(shape \(2,\), int16\), found more"),
        (b"\0\0\x0e\2" + b"\xff" * 8, r"expected 147573952520956936200 bytes after the header .* found 0"),
        (b"\0\0\x08\x41", "expected at most 64 axes, found 65"),
        (b"\0\0\x08\x03" + bytes(4) + b"\xff" * 8, "NumPy has no array of shape"),
        (b"\x1f\x8b", "expected a whole gzip file, found one cut short"),
        (gzip.compress(b"\0\0\x08\1\0\0\0\2ab")[:-1], "expected a whole gzip file, found one cut short"),
        (gzip.compress(b"\0\0\x08\1\0\0\0\2ab")[:12], "expected a whole gzip file, found one cut short"),
        (b"\x1f\x8b\0" + bytes(20), "expected a gzip file, found a damaged one: Unknown compression method"),
        (gzip.compress(b"\0\0\x08\1\0\0\0\2ab") + b"more", "expected a gzip file, found a damaged one: Not a gzipped"),
        (gzip.compress(b"\0\0\x08\1\0\0\0\2ab")[:-8] + bytes(8), "found a damaged one: CRC check failed"),
        (gzip.compress(b"\0\0\x08\1\0\0\0\2abc"), "expected 2 bytes after the header .* found more"),
    ],
    ids=[
        "empty",
        "cut in the magic number",
        "magic number",
        "element type",
        "a web page",
        "cut in the sizes",
        "too few bytes",
        "too many bytes",
        "no data for huge sizes",
        "too many axes",
        "sizes beyond NumPy",
        "gzip: the magic number only",
        "gzip: last byte missing",
        "gzip: cut in the data",
        "gzip: method of compression",
        "gzip: more after the end",
        "gzip: checksum",
        "gzip: too many bytes",
    ],
)
def test_a_file_that_is_not_right_is_refused_with_what_was_expected_and_found(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=f"^read_idx: a file: .*{message}"):
        decode(content)


def test_a_path_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"read_idx: {tmp_path}/none: expected an IDX file, found no file"):
        read_idx(tmp_path / "none")
    with pytest.raises(DataError, match=f"read_idx: {tmp_path}: expected an IDX file, found a directory"):
        read_idx(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=f"read_idx: {tmp_path}/file/x: cannot be read: Not a directory"):
        read_idx(tmp_path / "file" / "x")


def test_a_file_without_permission_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(self: Path, mode: str) -> None:  # root, as whom tests may run, can read every file
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(DataError, match=r"^read_idx: secret: cannot be read: Permission denied$"):
        read_idx("secret")


@pytest.mark.parametrize("compress", [False, True])
def test_a_checksum_is_that_of_the_uncompressed_content(compress: bool) -> None:
    content = encode_idx(np.arange(6, dtype=np.int16).reshape(2, 3))
    digest = hashlib.sha256(content).hexdigest()
    packed = gzip.compress(content) if compress else content
    assert decode(packed, sha256=digest).shape == (2, 3)
    with pytest.raises(DataError, match=f"a file: expected content with the SHA-256 {'0' * 64}, found {digest}"):
        decode(packed, sha256="0" * 64)


@given(array=idx_arrays(), compress=st.booleans(), data=st.data())
def test_no_damage_to_a_file_raises_anything_but_a_data_error(
    array: NDArray[np.generic], compress: bool, data: st.DataObject
) -> None:
    content = encode_idx(array)
    if compress:
        content = gzip.compress(content)
    damaged = bytearray(content[: data.draw(st.integers(0, len(content)), label="kept")])
    for _ in range(data.draw(st.integers(0, 4), label="changed bytes") if damaged else 0):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    damaged += data.draw(st.binary(max_size=4), label="appended")
    assert complaint(bytes(damaged)).startswith("read_idx: a file: ")


@given(content=st.binary(max_size=64), compress=st.booleans())
def test_no_content_raises_anything_but_a_data_error(content: bytes, compress: bool) -> None:
    for start in b"", b"\0\0", b"\0\0\x08\x02", b"\x1f\x8b\x08":
        packed = gzip.compress(start + content) if compress else start + content
        assert complaint(packed).startswith("read_idx: a file: ")


@given(array=idx_arrays().filter(lambda array: array.size > 0), data=st.data())
def test_every_cut_and_every_addition_to_a_file_is_noticed(array: NDArray[np.generic], data: st.DataObject) -> None:
    content = encode_idx(array)
    with pytest.raises(DataError, match="expected"):
        decode(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(DataError, match="found more"):
        decode(content + data.draw(st.binary(min_size=1, max_size=9)))


@pytest.mark.parametrize("element", [np.int64, np.uint16, np.bool_, np.float16, np.complex64])
def test_element_types_that_idx_does_not_have_are_refused(element: type[np.generic], tmp_path: Path) -> None:
    array = np.zeros(3, element)
    message = rf"encode_idx: array of {array.dtype}: IDX holds uint8, .*: convert with array.astype\(...\) first"
    with pytest.raises(OperandError, match=message):
        write_idx(tmp_path / "file", array)
    assert not (tmp_path / "file").exists()


def test_a_size_of_more_than_32_bits_is_refused() -> None:
    with pytest.raises(OperandError, match=r"encode_idx: array of shape \(4294967296,\): a size in IDX is at most"):
        encode_idx(np.broadcast_to(np.uint8(0), (2**32,)))
