import gzip
import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from moonxi.backends.numpy import numpy
from moonxi.data import IdxFile, IdxPair, ImageCollection, encode_idx, write_idx
from moonxi.data.idx import IdxArray
from moonxi.errors import DataError, ShapeError
from tests.data.mirror import Answer, mirror, sends

ARRAYS: dict[str, IdxArray] = {
    "a-images-idx3-ubyte": np.arange(24, dtype=np.uint8).reshape(4, 2, 3) * 11,
    "a-labels-idx1-ubyte": np.array([0, 1, 2, 1], np.uint8),
    "b-images-idx3-ubyte": np.arange(12, dtype=np.uint8).reshape(2, 2, 3),
    "b-labels-idx1-ubyte": np.array([2, 0], np.uint8),
}
FILES = [IdxFile(name, hashlib.sha256(encode_idx(array)).hexdigest()) for name, array in ARRAYS.items()]
TINY = ImageCollection(
    name="tiny",
    train=IdxPair(images=FILES[0], labels=FILES[1]),
    test=IdxPair(images=FILES[2], labels=FILES[3]),
    image_shape=(2, 3),
    classes=3,
    mirrors=("http://127.0.0.1:9/",),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, array in ARRAYS.items():
        write_idx(tmp_path / name, array)
    return tmp_path


def answers() -> dict[str, Answer]:
    return {f"{name}.gz": sends(gzip.compress(encode_idx(array))) for name, array in ARRAYS.items()}


def test_pixels_are_divided_by_255_and_labels_are_int64(folder: Path) -> None:
    parts = TINY.read(numpy(), folder, shape=(6,))
    assert parts.train.inputs.dtype == np.float32
    assert parts.train.labels.dtype == np.int64
    expected = ARRAYS["a-images-idx3-ubyte"].reshape(4, 6).astype(np.float32) / np.float32(255)
    assert parts.train.inputs.tolist() == expected.tolist()
    assert parts.train.labels.tolist() == [0, 1, 2, 1]
    assert parts.test.labels.tolist() == [2, 0]


@pytest.mark.parametrize("shape", [(6,), (2, 3), (1, 2, 3), (3, 2)])
def test_images_have_the_shape_asked_for(shape: tuple[int, ...], folder: Path) -> None:
    parts = TINY.read(numpy(), folder, shape=shape)
    assert parts.train.batch(np.array([3, 1])).x.shape == (2, *shape)
    assert parts.test.inputs.shape == (2, *shape)


@pytest.mark.parametrize("shape", [(), (5,), (3, 3), (-1,), (-2, -3), (6, 0)])
def test_a_shape_that_an_image_does_not_fit_is_refused(shape: tuple[int, ...], folder: Path) -> None:
    with pytest.raises(ShapeError, match=r"^tiny: shape \(.*\): an image has 6 pixels, \(2, 3\)$"):
        TINY.read(numpy(), folder, shape=shape)


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("mark", ["-idx", ".idx"])
def test_files_are_found_under_their_usual_names(ending: str, mark: str, tmp_path: Path) -> None:
    for name, array in ARRAYS.items():
        write_idx(tmp_path / (name.replace("-idx", mark) + ending), array, compress=bool(ending))
    assert len(TINY.read(numpy(), tmp_path, shape=(6,)).train) == 4


def test_a_missing_folder_or_file_is_named(folder: Path) -> None:
    expected = r"expected a file {0} or {0}\.gz, found no such {1}$"
    message = f"^tiny: {folder}/none: " + expected.format("a-images-idx3-ubyte", "folder")
    with pytest.raises(DataError, match=message):
        TINY.read(numpy(), folder / "none", shape=(6,))
    (folder / "b-labels-idx1-ubyte").unlink()
    (folder / "b-labels-idx1-ubyte").mkdir()
    with pytest.raises(DataError, match=f"^tiny: {folder}: " + expected.format("b-labels-idx1-ubyte", "file")):
        TINY.read(numpy(), folder, shape=(6,))


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("a-images", np.zeros((4, 3, 2), np.uint8), r"images \(1 or more, 2, 3\) of uint8, found \(4, 3, 2\) of uint8"),
        ("a-images", np.zeros((4, 6), np.uint8), r"images \(1 or more, 2, 3\) of uint8, found \(4, 6\) of uint8"),
        ("a-images", np.zeros((0, 2, 3), np.uint8), r"images \(1 or more, 2, 3\) of uint8, found \(0, 2, 3\) of uint8"),
        ("a-images", np.zeros((4, 2, 3), np.int32), r"images \(1 or more, 2, 3\) of uint8, found .* of int32"),
        ("b-labels", np.zeros(3, np.uint8), r"labels \(2,\) of uint8, one for each image in .*, found \(3,\) of uint8"),
        ("b-labels", np.zeros((2, 1), np.uint8), r"labels \(2,\) of uint8, one for each image in .*, found \(2, 1\)"),
        ("b-labels", np.zeros(2, np.float32), r"labels \(2,\) of uint8, one for each image in .*, found .* of float32"),
        ("a-labels", np.array([0, 2, 3, 3], np.uint8), "labels from 0 to 2, found 3 at 2"),
    ],
)
def test_a_file_that_does_not_hold_what_it_should_is_named(
    name: str, array: IdxArray, message: str, folder: Path
) -> None:
    path = next(folder.glob(f"{name}*"))
    write_idx(path, array)
    with pytest.raises(DataError, match=f"^tiny: {path}: expected {message}"):
        TINY.read(numpy(), folder, shape=(6,))


def test_a_folder_may_hold_another_number_of_images_unless_it_is_verified(folder: Path) -> None:
    write_idx(folder / "a-images-idx3-ubyte", ARRAYS["a-images-idx3-ubyte"][:2])
    write_idx(folder / "a-labels-idx1-ubyte", ARRAYS["a-labels-idx1-ubyte"][:2])
    assert len(TINY.read(numpy(), folder, shape=(6,)).train) == 2
    with pytest.raises(DataError, match=f"^read_idx: {folder}/a-images-idx3-ubyte: expected content with the SHA-256"):
        TINY.read(numpy(), folder, shape=(6,), verified=True)


def test_a_download_is_kept_in_the_cache_and_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with mirror(answers()) as there:
        for _ in range(2):
            parts = TINY.download(numpy(), mirrors=(f"{there.url}/tiny/",), shape=(6,))
            assert parts.train.labels.tolist() == [0, 1, 2, 1]
        assert there.asked == [f"/tiny/{name}.gz" for name in ARRAYS]
    assert {path.name for path in (tmp_path / "moonxi" / "tiny").iterdir()} == {f"{name}.gz" for name in ARRAYS}
    assert TINY.download(numpy(), shape=(6,)).test.labels.tolist() == [2, 0]  # without a network


def test_only_missing_files_are_downloaded(folder: Path) -> None:
    (folder / "b-images-idx3-ubyte").unlink()
    with mirror(answers()) as there:
        TINY.download(numpy(), folder=folder, mirrors=(there.url,), shape=(6,))
        assert there.asked == ["/b-images-idx3-ubyte.gz"]


def test_the_second_mirror_is_asked_for_what_the_first_does_not_have(tmp_path: Path) -> None:
    some = {name: answer for name, answer in answers().items() if name.startswith("a")}
    with mirror(some) as first, mirror(answers()) as second:
        TINY.download(numpy(), folder=tmp_path, mirrors=(first.url, second.url), shape=(6,))
        assert len(first.asked) == 4
        assert len(second.asked) == 2


def test_a_damaged_file_in_the_cache_is_refused_and_kept(folder: Path) -> None:
    """It may be a file of the user's: who else put another one there?"""
    path = folder / "a-labels-idx1-ubyte"
    shutil.copy(folder / "b-labels-idx1-ubyte", path)
    before = path.read_bytes()
    with pytest.raises(DataError, match=f"^read_idx: {path}: expected content with the SHA-256"):
        TINY.download(numpy(), folder=folder, shape=(6,))
    assert path.read_bytes() == before


def test_without_a_network_a_download_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a-images-idx3-ubyte\.gz: no mirror gave it:\n(.*\n)*Check the network"):
        TINY.download(numpy(), folder=tmp_path, shape=(6,))
    assert list(tmp_path.iterdir()) == []
