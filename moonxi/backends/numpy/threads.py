"""The threads of this backend: one pool, as large as that of BLAS was, and BLAS on one thread from its first product.

Two pools do not go together: after each product the threads of BLAS wait for the next one spinning, on the cores that
ours need. And a thread that makes, multiplies and keeps its own part of the images has them in its own cache, where a
BLAS that splits only the product has half of them in the other's.
"""

import os
import threading
from collections.abc import Callable, Sequence
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
_small_product = 0
_WITHOUT_COPIES = 1_000_000
"""Multiplications up to which OpenBLAS computes a product right where the matrices are, on what has AVX-512."""
_WITH_AVX512 = "SkylakeX", "Cooperlake", "SapphireRapids"
"""Its names for these."""


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

        others = [_Share(function, share) for share in shares[1:]]
        for worker, other in zip(_workers(), others, strict=False):
            worker.give(other.work)
        try:
            results = [function(part) for part in shares[0]]
        finally:
            for worker, _ in zip(_workers(), others, strict=False):
                worker.wait()
        return results + [result for other in others for result in other.results()]
    finally:
        _busy.release()


def for_product(work: int, /) -> None:
    """Called before each product of matrices, with its multiplications: no thread of BLAS is to be left spinning."""
    if _threads is None and work >= SMALL:
        _take_over()


def small_product() -> int:
    """The multiplications of a product of matrices that BLAS does not copy first; 0 if it copies all, or before
    `for_product`."""
    return _small_product


def _take_over() -> int:
    """The number of threads, which was that of BLAS until now; 1 if nothing is known of NumPy's BLAS."""
    global _threads
    if _threads is None:
        with _first:
            if _threads is None:
                _threads = _threads_of_blas()
    return _threads


def _threads_of_blas() -> int:
    global _small_product
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # it has no types

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    if not found:
        return 1
    blas = min(found, key=lambda library: "numpy" not in library.filepath)  # there may be another package's as well
    threads = int(blas.num_threads)
    blas.set_num_threads(1)
    known = blas.info()
    if known["internal_api"] == "openblas" and known.get("architecture") in _WITH_AVX512:
        _small_product = _WITHOUT_COPIES
    return threads


class _Share[P, R]:
    """What one thread does."""

    def __init__(self, function: Callable[[P], R], parts: Sequence[P]) -> None:
        self._function = function
        self._parts = parts
        self._context = copy_context()  # for numpy.errstate is a part of it
        self._results: list[R] = []
        self._error: BaseException | None = None

    def work(self) -> None:
        try:
            self._results = self._context.run(lambda: [self._function(part) for part in self._parts])
        except BaseException as error:  # it is raised where the results are asked for
            self._error = error

    def results(self) -> list[R]:
        if self._error is not None:
            raise self._error
        return self._results


class _Worker:
    """A thread that waits for work. Two locks take half of the time of a `concurrent.futures` executor."""

    def __init__(self, name: str) -> None:
        self._work: Callable[[], None] | None = None
        self._given, self._done = threading.Lock(), threading.Lock()
        self._given.acquire()
        self._done.acquire()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def give(self, work: Callable[[], None] | None) -> None:
        """Begin with the work, or end the thread."""
        self._work = work
        self._given.release()

    def wait(self) -> None:
        """Return when the work has ended."""
        try:
            self._done.acquire()
        except BaseException:  # such as Ctrl-C: what still writes is not to be left alone
            self._done.acquire()
            raise

    def _run(self) -> None:
        while True:
            self._given.acquire()
            if self._work is None:
                return
            self._work()
            self._work = None  # nothing is held until there is other work
            self._done.release()


@cache
def _workers() -> list[_Worker]:
    return [_Worker(f"moonxi-{number}") for number in range(1, _take_over())]


def _after_fork() -> None:
    """Threads do not survive a fork, and a lock that one of them held would stay locked."""
    global _busy, _first
    _busy, _first = threading.Lock(), threading.Lock()
    _workers.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
