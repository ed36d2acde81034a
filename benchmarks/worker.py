"""To be a process that measures when it is asked: one line with a question in, one line of JSON out.

The workers stay alive and are asked in turn (`moonxi.cli.bench.worker`), so that whatever else the machine does meets
all of them alike. A worker may run on another Python than moonxi, from 3.10 on: nothing of moonxi is imported here.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from statistics import median
from time import perf_counter_ns
from typing import Any, Protocol


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
