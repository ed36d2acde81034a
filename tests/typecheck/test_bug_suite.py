"""The bug suite: its page is up to date, and its programs fail at run time where and as they say."""

import re
import sys
import traceback
from importlib import import_module
from typing import Any

import pytest

from tests.typecheck.programs import FILES, SUITE, functions

sys.path.insert(0, str(SUITE))
bug_table: Any = import_module("bug_table")  # not a package of the project
CAUGHT = [pytest.param(bug, id=bug.function) for bug in bug_table.bugs() if bug.raises]


def test_the_page_of_the_bug_suite_is_up_to_date() -> None:
    page = bug_table.PAGE.read_text(encoding="utf-8")
    assert page == bug_table.page(), "write it anew: python typecheck_tests/bug_table.py"


def test_every_mistake_is_told_once() -> None:
    assert bug_table.problems() == []


def test_most_mistakes_are_rejected_before_anything_runs() -> None:
    kinds = [bug.kind for bug in bug_table.bugs()]
    assert len(kinds) == 74
    assert kinds.count(bug_table.REJECTED) >= 0.7 * len(kinds)
    assert kinds.count(bug_table.CAUGHT) <= 0.05 * len(kinds)


@pytest.mark.parametrize("bug", CAUGHT)
def test_the_wrong_program_fails_at_the_line_and_with_the_words_that_it_states(bug: Any) -> None:
    [file] = [one for one in FILES if (one.parent.name, one.stem) == ("bugs", bug.category)]
    [expected] = bug.raises
    run = dict(functions(file))[bug.function]
    with pytest.raises(Exception, match=re.escape(expected.message)) as caught:
        run()
    lines = [frame.lineno for frame in traceback.extract_tb(caught.tb) if frame.filename == str(file)]
    assert lines[-1] == expected.line
    assert type(caught.value).__name__ == expected.error
