"""What is known of sizes: whether two that have to be equal are not, and whether they are numbers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from moonxi.dims import Example, Size, can_differ, provably_different, provably_equal, symbolic, unknowns

type Solver = Callable[[Size, Size], bool]
"""Is told that two sizes have to be equal, one of them with an unknown; whether they differ after all."""

type Watcher = Callable[[str, tuple[Size, ...], tuple[Size, ...], tuple[Size, ...]], None]
"""Is told of an operation, the shapes of its two operands and the shape that they are broadcast to."""

_solver: ContextVar[Solver] = ContextVar("solver", default=provably_different)
_judge: ContextVar[Solver] = ContextVar("judge", default=can_differ)

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def differ(left: Size, right: Size, /) -> bool:
    """Whether code that needs the two to be equal is wrong.

    A symbol stands for any size, so symbolic sizes differ if they do for some of them: ``n`` and 784, ``n`` and ``m``.
    An unknown has one value, so sizes with an unknown differ only if nothing makes them equal; see `solving`."""
    if isinstance(left, int) and isinstance(right, int):
        if left == right or (not isinstance(left, Example) and not isinstance(right, Example)):
            return left != right
        left, right = symbolic(left), symbolic(right)
    if left == right:
        return False
    if not unknowns(left) and not unknowns(right):
        return _judge.get()(left, right)
    return not provably_equal(left, right) and (provably_different(left, right) or _solver.get()(left, right))


def known(*sizes: Size) -> bool:
    """Whether all the sizes are numbers."""
    return all(isinstance(size, int) for size in sizes)


@contextmanager
def solving(solver: Solver) -> Iterator[None]:
    """Within this context the solver hears of each equation that an unknown has to meet."""
    token = _solver.set(solver)
    try:
        yield
    finally:
        _solver.reset(token)


@contextmanager
def judging(judge: Solver) -> Iterator[None]:
    """Within this context the judge says whether sizes without unknowns differ, in place of `can_differ`."""
    token = _judge.set(judge)
    try:
        yield
    finally:
        _judge.reset(token)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Within this context the watcher hears of each two symbolic shapes that are broadcast, and may raise."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def watched(operation: str, left: tuple[Size, ...], right: tuple[Size, ...], result: tuple[Size, ...]) -> None:
    """Tell the watcher, if there is one."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(operation, left, right, result)
