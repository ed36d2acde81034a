"""moonxi's mypy plugin: in ``mypy.ini``, under ``[mypy]``, write ``plugins = moonxi.mypy_plugin``.

It reports calls that mix tensor classes (error code ``tensor-mix``), annotated shapes that do not fit
(``tensor-shape``) or that mean something else than they seem to (``tensor-broadcast``, ``tensor-reshape``,
``tensor-axis``), scores made from what they are not (``tensor-scores``) and new values that are dropped
(``tensor-unused``) and layers of one model with one key (``tensor-key``), names the argument that fits none of several
signatures, gives every `Module` its typed ``map``, and makes the check that a class has a trait a quick one.
"""

import sys

from mypy.plugin import Plugin

from moonxi.mypy_plugin.digest import DIGEST
from moonxi.mypy_plugin.hooks import MapOnly, MoonxiPlugin

TESTED = ("2.4",)
"""The releases of mypy, by their first two numbers, on whose internals the plugin has been tested."""

__version__ = DIGEST


def plugin(version: str) -> type[Plugin]:
    """The entry point that mypy calls with its own version."""
    if ".".join(version.split(".")[:2]) in TESTED:
        return MoonxiPlugin
    print(
        f"moonxi.mypy_plugin: mypy {version}: tested with mypy {', '.join(TESTED)} only: "
        "tensor-mix and tensor-shape are not checked",
        file=sys.stderr,
    )
    return MapOnly
