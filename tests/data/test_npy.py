import mmap
import pickle
import struct
from pathlib import Path
from typing import assert_type

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import LabelledArrays, PairedArrays, Subset, labelled_npy, open_npy, paired_npy, split
from moonxi.dtypes import F32
from moonxi.errors import DataError


def saved(path: Path, array: np.ndarray) -> Path:
    np.save(path, array)
    return path


def is_mapped(array: np.ndarray) -> bool:
    owner: object = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    return isinstance(owner, mmap.mmap)


def test_a_file_is_mapped_and_read_only(tmp_path: Path) -> None:
    array = open_npy(saved(tmp_path / "x.npy", np.arange(6.0).reshape(2, 3)))
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert is_mapped(array)
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1


def test_data_sets_stay_on_the_disk(tmp_path: Path) -> None:
    x = saved(tmp_path / "x.npy", np.arange(20, dtype=np.uint8).reshape(10, 2))
    labels = saved(tmp_path / "labels.npy", np.arange(10))
    y = saved(tmp_path / "y.npy", np.arange(10.0))
    classes = labelled_npy(numpy(), inputs=x, labels=labels, divisor=255)
    assert_type(classes, LabelledArrays[NpArray[F32]])
    assert is_mapped(classes.inputs)
    assert is_mapped(classes.labels)
    batch = classes.batch(np.array([9, 0]))
    np.testing.assert_allclose(batch.x.to_host(), np.array([[18, 19], [0, 1]], np.float32) / 255)
    assert batch.labels.to_host().tolist() == [9, 0]
    pairs = paired_npy(numpy(), inputs=x, targets=y)
    assert_type(pairs, PairedArrays[NpArray[F32]])
    first, _ = split(Subset.whole(pairs), (0.5, 0.5), seed=0)
    assert len(first.batch(np.arange(5)).y.to_host()) == 5
    assert is_mapped(pairs.targets)


@given(count=st.integers(0, 200))
def test_a_file_cut_short_is_refused(tmp_path_factory: pytest.TempPathFactory, count: int) -> None:
    path = saved(tmp_path_factory.mktemp("npy") / "x.npy", np.arange(10.0))
    path.write_bytes(path.read_bytes()[:count])
    with pytest.raises(DataError, match=rf"^open_npy: {path}: expected a "):
        open_npy(path)


def test_nothing_in_a_file_is_executed(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (Path(tmp_path / "sprung"),)  # type: ignore[return-value]

    plain, objects = tmp_path / "pickle.npy", tmp_path / "objects.npy"
    plain.write_bytes(pickle.dumps(Trap()))
    np.save(objects, np.array([Trap()], object), allow_pickle=True)
    for path in plain, objects:
        with pytest.raises(DataError, match=rf"^open_npy: {path}: expected (a |real numbers)"):
            open_npy(path)
    assert not (tmp_path / "sprung").exists()


def test_files_of_something_else_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none.npy: cannot be read: No such file or directory$"):
        open_npy(tmp_path / "none.npy")
    with pytest.raises(DataError, match=r"bool.npy: expected real numbers, found bool$"):
        open_npy(saved(tmp_path / "bool.npy", np.array([True])))
    np.savez(tmp_path / "many.npz", x=np.ones(2))
    with pytest.raises(DataError, match=r"many.npz: expected a .npy file, found the bytes 50 4b 03 04 "):
        open_npy(tmp_path / "many.npz")
    x = saved(tmp_path / "x.npy", np.ones(2))
    with pytest.raises(DataError, match=r"^labelled_npy: .*x.npy: expected integers, one class each, found float64$"):
        labelled_npy(numpy(), inputs=x, labels=x)


def with_header(path: Path, text: str, *, version: bytes = b"\x01\x00", data: int = 64) -> Path:
    header = text.encode("latin1") + b"\n"
    path.write_bytes(b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header + bytes(data))
    return path


HEADER = "{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
DAMAGED: dict[str, tuple[str, str]] = {
    "more elements than 64 bits count": (
        HEADER.format(dtype="<f8", shape=(2**62, 8)),
        r"expected a whole \.npy file, 295147905179352825856 bytes for float64 \(4611686018427387904, 8\) after",
    ),
    "one element too many": (
        HEADER.format(dtype="<f8", shape=(9,)),
        r"expected a whole \.npy file, 72 bytes .*found 64$",
    ),
    "a negative size": (HEADER.format(dtype="<f8", shape=(-1, 3)), r"expected a shape, found \(-1, 3\)$"),
    "a truth value as a size": (HEADER.format(dtype="<f8", shape=(True,)), r"expected a shape, found \(True,\)$"),
    "no shape at all": ("{'descr': '<f8', 'fortran_order': False}", r"expected a whole \.npy header: "),
    "a dtype that is none": (HEADER.format(dtype="<q9", shape=(3,)), r"expected a whole \.npy header: "),
    "parentheses without end": ("(" * 5000, r"expected a whole \.npy header: "),
    "a zero byte": (HEADER.format(dtype="<f8", shape=(3,)) + "\0", r"expected a whole \.npy header: "),
    "arrays in an array": ("{'descr': ('<f8', (2,)), 'fortran_order': False, 'shape': (2,)}", "expected real numbers"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_header_is_refused(tmp_path: Path, damage: str) -> None:
    header, text = DAMAGED[damage]
    with pytest.raises(DataError, match=rf"^open_npy: .*x\.npy: {text}"):
        open_npy(with_header(tmp_path / "x.npy", header))


def test_another_version_of_the_format_is_refused(tmp_path: Path) -> None:
    path = with_header(tmp_path / "x.npy", HEADER.format(dtype="<f8", shape=(3,)), version=b"\x09\x00")
    with pytest.raises(DataError, match=r"x\.npy: expected a \.npy file of version 1\.0 or 2\.0, found 09 00$"):
        open_npy(path)


@given(changes=st.lists(st.tuples(st.integers(6, 127), st.integers(0, 255)), min_size=1, max_size=4))
def test_any_damage_to_a_header_is_refused_or_does_no_harm(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]]
) -> None:
    path = saved(tmp_path_factory.mktemp("npy") / "x.npy", np.arange(10.0))
    content = bytearray(path.read_bytes())
    for place, byte in changes:
        content[place] = byte
    path.write_bytes(content)
    try:
        array = open_npy(path)
    except DataError:
        return
    assert array.nbytes <= len(content) - 128 + 118


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 3)])
def test_shapes_without_elements_are_read_too(tmp_path: Path, shape: tuple[int, ...]) -> None:
    array = open_npy(saved(tmp_path / "x.npy", np.ones(shape, order="F")))
    assert array.shape == shape
    assert array.sum() == array.size
    assert not array.flags.writeable
