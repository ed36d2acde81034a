"""What the benchmarks have in common: their options, workers that take turns, and what is made of the times.

Every system runs in a process of its own for each number of threads. They are measured in turns, a short while each,
in many rounds that go there and back, so that a ratio compares what was measured within the same seconds.
"""

import argparse
import os
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import moonxi as mx
from benchmarks import machine
from benchmarks.report import Report, Row, Spread
from moonxi.cli.bench import worker
from moonxi.cli.bench.worker import WorkerError

_CHECKOUT = Path(__file__).parents[1]

# Seconds. OpenBLAS keeps its idle threads spinning for 0.1 s after their last work, at the expense of who comes next.
PAUSE = 0.15
BUSY = "other work kept the machine busy; then the times at several threads say nothing, and the others are too long"

type Samples = dict[tuple[str, str, int], dict[str, list[float]]]
"""For a group, workload and number of threads: the milliseconds of each system, one number a round."""
type References = Mapping[str, Sequence[str]]
"""To which of the systems that were measured the others of a group are compared: the first one that is there."""


@dataclass(frozen=True)
class System:
    """What a worker runs: the module, by which Python, with which arguments."""

    python: str
    module: str
    arguments: tuple[str, ...] = ()
    optional: bool = False
    """Whether the others are measured all the same if it does not work here; the report then says why."""

    @property
    def name(self) -> str:
        """For messages."""
        return " ".join([self.module, *self.arguments[1:]])


@dataclass(frozen=True)
class Comparison:
    """Systems that train the same, from a task in a file that is their first argument; and others beside them."""

    title: str
    references: References
    systems: Sequence[System]
    losses: int
    """How many first steps must have the same losses in all systems."""
    tolerance: float
    """How much these losses may differ, relative to their size: rounding errors grow from step to step."""
    a_round: str
    """What is measured in a round, in words."""
    others: Sequence[tuple[System, int]] = ()
    """Each with its number of repetitions in a round."""


class Worker(worker.Worker):
    """A running ``python -m module arguments`` in the checkout."""

    def __init__(self, python: str, module: str, *arguments: str, threads: int) -> None:
        super().__init__(module, [python, "-m", module, *arguments], threads=threads, folder=_CHECKOUT)

    def ask(self, question: str, number: int = 0) -> Any:
        """The answer, of which the caller knows what it is."""
        return super().ask(question, number)


def options(description: str, *, rounds: int, steps: int) -> argparse.ArgumentParser:
    """The options that all benchmarks have, with the defaults of one of them."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--torch-python", metavar="PATH", help="an interpreter (3.10 or newer) that has PyTorch and NumPy"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write FILE, and the tables beside it as FILE's name.md"
    )
    parser.add_argument(
        "--threads", type=_counts, nargs="+", default=[[1, 2]], metavar="N", help="thread counts (1 2, or 1,2)"
    )
    parser.add_argument("--rounds", type=int, default=rounds, metavar="N", help=f"rounds ({rounds})")
    parser.add_argument("--steps", type=int, default=steps, metavar="N", help=f"training steps a round ({steps})")
    return parser


def _counts(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def parsed(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, counts: Sequence[str]
) -> argparse.Namespace:
    """The options as they were given. What cannot be carried out ends the program before the minutes of measuring."""
    found = parser.parse_args(arguments)
    found.threads = [count for part in found.threads for count in part]
    if found.torch_python is not None:
        found.torch_python = found_python(parser, found.torch_python)
    if min(*found.threads, *(getattr(found, name) for name in counts)) < 1:
        *first, last = (f"--{name}" for name in ("threads", *counts))
        parser.error(f"{', '.join(first)} and {last} are at least 1")
    if found.json is not None:
        found.json.parent.mkdir(parents=True, exist_ok=True)
    return found


def found_python(parser: argparse.ArgumentParser, name: str) -> str:
    """The path of ``--torch-python``; ends the program if there is no such."""
    path = shutil.which(name)
    if path is None:
        parser.error(f"--torch-python {name}: there is no such program")
    return os.path.abspath(path)  # links stay: an environment's python is one


def disagreement(losses: Mapping[str, Sequence[float]], tolerance: float) -> str | None:
    """What is wrong if the losses of the first steps are not those of the first system up to rounding."""
    (first, expected), *others = losses.items()
    for system, found in others:
        for step, (one, other) in enumerate(zip(expected, found, strict=True)):
            if not abs(one - other) <= tolerance * abs(one):
                return (
                    f"the systems do not train the same: loss at step {step}: {one} with {first}, {other} with {system}"
                )
    return None


def measure(comparison: Comparison, chosen: argparse.Namespace) -> Report:
    """Start the workers, compare what they compute, and let them take turns. Raises `WorkerError` if one ends."""
    started = datetime.now(UTC)
    load_before = machine.load()
    samples: Samples = defaultdict(lambda: defaultdict(list))
    versions: dict[str, str] = {}
    missing: dict[str, str] = {}
    with ExitStack() as stack:
        turns: list[tuple[Worker, int, int]] = []
        for threads in chosen.threads:
            losses = {}
            for system in comparison.systems:
                one = stack.enter_context(Worker(system.python, system.module, *system.arguments, threads=threads))
                try:
                    found_versions = one.ask("versions")
                    losses[system.name] = one.ask("losses", comparison.losses)
                except WorkerError as error:
                    if not system.optional:
                        raise
                    missing[system.name] = str(error)
                    continue
                versions |= found_versions
                turns.append((one, threads, chosen.steps))
            if wrong := disagreement(losses, comparison.tolerance):
                sys.exit(wrong)
            for system, repetitions in comparison.others:
                one = stack.enter_context(Worker(system.python, system.module, *system.arguments, threads=threads))
                turns.append((one, threads, repetitions))
        for number in range(chosen.rounds + 1):
            for one, threads, repetitions in turns if number % 2 else reversed(turns):
                time.sleep(PAUSE)
                found: list[dict[str, Any]] = one.ask("measure", repetitions)
                if number:  # the first round warms up
                    for row in found:
                        samples[row["group"], row["workload"], threads][row["system"]].append(row["ms"])
    cores = os.cpu_count() or 1
    busy = load_before is not None and load_before > 0.25 * cores
    return Report(
        comparison.title,
        {
            "date": started.strftime("%Y-%m-%d %H:%M UTC"),
            "cpu": f"{machine.cpu()}, {cores} cores",
            "load average": {"before": load_before, "after": machine.load()},
            **({"caution": BUSY} if busy else {}),
            **({"does not work here": missing} if missing else {}),
            "versions": {"moonxi": mx.__version__, **versions},
            "rounds": chosen.rounds,
            "a round": comparison.a_round,
        },
        rows(samples, comparison.references),
    )


def rows(samples: Samples, references: References) -> list[Row]:
    """The spreads of all samples, and of the ratios within each round."""
    found = []
    for group in references:
        for (own, workload, threads), times in samples.items():
            if own != group:
                continue
            reference = next(system for system in references[group] if system in times)
            for system, values in times.items():
                ratios = [value / base for value, base in zip(values, times[reference], strict=True)]
                found.append(Row(group, workload, threads, system, Spread.of(values), reference, Spread.of(ratios)))
    return found


def publish(report: Report, file: Path | None) -> None:
    """Print the tables and, if there is a file, write it and the tables beside it."""
    print(report.markdown(), end="")
    if file is not None:
        file.write_text(report.json())
        file.with_suffix(".md").write_text(report.markdown())
