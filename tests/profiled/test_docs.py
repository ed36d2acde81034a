"""The page on profiling: its program runs, and prints what it says but for the times."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.examples.program import CHECKOUT, environment

PAGE = (CHECKOUT / "docs" / "profiling.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def rows(table: str) -> dict[tuple[str, str], tuple[str, str | None]]:
    """Of each operation and direction the calls and, unless it is missing, the MB."""
    lines = re.findall(r"^(\w+) +(\w+) +(\d+) +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+%(?: +([\d.]+))?", table, re.MULTILINE)
    return {(operation, direction): (calls, size) for operation, direction, calls, size in lines}


def test_the_program_prints_the_table_and_writes_the_trace(tmp_path: Path) -> None:
    (language, program), (_, shown) = BLOCKS
    assert language == "python"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), cwd=tmp_path, capture_output=True, text=True, check=True
    )
    expected, found = rows(shown), rows(done.stdout)
    assert len(expected) == 12
    assert {key: found.get(key) for key in expected} == expected
    assert done.stdout.splitlines()[0].split() == shown.splitlines()[0].split()
    assert done.stdout.splitlines()[-1].split()[:2] == shown.splitlines()[-1].split()[:2]
    events = json.loads((tmp_path / "step.json").read_text())["traceEvents"]
    assert sum(int(calls) for calls, _ in found.values()) == len(events)
    assert {event["name"] for event in events} == {operation for operation, _ in found}
