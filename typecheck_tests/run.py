"""The must-fail suite: mypy has to reject every marked line of these files, and nothing else.

    python typecheck_tests/run.py           check; exits with 1 and a list of what differs
    python typecheck_tests/run.py --list    count the cases

``cases/`` holds mistakes that people make, written by hand, each beside its right twin; ``bugs/`` holds those of real
training code, see docs/bug-suite.md. The matrix of all operations with all wrong pairs of tensor classes is generated
at each run. A line states what is expected of it::

    layer.forward(device)  # E: [arg-type]
    mse(host, device)  # E: [tensor-mix] NpArray[F32] (prediction)
    # E: [misc] a second error of the line above

The copy of moonxi that is checked is the one that Python imports here, else the one beside this folder.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
if find_spec("moonxi") is None:
    sys.path.insert(0, str(HERE.parent))

import bug_table
import expectations
import matrix
import twins


def moonxi_folder() -> Path:
    """Where the package ``moonxi`` lies that is to be checked."""
    spec = find_spec("moonxi")
    if spec is None or spec.origin is None:
        sys.exit("moonxi cannot be imported: install it, or run this from its checkout")
    return Path(spec.origin).resolve().parent.parent


def mypy(files: list[Path], cache: str | None) -> list[expectations.Reported]:
    """The errors that one run of mypy over all the files reports."""
    folder = moonxi_folder()
    command = [sys.executable, "-m", "mypy", "--config-file", str(HERE / "mypy.ini"), "--output", "json"]
    command += ["--python-executable", sys.executable, *(["--cache-dir", cache] if cache else [])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    if "site-packages" not in folder.parts:
        environment["MYPYPATH"] = str(folder)
    done = subprocess.run(
        [*command, *map(str, files)], cwd=HERE, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(f"mypy failed:\n{done.stdout}{done.stderr}")
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [
        expectations.Reported((HERE / one["file"]).resolve(), one["line"], one["code"] or "", one["message"])
        for one in found
        if one["severity"] == "error"
    ]


def main() -> int:
    """Run the suite."""
    parser = argparse.ArgumentParser(description="Check that mypy rejects what it has to reject.")
    parser.add_argument("--list", action="store_true", help="count the cases and stop")
    parser.add_argument("--cache-dir", help="mypy's cache (default: .mypy_cache in this folder)")
    arguments = parser.parse_args()

    start = time.perf_counter()
    cases = sorted([*(HERE / "cases").glob("*.py"), *(HERE / "bugs").glob("*.py")])
    drivers = sorted(HERE.glob("*.py"))
    # Always the same place: what mypy remembers of a file it reports under the path that it had.
    folder = HERE / "generated"
    folder.mkdir(exist_ok=True)
    generated = matrix.write(folder)
    wanted = expectations.read([*cases, *generated])
    by_hand = sum(len(twins.cases(file)) for file in cases)
    lines = sum(1 for one in wanted if one.file in generated)
    print(f"{by_hand} cases by hand in {len(cases)} files; {lines} generated lines in {len(generated)} files")
    if arguments.list:
        for file in cases:
            print(f"  {file.stem:20} {len(twins.cases(file)):3}")
        return 0
    problems = twins.problems(cases) + bug_table.problems() + expectations.malformed([*cases, *generated])
    reported = mypy([*drivers, *cases, *generated], arguments.cache_dir)
    problems += expectations.differences(wanted, reported)
    for problem in problems:
        print(problem)
    seconds = time.perf_counter() - start
    print(f"{'FAILED: ' + str(len(problems)) + ' differences' if problems else 'ok'} ({seconds:.0f} s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
