"""The report of a run: one page, with all of it, and of what it shows nothing is taken for HTML."""

import os
import re
import sys
from base64 import b64decode
from errno import ENOSPC
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import override

import numpy as np
import pytest
from PIL import Image

import moonxi as mx
from moonxi import optim
from moonxi.errors import DataError, OptionError, ShapeError
from moonxi.sight import Report, Sample, classified, write_report
from moonxi.sight.picture import write_picture
from moonxi.sight.sample import data_uri
from moonxi.train import Callback, EarlyStopping, EpochRecord, Run
from tests.sight.runs import LOADER, NAMES, RECORDS, counts, matrix, samples, scores
from tests.train.test_trainer import CPU, loss, new_model, new_trainer


class Page(HTMLParser):
    """The tags and texts of a page; what is opened is closed."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.ids: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id" and value is not None]
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(data.strip())


def report_of_a_run(path: Path) -> str:
    report = Report(path, title="Three <classes>", samples=samples, confusion=counts, names=NAMES)
    new_trainer().fit(LOADER, epochs=2, test=LOADER, progress=False, callbacks=[report])
    return path.read_text(encoding="utf-8")


def test_the_page_of_a_run_has_every_part(tmp_path: Path) -> None:
    page = Page(report_of_a_run(tmp_path / "report.html"))
    assert page.tags.count("svg") == 2
    assert page.tags.count("img") == page.tags.count("figure") == 8
    headings = ["Result", "Curves", "Predictions", "Which classes are taken for which", "Epochs"]
    texts = [one for one in page.texts if one in [*headings, "Configuration", "Model", "Environment"]]
    assert texts == [*headings, "Configuration", "Model", "Environment"]
    assert {"Three <classes>", "test accuracy", "optimizer.momentum", "0.9", "NpArray of float32"} <= set(page.texts)
    assert any(one.startswith("ended after 14 steps, ") for one in page.texts)
    assert len(page.ids) == len(set(page.ids))


def test_the_page_asks_nothing_of_a_network(tmp_path: Path) -> None:
    text = report_of_a_run(tmp_path / "report.html")
    assert "<script" not in text
    addresses = re.findall(r"""(?:src|href)=["']([^"']+)|url\(([^)]+)\)""", text)
    assert {one[:1] if one[0] == "#" else one[:15] for pair in addresses for one in pair if one} == {
        "#",
        "data:image/png;",
    }


def test_a_report_says_how_the_run_ended_and_shows_the_averaged_model(tmp_path: Path) -> None:
    seen: list[object] = []

    def look(model: object) -> list[Sample]:
        seen.append(model)
        return []

    trainer = mx.Trainer(new_model(), loss, optim.Sgd(lr=0.0), key=mx.Key(0), ema=optim.Ema())
    report = Report(tmp_path / "report.html", samples=look)
    trainer.fit(LOADER, epochs=5, progress=False, callbacks=[EarlyStopping(patience=1), report])
    assert "stopped after 14 steps: loss was not better for 1 epochs, 2" in report.path.read_text(encoding="utf-8")
    assert {type(one) for one in seen} == {type(trainer.model)}
    assert all(one is not trainer.model for one in seen)


class Pages(Callback[object]):
    """Keeps the page as it is after each epoch."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seen: list[str] = []

    @override
    def on_epoch(self, run: Run[object], record: EpochRecord, /) -> None:
        self.seen.append(self.path.read_text(encoding="utf-8"))


def test_the_page_is_there_after_each_epoch_and_looks_for_a_newer_one_until_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moonxi.sight.pace._SHARE", 0.0)
    report = Report[object](tmp_path / "report.html")
    pages = Pages(report.path)
    new_trainer().fit(LOADER, epochs=2, progress=False, callbacks=[report, pages])
    for epoch, text in enumerate(pages.seen, start=1):
        assert f"in training, after {7 * epoch} steps, 2" in text
        assert '<meta http-equiv="refresh" content="30">' in text
        assert f"<tr><td>{epoch}</td><td>{7 * epoch}</td>" in text  # in the table of epochs
    last = report.path.read_text(encoding="utf-8")
    assert "ended after 14 steps" in last
    assert "http-equiv" not in last
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_a_page_that_takes_longer_than_a_tenth_of_the_time_waits_for_a_later_epoch(tmp_path: Path) -> None:
    report = Report[object](tmp_path / "report.html")
    pages = Pages(report.path)
    new_trainer().fit(LOADER, epochs=3, progress=False, callbacks=[report, pages])  # of a few milliseconds each
    assert ["after 7 steps" in text for text in pages.seen] == [True, True, True]


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_a_page_that_cannot_be_exchanged_leaves_the_older_one(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    write_report(path, RECORDS[:1])
    before = path.read_bytes()

    def full(*arguments: object) -> None:
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(DataError, match=r"^report: .*report\.html: cannot be written: No space left on device$"):
        write_picture("report", path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_what_is_not_there_is_left_out(tmp_path: Path) -> None:
    write_report(tmp_path / "report.html", [])
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert page.tags.count("section") == 1
    write_report(tmp_path / "report.html", RECORDS, confusion=matrix(2), settings=[1, {"a": None, "b": [2, 3]}])
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert {"[1].b", "2, 3"} <= set(page.texts)


def test_numbers_that_are_not_finite_are_shown_and_drawn(tmp_path: Path) -> None:
    odd = EpochRecord(0, 7, {"loss": float("nan"), "other": float("inf")}, {}, 0.0, 50)
    write_report(tmp_path / "report.html", [odd])
    assert {"nan", "inf"} <= set(Page((tmp_path / "report.html").read_text(encoding="utf-8")).texts)


def test_samples_of_classes_have_names_probabilities_and_images_from_0_to_1() -> None:
    images = CPU.from_host(np.array([[[-1.0, 3.0]], [[1.0, 1.0]]]))
    first, second = classified(
        scores((0.0, 9.0, 0.0), (2.0, 0.0, 0.0)), CPU.labels(np.array([1, 2])), images, names=NAMES
    )
    assert (first.predicted, first.truth, second.predicted, second.truth) == ("dog & co", "dog & co", "<cat>", "fish")
    assert first.confidence == pytest.approx(np.exp(9) / (np.exp(9) + 2))
    assert first.image is not None
    assert first.image.tolist() == [[0.0, 1.0]]


def test_an_image_comes_back_from_the_page() -> None:
    bytes_of_it = np.arange(24, dtype=np.uint8).reshape(3, 2, 4)
    for image, mode in ((bytes_of_it, "RGB"), (bytes_of_it[:1], "L"), (bytes_of_it[0], "L")):
        with Image.open(BytesIO(b64decode(data_uri(image).removeprefix("data:image/png;base64,")))) as found:
            assert found.mode == mode
            plane = image.transpose(1, 2, 0) if image.ndim == 3 else image
            assert np.array_equal(np.asarray(found), plane.reshape(np.asarray(found).shape))
    with Image.open(BytesIO(b64decode(data_uri(np.array([[0.0, 0.5, 2.0, np.nan]])).split(",")[1]))) as found:
        assert np.asarray(found).tolist() == [[0, 128, 255, 0]]


def test_what_cannot_be_shown_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = CPU.labels(np.array([1, 2]))
    with pytest.raises(
        ShapeError, match=r"^classified: logits \(1, 2\), labels \(2,\), images \(2, 4\): expected \(batch"
    ):
        classified(scores((0.0, 1.0)), labels, CPU.zeros((2, 4)))
    with pytest.raises(OptionError, match=r"^classified: 3 names: there are 2 classes$"):
        classified(scores((0.0, 1.0), (0.0, 1.0)), labels, CPU.zeros((2, 4, 4)), names=NAMES)
    with pytest.raises(ShapeError, match=r"^report: image \(2, 4, 4\): expected \(rows, columns\), or 1 or 3 channels"):
        write_report(tmp_path / "r.html", [], samples=[Sample("a", image=np.zeros((2, 4, 4)))])
    with pytest.raises(DataError, match=r"^report: .*nowhere/r\.html: cannot be written: No such file or directory$"):
        write_report(tmp_path / "nowhere" / "r.html", [])
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(DataError, match=r"^report: the package pillow, which encodes images, is not installed: pip"):
        write_report(tmp_path / "r.html", [], samples=[Sample("a", image=np.zeros((4, 4)))])
