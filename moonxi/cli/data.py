"""``moonxi data NAME``: fetch a data set, and verify it."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Final

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import TrainTest, cifar10
from moonxi.data.download import cache_folder
from moonxi.data.fashion_mnist import FASHION_MNIST
from moonxi.data.image_collection import ImageCollection
from moonxi.data.mnist import MNIST
from moonxi.dtypes import F32

DESCRIPTION = """\
Fetches what is missing of a data set, and verifies all of it by the published checksums. Files that are there are
never overwritten. Without a folder it goes to the cache, where the same name with download=True finds it.
exit status: 0 all there and right, 1 something is missing or damaged"""

type _Host = NpArray[F32]
type _Load = Callable[[Path, tuple[str, ...] | None], TrainTest[_Host]]


def _images(collection: ImageCollection) -> _Load:
    def load(folder: Path, mirrors: tuple[str, ...] | None) -> TrainTest[_Host]:
        shape = collection.image_shape
        if mirrors == ():
            return collection.read(numpy(), folder, shape=shape, verified=True)
        return collection.download(numpy(), folder=folder, mirrors=mirrors, shape=shape)

    return load


def _cifar10(folder: Path, mirrors: tuple[str, ...] | None) -> TrainTest[_Host]:
    if mirrors is None:
        return cifar10(numpy(), folder=folder, download=True)
    return cifar10(numpy(), folder=folder, download=True, mirrors=mirrors)


SETS: Final[dict[str, _Load]] = {"mnist": _images(MNIST), "fashion_mnist": _images(FASHION_MNIST), "cifar10": _cifar10}


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "data",
        help="fetch a data set and verify it",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=SETS, metavar="NAME", help=", ".join(SETS))
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where the files are or go (default: the cache)")
    parser.add_argument("--mirror", action="append", metavar="URL", help="a folder to fetch from; may be repeated")
    parser.add_argument("--offline", action="store_true", help="fetch nothing: verify what is there")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """The command; it raises `DataError` for what is missing or damaged."""
    name: str = arguments.name
    folder: Path = cache_folder(name) if arguments.folder is None else arguments.folder
    mirrors: tuple[str, ...] | None = tuple(arguments.mirror) if arguments.mirror else None
    found = SETS[name](folder, () if arguments.offline else mirrors)
    print(f"{name}: {len(found.train):,} training and {len(found.test):,} test samples in {folder}, verified")
    return 0
