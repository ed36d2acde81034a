"""The threads of this backend: one pool, as large as that of BLAS was, and BLAS on one thread from its first product.

Two pools do not go together: after each product the threads of BLAS wait for the next one spinning, on the cores that
ours need. And a thread that makes, multiplies and keeps its own part of the images has them in its own cache, where a
BLAS that splits only the product has half of them in the other's.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import cache

WORTH = 1 << 23
"""Multiplications and additions that are worth another thread: a fifth of a millisecond."""
SMALL = 1 << 16
"""Those that BLAS computes on one thread anyway: OpenBLAS takes more from 262,144 on."""
_busy = threading.Lock()
"""Held while several threads work: what they call, and what other threads of the user call, runs on one."""
_first = threading.Lock()
_threads: int | None = None


def parts(length: int, work: int, *, most: int | None = None) -> list[slice]:
    """An axis cut into neighbouring parts for `each`: as many for every thread, of at most ``most`` places.

    ``work`` is the number of multiplications and additions on the whole axis."""
    for_product(work)
    sharers = min(work // WORTH, length)
    if sharers > 1:
        sharers = 1 if _busy.locked() else min(sharers, _take_over())
    sharers = max(1, sharers)
    rounds = 1 if most is None else max(1, -(-length // (sharers * max(1, most))))
    step = max(1, -(-length // (sharers * rounds)))
    return [slice(first, min(first + step, length)) for first in range(0, length, step)]


def each[P, R](function: Callable[[P], R], parts: Sequence[P], /) -> list[R]:
    """The function of each part, in order; neighbouring parts come to the same thread."""
    if len(parts) < 2 or _take_over() < 2 or not _busy.acquire(blocking=False):
        return [function(part) for part in parts]
    try:
        threads = min(_take_over(), len(parts))
        shares = [parts[len(parts) * n // threads : len(parts) * (n + 1) // threads] for n in range(threads)]

        def work(share: Sequence[P]) -> list[R]:
            return [function(part) for part in share]

        # In a copy of the context, for numpy.errstate is a part of it.
        others = [_executor().submit(copy_context().run, work, share) for share in shares[1:]]
        try:
            results = work(shares[0])
        finally:
            wait(others)
        return results + [result for other in others for result in other.result()]
    finally:
        _busy.release()


def for_product(work: int, /) -> None:
    """Called before each product of matrices, with its multiplications: no thread of BLAS is to be left spinning."""
    if _threads is None and work >= SMALL:
        _take_over()


def _take_over() -> int:
    """The number of threads, which was that of BLAS until now; 1 if nothing is known of NumPy's BLAS."""
    global _threads
    if _threads is None:
        with _first:
            if _threads is None:
                _threads = _threads_of_blas()
    return _threads


def _threads_of_blas() -> int:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # it has no types

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    if not found:
        return 1
    blas = min(found, key=lambda library: "numpy" not in library.filepath)  # there may be another package's as well
    threads = int(blas.num_threads)
    blas.set_num_threads(1)
    return threads


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_take_over(), "moonxi")


def _after_fork() -> None:
    """Threads do not survive a fork, and a lock that one of them held would stay locked."""
    global _busy, _first
    _busy, _first = threading.Lock(), threading.Lock()
    _executor.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
