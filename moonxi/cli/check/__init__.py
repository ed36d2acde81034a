"""The command ``moonxi check``."""

from moonxi.cli.check.command import add

__all__ = ["add"]
