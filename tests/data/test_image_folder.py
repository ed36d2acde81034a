import subprocess
import sys
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import (
    Augmented,
    Crop,
    DataLoader,
    Flip,
    ImageFolder,
    Labelled,
    LabelledArrays,
    Subset,
    image_folder,
    stratified_split,
)
from moonxi.data.image_file import decode_image
from moonxi.dtypes import F32, F64
from moonxi.errors import AxisError, DataError, OperandError, OptionError


def pixels(seed: int, rows: int = 4, columns: int = 6) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (rows, columns, 3), np.uint8)


def encoded(image: Image.Image, form: str = "PNG", **options: object) -> bytes:
    file = BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def png(seed: int, rows: int = 4, columns: int = 6) -> bytes:
    return encoded(Image.fromarray(pixels(seed, rows, columns)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two classes: "cat" with the seeds 1 and 2, "dog" with 3, 4 and 5, made in another order."""
    for name, seed in [("dog/b.PNG", 4), ("dog/a.png", 3), ("cat/2.png", 2), ("dog/c.png", 5), ("cat/1.png", 1)]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(png(seed))
    return tmp_path


def channels_first(*seeds: int) -> NDArray[np.uint8]:
    return np.stack([pixels(seed).transpose(2, 0, 1) for seed in seeds])


def test_classes_and_images_are_sorted_by_name(folder: Path) -> None:
    data = image_folder(numpy(), folder)
    assert_type(data, ImageFolder[NpArray[F32]])
    assert data.classes == ("cat", "dog")
    assert [path.relative_to(folder).as_posix() for path in data.paths] == [
        "cat/1.png",
        "cat/2.png",
        "dog/a.png",
        "dog/b.PNG",
        "dog/c.png",
    ]
    assert data.labels.tolist() == [0, 0, 1, 1, 1]
    assert repr(data) == "ImageFolder(5 images in 2 classes, for NpArray)"


def test_a_batch_has_the_images_from_0_to_1_with_channels_first(folder: Path) -> None:
    data = image_folder(numpy(F64), str(folder))
    batch = data.batch(np.array([4, 0, 4]))
    assert_type(batch, Labelled[NpArray[F64]])
    expected = channels_first(5, 1, 5).astype(np.float32) / np.float32(255)
    assert batch.x.to_host().tolist() == expected.tolist()
    assert batch.labels.to_host().tolist() == [1, 0, 1]


def test_loaded_images_are_bytes_and_give_the_same_batches(folder: Path) -> None:
    data = image_folder(numpy(), folder)
    loaded = data.loaded()
    assert_type(loaded, LabelledArrays[NpArray[F32]])
    assert loaded.inputs.dtype == np.uint8
    assert np.array_equal(loaded.inputs, channels_first(1, 2, 3, 4, 5))
    for one, other in zip(
        *(DataLoader(samples, batch_size=2, seed=0).epoch(0) for samples in (data, loaded)), strict=True
    ):
        assert one.x.to_host().tolist() == other.x.to_host().tolist()
        assert one.labels.to_host().tolist() == other.labels.to_host().tolist()


def test_images_are_read_when_their_batch_is_made_and_not_before(folder: Path) -> None:
    data = image_folder(numpy(), folder)
    path = folder / "dog" / "b.PNG"
    path.write_bytes(b"no image")
    data.batch(np.array([0, 1, 2, 4]))
    with pytest.raises(DataError, match=f"^image: {path}: expected an image, found a damaged or another file: "):
        data.batch(np.array([0, 3]))
    with pytest.raises(DataError, match=f"^image: {path}: expected an image, found a damaged or another file: "):
        data.loaded()
    path.unlink()
    with pytest.raises(DataError, match=f"^image: {path}: cannot be read: No such file or directory$"):
        data.batch(np.array([3]))


def test_a_part_is_a_data_set(folder: Path) -> None:
    part = image_folder(numpy(), folder)[1:3]
    assert len(part) == 2
    assert part.classes == ("cat", "dog")
    assert np.array_equal(part.loaded().inputs, channels_first(2, 3))
    assert part.labels.tolist() == [0, 1]


def test_images_in_files_can_be_augmented(folder: Path) -> None:
    data, steps = image_folder(numpy(), folder), (Crop(1), Flip())
    lazy, loaded = (
        next(DataLoader(Augmented(source, steps), batch_size=5, seed=0).epoch(0)) for source in (data, data.loaded())
    )
    assert lazy.x.to_host().tolist() == loaded.x.to_host().tolist()


def test_a_size_stretches_or_shrinks_each_image(folder: Path) -> None:
    (folder / "cat" / "1.png").write_bytes(encoded(Image.new("RGB", (9, 3), (255, 0, 51))))
    data = image_folder(numpy(), folder, size=(2, 3))
    x = data.batch(np.array([0, 1])).x.to_host()
    assert x.shape == (2, 3, 2, 3)
    assert x[0].tolist() == np.broadcast_to(np.array([1, 0, 0.2], np.float32)[:, None, None], (3, 2, 3)).tolist()
    assert abs(float(x[1].mean()) - pixels(2).mean() / 255) < 0.02


def test_images_of_several_sizes_need_a_size(folder: Path) -> None:
    (folder / "dog" / "a.png").write_bytes(png(0, rows=5))
    message = r"dog/a.png: \(5, 6\) pixels where .*cat/1.png has \(4, 6\): images of several sizes need size=\(rows"
    with pytest.raises(DataError, match=message):
        image_folder(numpy(), folder).loaded()
    assert image_folder(numpy(), folder, size=(4, 6)).loaded().inputs.shape == (5, 3, 4, 6)


def test_grey_images_have_one_channel(folder: Path) -> None:
    grey = image_folder(numpy(), folder, channels=1).loaded().inputs
    assert grey.shape == (5, 1, 4, 6)
    weights = np.array([0.299, 0.587, 0.114])  # ITU-R 601-2
    assert np.abs(grey[0, 0] - pixels(1) @ weights).max() <= 1


def test_a_test_set_takes_the_classes_of_the_training_set(folder: Path) -> None:
    assert image_folder(numpy(), folder, classes=("dog", "cat")).labels.tolist() == [0, 0, 0, 1, 1]
    for classes in ("cat",), ("cat", "dog", "eel"), ("cat", "cat", "dog"):
        with pytest.raises(DataError, match=r"expected the classes \[.*\], found \['cat', 'dog'\]$"):
            image_folder(numpy(), folder, classes=classes)


def test_hidden_files_and_files_beside_the_classes_are_passed_over(folder: Path) -> None:
    (folder / ".hidden").mkdir()
    for name in "labels.csv", "cat/.DS_Store", "cat/Thumbs.db", "dog/desktop.ini", "dog/._a.png":
        (folder / name).touch()
    assert len(image_folder(numpy(), folder)) == 5


@pytest.mark.parametrize("name", ["cat/notes.txt", "cat/inner", "dog/without"])
def test_a_foreign_file_in_a_class_is_refused_by_name(name: str, folder: Path) -> None:
    if name == "cat/inner":
        (folder / name).mkdir()
    else:
        (folder / name).touch()
    with pytest.raises(DataError, match=rf"^image_folder: {folder}/{name}: expected an image file \(.bmp .*\): remove"):
        image_folder(numpy(), folder)


def test_a_folder_that_is_no_image_folder_is_refused(folder: Path) -> None:
    (folder / "eel").mkdir()
    with pytest.raises(DataError, match=f"^image_folder: {folder}/eel: expected images of this class, found none$"):
        image_folder(numpy(), folder)
    with pytest.raises(
        DataError, match=f"^image_folder: {folder}/eel: expected a sub-folder for each class, found none"
    ):
        image_folder(numpy(), folder / "eel")
    with pytest.raises(DataError, match=f"^image_folder: {folder}/none: cannot be read: No such file or directory$"):
        image_folder(numpy(), folder / "none")


def test_options_without_sense_are_refused(folder: Path) -> None:
    with pytest.raises(OptionError, match=r"^image_folder: rows=0: must be at least 1$"):
        image_folder(numpy(), folder, size=(0, 3))
    with pytest.raises(OptionError, match=r"^image_folder: channels=2: must be 1 \(grey\) or 3 \(red, green, blue\)$"):
        image_folder(numpy(), folder, channels=2)  # type: ignore[arg-type]  # on purpose


def test_batches_without_samples_or_with_others_are_refused(folder: Path) -> None:
    data = image_folder(numpy(), folder)
    with pytest.raises(DataError, match=r"^batch: 0 of 5 samples: a batch has at least one sample$"):
        data.batch(np.array([], np.intp))
    with pytest.raises(AxisError, match=r"^batch: 5 samples: position 5 lies outside"):
        data.batch(np.array([5]))


def test_without_pillow_the_error_says_how_to_install_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    data = image_folder(numpy(), folder)
    with pytest.raises(DataError, match=r"is not installed: pip install 'moonxi\[images\]'$"):
        data.batch(np.array([0]))


def test_importing_the_data_sets_does_not_import_pillow() -> None:
    program = "import sys, moonxi.data; sys.exit('PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


PICTURE = Image.fromarray(pixels(0))


@pytest.mark.parametrize(
    ("form", "image"),
    [
        ("PNG", PICTURE),
        ("PNG", PICTURE.convert("RGBA")),
        ("BMP", PICTURE),
        ("TIFF", PICTURE),
        ("PPM", PICTURE),
    ],
)
def test_a_lossless_image_is_read_exactly(form: str, image: Image.Image) -> None:
    assert np.array_equal(decode_image(encoded(image, form), "i", channels=3), channels_first(0)[0])


def test_grey_palette_and_black_and_white_images_become_rgb() -> None:
    for mode in "L", "P", "1":
        image = PICTURE.convert(mode)
        expected = np.asarray(image.convert("RGB")).transpose(2, 0, 1)
        assert np.array_equal(decode_image(encoded(image), "i", channels=3), expected)


def test_a_photograph_is_turned_as_its_camera_was_held() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise
    turned = decode_image(encoded(PICTURE, exif=exif), "i", channels=3)
    assert np.array_equal(turned, np.rot90(channels_first(0)[0], -1, axes=(1, 2)))


def test_more_than_8_bits_a_channel_are_refused() -> None:
    deep = Image.fromarray(np.full((2, 2), 40_000, np.uint16))
    with pytest.raises(
        DataError, match=r"^image: i: expected at most 8 bits for each channel, found 'I;16': convert it"
    ):
        decode_image(encoded(deep), "i", channels=1)


def test_a_format_for_which_pillow_starts_other_programs_is_no_image() -> None:
    content = encoded(PICTURE, "EPS")
    assert content.startswith(b"%!PS")
    with pytest.raises(DataError, match=r"^image: evil.png: expected an image, found a damaged or another file: "):
        decode_image(content, "evil.png", channels=3)


def test_an_image_larger_than_memory_is_refused() -> None:
    """30 bytes that promise 65,535 x 65,535 pixels."""
    content = b"P6 65535 65535 255\n" + bytes(11)
    with pytest.raises(DataError, match=r"^image: bomb: expected an image, found .* decompression bomb"):
        decode_image(content, "bomb", channels=3)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "PPM"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_damage_anywhere_is_a_data_error_or_an_image(form: str, data: st.DataObject) -> None:
    content = bytearray(encoded(PICTURE, form))
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.none() | st.integers(0, len(content)))
    with suppress(DataError):
        image = decode_image(bytes(content[:cut]), "i", channels=3, size=(4, 6))
        assert image.shape == (3, 4, 6)
        assert image.dtype == np.uint8


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_an_image_cut_short_is_refused(form: str) -> None:
    content = encoded(Image.fromarray(pixels(0, 64, 64)), form)
    with pytest.raises(DataError, match=r"^image: i: expected an image, found a damaged or another file: "):
        decode_image(content[: len(content) // 2], "i", channels=3)


def test_parts_by_positions_are_split_and_augmented_as_others(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for number in range(5):
            (tmp_path / name / f"{number}.png").write_bytes(encoded(Image.fromarray(pixels(number))))
    images = image_folder(numpy(), tmp_path)
    train, test = stratified_split(images, (0.8, 0.2), labels=images.labels, seed=1)
    assert (len(train), len(test)) == (8, 2)
    assert sorted(test.labels.tolist()) == [0, 1]
    assert {*train.paths, *test.paths} == {*images.paths}
    [batch] = DataLoader(Augmented(train, (Flip(),)), batch_size=8, seed=0).epoch(0)
    assert batch.x.shape == (8, 3, 4, 6)
    with pytest.raises(AxisError, match="image_folder: 10 images: index 10"):
        images[np.array([10])]


def test_what_cannot_be_had_on_the_host_cannot_be_augmented(tmp_path: Path) -> None:
    data: Any = Subset.whole(LabelledArrays(numpy(), np.zeros((2, 1, 4, 4)), np.zeros(2, np.int64)))
    with pytest.raises(OperandError, match="Augmented: Subset: expected images that can be had on the host"):
        Augmented(data, (Flip(),))
