"""The command ``moonxi``, which is the choice of another."""

import argparse
from collections.abc import Sequence

from moonxi import __version__
from moonxi.cli import check

_COMMANDS = (check.add,)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, with the arguments of the process unless others are given; its exit status."""
    parser = argparse.ArgumentParser(prog="moonxi", description="Deep-learning training in typed Python.")
    parser.add_argument("--version", action="version", version=f"moonxi {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in _COMMANDS:
        add(commands)
    chosen = parser.parse_args(arguments)
    status: int = chosen.run(chosen)
    return status
