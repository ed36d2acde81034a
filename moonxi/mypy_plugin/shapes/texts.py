"""The annotations of a function, taken apart."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from mypy.types import Type

from moonxi.errors import ShapeError
from moonxi.mypy_plugin.shapes.attached import attached
from moonxi.shapes.specification import Item, read


def texts(types: Iterable[Type | None]) -> Iterator[str]:
    """The texts on the types that have one."""
    return (text for text in map(attached, types) if text is not None)


def items(text: str) -> Sequence[Item]:
    """The words of a text; none of one that cannot be read."""
    with suppress(ShapeError):
        return read(text)
    return ()


def names(annotations: Iterable[str]) -> Iterator[str]:
    """Words that are names of sizes."""
    return (item.text for text in annotations for item in items(text) if item.text.isidentifier())
