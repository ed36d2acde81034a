"""The mutation benchmark: its models train, its operators change what they say, and its verdicts are right."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import static_checks
from benchmarks.mutation.checkers import CheckerError
from benchmarks.mutation.choosing import drawn
from benchmarks.mutation.mutants import OPERATORS, mutants
from benchmarks.mutation.running import Outcome, Watched, original, ran
from benchmarks.mutation.source import Mutant, Source
from benchmarks.mutation.trials import TRIALS
from benchmarks.static_checks import Judged, Report, lines
from benchmarks.static_table import README, with_table
from moonxi.cli.check.command import checked

CHECKOUT = Path(__file__).parents[2]
MODELS = [path for path in TRIALS if "static_models" in path]

CODE = """\
class Net:
    a: Linear
    b: Linear

    def init(cls):
        return cls(Linear.init(3, 4), Conv2d.init(4, 5, 2, stride=3))

    def forward(self, x: Float[T, "batch 3"], y: T):
        h = self.b.forward(self.a.forward(x))
        h = h.mean(1) @ y.transpose()
        h = h.permute((0, 2, 1)).reshape((3, 4)).max_pool2d(2)
        return mse(h[:, None].concatenate(x, axis=0), y)
"""


def changes(operator: str) -> list[str]:
    found = mutants(Source("net.py", CODE), ["Net.init", "Net.forward"])
    return [one.change for one in found if one.operator == operator]


@pytest.mark.parametrize(
    ("operator", "change"),
    [
        ("axes of a permutation", "(0, 2, 1) -> (0, 1, 2)"),
        ("transposed factor", "y.transpose() -> y"),
        ("factors exchanged", "h.mean(1) @ y.transpose() -> y.transpose() @ h.mean(1)"),
        ("reduced axis", "1 -> 0"),
        ("axis kept or not", "h.mean(1) -> h.mean(1, keepdims=True)"),
        ("axis dropped", "h[:, None] -> h"),
        ("axis added", "x -> x.unsqueeze(1)"),
        ("order in a shape", "(3, 4) -> (4, 3)"),
        ("size in a shape", "3 -> 4"),
        ("axis of joining", "axis=0 -> axis=1"),
        ("index", "h[:, None] -> h[None, :]"),
        ("size of a layer", "4 -> 2"),
        ("inputs and outputs", "Linear.init(3, 4) -> Linear.init(4, 3)"),
        ("kernel, stride, padding", "stride=3 -> stride=4"),
        ("order of layers", "self.b.forward(self.a.forward(x)) -> self.a.forward(self.b.forward(x))"),
        ("layer left out", "self.a.forward(x) -> x"),
        ("wrong variable", "x -> y"),
        ("annotation", '"batch 3" -> "3 batch"'),
        ("target of a loss", "y -> y.unsqueeze(-1)"),
    ],
)
def test_an_operator_makes_this_change_among_others(operator: str, change: str) -> None:
    assert change in changes(operator)


def test_every_operator_is_tested() -> None:
    assert all(changes(operator) for operator in OPERATORS)
    assert len(OPERATORS) == 19


def test_a_mutant_differs_in_one_place_only() -> None:
    for one in mutants(Source("net.py", CODE), ["Net.init", "Net.forward"]):
        before, _, after = one.change.partition(" -> ")
        places = [place for place in range(len(CODE)) if CODE.startswith(before, place)]
        assert one.text in [f"{CODE[:place]}{after}{CODE[place + len(before) :]}" for place in places]


def test_functions_that_the_trial_does_not_run_are_left_as_they_are() -> None:
    assert {one.line for one in mutants(Source("net.py", CODE), ["Net.init"])} == {6}


def test_a_seed_draws_the_operators_in_turn_and_always_the_same_mutants() -> None:
    every = [Mutant("f", operator, line, "", "") for operator, count in (("a", 9), ("b", 2)) for line in range(count)]
    first = list(drawn(every, 3))
    assert sorted(one.line for one in first if one.operator == "a") == list(range(9))
    assert [one.operator for one in first] == ["a", "b", "a", "b", *"aaaaaaa"]
    assert first == list(drawn(every, 3))
    assert first != list(drawn(every, 4))


PATH = "examples/mnist.py"
TEXT = (CHECKOUT / PATH).read_text()


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ("nn.Linear.init(784, 128", "nn.Linear.init(784, 129", Outcome.WRONG),
        ('x: Float[T, "batch 784"]', 'x: Float[T, "784 batch"]', Outcome.WRONG),
        ("batch.labels), {", 'batch.labels, reduction="none"), {', Outcome.WRONG),
        ("nn.Linear.init(64, 10", "nn.Linear.init(64, 11", Outcome.DIFFERENT),
        ("Logits(self.out.forward(h))", "Logits(h)", Outcome.DIFFERENT),
        ('x: Float[T, "batch 784"]', 'x: Float[T, "images 784"]', Outcome.EQUIVALENT),
        ("h = self.first", "h = self.third", Outcome.ILL_TYPED),
    ],
)
def test_wrong_is_what_raises_or_contradicts_annotations(before: str, after: str, outcome: Outcome) -> None:
    assert TEXT.count(before) == 1
    assert ran(original(PATH, TEXT), TEXT.replace(before, after)).outcome is outcome


def test_annotations_of_functions_and_of_local_names_are_checked_too() -> None:
    path = "benchmarks/static_models/graph.py"
    text = (CHECKOUT / path).read_text()
    first = original(path, text)
    for before, after, error in (
        ("return differences.square().sum(3)", "return differences.square().sum(2)", "return value of"),
        ("edges.abs().sum(2) + 1.0", "edges.abs().sum(2, keepdims=True) + 1.0", "a local name"),
    ):
        assert text.count(before) == 1
        mutant = ran(first, text.replace(before, after))
        assert mutant.outcome is Outcome.WRONG
        assert error in mutant.error


@pytest.mark.parametrize(
    ("left", "right", "stretched"),
    [((7,), (7, 1), True), ((7, 1), (1, 7), False), ((7, 3), (3,), False), ((7, 1), (3,), False)],
)
def test_an_axis_stretched_against_itself_by_accident_is_noticed(left: Any, right: Any, stretched: bool) -> None:
    Watched.stretched = False
    Watched(np.ones(left, np.float32)) + Watched(np.ones(right, np.float32))
    assert Watched.stretched is stretched


@pytest.mark.parametrize("path", TRIALS)
def test_an_original_runs_and_moonxi_check_finds_nothing_in_it(path: str) -> None:
    first = original(path, (CHECKOUT / path).read_text())
    assert first.values
    _, report = checked(str(CHECKOUT / path))
    assert not report.failures
    assert not report.unreadable
    assert report.checked or path == "examples/linear.py"


def test_rates_are_shares_of_the_wrong_mutants_by_operator_and_over_all() -> None:
    found = [
        Judged(Mutant("f.py", operator, line, "x -> y", ""), "ShapeError", plain, plugin, check)
        for line, (operator, plain, plugin, check) in enumerate(
            [("a", False, True, True), ("a", False, False, True), ("b", True, True, False), ("b", False, False, False)]
        )
    ]
    record = Report({"seed": 3, "date": "today"}, {"wrong": 4}, found, ["f.py: plugin: text"]).record()
    assert (record["plain_mypy"], record["plugin"], record["check"]) == (0.25, 0.5, 0.5)
    assert (record["plugin_or_check"], record["none"], record["false_alarms"]) == (0.75, 0.25, 1)
    assert record["missed"] == ["f.py:3: b: x -> y"]
    assert list(lines(record))[2:] == [
        "| a | 2 | 0 % | 50 % | 100 % | 100 % |",
        "| b | 2 | 50 % | 50 % | 0 % | 50 % |",
        "| **all** | 4 | 25 % | 50 % | 50 % | 75 % |",
    ]


@pytest.mark.slow
def test_the_smallest_run_finds_wrong_models_and_no_false_alarm() -> None:
    paths = ["examples/mnist.py", "benchmarks/static_models/graph.py"]
    [report] = static_checks.measured(paths, seeds=[1], wanted=12, processes=1)
    record = report.record()
    assert record["wrong"] == 12
    assert record["false_alarm_texts"] == []
    assert report.share(lambda one: one.plugin or one.check) > report.share(lambda one: one.plain)


def test_a_checker_that_breaks_down_is_an_error_and_not_a_miss(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> list[Report]:
        raise CheckerError("mypy ended with status 2:\nno such plugin")

    monkeypatch.setattr(static_checks, "measured", broken)
    with pytest.raises(SystemExit, match=r"^static_checks: mypy ended with status 2:"):
        static_checks.main([])
    assert capsys.readouterr().out == ""


def test_the_table_of_the_readme_is_what_the_results_give() -> None:
    text = README.read_text()
    assert with_table(text) == text
    with pytest.raises(ValueError, match=r"^static_table: README.md: has no line "):
        with_table("no table")


def test_no_operator_makes_more_than_15_percent_of_the_measured_mutants() -> None:
    for file in (CHECKOUT / "benchmarks" / "results").glob("static-checks*.json"):
        record = json.loads(file.read_text())
        assert record["wrong"] >= 400
        assert max(row["mutants"] for row in record["operators"].values()) <= 0.15 * record["wrong"]
