"""A process that is asked: a line with a question and a number in, a line of JSON out.

What is compared to moonxi runs in a process of its own: thread counts are settled when NumPy or PyTorch is imported,
and PyTorch may live in another environment. The benchmarks of the repository ask theirs in the same way.
"""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

_THREAD_COUNTS: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class WorkerError(Exception):
    """A worker has ended before it answered."""


class Worker:
    """A running program whose libraries may use ``threads`` threads; it ends with the ``with`` it is used in.

    ``name`` is what messages call it, ``folder`` where it runs, and ``said`` the file for its standard error, which is
    that of this process if there is none. Raises `OSError` if it cannot be started."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        threads: int,
        folder: Path | None = None,
        said: IO[bytes] | None = None,
    ) -> None:
        self._name = name
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | dict.fromkeys(_THREAD_COUNTS, str(threads)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            process_group=0,  # Ctrl-C is for the program that asks, which ends its workers
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._process.kill()
        self._process.communicate()  # closes its input, at which it ends

    def ask(self, question: str, number: int = 0) -> object:
        """The answer to the question about ``number`` steps or calls. Raises `WorkerError` if there is none."""
        assert self._process.stdin is not None, "it was started with a pipe"
        assert self._process.stdout is not None, "it was started with a pipe"
        try:
            print(question, number, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            line = ""
        else:
            line = self._process.stdout.readline()
        if not line:
            raise WorkerError(f"{self._name} ended with status {self._process.wait()}; what it said stands above")
        answer: object = json.loads(line)
        return answer
