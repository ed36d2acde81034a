"""The command ``moonxi``, which is the choice of another."""

import argparse
import os
import sys
from collections.abc import Sequence

from moonxi import __version__
from moonxi.cli import bench, check, data, doctor, inspect
from moonxi.errors import MoonxiError

_COMMANDS = (check.add, inspect.add, data.add, doctor.add, bench.add)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, with the arguments of the process unless others are given; its exit status.

    What moonxi raises on purpose is said in a line, with the status 1; a mistake in the arguments has the status 2."""
    parser = argparse.ArgumentParser(prog="moonxi", description="Deep-learning training in typed Python.")
    parser.add_argument("--version", action="version", version=f"moonxi {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in _COMMANDS:
        add(commands)
    chosen = parser.parse_args(arguments)
    if sys.stdout is None:  # it was closed before the command began
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    try:
        status: int = chosen.run(chosen)
        sys.stdout.flush()
    except MoonxiError as error:
        print(f"moonxi: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read the output has had enough of it
        _to_nowhere()
        return 1
    except OSError as error:  # of files the commands raise errors of their own, so this is the output
        print(f"moonxi: the output cannot be written: {error.strerror or error}", file=sys.stderr)
        _to_nowhere()
        return 1
    return status


def _to_nowhere() -> None:
    """What is left of the output goes nowhere: at its end Python would try to write it once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
