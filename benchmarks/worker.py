"""A process that measures when it is asked: one line with a question in, one line of JSON out.

Each system runs in a process of its own, because thread counts are settled when NumPy or PyTorch is imported and
because PyTorch may live in another environment. The workers stay alive and are asked in turn, so that whatever else the
machine does meets all of them alike. A worker may run on another Python than moonxi: from 3.10 on.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from types import TracebackType
from typing import Any, Protocol

_CHECKOUT = Path(__file__).parents[1]
_THREAD_COUNTS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class WorkerError(Exception):
    """A worker has ended before it answered."""


class Worker:
    """A running ``python -m module arguments`` whose libraries may use ``threads`` threads."""

    def __init__(self, python: str, module: str, *arguments: str, threads: int) -> None:
        self._module = module
        self._process = subprocess.Popen(
            [python, "-m", module, *arguments],
            cwd=_CHECKOUT,
            env=os.environ | dict.fromkeys(_THREAD_COUNTS, str(threads)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            process_group=0,  # Ctrl-C is for the program that asks, which ends its workers
        )

    def __enter__(self) -> "Worker":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._process.kill()
        self._process.communicate()  # closes its input, at which it ends

    def ask(self, question: str, number: int = 0) -> Any:
        """The answer to the question about ``number`` steps or calls. Raises `WorkerError` if there is none."""
        assert self._process.stdin is not None, "it was started with a pipe"
        assert self._process.stdout is not None, "it was started with a pipe"
        try:
            print(question, number, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            answer = ""
        else:
            answer = self._process.stdout.readline()
        if not answer:
            raise WorkerError(f"{self._module} ended with status {self._process.wait()}; what it said stands above")
        return json.loads(answer)


def serve(answers: Mapping[str, Callable[[int], object]]) -> None:
    """Answer the questions that come in, until there are no more."""
    for line in sys.stdin:
        question, number = line.split()
        print(json.dumps(answers[question](int(number))), flush=True)


class Scalar(Protocol):
    """A number in any library."""

    def item(self) -> Any: ...


def train(
    group: str, workload: str, system: str, versions: Mapping[str, str], step: Callable[[int], Scalar], batches: int
) -> None:
    """Be the worker of a system that trains. A step takes the number of its batch and gives the loss before it."""
    number = count()

    def losses(steps: int) -> list[float]:
        return [float(step(next(number) % batches).item()) for _ in range(steps)]

    def measure(steps: int) -> list[dict[str, object]]:
        ms = median_ms(step, (next(number) % batches for _ in range(steps)))
        return [{"group": group, "workload": workload, "system": system, "ms": ms}]

    serve({"versions": lambda _: versions, "losses": losses, "measure": measure})


def median_ms(call: Callable[[Any], object], arguments: Iterable[Any]) -> float:
    """The median time of the call, once with each argument, in milliseconds. After a second no further one is made."""
    times = []
    begin = perf_counter_ns()
    for argument in arguments:
        start = perf_counter_ns()
        call(argument)
        end = perf_counter_ns()
        times.append(end - start)
        if end - begin > 1_000_000_000:  # the benchmark shall end on a busy machine too
            break
    return median(times) / 1e6
