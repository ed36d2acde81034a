"""On what was measured: the processor, its load, and the versions of the software."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np


def cpu() -> str:
    """The processor's name, as far as the system tells it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def load() -> float | None:
    """Processes that ran or waited to run, on average over the last minute; None where the system does not count."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def python_version() -> str:
    """The version of this Python."""
    return f"{platform.python_version()} ({platform.python_implementation()})"


def numpy_version() -> str:
    """The version of NumPy and of the BLAS that it is built with."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{np.__version__} ({blas['name']} {blas['version']})"


def moonxi_versions(numba: bool = False) -> dict[str, str]:
    """What moonxi runs on."""
    found = {"python": python_version(), "numpy": numpy_version()}
    return {**found, "numba": version("numba")} if numba else found
