"""``moonxi doctor``: what moonxi finds on this machine, what is missing, and what brings it."""

import argparse
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final, Literal

import numpy as np

from moonxi import __version__
from moonxi.backends.cupy import gpu
from moonxi.errors import DeviceError
from moonxi.train import threads

DESCRIPTION = """\
Says what moonxi finds: Python, NumPy and its BLAS, threads, the GPU, its driver and libraries, and the optional
packages; and of what is missing the command that brings it.
exit status: 0 all that is needed is there, 1 something that is needed is missing"""

NEEDED: Final = ("numpy", "scipy", "typing-extensions", "jaxtyping", "beartype", "safetensors", "threadpoolctl")
OPTIONAL: Final = {
    "rich": ("progress", "a bar of progress on a terminal"),
    "matplotlib": ("plot", "curves"),
    "pillow": ("images", "folders of images"),
}
"""The extra that brings a package, and what it is for."""
GPU: Final = ("cupy-cuda13x", "nvidia-cudnn-frontend", "nvidia-cudnn-cu13")
_PATIENCE: Final = 10.0  # seconds for nvidia-smi, which a driver in trouble never answers


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for."""

    verdict: Literal["ok", "--", "!!"]
    """There, missing but not needed, missing and needed."""
    text: str
    remedy: str | None = None


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "doctor",
        help="say what moonxi finds on this machine, and what brings what is missing",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """The command."""
    print(f"moonxi {__version__} on {platform.platform()}")
    findings = [*_python(), *_packages(), *_gpu()]
    for one in findings:
        print(f"{one.verdict} {one.text}")
        if one.remedy is not None:
            print(f"     {one.remedy}")
    missing = sum(one.verdict == "!!" for one in findings)
    print("everything that is needed is there" if not missing else f"{missing} of what is needed is missing")
    return 1 if missing else 0


def _python() -> Iterator[Finding]:
    yield Finding("ok", f"Python {platform.python_version()} ({sys.executable})")
    yield Finding("ok", f"NumPy {np.__version__} computes products by {blas()}")
    processors = os.cpu_count() or 1
    yield Finding("ok", f"{threads()} threads on {processors} processors; OPENBLAS_NUM_THREADS sets another number")


def blas() -> str:
    """The library that NumPy multiplies matrices with, as NumPy was built."""
    built = np.show_config(mode="dicts")
    found = built.get("Build Dependencies", {}).get("blas", {})
    return f"{found.get('name', 'an unknown BLAS')} {found.get('version', '')}".strip()


def _packages() -> Iterator[Finding]:
    for name in NEEDED:
        found = installed(name)
        if found is None:
            yield Finding("!!", f"{name} is missing", f"pip install {name}")
        else:
            yield Finding("ok", f"{name} {found}")
    for name, (extra, purpose) in OPTIONAL.items():
        found = installed(name)
        if found is None:
            yield Finding("--", f"{name} is missing; it is for {purpose}", f"pip install 'moonxi[{extra}]'")
        else:
            yield Finding("ok", f"{name} {found}")


def installed(name: str, /) -> str | None:
    """The version of a package; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _gpu() -> Iterator[Finding]:
    for line in devices():
        yield Finding("ok", f"NVIDIA {line}")
    for name in GPU:
        found = installed(name)
        if found is not None:
            yield Finding("ok", f"{name} {found}")
    try:
        gpu()
    except DeviceError as error:
        yield Finding("--", "the GPU cannot be used", str(error))
    else:
        yield Finding("ok", "mx.gpu() computes")


def devices() -> list[str]:
    """What nvidia-smi says of each GPU: its name, driver and memory; nothing where there is none."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return []
    query = [command, "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []
