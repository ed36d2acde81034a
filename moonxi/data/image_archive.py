"""Images of a tar archive that holds image folders: ``PART/CLASS/FILE``."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from moonxi.data.dataset import LabelledArrays
from moonxi.data.image_file import decode_image, passed_over
from moonxi.errors import DataError
from moonxi.traits import Tensor

_NAME: Final = re.compile(r"([^/]+)/([^/]+)/([^/]+)")


class ArchivedImages:
    """The images of the parts of an archive, gathered while it is read from its beginning to its end."""

    def __init__(self, path: Path, parts: Sequence[str], classes: Sequence[str], image_shape: tuple[int, int, int], /):
        self._path = path
        self._classes = classes
        self._image_shape = image_shape
        self._found: dict[str, list[tuple[int, str, NDArray[np.uint8]]]] = {part: [] for part in parts}

    def __len__(self) -> int:
        """How many images were added, to all parts together."""
        return sum(map(len, self._found.values()))

    def wants(self, name: str, /) -> bool:
        """Whether the file of this name is an image of a part."""
        split = _NAME.fullmatch(name)
        return split is not None and split[1] in self._found and not passed_over(split[3])

    def add(self, name: str, content: bytes, /) -> None:
        """Decodes a wanted image. Raises `DataError` if it is none, is of another size, or of an unknown class."""
        part, kind, file = name.split("/")
        if kind not in self._classes:
            raise DataError(f"image archive: {self._path}: {name!r}: expected one of the classes {self._classes}")
        image = decode_image(content, f"{self._path}: {name}", channels=3 if self._image_shape[0] == 3 else 1)
        if image.shape != self._image_shape:
            raise DataError(
                f"image archive: {self._path}: {name!r}: expected {self._image_shape[1:]} pixels, "
                f"found {image.shape[1:]}"
            )
        self._found[part].append((self._classes.index(kind), file, image))

    def part[T: Tensor](self, like: T, part: str, /) -> LabelledArrays[T]:
        """The images of a part, sorted by class and name. Raises `DataError` if there are none."""
        found = self._found[part]
        if not found:
            raise DataError(f"image archive: {self._path}: expected images {part}/CLASS/FILE, found none")
        found.sort(key=lambda entry: entry[:2])
        images = np.stack([image for _, _, image in found])
        return LabelledArrays(like, images, np.array([label for label, _, _ in found]), divisor=255)
