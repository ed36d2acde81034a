"""``moonxi bench``: the time of a training step on this machine."""

import argparse
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from moonxi import __version__
from moonxi.backends.cupy import gpu
from moonxi.backends.numpy import numpy
from moonxi.cli.bench.systems import Own, Peer, System
from moonxi.cli.bench.workloads import WORKLOADS, Task, stepper
from moonxi.errors import DataError, MoonxiError, OptionError
from moonxi.train import threads
from moonxi.whole_file import reason, try_writing

DESCRIPTION = """\
Times a training step (forward, backward, clipping, SGD with momentum; float32, batch 64) of two small networks:
moonxi eager and compiled and, if this Python or that of --torch-python has it, PyTorch with the same weights and
images. The systems take short turns, so that whatever else the machine does meets all of them alike. Larger
benchmarks are in the folder benchmarks of moonxi's repository.
exit status: 0 measured, 1 a system does not run or computes something else"""

_COMPARED = 5
"""First steps whose losses must agree."""


@dataclass(frozen=True, slots=True)
class Row:
    """One system at one workload: milliseconds a step, and their ratio to the first system's, round by round."""

    workload: str
    system: str
    ms_median: float
    ms_min: float
    ms_max: float
    relative_to: str
    ratio: float


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "bench",
        help="time a training step on this machine, beside PyTorch where it is installed",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--torch-python", metavar="PATH", help="a Python with PyTorch and NumPy (default: this one)")
    parser.add_argument("--rounds", type=_count, default=20, metavar="N", help="turns of each system (20)")
    parser.add_argument("--steps", type=_count, default=10, metavar="N", help="steps in a turn (10)")
    parser.add_argument("--gpu", action="store_true", help="on an NVIDIA GPU")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there as JSON")
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 1")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """The command. Raises `MoonxiError` for what does not run."""
    python = _python(arguments.torch_python)
    file: Path | None = arguments.json
    if file is not None:
        _written(file, partial(try_writing, file))  # what cannot be is said before the minutes of measuring
    rows: list[Row] = []
    about = {"moonxi": __version__, "python": platform.python_version(), "numpy": np.__version__}
    for workload in WORKLOADS:
        task = Task.new(workload)
        with TemporaryDirectory() as folder, ExitStack() as stack:
            systems: list[System] = list(_own(task, on_gpu=arguments.gpu))
            if python is not None:
                npz = Path(folder) / "task.npz"
                task.save(npz)
                device = "cuda" if arguments.gpu else "cpu"
                peer = stack.enter_context(Peer(python, npz, workload.name, device, threads()))
                about["torch"] = peer.version
                systems.insert(0, peer)
            rows += measured(workload.title, systems, arguments.rounds, arguments.steps)
    for line in _lines(about, rows):
        print(line)
    if file is not None:
        content = {**about, "threads": threads(), "rows": [asdict(row) for row in rows]}
        _written(file, partial(file.write_text, json.dumps(content, indent=1) + "\n", encoding="utf-8"))
    return 0


def _python(given: str | None) -> str | None:
    """The Python that has PyTorch; None if there is none."""
    if given is None:
        return sys.executable if find_spec("torch") is not None else None
    found = shutil.which(given)
    if found is None:
        raise OptionError(f"bench: --torch-python {given}: there is no such program")
    return os.path.abspath(found)  # links stay: the Python of an environment is one


def _own(task: Task, *, on_gpu: bool) -> Iterator[Own]:
    for name, compiled in (("moonxi", False), ("moonxi compiled", True)):
        if on_gpu:
            yield Own(name, stepper(gpu(), task, compiled=compiled))
        else:
            yield Own(name, stepper(numpy(), task, compiled=compiled))


def measured(workload: str, systems: Sequence[System], rounds: int, steps: int) -> list[Row]:
    """Let the systems take turns. Raises `MoonxiError` if their first losses are not the same up to rounding."""
    first = systems[0]
    expected = first.losses(_COMPARED)
    for other in systems[1:]:
        losses = other.losses(_COMPARED)
        if not np.allclose(losses, expected, rtol=1e-4):
            raise MoonxiError(
                f"bench: {workload}: not the same training: losses {losses} with {other.name}, {expected} with "
                f"{first.name}"
            )
    turns: dict[str, list[float]] = {one.name: [] for one in systems}
    for number in range(rounds + 1):
        for one in systems if number % 2 else reversed(systems):
            time = median(one.times(steps))
            if number:  # the first round warms up
                turns[one.name].append(time)
    base = turns[first.name]
    return [
        Row(
            workload,
            name,
            median(times),
            min(times),
            max(times),
            first.name,
            median(time / other for time, other in zip(times, base, strict=True)),
        )
        for name, times in turns.items()
    ]


def _lines(about: dict[str, str], rows: Sequence[Row]) -> Iterator[str]:
    yield f"{', '.join(f'{name} {version}' for name, version in about.items())}; {threads()} thread(s)"
    yield f"a step in ms: the median of the turns (smallest-largest), and the ratio to {rows[0].relative_to}"
    for row in rows:
        spread = f"{row.ms_median:.3f} ({row.ms_min:.3f}-{row.ms_max:.3f})"
        yield f"{row.workload:<18}  {row.system:<15}  {spread:<24}  {row.ratio:.2f}"


def _written(path: Path, write: Callable[[], object]) -> None:
    """Do what writes a file, or tries to. Raises `DataError` if that fails."""
    try:
        write()
    except (OSError, ValueError) as error:
        raise DataError(f"bench: {path}: cannot be written: {reason(error)}") from error
