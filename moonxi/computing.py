"""Which layer of a model is being computed: what models tell those interpreters beneath them that ask."""

import threading
from contextlib import suppress
from typing import Protocol

from moonxi.errors import MoonxiError


class Places(Protocol):
    """Knows where the layers of a model stand in it."""

    def path(self, layer: object, /) -> str: ...


class _Computing(threading.local):
    def __init__(self) -> None:
        self.layers: list[tuple[Places, object]] = []


_computing = _Computing()


def layers() -> list[tuple[Places, object]]:
    """The layers whose forward runs in this thread, the innermost last: a forward puts itself there and takes itself
    away again."""
    return _computing.layers


def current_layer() -> str:
    """The path of the innermost of them, such as ``blocks[0].norm``; empty outside of layers and for the model."""
    if not _computing.layers:
        return ""
    places, layer = _computing.layers[-1]
    with suppress(MoonxiError):  # of a model whose structure is wrong, which others report
        return places.path(layer)
    return ""
