"""Fashion-MNIST and EMNIST, read from small files in their form; the true ones where they are at hand."""

import os
from pathlib import Path
from typing import assert_type

import numpy as np
import pytest

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import (
    EMNIST_CLASSES,
    FASHION_MNIST_CLASSES,
    TrainTest,
    emnist,
    fashion_mnist,
    write_idx,
)
from moonxi.data.emnist import Split
from moonxi.dtypes import F32
from moonxi.errors import DataError, OptionError, ShapeError
from tests.data.mirror import mirror, sends


def write(folder: Path, name: str, labels: list[int]) -> np.ndarray:
    images = np.random.default_rng(len(labels)).integers(0, 256, (len(labels), 28, 28), np.uint8)
    write_idx(folder / f"{name}-images-idx3-ubyte.gz", images, compress=True)
    write_idx(folder / f"{name}-labels-idx1-ubyte", np.array(labels, np.uint8))
    return images


def fashion_files(folder: Path) -> None:
    for part, labels in (("train", [0, 9, 3]), ("t10k", [1, 2])):
        write(folder, part, labels)


def test_fashion_mnist_is_read_from_a_folder(tmp_path: Path) -> None:
    fashion_files(tmp_path)
    found = fashion_mnist(numpy(), folder=tmp_path, shape=(1, 28, 28))
    assert_type(found, TrainTest[NpArray[F32]])
    assert found.train.inputs.shape == (3, 1, 28, 28)
    assert [FASHION_MNIST_CLASSES[label] for label in found.train.labels] == ["T-shirt/top", "Ankle boot", "Dress"]


def test_fashion_mnist_is_looked_for_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(DataError, match=f"^fashion_mnist: {tmp_path}/moonxi/fashion_mnist: expected a file train-"):
        fashion_mnist(numpy())
    (tmp_path / "moonxi" / "fashion_mnist").mkdir(parents=True)
    fashion_files(tmp_path / "moonxi" / "fashion_mnist")
    assert len(fashion_mnist(numpy()).test) == 2


def test_a_download_of_anything_but_fashion_mnist_is_refused(tmp_path: Path) -> None:
    fashion_files(tmp_path)
    files = {f"{path.stem if path.suffix else path.name}.gz": sends(path.read_bytes()) for path in tmp_path.iterdir()}
    with (
        mirror(files) as there,
        pytest.raises(DataError, match=r"no mirror gave it:\n.*: expected content with the SHA-256"),
    ):
        fashion_mnist(numpy(), folder=tmp_path / "new", download=True, mirrors=(there.url,))


def test_the_true_fashion_mnist_has_the_published_content() -> None:
    """In MOONXI_DATA, or where Debian's package dataset-fashion-mnist puts it."""
    folder = Path(os.environ.get("MOONXI_DATA", "/usr/share/datasets")) / "fashion-mnist"
    if not folder.is_dir():
        pytest.skip(f"the files of Fashion-MNIST are not at hand: {folder}")
    found = fashion_mnist(numpy(), folder=folder, download=True, mirrors=())
    assert np.bincount(found.train.labels).tolist() == [6000] * 10
    assert np.bincount(found.test.labels).tolist() == [1000] * 10


@pytest.mark.parametrize(("split", "first"), [("letters", 1), ("digits", 0), ("balanced", 0)])
def test_emnist_is_upright_and_counts_from_zero(tmp_path: Path, split: Split, first: int) -> None:
    images = write(tmp_path, f"emnist-{split}-train", [first, first + 5, first + 9])
    write(tmp_path, f"emnist-{split}-test", [first + 1])
    found = emnist(numpy(), split, folder=tmp_path, shape=(28, 28))
    assert_type(found, TrainTest[NpArray[F32]])
    np.testing.assert_array_equal(found.train.inputs, images.swapaxes(1, 2).astype(np.float32) / np.float32(255))
    assert found.train.labels.tolist() == [0, 5, 9]
    assert found.test.labels.tolist() == [1]
    flat = emnist(numpy(), split, folder=str(tmp_path))
    assert flat.train.inputs.tobytes() == found.train.inputs.tobytes()
    assert flat.train.inputs.shape == (3, 784)


def test_each_split_of_emnist_has_its_classes() -> None:
    assert {split: len(classes) for split, classes in EMNIST_CLASSES.items()} == {
        "byclass": 62,
        "bymerge": 47,
        "balanced": 47,
        "letters": 26,
        "digits": 10,
        "mnist": 10,
    }
    assert all(len(set(classes)) == len(classes) for classes in EMNIST_CLASSES.values())


def test_what_is_not_emnist_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "emnist-letters-train", [0, 3])
    write(tmp_path, "emnist-letters-test", [1])
    with pytest.raises(DataError, match=r"^emnist: expected labels from 1, found 0 at 0$"):
        emnist(numpy(), "letters", folder=tmp_path)
    with pytest.raises(DataError, match=r"^emnist \(digits\): .*: expected a file emnist-digits-train-images-idx3-"):
        emnist(numpy(), "digits", folder=tmp_path)
    with pytest.raises(ShapeError, match=r"^emnist \(letters\): shape \(3,\): an image has 784 pixels"):
        emnist(numpy(), "letters", folder=tmp_path, shape=(3,))
    wrong: Split = "letter"  # type: ignore[assignment]
    with pytest.raises(OptionError, match=r"^emnist: split='letter': must be one of byclass, bymerge, balanced, lett"):
        emnist(numpy(), wrong, folder=tmp_path)
