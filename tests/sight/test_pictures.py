"""Curves and confusion matrices as pictures."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from moonxi.errors import DataError, OptionError
from moonxi.sight import Curves, Report, draw_confusion, draw_curves
from moonxi.train import EpochRecord
from tests.sight.runs import LOADER, NAMES, RECORDS, matrix
from tests.train.test_trainer import new_trainer

TEXT = "{http://www.w3.org/2000/svg}text"


def texts(path: Path) -> list[str]:
    return [one.text or "" for one in ElementTree.parse(path).iter(TEXT)]


def test_curves_have_a_panel_for_each_name_with_its_lines(tmp_path: Path) -> None:
    draw_curves(RECORDS, tmp_path / "curves.svg")
    found = texts(tmp_path / "curves.svg")
    assert found.count("epoch") == 2
    assert found.count("loss") == found.count("accuracy") == found.count("training") == 1
    assert found.count("test") == 2  # the accuracy of the training is not there


def test_a_png_is_an_image_with_something_drawn(tmp_path: Path) -> None:
    draw_curves(RECORDS, tmp_path / "curves.png")
    with Image.open(tmp_path / "curves.png") as image:
        assert image.format == "PNG"
        assert image.size == (1260, 450)
        assert np.unique(np.asarray(image.convert("RGB")).reshape(-1, 3), axis=0).shape[0] > 10


def test_the_same_numbers_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.svg", "other.svg"):
        draw_curves(RECORDS, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


def test_a_run_draws_its_curves_at_its_end_and_none_if_it_had_no_epoch(tmp_path: Path) -> None:
    new_trainer().fit(LOADER, epochs=2, progress=False, callbacks=[Curves(tmp_path / "curves.svg")])
    assert "accuracy" in texts(tmp_path / "curves.svg")
    new_trainer().fit(LOADER, epochs=0, progress=False, callbacks=[Curves(tmp_path / "none.svg")])
    assert not (tmp_path / "none.svg").exists()


def test_a_confusion_matrix_has_names_and_counts(tmp_path: Path) -> None:
    draw_confusion(matrix(3), tmp_path / "confusion.svg", names=NAMES)
    found = texts(tmp_path / "confusion.svg")
    assert [one for one in found if one in NAMES] == [*NAMES, *NAMES]
    assert sorted(one for one in found if re.fullmatch(r"\d+", one)) == ["1", "1", "1", "1", "2"]
    assert {"predicted", "true"} <= set(found)


def test_dollars_in_names_are_dollars(tmp_path: Path) -> None:
    costs = [EpochRecord(0, 7, {"$per_$hour": 1.0, r"$\no{": 2.0}, {}, 1.5, 50)]
    draw_curves(costs, tmp_path / "curves.svg")
    assert {"$per_$hour", r"$\no{"} <= set(texts(tmp_path / "curves.svg"))
    draw_confusion(matrix(3), tmp_path / "confusion.svg", names=("$a$", "$b_", "c^$d$"))
    assert {"$a$", "$b_", "c^$d$"} <= set(texts(tmp_path / "confusion.svg"))


def test_many_classes_are_drawn_without_numbers(tmp_path: Path) -> None:
    draw_confusion(matrix(100), tmp_path / "confusion.svg")
    assert len(texts(tmp_path / "confusion.svg")) < 30


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^draw_curves: no epochs: there is nothing to draw$"):
        draw_curves([], tmp_path / "curves.png")
    with pytest.raises(OptionError, match=r"^draw_curves: .*curves\.gif: a picture is a \.png or a \.svg$"):
        draw_curves(RECORDS, tmp_path / "curves.gif")
    with pytest.raises(OptionError, match=r"^Curves: curves: a picture is a \.png or a \.svg$"):
        Curves("curves")
    with pytest.raises(OptionError, match=r"^draw_confusion: 2 names: there are 3 classes$"):
        draw_confusion(matrix(3), tmp_path / "confusion.svg", names=("a", "b"))
    with pytest.raises(
        DataError, match=r"^draw_curves: .*nowhere/c\.svg: cannot be written: No such file or directory$"
    ):
        draw_curves(RECORDS, tmp_path / "nowhere" / "c.svg")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_it_is_said_what_brings_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(
        DataError, match=r"^draw_curves: the package matplotlib, which draws, is not installed: pip inst"
    ):
        draw_curves(RECORDS, tmp_path / "curves.png")


@pytest.mark.parametrize("kind", [Curves, Report])
def test_what_cannot_be_drawn_at_the_end_is_said_before_the_first_step(
    kind: "type[Curves] | type[Report[object]]", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, text: str) -> None:
        trainer = new_trainer()
        with pytest.raises(DataError, match=text):
            trainer.fit(LOADER, epochs=1, progress=False, callbacks=[kind(path)])
        assert trainer.steps == 0

    name = kind.__name__
    refused(
        tmp_path / "nowhere" / "c.svg", rf"^{name}: .*nowhere/c\.svg: cannot be written: No such file or directory$"
    )
    (tmp_path / "folder.svg").mkdir()
    refused(tmp_path / "folder.svg", rf"^{name}: .*folder\.svg: cannot be written: Is a directory$")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    refused(tmp_path / "c.svg", rf"^{name}: the package matplotlib, which draws, is not installed: ")
    assert [one.name for one in tmp_path.iterdir()] == ["folder.svg"]
