"""`Report`: a run on one page of HTML."""

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import override

from moonxi.json_fields import Json
from moonxi.metrics import ConfusionMatrix
from moonxi.nn import Module
from moonxi.sight.confusion import confusion as confusion_figure
from moonxi.sight.curves import curves
from moonxi.sight.pace import Pace
from moonxi.sight.page import facts, figures, inline_svg, page, preformatted, section, table
from moonxi.sight.picture import check_can_draw, drawn, write_picture
from moonxi.sight.sample import Sample, data_uri
from moonxi.train import Callback, EpochRecord, History, Run
from moonxi.train.manifest import environment
from moonxi.traits import Tensor


class Report[M](Callback[M]):
    """Writes a page of a run: numbers, curves, predictions, settings, environment.

    It is written anew after each epoch, unless that would take more than a tenth of the time, and at the end, also
    after Ctrl-C; until then a browser that shows it looks each half minute for a newer one. The page is one file, which
    opens anywhere and asks nothing of a network. ``samples`` gives predictions to look at and ``confusion`` the counts
    of classes, of the model that is evaluated; ``names`` are those of the classes.

    Raises `DataError` before the first step if matplotlib is missing or the file cannot be written, and after the first
    epoch if Pillow is, for images."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        /,
        *,
        title: str = "Training run",
        samples: Callable[[M], Sequence[Sample]] | None = None,
        confusion: Callable[[M], ConfusionMatrix] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.path = Path(path)
        self.title = title
        self._samples = samples
        self._confusion = confusion
        self._names = names
        self._pace = Pace()

    @override
    def on_start(self, run: Run[M], /) -> None:
        check_can_draw("Report", self.path)

    @override
    def on_epoch(self, run: Run[M], record: EpochRecord, /) -> None:
        if self._pace.due:
            with self._pace.counted():
                self._write(run, f"in training, after {run.steps:,} steps", refresh=True)

    @override
    def on_end(self, run: Run[M], history: History, /) -> None:
        self._write(run, _state(history, run.steps))

    def _write(self, run: Run[M], state: str, *, refresh: bool = False) -> None:
        model = run.averaged
        write_report(
            self.path,
            run.records,
            title=self.title,
            state=state,
            refresh=refresh,
            settings=run.settings,
            summary=model.summary() if isinstance(model, Module) else "",
            tensors=_tensors(model) if isinstance(model, Module) else "",
            samples=() if self._samples is None else self._samples(model),
            confusion=None if self._confusion is None else self._confusion(model),
            names=self._names,
        )


def write_report(
    path: str | os.PathLike[str],
    records: Sequence[EpochRecord],
    /,
    *,
    title: str = "Training run",
    state: str = "",
    settings: Json = None,
    summary: str = "",
    tensors: str = "",
    samples: Sequence[Sample] = (),
    confusion: ConfusionMatrix | None = None,
    names: Sequence[str] | None = None,
    refresh: bool = False,
) -> None:
    """Write the page of a `Report` of what is there; what is empty or None is left out.

    With ``refresh`` a browser that shows it looks each half minute for a newer one. The file is exchanged as a whole.
    """
    sections: list[str] = []
    if records:
        sections.append(section("Result", figures(_figures(records))))
        sections.append(section("Curves", inline_svg(drawn(curves(records), "svg"), "curves")))
    if samples:
        cards = "".join(map(_card, samples))
        sections.append(section("Predictions", f'<div class="samples">\n{cards}</div>\n'))
    if confusion is not None:
        picture = inline_svg(drawn(confusion_figure(confusion, names), "svg"), "confusion")
        sections.append(section("Which classes are taken for which", picture))
    if records:
        sections.append(section("Epochs", _epochs(records)))
    if settings is not None:
        sections.append(section("Configuration", facts(_flat(_without_tensors(settings)))))
    if summary:
        sections.append(section("Model", preformatted(summary)))
    where = {"system": platform.platform(), **environment(), **({"tensors": tensors} if tensors else {})}
    sections.append(section("Environment", facts(where.items())))
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    content = page(title, f"{state}, {now}" if state else now, sections, refresh=30 if refresh else None)
    write_picture("report", Path(path), content.encode())


def _tensors[T: Tensor](model: Module[T]) -> str:
    """The classes and element types of a model's parameters."""
    return ", ".join(dict.fromkeys(f"{type(one).__name__} of {one.dtype.name}" for one in model.parameters()))


def _state(history: History, steps: int) -> str:
    if history.interrupted:
        return f"interrupted after {steps:,} steps"
    if history.stopped is not None:
        return f"stopped after {steps:,} steps: {history.stopped}"
    return f"ended after {steps:,} steps"


def _figures(records: Sequence[EpochRecord]) -> Iterator[tuple[str, str]]:
    last = records[-1]
    for name, value in (last.test or last.train).items():
        yield f"{'test' if last.test else 'training'} {name}", _number(value)
    yield "epochs", str(len(records))
    yield "training time", _duration(sum(record.seconds for record in records))
    yield "samples/s", f"{last.samples_per_second:,.0f}"


def _epochs(records: Sequence[EpochRecord]) -> str:
    columns: dict[str, dict[int, float]] = {}
    for record in records:
        for kind, values in (("training", record.train), ("test", record.test)):
            for name, value in values.items():
                columns.setdefault(f"{kind} {name}", {})[record.epoch] = value

    def row(record: EpochRecord) -> list[str]:
        numbers = [_number(own[record.epoch]) if record.epoch in own else "" for own in columns.values()]
        speed = f"{record.samples_per_second:,.0f}"
        return [str(record.epoch + 1), f"{record.steps:,}", *numbers, f"{record.seconds:.2f}", speed]

    header = ["epoch", "steps", *columns, "seconds", "samples/s"]
    return table(header, map(row, records))


def _card(sample: Sample) -> str:
    wrong = sample.truth is not None and sample.truth != sample.predicted
    parts = [f'<figure class="{"wrong" if wrong else "right"}">']
    if sample.image is not None:
        parts.append(f'<img alt="" src="{data_uri(sample.image)}">')
    if sample.text is not None:
        parts.append(f"<p>{escape(sample.text)}</p>")
    sure = "" if sample.confidence is None else f' <span class="sure">{sample.confidence:.0%}</span>'
    truth = f' <span class="truth">is {escape(sample.truth)}</span>' if wrong and sample.truth is not None else ""
    parts.append(f"<figcaption><b>{escape(sample.predicted)}</b>{sure}{truth}</figcaption></figure>\n")
    return "".join(parts)


def _without_tensors(settings: Json) -> Json:
    """The settings with the model by the name of its class: its tensors are in its summary."""
    if not isinstance(settings, dict):
        return settings
    model = settings.get("model")
    return {**settings, "model": model.get("class")} if isinstance(model, dict) else settings


def _flat(value: Json, place: str = "") -> Iterator[tuple[str, str]]:
    """``optimizer.lr``: 0.1, a row for each."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _flat(one, f"{place}.{name}" if place else name)
    elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        for number, one in enumerate(value):
            yield from _flat(one, f"{place}[{number}]")
    elif value is not None:
        yield place.removesuffix(".class"), ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _number(value: float) -> str:
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e5 or value == 0.0 else f"{value:.4g}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"
