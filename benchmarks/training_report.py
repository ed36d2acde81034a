"""What came out of trainings side by side: a log, a table, curves, and a summary to read."""

import csv
from collections.abc import Sequence
from io import BytesIO, StringIO
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.training_task import Settings
from moonxi.whole_file import write_whole

COLUMNS = (
    "system",
    "seed",
    "epoch",
    "train_loss",
    "train_accuracy",
    "test_loss",
    "test_accuracy",
    "train_seconds",
    "test_seconds",
)
COLOURS = ("#2563a8", "#3a7d44", "#c2571a")
LATEST = 5
"""Over so many of the last epochs the accuracy is averaged: that of a single one varies by a point on CIFAR-10."""

type Epoch = dict[str, Any]
"""What a worker says of an epoch, and its seed: the columns of the table."""


def write(
    folder: Path, settings: Settings, epochs: Sequence[Epoch], planned: int, circumstances: dict[str, str]
) -> None:
    """The report of the epochs so far, of ``planned`` ones, in place of an older one.

    Each file is there whole at any time. Raises `CheckpointError` if one cannot be written."""
    texts = {
        "log.txt": "".join(f"{line(one, planned)}\n" for one in epochs),
        "epochs.csv": table(epochs),
        "summary.md": summary(settings, epochs, planned, circumstances),
    }
    files = {name: text.encode() for name, text in texts.items()} | drawn(epochs)
    for name, data in files.items():
        write_whole("report", folder / name, data)


def line(one: Epoch, planned: int) -> str:
    """An epoch, for the log."""
    return (
        f"epoch {one['epoch']}/{planned}  {one['system']:<15}  seed {one['seed']}  "
        f"loss {one['train_loss']:.4f}  accuracy {one['train_accuracy']:.4f}  |  "
        f"test loss {one['test_loss']:.4f}  accuracy {one['test_accuracy']:.4f}  |  "
        f"{one['train_seconds']:.2f} s + {one['test_seconds']:.2f} s"
    )


def table(epochs: Sequence[Epoch]) -> str:
    """Comma-separated values, a line for each epoch of each system."""
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: f"{v:.6g}" if isinstance(v, float) else v for name, v in one.items()} for one in epochs)
    return text.getvalue()


def drawn(epochs: Sequence[Epoch]) -> dict[str, bytes]:
    """Pictures of loss, accuracy and the time of each epoch, by the names of their files."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(13, 3.6), layout="constrained")
    panels = figure.subplots(1, 3)
    # Thinner and thinner: the curves should lie upon each other, and each is to be seen.
    for (system, own), colour, width in zip(by_system(epochs).items(), COLOURS, (4.5, 2.8, 1.2), strict=False):
        for place, one_seed in enumerate(by_seed(own)):
            numbers = [one["epoch"] for one in one_seed]
            for axes, name in zip(panels, ("loss", "accuracy"), strict=False):
                for kind, line, told in (("train", "-", "training"), ("test", ":", "test")):
                    values = [one[f"{kind}_{name}"] for one in one_seed]
                    label = None if place else f"{system}, {told}"
                    axes.plot(numbers, values, line, color=colour, linewidth=width, label=label)
            times = [one["train_seconds"] for one in one_seed]
            panels[2].plot(numbers, times, marker=".", color=colour, label=None if place else system)
    for axes, title in zip(panels, ("loss", "accuracy", "training time of an epoch (s)"), strict=True):
        axes.set(xlabel="epoch", title=title)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=8)
    panels[2].set_ylim(bottom=0.0)
    files = {}
    for kind in ("svg", "png"):
        file = BytesIO()
        figure.savefig(file, format=kind, dpi=120, metadata={"Date": None} if kind == "svg" else None)
        files[f"curves.{kind}"] = file.getvalue()
    return files


def by_system(epochs: Sequence[Epoch]) -> dict[str, list[Epoch]]:
    """The epochs of each, in order, seed by seed."""
    found: dict[str, list[Epoch]] = {}
    for one in epochs:
        found.setdefault(one["system"], []).append(one)
    return {system: sorted(own, key=lambda one: (one["seed"], one["epoch"])) for system, own in found.items()}


def by_seed(epochs: Sequence[Epoch]) -> list[list[Epoch]]:
    """Those of one system, parted."""
    found: dict[int, list[Epoch]] = {}
    for one in epochs:
        found.setdefault(one["seed"], []).append(one)
    return list(found.values())


def summary(settings: Settings, epochs: Sequence[Epoch], planned: int, circumstances: dict[str, str]) -> str:
    """The result as Markdown; all systems have the same epochs."""
    systems = by_system(epochs)
    reference = "PyTorch" if "PyTorch" in systems else next(iter(systems))
    base = systems[reference]
    count = max(one["epoch"] for one in base)
    latest = min(LATEST, count)
    losses = ("training loss", "test loss", "test accuracy", f"mean of last {latest}")
    heads = ("system", *losses, "epoch (s)", "evaluation (s)", "ratio", "distance")
    if count < planned:
        circumstances = {"epochs": f"{count} of {planned}; the run was stopped, or still goes on", **circumstances}
    lines = [
        f"# {settings.model}: moonxi and PyTorch through {count}{f' of {planned}' if count < planned else ''} epochs",
        "",
        "All begin with the same weights and see the same batches in the same order. Timed is an epoch from the making",
        "of its first batch to the loss of its last step, and the evaluation likewise. The systems take turns, an",
        "epoch each. Losses and accuracy are those after the last epoch, means over the seeds, with the accuracies of",
        "all seeds behind; beside it the mean over the last epochs, as that of a single one varies. The ratio is the",
        f"median of the ratios within the epochs, to {reference}; the distance is the largest one of a test loss from",
        f"that of {reference}, over all epochs.",
        "",
        *(f"- {name}: {value}" for name, value in circumstances.items()),
        "",
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
    ]
    for system, own in systems.items():
        last = [one[-1] for one in by_seed(own)]
        ratios = [one["train_seconds"] / other["train_seconds"] for one, other in zip(own, base, strict=True)]
        far = max(abs(one["test_loss"] / other["test_loss"] - 1.0) for one, other in zip(own, base, strict=True))
        means = [fmean(one["test_accuracy"] for one in seed[-latest:]) for seed in by_seed(own)]
        lines.append(
            f"| {system} | {fmean(one['train_loss'] for one in last):.4f} | "
            f"{fmean(one['test_loss'] for one in last):.4f} | "
            f"{_over_seeds([one['test_accuracy'] for one in last])} | {_over_seeds(means)} | "
            f"{median(one['train_seconds'] for one in own):.2f} | {median(one['test_seconds'] for one in own):.2f} | "
            f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f}) | {far:.1e} |"
        )
    first = [own[0]["train_loss"] for own in systems.values()]
    lines += [
        "",
        f"The training losses of the first epoch differ by {max(first) / min(first) - 1.0:.1e} of their size.",
        "",
        "![loss, accuracy and epoch time](curves.svg)",
        "",
    ]
    return "\n".join(lines)


def _over_seeds(values: Sequence[float]) -> str:
    """The mean; behind it each one, if there are several."""
    each = f" ({', '.join(f'{one:.4f}' for one in values)})" if len(values) > 1 else ""
    return f"{fmean(values):.4f}{each}"
