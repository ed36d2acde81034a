"""What each pass of the compiler is worth: ``python -m benchmarks.passes --workload resnet18``.

A step is compiled with all passes and without one of them; the two take turns in one process, on one thread. What is
measured is processor time, which other work on the machine disturbs least.
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from statistics import median
from typing import Final, get_args

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import moonxi as mx
from benchmarks import mlp, mlp_moonxi, resnet, resnet_moonxi
from moonxi.compiled import Pass

PASSES: Final[tuple[Pass, ...]] = get_args(Pass.__value__)

type Step = Callable[[int], object]


def ratio(one: Step, other: Step, rounds: int, steps: int) -> float:
    """The time of one over that of the other: the median over rounds in which both take their turn."""
    found = []
    for number in range(rounds + 1):
        times = [_time(step, steps) for step in ((one, other) if number % 2 else (other, one))]
        mine, theirs = times if number % 2 else reversed(times)
        found.append(mine / theirs)
    return median(found[1:])


def _time(step: Step, steps: int) -> float:
    start = time.process_time()
    for number in range(steps):
        step(number % 2)
    return time.process_time() - start


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description="What each pass of the compiler is worth.")
    parser.add_argument("--workload", choices=("mlp", "resnet18"), default="mlp")
    parser.add_argument("--batch", type=int, default=128, help="images a step, for resnet18 (128)")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--steps", type=int, help="training steps a round (mlp 200, resnet18 1)")
    parser.add_argument("--passes", nargs="+", choices=PASSES, default=PASSES, help="those to leave out (each)")
    chosen = parser.parse_args(arguments)
    small = chosen.workload == "mlp"
    mlp_task, resnet_task = (mlp.make_task(2), None) if small else (None, resnet.make_task(chosen.batch, 2))

    def compiled(*without: Pass) -> Step:
        if mlp_task is not None:
            return mlp_moonxi.make_step(mlp_task, mx.compile(mlp_moonxi.update, without=without))
        assert resnet_task is not None
        return resnet_moonxi.make_step(resnet_task, mx.compile(resnet_moonxi.update, without=without))

    steps = chosen.steps or (200 if small else 1)
    best = compiled()
    print("| left out | time over that with all |\n| --- | --- |")
    for one in chosen.passes:
        if one != "numba" or find_spec("numba") is not None:
            print(f"| `{one}` | {ratio(compiled(one), best, chosen.rounds, steps):.3f} |", flush=True)
    print(f"| all | {ratio(compiled(*PASSES), best, chosen.rounds, steps):.3f} |")


if __name__ == "__main__":
    main()
