"""The garbage collector, which rests while there is nothing for it to find."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_rests() -> Iterator[None]:
    """Within, Python looks for no garbage: a graph of results holds no cycle, goes away with the last reference, and
    has so many objects that Python would look through all that there is every few steps."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
