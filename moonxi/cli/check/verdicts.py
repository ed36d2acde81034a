"""What a check of one subject comes to, with the line to look at."""

import dis
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType

from moonxi.cli.check.annotations import alternatives
from moonxi.cli.check.guesses import COUNT
from moonxi.cli.check.samples import NeedsNumbers, Unmade
from moonxi.cli.check.sizes import CHOICES, Sizes
from moonxi.cli.check.source import Source
from moonxi.cli.check.subjects import Subject
from moonxi.cli.check.tracing import Trace
from moonxi.cli.check.trial import Trial
from moonxi.errors import GradientError, ModuleError, MoonxiError, NoElementsError, OperandError, ShapeError

_DECISIVE = (ShapeError, ModuleError, GradientError)
_OF_VALUES = (ValueError, ArithmeticError, LookupError, AssertionError, MemoryError)
_LAYER = "in the forward of "
_RESULT = re.compile(r"(?:^|\()(\w+)\)?\.(\w+): result: ")
_RAISE = dis.opmap["RAISE_VARARGS"]


@dataclass(frozen=True)
class Passed:
    """Everything that was run fits."""

    note: str = ""
    """How far it was run, if not in general and to the end."""


@dataclass(frozen=True)
class Skipped:
    """It could not be checked."""

    reason: str


@dataclass(frozen=True)
class Failed:
    """Something does not fit."""

    line: int
    text: str


type Verdict = Passed | Skipped | Failed


@dataclass(frozen=True)
class Judge:
    """Runs the subjects of a file."""

    source: Source
    trace: Trace

    def verdicts(self, subject: Subject) -> list[Verdict]:
        """One for each alternative of the arguments, such as training and evaluation."""
        runs = max((alternatives(one) for one in subject.parameters), default=1)
        return [self._with_guesses(subject, choice) for choice in range(runs)]

    def _with_guesses(self, subject: Subject, choice: int) -> Verdict:
        """The verdict with the first guess that passes, or with the first if none does."""
        is_loss = subject.owner is None and subject.name in self.source.losses
        verdicts: list[Verdict] = []
        guessed: list[str] = []
        for guess in range(COUNT):
            trial = Trial(subject, is_loss, choice, guess)
            verdicts.append(self._judged(trial))
            if not isinstance(verdicts[-1], Failed):
                return verdicts[-1]
            guessed = trial.guessed
            if trial.used is None or not trial.used.unsure:
                break
        return Skipped(f"{guessed[0]} has no shape in its annotation") if guessed else verdicts[0]

    def _judged(self, trial: Trial) -> Verdict:
        """The verdict on symbols; where the code cannot do with one, on numbers in their place."""
        sizes = Sizes()
        error = self._error(trial, sizes)
        if error is None:
            return Passed()
        if isinstance(error, Unmade) and not isinstance(error, NeedsNumbers):
            return Skipped(str(error))
        if isinstance(error, NoElementsError):
            return self._read(error)
        if isinstance(error, _DECISIVE):
            return self._failed(trial.subject, error)
        first = error
        for numbers in CHOICES:
            other = self._error(trial, Sizes(numbers))
            if other is None:
                names = ", ".join(trial.examples)
                return Passed(f"for one example of {names}, all ones" if names else "")
            if not isinstance(error, _DECISIVE) and not isinstance(other, Unmade):
                error = other
        if isinstance(error, Unmade):
            return Skipped(str(error))
        if isinstance(error, NoElementsError):
            return self._read(error)
        if isinstance(error, OperandError) and any(kind in str(error) for kind in trial.stand_ins.values()):
            return Skipped(f"{self._at(error)}needs more of {', '.join(trial.stand_ins)} than a shape: {_text(error)}")
        if isinstance(error, _DECISIVE):
            return self._failed(trial.subject, error)
        if self._is_on_purpose(error):
            return Skipped(f"{self._at(error)}raises {_text(error)}")
        made_up = [f"ones for {name}" for name in trial.examples]
        made_up += [f"numbers for {', '.join(sizes.missing)}"] if sizes.missing else []
        if made_up and isinstance(error, _OF_VALUES) and _text(error) != _text(first):
            return Skipped(f"{self._at(error)}raises with {' and '.join(made_up)}: {_text(error)}")
        return self._failed(trial.subject, error)

    def _read(self, error: NoElementsError) -> Verdict:
        """Everything fits to where an element is read, of which there is none."""
        line = self.source.line_of(error.__traceback__)
        return Passed(f"up to line {line}, which reads an element") if line else Skipped("it reads an element")

    def _error(self, trial: Trial, sizes: Sizes) -> BaseException | None:
        """What a run raises, and None if it passes."""
        self.trace.returned.clear()
        try:
            trial.run(sizes)
        except (Exception, SystemExit) as error:
            return error
        return None

    def _at(self, error: BaseException) -> str:
        line = self.source.line_of(error.__traceback__)
        return f"line {line} " if line else ""

    def _failed(self, subject: Subject, error: BaseException) -> Failed:
        line = self.source.line_of(error.__traceback__)
        text = _text(error)
        result = _RESULT.search(text)
        if result is not None:  # found after the function has returned: the line is in it, not in its caller
            line = self.trace.returned.get(f"{result[1]}.{result[2]}", line)
        elif text.startswith(f"{subject.name}: result: "):
            line = self.trace.returned.get(subject.name, line)
        return Failed(line or subject.line, text)

    def _is_on_purpose(self, error: BaseException) -> bool:
        """Whether the file raised the error itself: as it may well do for sizes that it does not take."""
        *_, last = _traces(error)
        code = last.tb_frame.f_code
        return code.co_filename == self.source.module.__file__ and code.co_code[last.tb_lasti] == _RAISE


def _text(error: BaseException) -> str:
    """The message, with the layer that it came from."""
    if not isinstance(error, MoonxiError):
        return f"{type(error).__name__}: {error}"
    text = str(error)
    layers = [note.removeprefix(_LAYER) for note in getattr(error, "__notes__", ()) if note.startswith(_LAYER)]
    return text if not layers or text.startswith(layers[0]) else f"{layers[0]}: {text}"


def _traces(error: BaseException) -> Iterator[TracebackType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace
        trace = trace.tb_next
