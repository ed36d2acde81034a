"""Event files as TensorBoard reads them: records of protocol buffers with checksums.

A record is the length of its data (8 bytes, little endian), the masked CRC-32C of these 8 bytes, the data, and the
masked CRC-32C of the data (TensorFlow's ``record_writer.cc``). The data is an ``Event`` (``event.proto``); what is
written here are its fields 1 ``wall_time``, 2 ``step``, 3 ``file_version``, 5 ``summary`` and 7 ``session_log``."""

import struct
from collections.abc import Mapping
from typing import Final

_DOUBLE, _VARINT, _BYTES, _FLOAT = 1, 0, 2, 5
_START: Final = 1  # SessionLog.SessionStatus.START


def _crc_of_byte(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
    return byte


_TABLE: Final = tuple(_crc_of_byte(byte) for byte in range(256))


def crc32c(data: bytes, /) -> int:
    """The cyclic redundancy check with Castagnoli's polynomial (RFC 3720, appendix B.4)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def record(data: bytes, /) -> bytes:
    """Data with its length and checksums."""
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def version_event(wall_time: float, /) -> bytes:
    """What a file begins with."""
    return _number(1, wall_time) + _text(3, b"brain.Event:2")


def start_event(wall_time: float, step: int, /) -> bytes:
    """A run begins, or goes on, with this step: events of older files from there on no longer count."""
    return _number(1, wall_time) + _whole(2, step) + _text(7, _whole(1, _START))


def scalars_event(wall_time: float, step: int, values: Mapping[str, float], /) -> bytes:
    """Named numbers after a step; they are stored in single precision."""
    summary = b"".join(_text(1, _text(1, tag.encode()) + _single(2, value)) for tag, value in values.items())
    return _number(1, wall_time) + _whole(2, step) + _text(5, summary)


def _masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _tag(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _whole(field: int, value: int) -> bytes:
    return _tag(field, _VARINT) + _varint(value)


def _number(field: int, value: float) -> bytes:
    return _tag(field, _DOUBLE) + struct.pack("<d", value)


def _single(field: int, value: float) -> bytes:
    try:
        return _tag(field, _FLOAT) + struct.pack("<f", value)
    except OverflowError:  # too large for single precision, which has infinities for that
        return _tag(field, _FLOAT) + struct.pack("<f", float("inf") if value > 0 else float("-inf"))


def _text(field: int, value: bytes) -> bytes:
    return _tag(field, _BYTES) + _varint(len(value)) + value
