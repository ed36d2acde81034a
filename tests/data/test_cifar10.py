import gzip
import hashlib
import lzma
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import assert_type

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import CIFAR10_CLASSES, DataLoader, Labelled, TrainTest, cifar10
from moonxi.data.archive import archive_files
from moonxi.data.cifar_batches import CifarBatch, decode_binary_batch, decode_python_batch
from moonxi.dtypes import F32, F64
from moonxi.errors import DataError
from tests.data.cifar_files import (
    NAMES,
    archive,
    binary_batch,
    binary_files,
    images,
    labels,
    python_batch,
    python_files,
    tar,
    write,
)
from tests.data.mirror import mirror, sends
from tests.parameter_names import counted

MODULE = import_module("moonxi.data.cifar10")  # moonxi.data.cifar10, as an attribute, is the function


def check(parts: TrainTest[NpArray[F32]]) -> None:
    """Whether these are the images of `cifar_files`, in order."""
    expected = np.concatenate([images(3, i) for i in range(6)]).reshape(-1, 3, 32, 32)
    classes = [label for i in range(6) for label in labels(3, i)]
    assert np.array_equal(parts.train.inputs, expected[:15])
    assert np.array_equal(parts.test.inputs, expected[15:])
    assert parts.train.labels.tolist() == classes[:15]
    assert parts.test.labels.tolist() == classes[15:]
    assert parts.train.inputs.dtype == np.uint8
    assert parts.train.labels.dtype == np.int64


@pytest.mark.parametrize("files", [python_files, binary_files])
@pytest.mark.parametrize("inner", [".", "cifar-10-batches-{}"])
def test_both_published_forms_are_read_from_their_folder_or_the_one_around_it(
    files: Callable[[], dict[str, bytes]], inner: str, tmp_path: Path
) -> None:
    write(tmp_path / inner.format("py" if files is python_files else "bin"), files())
    parts = cifar10(numpy(), folder=tmp_path)
    assert_type(parts, TrainTest[NpArray[F32]])
    check(parts)


@pytest.mark.parametrize("form", ["python", "binary"])
def test_archives_are_read_under_any_name_and_in_a_folder_under_their_own(form: str, tmp_path: Path) -> None:
    renamed, published = tmp_path / "renamed", tmp_path / f"cifar-10-{form}.tar.gz"
    for path in renamed, published:
        path.write_bytes(archive(form))
        check(cifar10(numpy(), folder=str(path)))
    check(cifar10(numpy(), folder=tmp_path))
    assert sorted(tmp_path.iterdir()) == sorted([renamed, published])  # nothing was unpacked


def test_a_batch_has_pixels_from_0_to_1_where_like_lives(tmp_path: Path) -> None:
    write(tmp_path, binary_files())
    batch = next(DataLoader(cifar10(numpy(F64), folder=tmp_path).train, batch_size=4).epoch(0))
    assert_type(batch, Labelled[NpArray[F64]])
    assert batch.x.shape == (4, 3, 32, 32)
    assert batch.x.dtype is F64
    expected = images(3, 0).astype(np.float32) / np.float32(255)
    assert np.array_equal(batch.x.to_host()[:3], expected.reshape(3, 3, 32, 32).astype(np.float64))
    assert batch.x.to_host().max() <= 1.0


def test_the_first_plane_is_red_and_its_rows_follow_each_other(tmp_path: Path) -> None:
    """A red pixel at row 1, column 2: byte 34 of the 3,072, and byte 35 of a record."""
    row = np.zeros((1, 3072), np.uint8)
    row[0, 34] = 255
    for batch in decode_binary_batch(binary_batch(row, [0]), "b"), decode_python_batch(python_batch(row, [0]), "b"):
        assert np.argwhere(batch.images).tolist() == [[0, 0, 1, 2]]


def test_the_classes_have_names_in_the_order_of_the_labels() -> None:
    assert len(CIFAR10_CLASSES) == 10
    assert CIFAR10_CLASSES[3] == "cat"
    assert list(CIFAR10_CLASSES) == sorted(CIFAR10_CLASSES)


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    write(tmp_path, binary_files())
    (tmp_path / f"{name}.bin").unlink()
    with pytest.raises(DataError, match=f"^cifar10: {tmp_path}/{name}.bin: cannot be read: No such file or directory$"):
        cifar10(numpy(), folder=tmp_path)


def test_a_file_that_is_missing_in_an_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "some.tar.gz"
    files = {f"cifar-10-batches-bin/{name}": content for name, content in binary_files().items()}
    files.pop("cifar-10-batches-bin/data_batch_4.bin")
    path.write_bytes(tar(files))
    message = "cifar-10-batches-bin: expected a file data_batch_4.bin, found no such file"
    with pytest.raises(DataError, match=f"^cifar10: {path}: {message}$"):
        cifar10(numpy(), folder=path)
    path.write_bytes(tar({"data_batch_1.bin": b""}))
    with pytest.raises(DataError, match=f"^cifar10: {path}: expected files such as cifar-10-batches-bin/data_batch_1"):
        cifar10(numpy(), folder=path)


def test_a_place_without_the_data_set_is_refused_with_advice(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^cifar10: no folder: name the folder .*, or ask with download=True$"):
        cifar10(numpy())
    with pytest.raises(DataError, match=f"^cifar10: {tmp_path}: expected data_batch_1.bin, data_batch_1, .* found n"):
        cifar10(numpy(), folder=tmp_path)
    with pytest.raises(DataError, match=f"^cifar10: {tmp_path}/none: expected a folder or an archive, found nothing$"):
        cifar10(numpy(), folder=tmp_path / "none")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected one or more records of 3073 bytes, found 0 bytes"),
        (bytes(3074), "expected one or more records of 3073 bytes, found 3074 bytes"),
        (bytes(3073) + b"\x0a" + bytes(3072), "expected labels from 0 to 9, found 10 at 1"),
    ],
    ids=counted,
)
def test_a_damaged_binary_file_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=f"^cifar10: b: {message}$"):
        decode_binary_batch(content, "b")


LABELS = b"(K\x03K\x04e"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x80\x02}.", r"expected an array 'data' \(1 or more, 3072\), found none"),
        (python_batch(images(2, 0)[:, :5], [3, 4]), r"expected an array 'data' \(1 or more, 3072\), found \(2, 5\)"),
        (python_batch(images(0, 0), []), r"expected an array 'data' \(1 or more, 3072\), found \(0, 3072\)"),
        (python_batch(images(2, 0), [3]), "expected a list 'labels' of 2 integers, found a list of 1"),
        (python_batch(images(2, 0), [3, 10]), "expected labels from 0 to 9, found 10 at 1"),
        (python_batch(images(2, 0), [3, 4]).replace(LABELS, b"(K\x03\x88e"), "expected a list .*, found a list of 2"),
        (python_batch(images(2, 0), [3, 4]).replace(LABELS, b"(K\x03J\xff\xff\xff\xffe"), "expected .*, found -1 at 1"),
        (
            python_batch(images(2, 0), [3, 4]).replace(LABELS, b"(K\x03\x8b\xff\xff\x00\x00" + b"\x7f" * 65535 + b"e"),
            "expected labels from 0 to 9, found a huge number at 1",
        ),
    ],
    ids=counted,
)
def test_a_damaged_python_file_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=f"^cifar10: b: {message}$"):
        decode_python_batch(content, "b")


def test_a_malicious_file_in_a_folder_or_archive_runs_nothing(tmp_path: Path) -> None:
    made = tmp_path / "made"
    evil = python_files() | {"data_batch_2": f"cos\nmkdir\n(S'{made}'\ntR.".encode()}
    write(tmp_path / "evil", evil)
    path = tmp_path / "evil.tar.gz"
    path.write_bytes(tar({f"cifar-10-batches-py/{name}": content for name, content in evil.items()}))
    for place in tmp_path / "evil", path:
        with pytest.raises(
            DataError, match=r"data_batch_2: expected plain values .*, found GLOBAL 'os mkdir': nothing"
        ):
            cifar10(numpy(), folder=place)
    assert not made.exists()


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "_LARGEST_BATCH", 9000)
    write(tmp_path, binary_files())
    with pytest.raises(
        DataError, match=f"^cifar10: {tmp_path}/data_batch_1.bin: expected at most 9000 bytes, found 9219"
    ):
        cifar10(numpy(), folder=tmp_path)


@pytest.mark.parametrize("decode", [decode_binary_batch, decode_python_batch])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damage_anywhere_is_a_data_error_or_a_batch(
    decode: Callable[[bytes, str], CifarBatch], data: st.DataObject
) -> None:
    content = bytearray(
        {decode_binary_batch: binary_batch, decode_python_batch: python_batch}[decode](images(1, 0), [1])
    )
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, 299) | st.integers(len(content) - 99, len(content) - 1))] = data.draw(
            st.integers(0, 255)
        )
    with suppress(DataError):
        batch = decode(bytes(content), "b")
        assert batch.images.shape == (len(batch.labels), 3, 32, 32)
        assert batch.images.dtype == np.uint8


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The archives of these tests, by name, as if they were the published ones."""
    archives = {f"cifar-10-{form}.tar.gz": archive(form) for form in ("binary", "python")}
    forms = [
        replace(form, md5=hashlib.md5(archives[form.archive]).hexdigest()) for form in (MODULE._BINARY, MODULE._PYTHON)
    ]
    monkeypatch.setattr(MODULE, "_BINARY", forms[0])
    monkeypatch.setattr(MODULE, "_FORMS", tuple(forms))
    return archives


def test_a_download_is_verified_kept_in_the_cache_and_not_repeated(
    published: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with mirror({name: sends(content) for name, content in published.items()}) as there:
        for _ in range(2):
            check(cifar10(numpy(), download=True, mirrors=(f"{there.url}/kriz/",)))
        assert there.asked == ["/kriz/cifar-10-binary.tar.gz"]
    folder = tmp_path / "moonxi" / "cifar10"
    assert [path.name for path in folder.iterdir()] == ["cifar-10-binary.tar.gz"]
    check(cifar10(numpy(), download=True, mirrors=()))  # without a network


def test_a_folder_that_has_the_other_archive_needs_no_download(published: dict[str, bytes], tmp_path: Path) -> None:
    write(tmp_path, {"cifar-10-python.tar.gz": published["cifar-10-python.tar.gz"]})
    check(cifar10(numpy(), folder=tmp_path, download=True, mirrors=()))


def test_a_download_of_anything_else_is_refused(tmp_path: Path) -> None:
    """The checksums are those of the published archives, which these small ones do not have."""
    digest = hashlib.md5(archive("binary")).hexdigest()
    with mirror({"cifar-10-binary.tar.gz": sends(archive("binary"))}) as there:
        message = (
            f"no mirror gave it:\n.*: expected a file with the MD5 c32a1d4ab5d03f1284b67883e8d87530, found {digest}"
        )
        with pytest.raises(DataError, match=message):
            cifar10(numpy(), folder=tmp_path, download=True, mirrors=(there.url,))
    assert list(tmp_path.iterdir()) == []


def test_an_archive_in_the_cache_with_another_checksum_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "cifar-10-python.tar.gz"
    path.write_bytes(archive("python"))
    message = (
        f"^cifar10: {path}: expected a file with the MD5 c58f30108f718f92721af3b95e74349a, found .*: the file is dam"
    )
    with pytest.raises(DataError, match=message):
        cifar10(numpy(), folder=tmp_path, download=True, mirrors=())
    assert path.exists()


def picture(seed: int, *, size: int = 32) -> bytes:
    file = BytesIO()
    Image.fromarray(images(1, seed)[0, : 3 * size * size].reshape(size, size, 3)).save(file, "PNG")
    return file.getvalue()


PICTURES = {
    f"{part}/{name}/{number}.png": picture(100 * first + 10 * label + number)
    for first, part in enumerate(("train", "test"))
    for label, name in enumerate(CIFAR10_CLASSES)
    for number in range(2 - first)
}


def unpack(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def test_image_folders_and_archives_of_them_are_sorted_by_class_and_name(tmp_path: Path) -> None:
    unpack(tmp_path / "folder", PICTURES)
    path = tmp_path / "images.tar.xz"
    backwards = dict(reversed(PICTURES.items())) | {"README": b"", "train/cat/.DS_Store": b""}
    path.write_bytes(lzma.compress(gzip.decompress(tar(backwards))))
    for place in tmp_path / "folder", path:
        parts = cifar10(numpy(), folder=place)
        assert_type(parts, TrainTest[NpArray[F32]])
        assert parts.train.labels.tolist() == [label for label in range(10) for _ in range(2)]
        assert parts.test.labels.tolist() == list(range(10))
        for index, label in (0, 0), (7, 3), (19, 9):
            seed = 10 * label + index % 2
            stored = images(1, seed)[0].reshape(32, 32, 3).transpose(2, 0, 1)
            assert np.array_equal(parts.train.inputs[index], stored)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train/cat/0.png", b"no image", "train/cat/0.png: expected an image, found a damaged or another file: "),
        ("train/cat/0.png", picture(0, size=16), r"\(16, 16\)"),
        ("test/unicorn/0.png", picture(0), "expected (one of )?the classes"),
    ],
    ids=counted,
)
def test_images_that_are_none_or_others_are_refused(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    files = PICTURES | {name: content}
    unpack(tmp_path / "folder", files)
    path = tmp_path / "images.tar.gz"
    path.write_bytes(tar(files))
    for place in tmp_path / "folder", path:
        with pytest.raises(DataError, match=message):
            cifar10(numpy(), folder=place)


def test_an_archive_without_one_of_the_parts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "images.tar.gz"
    path.write_bytes(tar({name: content for name, content in PICTURES.items() if name.startswith("train")}))
    with pytest.raises(DataError, match=f"^image archive: {path}: expected images test/CLASS/FILE, found none$"):
        cifar10(numpy(), folder=path)


@pytest.mark.slow
def test_the_whole_data_set_is_read_from_an_archive_of_images(tmp_path: Path) -> None:
    path = Path(os.environ.get("MOONXI_DATA", "")) / "cifar10-jpeg.tar.xz"
    if "MOONXI_DATA" not in os.environ or not path.is_file():
        pytest.skip("CIFAR-10 (JPEG) is not at hand: set MOONXI_DATA to a folder with cifar10-jpeg.tar.xz")
    parts = cifar10(numpy(), folder=path)
    assert np.bincount(parts.train.labels).tolist() == [5000] * 10
    assert np.bincount(parts.test.labels).tolist() == [1000] * 10
    # Mean and deviation of the published training images, which the compression keeps.
    mean, deviation = parts.train.inputs.mean((0, 2, 3)) / 255, parts.train.inputs.std((0, 2, 3)) / 255
    assert np.abs(mean - [0.4914, 0.4822, 0.4465]).max() < 0.001
    assert np.abs(deviation - [0.2470, 0.2435, 0.2616]).max() < 0.003
    some = re.compile(r"(train|test)/[a-z]+/000[0-4]\.jpg")
    unpack(tmp_path, dict(archive_files(path, lambda name: some.fullmatch(name) is not None)))
    few = cifar10(numpy(), folder=tmp_path)
    for whole, part, each in (parts.train, few.train, 5000), (parts.test, few.test, 1000):
        chosen = whole[np.concatenate([np.arange(5) + each * label for label in range(10)])]
        assert np.array_equal(chosen.inputs, part.inputs)
        assert chosen.labels.tolist() == part.labels.tolist()
