"""What mypy, with and without the plugin, and ``moonxi check`` say of many files at a time."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from moonxi.cli.check.command import checked

ROOT = Path(__file__).parents[2]
_STRICT = """\
[mypy]
{plugins}
strict = True
warn_unreachable = True
raise_exceptions = True
enable_error_code = ignore-without-code, possibly-undefined, redundant-expr, truthy-bool
mypy_path = {root}:{root}/stubs
explicit_package_bases = True
namespace_packages = True
"""

type Findings = Mapping[str, Counter[str]]
"""For each file the errors, without their lines."""


class CheckerError(Exception):
    """A checker did not come to an end."""


def mypy(folder: Path, *, plugin: bool) -> Callable[[], Findings]:
    """Start mypy on the Python files in a folder, with the options of the project; to be called for what it says."""
    name = "plugin" if plugin else "plain"
    configuration = folder / f"{name}.ini"
    plugins = "plugins = moonxi.mypy_plugin" if plugin else ""
    configuration.write_text(_STRICT.format(plugins=plugins, root=ROOT))
    cache = ROOT / ".mypy_cache" / f"static_checks_{name}"
    options = ("--config-file", str(configuration), "--cache-dir", str(cache), "--output", "json", ".")
    with (folder / "stdout").open("w") as stdout, (folder / "stderr").open("w") as stderr:
        running = subprocess.Popen(
            [sys.executable, "-m", "mypy", *options],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=stdout,
            stderr=stderr,
        )

    def findings() -> Findings:
        status = running.wait()
        output, errors = ((folder / stream).read_text() for stream in ("stdout", "stderr"))
        if status not in (0, 1) or errors.strip():
            raise CheckerError(f"mypy ended with status {status}:\n{output[-2000:]}{errors[-2000:]}")
        return _read(output)

    return findings


def _read(output: str) -> Findings:
    """The errors in what mypy prints, one a line as JSON."""
    found: dict[str, Counter[str]] = {}
    for line in filter(None, output.splitlines()):  # without errors it prints an empty line
        error = json.loads(line)
        if error["severity"] == "error":
            text = f"{error['message']} [{error['code']}]".replace(Path(error["file"]).stem, "FILE")
            found.setdefault(Path(error["file"]).name, Counter())[text] += 1
    return found


def moonxi_check(folder: Path, processes: int) -> Findings:
    """What ``moonxi check`` says of each of the Python files in a folder."""
    files = sorted(folder.glob("*.py"))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return {
            file.name: Counter(found)
            for file, found in zip(files, pool.map(_failures, files, chunksize=4), strict=True)
        }


def _failures(file: Path) -> list[str]:
    lines, report = checked(str(file))
    return lines if report.unreadable else list(report.failures.values())
