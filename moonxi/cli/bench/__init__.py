"""The command ``moonxi bench``."""

from moonxi.cli.bench.command import add

__all__ = ["add"]
