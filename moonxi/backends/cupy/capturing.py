"""CUDA graphs of what is done on a stream."""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from moonxi.collecting import collector_rests

if TYPE_CHECKING:
    from cupy.cuda import Graph, Stream


def captured(stream: "Stream", work: Callable[[], object], /) -> "Graph":
    """What ``work`` does on the stream, and on others that wait for it, which is written down and not done.

    The garbage collector rests meanwhile: what it takes away may be a handle of a library or memory of another
    recording, and these wait for the device, at which a capture ends."""
    with collector_rests():
        stream.begin_capture()
        try:
            work()
        except BaseException:
            with suppress(Exception):  # the first error says more
                stream.end_capture()
            raise
        return stream.end_capture()
