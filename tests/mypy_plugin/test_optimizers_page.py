"""The page on optimizers: mypy has nothing to say of its programs."""

from tests.mypy_plugin.checking import Project
from tests.optim.test_docs import PROGRAM


def test_mypy_has_nothing_to_say_of_the_programs(project: Project) -> None:
    project.write(program=PROGRAM)
    assert project.check().errors == []
