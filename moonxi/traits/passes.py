"""Whether a backward pass is running: what differentiation tells those interpreters beneath it that ask."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_backward: ContextVar[bool] = ContextVar("backward", default=False)


@contextmanager
def backward_pass() -> Iterator[None]:
    """What runs within this context belongs to a backward pass."""
    token = _backward.set(True)
    try:
        yield
    finally:
        _backward.reset(token)


def in_backward_pass() -> bool:
    """Whether a backward pass of any level is running, in this thread or task."""
    return _backward.get()
