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
MISTAKES = {
    "probabilities": ("cross_entropy(logits, batch.labels)", "cross_entropy(logits.probs(), batch.labels)"),
    "measures": ("cross_entropy(logits, batch.labels)", "cross_entropy(logits, batch.x)"),
    "places": ("nn.Linear.init(16, 3, like=like, key=second)", "nn.Linear.init(16, 3, like=mx.gpu(), key=second)"),
}


def test_mypy_has_nothing_to_say_of_the_pages(project: Project) -> None:
    project.write(**{page.removesuffix(".md").replace("-", "_"): program(page) for page in PAGES})
    assert len(project.files) == len(PAGES)
    assert project.check().errors == []


def test_the_mistakes_of_the_first_guide_are_refused_where_they_are(project: Project) -> None:
    places = set[str]()
    for name, (right, wrong) in MISTAKES.items():
        assert FIRST.count(right) == 1
        text = FIRST.replace(right, wrong)
        project.write(**{name: text})
        [line] = [number for number, one in enumerate(text.splitlines(), 1) if wrong in one]
        places.add(f"{name}.py:{line}:")
    assert {one.rsplit(" ", 1)[0] for one in project.check().brief} == places
