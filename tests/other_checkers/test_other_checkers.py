"""pyright and pyrefly: nothing of moonxi's is an error to them, and docs/other-checkers.md says how much they see."""

import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.examples.program import environment
from tests.other_checkers import checkers
from tests.other_checkers.checkers import CHECKOUT, Found
from tests.other_checkers.language_server import started
from tests.other_checkers.table import PAGE, reports, shares, table, written

needs_checkers = pytest.mark.skipif(
    find_spec("pyright") is None or find_spec("pyrefly") is None,
    reason="pyright or pyrefly is not installed: pip install -e '.[checkers]', as make test-slow does",
)
type Check = Callable[..., list[Found]]

POINTS = 5
"""By so much the table may be off: the suite grows by the week."""
CHECKERS = pytest.mark.parametrize("check", [checkers.pyright, checkers.pyrefly], ids=["pyright", "pyrefly"])
PROGRAM = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[0]
MAP = re.compile(r"    if TYPE_CHECKING:.*?\.\.\.\n\n", re.DOTALL)


def test_the_program_of_the_page_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "NpArray[F32] (2,) [3., 3.]\n"


@pytest.mark.slow
@needs_checkers
@CHECKERS
def test_the_package_and_the_examples_have_no_error(check: Check) -> None:
    assert [str(one) for one in check()] == []


@pytest.mark.slow
@needs_checkers
def test_the_table_of_the_page_is_up_to_date() -> None:
    old, new = written(PAGE.read_text(encoding="utf-8")), table(reports())
    assert old.splitlines()[0] == new.splitlines()[0]
    before, now = shares(old), shares(new)
    assert before.keys() == now.keys()
    off = {place: (before[place], now[place]) for place in now if abs(before[place] - now[place]) > POINTS}
    assert off == {}, "write it anew: python -m tests.other_checkers.table"


@pytest.mark.slow
@needs_checkers
@CHECKERS
def test_a_model_without_a_map_is_an_error_only_where_it_is_mapped(check: Check, tmp_path: Path) -> None:
    with_map, without = tmp_path / "with_map.py", tmp_path / "without.py"
    with_map.write_text(PROGRAM, encoding="utf-8")
    without.write_text(MAP.sub("", PROGRAM), encoding="utf-8")
    assert check(with_map) == []
    [found] = check(without)
    assert "map" in found.message
    assert "scale.map(" in without.read_text(encoding="utf-8").splitlines()[found.line - 1]


HOVERED = """
import moonxi as mx
from moonxi import nn


def use(layer: nn.Linear[mx.NpArray[mx.F32]], x: mx.NpArray[mx.F32]) -> mx.NpArray[mx.F32]:
    return layer.forward(x)
"""


@pytest.mark.slow
@needs_checkers
@pytest.mark.parametrize("name", ["pyright", "pyrefly"])
def test_an_editor_shows_types_and_shapes_of_a_layer(name: str) -> None:
    lines = HOVERED.splitlines()
    with started(name) as server:
        shown = server.hover(CHECKOUT / "examples" / "hovered.py", HOVERED, len(lines) - 1, lines[-1].index("forward"))
    assert "x   : NpArray[F32]" in shown or "x: NpArray[F32]" in shown
    assert '(x: Float[T, "*batch {self.inputs}"]) -> Float[T, "*batch {self.outputs}"]' in shown
