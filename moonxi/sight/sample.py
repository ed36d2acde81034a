"""Predictions to look at."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from moonxi.errors import DataError, OptionError, ShapeError
from moonxi.losses import Logits
from moonxi.shapes import show
from moonxi.traits import Labels, Tensor


@dataclass(frozen=True, slots=True)
class Sample:
    """What a model says of one sample."""

    predicted: str
    truth: str | None = None
    confidence: float | None = None
    """How sure the model is, from 0 to 1."""
    image: NDArray[np.floating] | NDArray[np.uint8] | None = None
    """Pixels from 0 to 1, or bytes: ``(rows, columns)``, or ``(channels, rows, columns)`` of 1 or 3 channels."""
    text: str | None = None


def classified[T: Tensor](
    logits: Logits[T], labels: Labels[T], images: T, /, *, names: Sequence[str] | None = None
) -> list[Sample]:
    """The samples of a batch whose classes are predicted: logits ``(batch, classes)``, labels ``(batch,)`` and images
    ``(batch, rows, columns)`` or ``(batch, channels, rows, columns)``, stretched to the range from 0 to 1.

    ``names`` are those of the classes, else their numbers. Raises `ShapeError` where these do not fit."""
    size = labels.shape[0] if labels.shape else 0
    if logits.shape[:-1] != (size,) or images.shape[:1] != (size,) or len(images.shape) not in (3, 4):
        raise ShapeError(
            f"classified: logits {show(logits.shape)}, labels {show(labels.shape)}, images {show(images.shape)}: "
            "expected (batch, classes), (batch,) and (batch, rows, columns) or (batch, channels, rows, columns)"
        )
    if names is not None and len(names) != logits.shape[-1]:
        raise OptionError(f"classified: {len(names)} names: there are {logits.shape[-1]} classes")
    probabilities = logits.probs().value.to_host()
    pixels = images.to_host().astype(np.float64)
    low, high = (pixels.min(), pixels.max()) if pixels.size else (0.0, 1.0)
    pixels = (pixels - low) / (high - low or 1.0)

    def named(number: int) -> str:
        return names[number] if names is not None and 0 <= number < len(names) else str(number)

    return [
        Sample(named(int(row.argmax())), named(int(true)), float(row.max()), image)
        for row, true, image in zip(probabilities, labels.to_host(), pixels, strict=True)
    ]


def data_uri(image: NDArray[np.floating] | NDArray[np.uint8], /) -> str:
    """An image as the address of its own content, a PNG.

    Raises `ShapeError` for another shape than a `Sample` has, and `DataError` if Pillow is missing."""
    try:
        from PIL import Image
    except ImportError:
        raise DataError(
            "report: the package pillow, which encodes images, is not installed: pip install 'moonxi[images]'"
        ) from None
    if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[0] not in (1, 3)):
        raise ShapeError(f"report: image {show(image.shape)}: expected (rows, columns), or 1 or 3 channels before them")
    if image.dtype == np.uint8:
        pixels = image.astype(np.uint8, copy=False)
    else:
        pixels = (np.nan_to_num(image.astype(np.float64)).clip(0.0, 1.0) * 255.0).round().astype(np.uint8)
    plane = pixels.transpose(1, 2, 0) if pixels.ndim == 3 else pixels
    content = BytesIO()
    Image.fromarray(np.ascontiguousarray(plane[..., 0] if plane.shape[2:] == (1,) else plane)).save(content, "PNG")
    return f"data:image/png;base64,{b64encode(content.getvalue()).decode()}"
