"""moonxi's mypy plugin: in ``mypy.ini``, under ``[mypy]``, write ``plugins = moonxi.mypy_plugin``.

It reports calls that mix tensor classes (error code ``tensor-mix``) and gives every `Module` its typed ``map``.
"""

import sys
from hashlib import sha256
from pathlib import Path

from mypy.plugin import Plugin

from moonxi.mypy_plugin.hooks import MapOnly, MoonxiPlugin

TESTED = ("2.4",)
"""The releases of mypy, by their first two numbers, on whose internals the plugin has been tested."""


def _digest() -> str:
    """mypy forgets its cache when the version of a plugin changes: here, when a line of it does."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


__version__ = _digest()


def plugin(version: str) -> type[Plugin]:
    """The entry point that mypy calls with its own version."""
    if ".".join(version.split(".")[:2]) in TESTED:
        return MoonxiPlugin
    print(
        f"moonxi.mypy_plugin: mypy {version}: tested with mypy {', '.join(TESTED)} only: tensor-mix is not checked",
        file=sys.stderr,
    )
    return MapOnly
