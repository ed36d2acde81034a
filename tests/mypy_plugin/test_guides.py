"""The programs of the guides and other pages, which mypy takes, and three mistakes of the first, which it does not."""

import pytest

from tests.docs.test_guides import GUIDES, program
from tests.mypy_plugin.checking import Project

pytestmark = pytest.mark.slow
FIRST = program("first-ten-minutes.md")
PAGES = (
    *GUIDES,
    "data.md",
    "differentiation.md",
    "gpu.md",
    "layers-and-losses.md",
    "optimizers.md",
    "profiling.md",
    "seeing-a-run.md",
    "training.md",
)
MISTAKES = [
    ("cross_entropy(logits, batch.labels)", "cross_entropy(logits.probs(), batch.labels)"),
    ("cross_entropy(logits, batch.labels)", "cross_entropy(logits, batch.x)"),
    ("nn.Linear.init(16, 3, like=like, key=second)", "nn.Linear.init(16, 3, like=mx.gpu(), key=second)"),
]


@pytest.mark.parametrize("page", PAGES)
def test_mypy_has_nothing_to_say_of_a_page(project: Project, page: str) -> None:
    project.write(example=program(page))
    assert project.check().errors == []


@pytest.mark.parametrize(("right", "wrong"), MISTAKES, ids=["probabilities", "measures", "places"])
def test_the_mistakes_of_the_first_guide_are_refused_where_they_are(project: Project, right: str, wrong: str) -> None:
    assert FIRST.count(right) == 1
    project.write(example=FIRST.replace(right, wrong))
    [line] = [number for number, text in enumerate(FIRST.replace(right, wrong).splitlines(), 1) if wrong in text]
    assert {one.rsplit(" ", 1)[0] for one in project.check().brief} == {f"example.py:{line}:"}
