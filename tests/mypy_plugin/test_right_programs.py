"""Programs that are right: mypy with the plugin says nothing, and they run."""

from importlib import import_module
from pathlib import Path

import pytest

from tests.mypy_plugin.checking import Project

PROGRAMS = {file.stem: file.read_text(encoding="utf-8") for file in Path(__file__).with_name("programs").glob("*.py")}


def test_nothing_is_said_of_right_programs(project: Project) -> None:
    assert len(PROGRAMS) == 3
    project.write(**PROGRAMS)
    assert project.check().errors == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_right_programs_run(name: str) -> None:
    import_module(f"tests.mypy_plugin.programs.{name}").main()


# A tensor class of each kind in the place of another is an error in the same programs, so that silence means something.
MISTAKES = {
    "generic_code": ("seen += [pick(host), ", "seen += [pick(host, shape), joined_anew(host, shape), "),
    "containers": ("seen += [folded(xs, host), ", "seen += [folded(xs, shape), joined(*mixed), "),
    "annotations": ("seen += [chosen(", "seen += [annotated(host, shape), totals(shape, host), chosen("),
}


def test_the_same_programs_with_a_mistake_are_refused(project: Project) -> None:
    for name, (right, wrong) in MISTAKES.items():
        assert PROGRAMS[name].count(right) == 1
        project.write(**{name: PROGRAMS[name].replace(right, wrong)})
    found = [error.partition(":")[0] for error in project.check().errors if "[tensor-mix]" in error]
    assert {name: found.count(f"{name}.py") for name in MISTAKES} == dict.fromkeys(MISTAKES, 2)
