"""An example as its user meets it: a program that prints lines and ends with an exit code."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
EXAMPLES = CHECKOUT / "examples"
# SIGINT is ignored from birth in whatever a shell starts in the background; Ctrl-C at a terminal is not.
AS_AT_A_TERMINAL = """
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@dataclass(frozen=True)
class Ended:
    """How a program ended, and the lines it wrote."""

    code: int
    out: list[str]
    err: list[str]

    @property
    def accuracy(self) -> float:
        """Of the last line, which must be nothing else."""
        found = re.fullmatch(r"test accuracy: ([01]\.\d{4})", self.out[-1])
        assert found is not None, self.out[-1]
        return float(found[1])


def environment(*, threads: int = 1) -> dict[str, str]:
    """Of a program that finds this checkout, installed or not.

    One thread unless a test is about threads: tests share the processors, and BLAS threads that wait for each other
    then make a run many times slower."""
    path = os.pathsep.join(filter(None, (str(CHECKOUT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": str(threads)}


def run(*arguments: str | Path, threads: int = 1) -> Ended:
    """Run Python with these arguments to its end: a program and its own, or ``-m`` and a module."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment(threads=threads),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    return Ended(done.returncode, done.stdout.splitlines(), done.stderr.splitlines())
