"""The README's example, which mypy takes, and three mistakes in it, which the README says it does not."""

import re

import pytest

from tests.examples.program import CHECKOUT
from tests.mypy_plugin.checking import Project

[EXAMPLE] = re.findall(
    r"^```python\n(.*?)^```$", (CHECKOUT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
MISTAKES = {
    "another device": ("digits = mnist(cpu)", "digits = mnist(mx.gpu())", ("trainer.fit", "trainer.evaluate")),
    "a probability": ("model.forward(batch.x)", "model.forward(batch.x).probs()", (".probs()",)),
    "a float as a label": ("batch.labels)", "batch.x)", ("cross_entropy(",)),
}


def test_mypy_has_nothing_to_say_of_the_example(project: Project) -> None:
    project.write(example=EXAMPLE)
    assert project.check().errors == []


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_mistake_that_the_readme_names_is_refused(project: Project, mistake: str) -> None:
    right, wrong, places = MISTAKES[mistake]
    assert EXAMPLE.count(right) == 1
    project.write(example=EXAMPLE.replace(right, wrong))
    wanted = [
        f"example.py:{number}: [arg-type]"
        for number, text in enumerate(EXAMPLE.replace(right, wrong).splitlines(), 1)
        if any(one in text for one in places)
    ]
    assert project.check().brief == wanted
