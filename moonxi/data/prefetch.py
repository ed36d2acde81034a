"""Numbered results that threads make ahead of the loop that takes them, in order."""

import sys
from collections.abc import Callable, Generator
from contextvars import copy_context
from threading import Condition, Thread, current_thread


def ordered[B](make: Callable[[int], B], start: int, stop: int, /, *, workers: int, ahead: int) -> Generator[B]:
    """``make(start)``, ..., ``make(stop - 1)``, in this order, made by threads that begin with the first of them.

    At most ``ahead`` results beyond the one that is asked for are begun. What ``make`` raises is raised in its place,
    after all results before it. However the loop ends - at the end, by an exception, by leaving it - no thread is left
    when it has."""
    board = _Board(make, start, stop, ahead)
    # Each with the settings of the caller that belong to a context, such as those of numpy.errstate.
    threads = [
        Thread(target=copy_context().run, args=(board.work,), name=f"moonxi-data-{number}", daemon=True)
        for number in range(min(workers, stop - start))
    ]
    try:
        for thread in threads:
            thread.start()
        for number in range(start, stop):
            yield board.take(number)
    finally:
        board.close()
        # The collector of garbage may close this generator in one of its own threads, which then ends by itself; and
        # where the interpreter ends, its threads do not run any more, and nobody can wait for them.
        if current_thread() not in threads and not sys.is_finalizing():
            for thread in threads:
                if thread.ident is not None:
                    thread.join()


class _Failed:
    """What was raised instead of a result."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException, /) -> None:
        self.error = error


class _Made[B]:
    """A result."""

    __slots__ = ("value",)

    def __init__(self, value: B, /) -> None:
        self.value = value


class _Board[B]:
    """Where the threads find what to do next, and leave what they have made."""

    def __init__(self, make: Callable[[int], B], start: int, stop: int, ahead: int, /) -> None:
        self._make = make
        self._ahead = ahead
        self._stop = stop  # lowered to where a result failed: nothing after it is begun
        self._next = start
        self._taken = start  # the result that is asked for next, or now
        self._results: dict[int, _Made[B] | _Failed] = {}
        # Its lock may be taken twice by one thread: the collector of garbage may close a loop anywhere.
        self._changed = Condition()

    def work(self) -> None:
        """Make results until there is nothing left to begin."""
        while (number := self._begin()) is not None:
            result: _Made[B] | _Failed
            try:
                result = _Made(self._make(number))
            except BaseException as error:  # whatever it is, the loop has to hear of it
                result = _Failed(error)
            with self._changed:
                self._results[number] = result
                if isinstance(result, _Failed):
                    self._stop = min(self._stop, number)
                self._changed.notify_all()
            del result  # or it would be kept while this thread waits for the next

    def _begin(self) -> int | None:
        with self._changed:
            while self._next < self._stop and self._next > self._taken + self._ahead:
                self._changed.wait()
            if self._next >= self._stop:
                return None
            self._next += 1
            return self._next - 1

    def take(self, number: int, /) -> B:
        """The result of this number, once it is there."""
        with self._changed:
            self._taken = number
            self._changed.notify_all()
            while number not in self._results:
                self._changed.wait()
            result = self._results.pop(number)
        if isinstance(result, _Failed):
            try:
                raise result.error
            finally:
                del result  # the error knows this frame, which must not know the error
        return result.value

    def close(self) -> None:
        """Nothing more is begun."""
        with self._changed:
            self._stop = self._next = min(self._next, self._stop)
            self._changed.notify_all()
