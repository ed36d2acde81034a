"""Type checkers that do not know moonxi's plugin, as a user runs them, on files of this checkout; and what mypy itself
says beside the plugin."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PYTHON = sys.executable


@dataclass(frozen=True, order=True)
class Found:
    """An error that a checker reports; the file as a path within the checkout if it is there."""

    file: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: [{self.rule}] {self.message}"


def pyright(*files: Path) -> list[Found]:
    """What pyright reports of these files, or of what pyproject.toml names."""
    text = _run("-m", "pyright", "--outputjson", "--pythonpath", PYTHON, *files)
    return [
        Found(_inside(one["file"]), one["range"]["start"]["line"] + 1, one.get("rule", ""), one["message"])
        for one in json.loads(text)["generalDiagnostics"]
        if one["severity"] == "error"
    ]


def pyrefly(*files: Path) -> list[Found]:
    """What pyrefly reports of these files, or of what pyproject.toml names."""
    text = _run(
        "-m",
        "pyrefly",
        "check",
        "--config",
        CHECKOUT / "pyproject.toml",
        "--output-format",
        "json",
        "--python-interpreter-path",
        PYTHON,
        *files,
    )
    return [
        Found(_inside(one["path"]), one["line"], one["name"], one["description"])
        for one in json.loads(text)["errors"]
        if one["severity"] == "error"
    ]


def mypy(*files: Path) -> list[Found]:
    """What mypy reports of these files, without the plugin's own codes.

    Without the plugin it says the same, but takes minutes for some files: docs/other-checkers.md."""
    suite = CHECKOUT / "typecheck_tests"
    cache = CHECKOUT / ".mypy_cache" / "must_fail"
    options = ("--config-file", suite / "mypy.ini", "--cache-dir", cache, "--output", "json")
    with_moonxi = {"PYTHONPATH": str(CHECKOUT), "MYPYPATH": str(CHECKOUT)}
    errors = map(json.loads, filter(None, _run("-m", "mypy", *options, *files, settings=with_moonxi).splitlines()))
    return [
        Found(_inside(one["file"]), one["line"], one["code"], one["message"])
        for one in errors
        if one["severity"] == "error" and not one["code"].startswith("tensor-")
    ]


def versions() -> dict[str, str]:
    """The version of each checker."""
    return {name: _run("-m", name, "--version").split()[1] for name in ("mypy", "pyright", "pyrefly")}


def _run(*arguments: str | Path, settings: Mapping[str, str] | None = None) -> str:
    """What Python prints in the checkout; a checker that finds errors exits with 1."""
    environment = {**os.environ, "PYRIGHT_PYTHON_GLOBAL_NODE": "0", **(settings or {})}
    command: Sequence[str | Path] = [PYTHON, *arguments]
    done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def _inside(file: str) -> str:
    path, checkout = (CHECKOUT / file).resolve(), CHECKOUT.resolve()
    return (path.relative_to(checkout) if path.is_relative_to(checkout) else path).as_posix()
