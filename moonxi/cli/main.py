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
    try:
        status: int = chosen.run(chosen)
        sys.stdout.flush()
    except MoonxiError as error:
        print(f"moonxi: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read the output has had enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status
