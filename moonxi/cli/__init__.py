"""The command line: ``moonxi COMMAND``, or ``python -m moonxi COMMAND``."""

from moonxi.cli.main import main

__all__ = ["main"]
