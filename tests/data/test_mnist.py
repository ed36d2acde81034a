import gzip
import os
import shutil
from importlib.resources import files
from pathlib import Path
from typing import assert_type

import numpy as np
import pytest

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import DataLoader, Labelled, TrainTest, mnist, read_idx
from moonxi.dtypes import F32, F64
from moonxi.errors import DataError
from tests.data.make_mnist_subset import EVERY, SUBSET
from tests.data.mirror import mirror, sends


@pytest.fixture
def full() -> Path:
    """The folder with the four files of MNIST."""
    if "MOONXI_DATA" not in os.environ:
        pytest.skip("the full MNIST is not at hand: set MOONXI_DATA to a folder with the four files in mnist/")
    return Path(os.environ["MOONXI_DATA"]) / "mnist"


def test_the_subset_that_ships_needs_no_options() -> None:
    digits = mnist(numpy())
    assert_type(digits, TrainTest[NpArray[F32]])
    assert digits.train.inputs.shape == (10_000, 784)
    assert digits.test.inputs.shape == (2_000, 784)
    assert digits.train.inputs.dtype == np.float32
    assert digits.train.inputs.min() == 0.0
    assert digits.train.inputs.max() == 1.0
    assert digits.train.labels[:10].tolist() == [5, 1, 3, 6, 1, 3, 6, 7, 9, 9]
    assert digits.test.labels[:10].tolist() == [7, 1, 0, 5, 9, 0, 3, 2, 1, 5]


def test_the_subset_has_enough_of_every_digit() -> None:
    digits = mnist(numpy())
    assert np.bincount(digits.train.labels).min() > 850
    assert np.bincount(digits.test.labels).min() > 150


def test_the_subset_is_small() -> None:
    sizes = {path.name: len(path.read_bytes()) for path in (files("moonxi.data") / "mnist_subset").iterdir()}
    assert set(sizes) == {f"{name}.gz" for name in EVERY}
    assert sum(sizes.values()) < 2_500_000


def test_the_subset_names_its_origin_and_licence() -> None:
    notice = (SUBSET.parents[2] / "NOTICE").read_text()
    for words in "mnist_subset", "LeCun", "Cortes", "Burges", "NIST", "Attribution-ShareAlike 3.0", "every 6th":
        assert words in notice


def test_the_subset_is_every_sixth_and_every_fifth_image(full: Path) -> None:
    for name, every in EVERY.items():
        assert np.array_equal(read_idx(SUBSET / f"{name}.gz"), read_idx(full / f"{name}.gz")[::every])


def test_the_digits_load_as_batches_of_images() -> None:
    loader = DataLoader(mnist(numpy(F64), shape=(1, 28, 28)).test, batch_size=100, seed=0)
    assert_type(loader, DataLoader[Labelled[NpArray[F64]]])
    batch = next(loader.epoch(0))
    assert batch.x.shape == (100, 1, 28, 28)
    assert batch.x.dtype is F64
    assert batch.labels.shape == (100,)


def test_the_full_data_set_is_read_from_a_folder(full: Path) -> None:
    digits = mnist(numpy(), folder=full)
    assert np.bincount(digits.train.labels).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert len(mnist(numpy(), folder=str(full)).test) == 10_000


def test_unpacked_files_are_read_as_well(full: Path, tmp_path: Path) -> None:
    for path in full.iterdir():
        (tmp_path / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    digits = mnist(numpy(), folder=tmp_path)
    assert (len(digits.train), len(digits.test)) == (60_000, 10_000)


def test_a_download_is_the_published_data_set(full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    published = {path.name: sends(path.read_bytes()) for path in full.iterdir()}
    with mirror(published) as there:
        digits = mnist(numpy(), download=True, mirrors=(there.url,))
    assert (len(digits.train), len(digits.test)) == (60_000, 10_000)
    assert {path.name for path in (tmp_path / "moonxi" / "mnist").iterdir()} == set(published)


def test_a_download_of_anything_else_is_refused(tmp_path: Path) -> None:
    subset = {path.name: sends(path.read_bytes()) for path in SUBSET.iterdir()}
    with (
        mirror(subset) as there,
        pytest.raises(DataError, match=r"no mirror gave it:\n.*: expected content with the SHA-256"),
    ):
        mnist(numpy(), folder=tmp_path, download=True, mirrors=(there.url,))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"^mnist: {tmp_path}: expected a file train-images-idx3-ubyte or "):
        mnist(numpy(), folder=tmp_path)


def test_a_damaged_file_in_a_folder_is_named(tmp_path: Path) -> None:
    shutil.copytree(SUBSET, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "t10k-images-idx3-ubyte.gz"
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 16] = bytes(16)
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"^read_idx: {path}: expected "):
        mnist(numpy(), folder=tmp_path)
