"""The programs of docs/how-compile-works.md run, and print what the page says."""

from pathlib import Path

from tests.compiled.page import PAGE, written


def test_the_programs_of_the_page_run_and_print_what_it_says(tmp_path: Path) -> None:
    assert written(tmp_path) == PAGE.read_text(encoding="utf-8"), "write it anew: python -m tests.compiled.page"
