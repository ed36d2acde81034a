"""Which plan of cuDNN is the fastest: found by trying, and remembered on disk.

The file is a table for each GPU and version of the libraries. One that cannot be read is made anew.
"""

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile

from moonxi.backends.cupy.memory import Space
from moonxi.shapes import Conv2d

_TRIES = 3
_CANDIDATES = 24
"""Plans that are tried at most; cuDNN names the most promising first."""


def folder() -> Path:
    """Where the choices are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "moonxi"


def fastest(
    space: Space, kind: str, conv: Conv2d[int], plans: int, attempt: Callable[[int], Callable[[], None]]
) -> int:
    """The number of the fastest of so many plans; ``attempt`` prepares one to be run, or raises if it cannot be.

    Raises `ValueError` if none can be run."""
    file = folder() / f"cudnn-{_machine(space)}.json"
    known = _read(file)
    key = f"{kind} {space.element.__name__}{' TF32' if space.tf32 else ''} {conv}"
    found = known.get(key)
    if found is not None and found < plans:
        return found
    times: dict[int, float] = {}
    for number in range(min(plans, _CANDIDATES)):
        try:
            times[number] = _timed(space, attempt(number))
        except Exception:  # cuDNN's errors are of several classes, and each means that the plan does not run here
            continue
    if not times:
        raise ValueError("no plan runs")
    best = min(times, key=times.__getitem__)
    _write(file, _read(file) | {key: best})
    return best


def _timed(space: Space, run: Callable[[], None]) -> float:
    """Milliseconds of the fastest of several runs."""
    from cupy.cuda import Event, get_elapsed_time

    run()
    times: list[float] = []
    for _ in range(_TRIES):
        start, end = Event(), Event()
        start.record(space.device.stream())
        run()
        end.record(space.device.stream())
        end.synchronize()
        times.append(get_elapsed_time(start, end))
    return min(times)


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
