"""Fashion-MNIST: images of articles of clothing (H. Xiao, K. Rasul, R. Vollgraf, arXiv:1708.07747, 2017)."""

from pathlib import Path
from typing import Final

from moonxi.data.dataset import TrainTest
from moonxi.data.image_collection import IdxFile, IdxPair, ImageCollection
from moonxi.traits import Tensor

FASHION_MNIST_CLASSES: Final = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
"""What the labels 0 to 9 stand for."""

# The SHA-256 of the contents of the files that have, compressed, the MD5 sums on the authors' page.
FASHION_MNIST: Final = ImageCollection(
    name="fashion_mnist",
    train=IdxPair(
        images=IdxFile("train-images-idx3-ubyte", "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"),
        labels=IdxFile("train-labels-idx1-ubyte", "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"),
    ),
    test=IdxPair(
        images=IdxFile("t10k-images-idx3-ubyte", "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"),
        labels=IdxFile("t10k-labels-idx1-ubyte", "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"),
    ),
    image_shape=(28, 28),
    classes=10,
    mirrors=("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",),
)
"""The published files: 60,000 images to train on and 10,000 to test with."""


def fashion_mnist[T: Tensor](
    like: T,
    /,
    *,
    folder: Path | str | None = None,
    download: bool = False,
    mirrors: tuple[str, ...] | None = None,
    shape: tuple[int, ...] = (784,),
) -> TrainTest[T]:
    """Articles of ten kinds as images of 28 x 28, with batches that live where ``like`` lives.

    From the four IDX files of ``folder``, compressed or not; with ``download=True`` the files are verified, and those
    that ``folder`` (by default a cache of the user's) lacks are downloaded from the first of ``mirrors`` that has them.
    Without ``folder`` and ``download``, from that cache.

    The pixels are float32 from 0 to 1, shaped as ``shape`` says; the labels are int64. Raises `DataError` if a file is
    missing, damaged or something else, and `ShapeError` if ``shape`` is not that of 784 pixels."""
    place = None if folder is None else Path(folder)
    if download:
        return FASHION_MNIST.download(like, folder=place, mirrors=mirrors, shape=shape)
    return FASHION_MNIST.read(like, FASHION_MNIST.cache if place is None else place, shape=shape)
