"""``moonxi check FILE...``: the shapes in a file's layers and functions, checked without data and without training."""

import argparse
import contextlib
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from moonxi.cli.check.source import Source, Unreadable, imported
from moonxi.cli.check.subjects import Subject, subjects
from moonxi.cli.check.tracing import tracing
from moonxi.cli.check.verdicts import Failed, Judge, Passed, Skipped

DESCRIPTION = """\
Runs each annotated forward and function of the files on tensors that have symbolic shapes and no data: forward and,
where the result is a number, backward. Nothing is trained and no GPU is needed, but the files are imported.
Prints FILE:LINE: message for each shape that does not fit.
exit status: 0 nothing wrong, 1 something does not fit, 2 nothing in a file could be checked"""


@dataclass
class Report:
    """What came of one file."""

    checked: int = 0
    skipped: int = 0
    failures: dict[int, str] = field(default_factory=dict)
    """By line, the first of each."""
    notes: dict[int, str] = field(default_factory=dict)
    """By line: what was checked in part."""
    reasons: list[str] = field(default_factory=list)
    unreadable: bool = False

    @property
    def status(self) -> int:
        """What the exit status would be for this file alone."""
        return 1 if self.failures else 2 if self.unreadable or not self.checked else 0


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "check",
        help="check the shapes in a file without data, GPU or training",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file of Python code")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """The command. The exit status is that of the worst file: 1, then 2, then 0."""
    reports = []
    for path in arguments.files:
        lines, report = checked(path)
        reports.append(report)
        for line in lines:
            print(line)
    failures = sum(len(one.failures) for one in reports)
    functions, skipped = sum(one.checked for one in reports), sum(one.skipped for one in reports)
    files = f" in {len(reports)} files" if len(reports) > 1 else ""
    print(
        f"{_count(failures, 'error')}, {_count(functions, 'function')} checked{files}"
        + (f", {skipped} not checked" if skipped else "")
    )
    statuses = {one.status for one in reports}
    return next((status for status in (1, 2) if status in statuses), 0)


def checked(path: str) -> tuple[list[str], Report]:
    """The lines to print about a file, and what they come to."""
    report = Report()
    try:
        with contextlib.redirect_stdout(sys.stderr), imported(path) as source:  # what the file prints is not the report
            lines = list(_lines(path, source, report))
    except Unreadable as error:
        report.unreadable = True
        lines = [str(error)]
    return lines, report


def _lines(path: str, source: Source, report: Report) -> Iterator[str]:
    waiting: list[tuple[Subject, str]] = []
    ran = set()
    with tracing(source.codes) as trace:
        judge = Judge(source, trace)
        for subject in subjects(source):
            trace.entered.clear()
            verdicts = judge.verdicts(subject)
            for failure in verdicts:
                if isinstance(failure, Failed):
                    report.failures.setdefault(failure.line, failure.text)
                elif isinstance(failure, Passed) and failure.note:
                    report.notes[subject.line] = f"{subject.name} is checked {failure.note}"
            if any(isinstance(one, Passed | Failed) for one in verdicts):
                report.checked += 1
                ran |= trace.entered
            else:
                waiting += [(subject, one.reason) for one in verdicts[:1] if isinstance(one, Skipped)]
    for subject, reason in waiting:
        if inspect.unwrap(subject.function).__code__ in ran:  # as a part of another
            report.checked += 1
        else:
            report.skipped += 1
            yield f"{path}:{subject.line}: note: {subject.name} is not checked: {reason}"
    for line, text in sorted(report.notes.items()):
        yield f"{path}:{line}: note: {text}"
    for line, text in sorted(report.failures.items()):
        yield f"{path}:{line}: {text}"
    if not report.checked and not report.skipped:
        yield f"{path}: nothing to check: no layer and no function with shapes in its annotations"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
