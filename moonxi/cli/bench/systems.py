"""The systems that are timed: moonxi in this process, and PyTorch in another."""

import json
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Final, Protocol

from moonxi.errors import DeviceError

PROGRAM: Final = Path(__file__).with_name("torch_step.py")


class System(Protocol):
    """What makes training steps, and times them."""

    @property
    def name(self) -> str: ...
    def losses(self, steps: int, /) -> list[float]: ...
    def times(self, steps: int, /) -> list[float]: ...


class Own:
    """moonxi, by a function that makes a step."""

    def __init__(self, name: str, step: Callable[[], float]) -> None:
        self._name = name
        self._step = step

    @property
    def name(self) -> str:
        """As it stands in the table."""
        return self._name

    def losses(self, steps: int, /) -> list[float]:
        """Those of the next steps."""
        return [self._step() for _ in range(steps)]

    def times(self, steps: int, /) -> list[float]:
        """Those of the next steps, in milliseconds."""
        found = []
        for _ in range(steps):
            start = perf_counter()
            self._step()
            found.append((perf_counter() - start) * 1e3)
        return found


class Peer:
    """PyTorch, by a Python that has it. Raises `DeviceError` if it ends before it has answered."""

    name = "PyTorch"

    def __init__(self, python: str, task: Path, workload: str, device: str, threads: int) -> None:
        self._python = python
        try:
            self._process = subprocess.Popen(
                [python, PROGRAM, task, workload, device, str(threads)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        except OSError as error:
            raise DeviceError(f"bench: {python}: cannot be started: {error.strerror}") from error
        self.version = str(self._answer())

    def __enter__(self) -> "Peer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._process.kill()
        self._process.communicate()  # closes its input, at which it ends

    def losses(self, steps: int, /) -> list[float]:
        """Those of the next steps."""
        return self._ask(f"losses {steps}")

    def times(self, steps: int, /) -> list[float]:
        """Those of the next steps, in milliseconds."""
        return self._ask(f"times {steps}")

    def _ask(self, question: str) -> list[float]:
        assert self._process.stdin is not None, "it was started with a pipe"
        with suppress(BrokenPipeError):  # then there is no answer either
            print(question, file=self._process.stdin, flush=True)
        found = self._answer()
        return [float(one) for one in found] if isinstance(found, list) else []

    def _answer(self) -> object:
        assert self._process.stdout is not None, "it was started with a pipe"
        line = self._process.stdout.readline()
        if not line:
            _, told = self._process.communicate()
            last = (told.strip().splitlines() or ["it said nothing"])[-1]
            raise DeviceError(f"bench: {self._python}: PyTorch does not run there: {last}")
        answer: object = json.loads(line)
        return answer
