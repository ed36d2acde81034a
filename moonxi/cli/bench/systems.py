"""The systems that are timed: moonxi in this process, and PyTorch in another."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from time import perf_counter
from types import TracebackType
from typing import Final, Protocol, Self

from moonxi.cli.bench.worker import Worker, WorkerError
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
        with ExitStack() as stack:
            self._said = stack.enter_context(TemporaryFile())
            command: list[str | Path] = [python, PROGRAM, task, workload, device, str(threads)]
            try:
                worker = Worker(self.name, command, threads=threads, said=self._said)
            except OSError as error:
                raise DeviceError(f"bench: {python}: cannot be started: {error.strerror}") from error
            self._worker = stack.enter_context(worker)
            self.version = str(self._ask("version"))
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def losses(self, steps: int, /) -> list[float]:
        """Those of the next steps."""
        return self._numbers("losses", steps)

    def times(self, steps: int, /) -> list[float]:
        """Those of the next steps, in milliseconds."""
        return self._numbers("times", steps)

    def _numbers(self, question: str, steps: int) -> list[float]:
        found = self._ask(question, steps)
        return [float(one) for one in found] if isinstance(found, list) else []

    def _ask(self, question: str, steps: int = 0) -> object:
        try:
            return self._worker.ask(question, steps)
        except WorkerError as error:
            self._said.seek(0)
            told = self._said.read().decode(errors="replace").strip().splitlines()
            last = told[-1] if told else "it said nothing"
            raise DeviceError(f"bench: {self._python}: PyTorch does not run there: {last}") from error
