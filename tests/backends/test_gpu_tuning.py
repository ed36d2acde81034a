"""The choice of cuDNN's plans: tried once, remembered on disk, made anew where the file is damaged."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from moonxi import shapes
from moonxi.backends.cupy import plans, tuning
from moonxi.dtypes import F32

CONV: Any = shapes.conv2d((2, 3, 8, 8), (4, 3, 3, 3))


class Tuned:
    """What is asked of a space."""

    autotune = True


class Trial:
    """Plans that take a given time; one that takes none cannot be built."""

    def __init__(self, *times: float) -> None:
        self.times = times
        self.tried: list[int] = []
        self.space: Any = SimpleNamespace(element=F32, tf32=False)

    def built(self, number: int) -> int:
        if not self.times[number]:
            raise RuntimeError("no such engine")
        return number

    def fastest(self, kind: str = "result") -> int:
        return tuning.fastest(self.space, kind, CONV, len(self.times), self.built, self.tried.append)

    @contextmanager
    def timer(self, space: Any) -> Iterator[Callable[[Callable[[], None], float], float]]:
        def timed(run: Callable[[], None], best: float) -> float:
            assert best == min((self.times[number] for number in self.tried), default=float("inf"))
            run()
            return self.times[self.tried[-1]]

        yield timed


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Trial]:
    def make(*times: float) -> Trial:
        made = Trial(*times)
        monkeypatch.setattr(tuning, "_timer", made.timer)
        return made

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(tuning, "_machine", lambda space: "gpu-9.19")
    return make


def test_the_fastest_plan_that_runs_is_taken(trial: Callable[..., Trial]) -> None:
    one = trial(3.0, 0.0, 1.0, 2.0)
    assert one.fastest() == 2
    assert one.tried == [0, 2, 3]


def test_the_choice_is_remembered(trial: Callable[..., Trial], tmp_path: Path) -> None:
    assert trial(3.0, 1.0).fastest() == 1
    again = trial(1.0, 3.0)
    assert again.fastest() == 1
    assert again.tried == []
    assert [file.name for file in (tmp_path / "moonxi").iterdir()] == ["cudnn-plans-gpu-9.19.json"]


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"a": "b"}', "\x00"])
def test_a_damaged_file_is_made_anew(trial: Callable[..., Trial], tmp_path: Path, content: str) -> None:
    file = tmp_path / "moonxi" / "cudnn-plans-gpu-9.19.json"
    file.parent.mkdir()
    file.write_text(content)
    assert trial(3.0, 1.0).fastest() == 1
    assert trial(1.0, 3.0).fastest() == 1


def test_a_number_beyond_the_plans_is_not_believed(trial: Callable[..., Trial]) -> None:
    assert trial(3.0, 2.0, 1.0).fastest() == 2
    assert trial(1.0, 2.0).fastest() == 0


def test_a_remembered_plan_that_cannot_be_built_is_chosen_anew(trial: Callable[..., Trial]) -> None:
    assert trial(3.0, 1.0).fastest() == 1
    assert trial(2.0, 0.0, 1.0).fastest() == 2


def test_after_some_seconds_what_was_tried_has_to_do(
    trial: Callable[..., Trial], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "_SECONDS", 0.0)
    one = trial(0.0, 3.0, 1.0)
    assert one.fastest() == 1
    assert one.tried == [1]


def test_when_the_time_is_up_the_rest_is_left_for_the_next_time(
    trial: Callable[..., Trial], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "_BUDGET", 0.0)
    with tuning.wanted(True):
        assert trial(2.0, 1.0).fastest() == 1
        with pytest.raises(TimeoutError):
            trial(2.0, 1.0).fastest("images")
        assert trial(1.0, 2.0).fastest() == 1  # remembered
    with tuning.wanted(True):
        assert trial(2.0, 1.0).fastest("images") == 1


def test_a_convolution_without_time_takes_the_first_plan_until_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bool] = []
    late = [True]

    def make(kind: str, conv: Any, space: Any, *, tuned: bool) -> Any:
        if tuned and late[0]:
            raise TimeoutError
        made.append(tuned)
        return SimpleNamespace(tuned=tuned)

    monkeypatch.setattr(plans, "_made", make)
    monkeypatch.setattr(plans, "_can_have_one", lambda conv, space: True)
    way, space = plans.Convolution(CONV), Tuned()
    first: Any = way.plan("result", space)  # type: ignore[arg-type]  # what is asked of a space
    assert not first.tuned
    assert way.plan("result", space) is first  # type: ignore[arg-type]  # as above
    late[0] = False
    second: Any = way.plan("result", space)  # type: ignore[arg-type]  # as above
    assert second.tuned
    assert made == [False, True]


def test_a_recording_says_what_it_tried_and_an_eager_step_nothing(
    trial: Callable[..., Trial], capsys: pytest.CaptureFixture[str]
) -> None:
    assert not tuning.is_wanted()
    trial(3.0, 1.0).fastest()
    with tuning.wanted(True):
        assert tuning.is_wanted()
        trial(1.0, 2.0).fastest()  # remembered
    assert capsys.readouterr().err == ""
    with tuning.wanted(True):
        trial(1.0).fastest("images")
        trial(1.0).fastest("weight")
    assert not tuning.is_wanted()
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"moonxi: tried cuDNN's plans for 2 convolutions in \d+ s, kept in \S+", line)


def test_no_plan_that_runs_is_an_error(trial: Callable[..., Trial]) -> None:
    with pytest.raises(ValueError, match="no plan runs"):
        trial(0.0, 0.0).fastest()


def test_a_folder_that_cannot_be_written_costs_the_memory_only(trial: Callable[..., Trial], tmp_path: Path) -> None:
    (tmp_path / "moonxi").write_text("a file")
    assert trial(3.0, 1.0).fastest() == 1
    assert trial(1.0, 3.0).fastest() == 0
