"""Image files as arrays of bytes, decoded by Pillow, which the extra ``images`` brings."""

from io import BytesIO
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from moonxi.errors import DataError

type Channels = Literal[1, 3]
"""Grey, or red, green and blue."""

SUFFIXES: Final = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"})
"""How the names of image files end, in lower case."""
# Only these are tried, whatever a file is called: for others, such as EPS, Pillow starts other programs.
_FORMATS: Final = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
_EIGHT_BITS: Final = frozenset(
    {"1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBX", "RGBa", "CMYK", "YCbCr", "HSV", "LAB"}
)


def decode_image(
    content: bytes, name: str, /, *, channels: Channels, size: tuple[int, int] | None = None
) -> NDArray[np.uint8]:
    """An image as bytes of shape ``(channels, rows, columns)``; ``name`` is for the messages.

    It is turned as its EXIF orientation says; transparency is dropped, and of several frames the first is taken.
    With ``size``, rows and columns, it is stretched or shrunk to that size (bilinear, over all pixels that fall into
    one). Raises `DataError` if Pillow is missing, if the content is no whole image, or has more than 8 bits for each
    channel of a pixel."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise DataError(
            f"image: {name}: the package pillow, which decodes images, is not installed: pip install 'moonxi[images]'"
        ) from None
    try:
        with Image.open(BytesIO(content), formats=_FORMATS) as file:
            depth = file.mode
            if depth in _EIGHT_BITS:
                image = ImageOps.exif_transpose(file).convert("L" if channels == 1 else "RGB")
                if size is not None and image.size != size[::-1]:
                    image = image.resize((size[1], size[0]), Image.Resampling.BILINEAR)
                pixels = np.asarray(image)
                return pixels[None] if channels == 1 else np.ascontiguousarray(pixels.transpose(2, 0, 1))
    except MemoryError:
        raise
    except Exception as error:  # of a dozen classes: Pillow's decoders raise what their parts do
        raise DataError(f"image: {name}: expected an image, found a damaged or another file: {error}") from error
    raise DataError(f"image: {name}: expected at most 8 bits for each channel, found {depth!r}: convert it first")


def passed_over(name: str, /) -> bool:
    """Whether a file of this name is hidden, or left among images by an operating system."""
    return name.startswith(".") or name.lower() in ("thumbs.db", "desktop.ini")


def read_file(path: Path, /) -> bytes:
    """The content of a file. Raises `DataError` if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"image: {path}: cannot be read: {error.strerror or error}") from error
