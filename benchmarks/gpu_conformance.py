"""The tests of the GPU backend, counted: ``python -m benchmarks.gpu_conformance --json FILE``.

It runs the conformance suite with the GPU backend, and the tests of that backend, and writes commit, versions, and how
many tests passed, failed and were skipped, with the names of those that did not pass. Ends with status 1 unless none
failed.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any
from xml.etree import ElementTree

from benchmarks.train_step import versions

TESTS = ("tests/conformance", "tests/backends")


def commit() -> str:
    """Of the checkout; empty outside of one."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def run(jobs: int) -> dict[str, Any]:
    """The counts, and the tests that did not pass."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--tb=short",
            "-m",
            "gpu and not slow and not emulated",
            f"--junit-xml={report}",
        ]
        start = perf_counter()
        subprocess.run([*command, f"--junit-xml={report}", "-n", str(jobs), "-p", "no:benchmark", *TESTS], check=False)
        seconds = perf_counter() - start
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    found: Counter[str] = Counter()
    others: dict[str, list[str]] = {"failed": [], "skipped": []}
    for case in cases:
        name = f"{case.get('classname')}::{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            found["failed"] += 1
            others["failed"].append(name)
        elif (skipped := case.find("skipped")) is not None:
            found["skipped"] += 1
            others["skipped"].append(f"{name}: {skipped.get('message')}")
        else:
            found["passed"] += 1
    counts = {kind: found[kind] for kind in ("passed", "failed", "skipped")}
    return counts | {"seconds": round(seconds, 1), "not passed": others}


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description="The tests of the GPU backend, counted.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts there")
    parser.add_argument("--jobs", type=int, default=8, help="processes that share the tests (8)")
    parser.add_argument("--commit", default=None, help="what is tested, where the machine has no history")
    chosen = parser.parse_args()
    found = {"commit": chosen.commit or commit(), "versions": versions()} | run(chosen.jobs)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print({kind: found[kind] for kind in ("passed", "failed", "skipped")})
    sys.exit(0 if found["failed"] == 0 and found["passed"] else 1)


if __name__ == "__main__":
    main()
