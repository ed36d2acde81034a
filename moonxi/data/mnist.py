"""MNIST: images of handwritten digits (Y. LeCun, C. Cortes, C. J. C. Burges, 1998).

The data set was made from the special databases 1 and 3 of NIST; the file NOTICE says more on origin and licence.
"""

from importlib.resources import files
from pathlib import Path
from typing import Final

from moonxi.data.dataset import TrainTest
from moonxi.data.image_collection import IdxFile, IdxPair, ImageCollection
from moonxi.traits import Tensor

MNIST: Final = ImageCollection(
    name="mnist",
    train=IdxPair(
        images=IdxFile("train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
        labels=IdxFile("train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    ),
    test=IdxPair(
        images=IdxFile("t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
        labels=IdxFile("t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
    ),
    image_shape=(28, 28),
    classes=10,
    mirrors=(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ),
)
"""The published files: 60,000 images to train on and 10,000 to test with."""


def mnist[T: Tensor](
    like: T,
    /,
    *,
    folder: Path | str | None = None,
    download: bool = False,
    mirrors: tuple[str, ...] | None = None,
    shape: tuple[int, ...] = (784,),
) -> TrainTest[T]:
    """The digits 0 to 9 as images of 28 x 28, with batches that live where ``like`` lives.

    Without options, the 10,000 training and 2,000 test images that moonxi ships: every 6th and every 5th one.
    With ``folder``, all images of its four IDX files, compressed or not. With ``download=True``, the whole data set,
    verified, from ``folder`` (by default a cache of the user's), to which missing files are downloaded from the first
    of ``mirrors`` that has them (URLs of folders; by default well-known ones).

    The pixels are float32 from 0 (paper) to 1 (ink), shaped as ``shape`` says: ``(784,)``, ``(28, 28)``,
    ``(1, 28, 28)``. The labels are int64. Raises `DataError` if a file is missing, damaged or something else, and
    `ShapeError` if ``shape`` is not that of 784 pixels."""
    place = None if folder is None else Path(folder)
    if download:
        return MNIST.download(like, folder=place, mirrors=mirrors, shape=shape)
    return MNIST.read(like, files("moonxi.data") / "mnist_subset" if place is None else place, shape=shape)
