"""The functions of the must-fail suite, to be run."""

import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import FunctionType
from typing import Final

from tests.examples.program import CHECKOUT

SUITE: Final = CHECKOUT / "typecheck_tests"
FILES: Final = sorted([*(SUITE / "cases").glob("*.py"), *(SUITE / "bugs").glob("*.py")])


def functions(file: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """The functions of a file, by name."""
    spec = spec_from_file_location(f"typecheck_tests.{file.parent.name}.{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their own module up
    spec.loader.exec_module(module)
    for name, value in vars(module).items():
        if isinstance(value, FunctionType) and value.__module__ == spec.name:
            yield name, value
