"""Which plan of cuDNN is the fastest: found by trying, and remembered on disk.

The file is a table for each GPU and version of the libraries. One that cannot be read is made anew.
"""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from math import inf
from pathlib import Path
from statistics import median
from tempfile import NamedTemporaryFile
from time import perf_counter
from typing import TYPE_CHECKING

from moonxi.backends.cupy.capturing import captured
from moonxi.backends.cupy.memory import Space
from moonxi.shapes import Conv2d

if TYPE_CHECKING:
    from cupy.cuda import Graph, Stream

_RUNS = 10
"""Runs between two looks at the clock of the device: one alone would be shorter than its launch."""
_ROUNDS = 5
_HOPELESS = 2.0
"""A plan that takes so many times the best one in its first round is timed no further."""
_SECONDS = 0.3
"""For one convolution, after which no further plan is tried; cuDNN names the most promising first."""
_BUDGET = 6.0
"""Seconds for all convolutions of a recording, or of the first call of a step."""


def folder() -> Path:
    """Where the choices are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "moonxi"


# -- whether to try --------------------------------------------------------------------------------------------------


class _Here(threading.local):
    """What this thread is doing."""

    wanted = False
    tuned = 0
    seconds = 0.0


_here = _Here()


def is_wanted() -> bool:
    """Whether plans of this thread are to be tried, whatever the tensors' own setting is."""
    return _here.wanted


@contextmanager
def wanted(wanted: bool, /, *, tries: bool = True) -> Iterator[None]:
    """Within, the plans of this thread are tried: what is recorded runs many times.

    Without ``tries`` only those that were found to be the fastest before are taken, as within a capture.
    That ends after some seconds: what was not tried then takes the first plan that works, and is tried the next time.
    A line on standard error says how many convolutions it were and how long it took, if anything had to be tried."""
    before = _here.wanted
    _here.wanted, _here.tuned, _here.seconds = wanted, 0, 0.0 if tries else inf
    try:
        yield
    finally:
        _here.wanted = before
        if _here.tuned:
            _say(f"{_progress()}, kept in {folder()}\n")


def _progress() -> str:
    return f"moonxi: tried cuDNN's plans for {_here.tuned} convolutions in {_here.seconds:.0f} s"


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text}", end="", file=sys.stderr, flush=True)
    elif text.endswith("\n"):
        print(text, end="", file=sys.stderr, flush=True)


# -- trying ----------------------------------------------------------------------------------------------------------


def fastest[P](
    space: Space, kind: str, conv: Conv2d[int], plans: int, build: Callable[[int], P], run: Callable[[P], None]
) -> P:
    """The fastest of so many plans: ``build`` prepares the one of a number, or raises if there cannot be one.

    Raises `ValueError` if none can be run, `TimeoutError` if nothing is remembered and there is no time for trying."""
    file = folder() / f"cudnn-plans-{_machine(space)}.json"
    known = _read(file)
    key = f"{kind} {space.element.__name__}{' TF32' if space.tf32 else ''} {conv}"
    found = known.get(key)
    if found is not None and found < plans:
        with suppress(Exception):  # cuDNN's errors are of several classes; what cannot be prepared is chosen anew
            return build(found)
    if _here.wanted and _here.seconds > _BUDGET:
        raise TimeoutError
    start = perf_counter()
    times: dict[int, float] = {}
    with _timer(space) as timed:
        for number in range(plans):
            if times and perf_counter() - start > _SECONDS:
                break
            with suppress(Exception):  # as above, and each means that the plan does not run here
                times[number] = timed(partial(run, build(number)), min(times.values(), default=float("inf")))
    if not times:
        raise ValueError("no plan runs")
    best = min(times, key=times.__getitem__)
    _write(file, _read(file) | {key: best})
    if _here.wanted:
        _here.tuned, _here.seconds = _here.tuned + 1, _here.seconds + perf_counter() - start
        _say(_progress())
    return build(best)


@contextmanager
def _timer(space: Space) -> Iterator[Callable[[Callable[[], None], float], float]]:
    """What gives the milliseconds of so many runs, on a stream and in memory that nobody else has.

    A first round tells if the plan is hopeless beside the best so far. Raises what cuDNN does for a plan that cannot be
    captured as part of a CUDA graph."""
    from cupy.cuda import MemoryPool, Stream, using_allocator

    space.device.enter()
    pool = MemoryPool()
    with using_allocator(pool.malloc), Stream(non_blocking=True) as stream:

        def timed(run: Callable[[], None], best: float) -> float:
            pool.free_all_blocks()  # the workspaces of the plans before
            run()
            stream.synchronize()
            graph = captured(stream, partial(_several, run))
            first = _round(stream, graph)
            return first if first > _HOPELESS * best else median(_round(stream, graph) for _ in range(_ROUNDS))

        yield timed
        stream.synchronize()


def _several(run: Callable[[], None]) -> None:
    for _ in range(_RUNS):
        run()


def _round(stream: "Stream", graph: "Graph") -> float:
    from cupy.cuda import Event, get_elapsed_time

    start, end = Event(), Event()
    start.record(stream)
    graph.launch()
    end.record(stream)
    end.synchronize()
    return get_elapsed_time(start, end)


@cache
def _machine(space: Space) -> str:
    """The GPU and the versions of the libraries, as part of a file's name."""
    import cudnn
    from cupy.cuda import runtime

    name = runtime.getDeviceProperties(space.device.index)["name"]
    text = name.decode() if isinstance(name, bytes) else str(name)
    words = f"{text}-{cudnn.backend_version()}-{cudnn.__version__}-{runtime.driverGetVersion()}"
    return "".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in words)


def _read(file: Path) -> dict[str, int]:
    """The table; empty if there is none or it is damaged."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {str(key): number for key, number in found.items() if isinstance(number, int) and number >= 0}


def _write(file: Path, table: dict[str, int]) -> None:
    """Keep the table, all of it or none; where nothing can be written, the next process tries anew."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as made:
            json.dump(table, made, indent=0)
        Path(made.name).replace(file)
    except OSError:
        return
