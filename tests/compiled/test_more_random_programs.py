"""The second thousand of random programs, in a file of its own: whole files are what test processes share."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonxi.compiled import Pass
from tests.compiled.test_random_programs import PASSES, Program, check, programs


@pytest.mark.slow
@given(programs, st.sampled_from(PASSES))
@settings(max_examples=1000)
def test_a_thousand_more_random_programs_are_compiled_right(program: Program, alone: Pass) -> None:
    check(program, alone)
