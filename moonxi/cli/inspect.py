"""``moonxi inspect FILE``: what is in a checkpoint, a folder of checkpoints, or a file of tensors."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from moonxi.errors import CheckpointError
from moonxi.json_fields import Json
from moonxi.train import Checkpoint, Checkpoints
from moonxi.train.checkpoint import read_checkpoint
from moonxi.train.progress import numbers
from moonxi.train.tensor_file import StoredTensor, stored_tensors

DESCRIPTION = """\
Says what is in a file: a checkpoint (the .json that a training leaves), a folder of checkpoints, or any safetensors
file. A checkpoint's tensors are verified against its manifest. Nothing is executed, and nothing is changed.
exit status: 0 whole, 1 missing, damaged, or something else"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "inspect",
        help="say what is in a checkpoint or a safetensors file, and whether it is whole",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a .json or .safetensors file, or a folder of these")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """The command; it raises `CheckpointError` for what cannot be read."""
    path: Path = arguments.file
    if path.is_dir():
        return _folder(path)
    lines = _checkpoint(read_checkpoint(path)) if path.suffix == ".json" else _tensors(stored_tensors(path))
    for line in lines:
        print(line)
    return 0


def _folder(folder: Path) -> int:
    """A line for each checkpoint; whether all are whole."""
    paths = sorted(folder.glob("step-*.json"))
    if not paths:
        raise CheckpointError(f"inspect: {folder}: no checkpoints in this folder: their names are step-....json")
    wrong, newest = 0, None
    for path in paths:
        try:
            found = read_checkpoint(path)
            found.tensors()
            newest, place = found.manifest, found.manifest.place
            print(f"{path.name}  step {place.steps}  epoch {place.epoch}  {numbers(found.metrics)}".rstrip())
        except CheckpointError as error:
            wrong += 1
            print(f"{path.name}  {error}")
    if newest is not None:
        kept = Checkpoints(folder, metric=newest.metric, higher_is_better=newest.higher_is_better, damaged="skip")
        best = kept.best()
        if best is not None:
            print(f"best {newest.metric}: {best.path.name}")
    return 1 if wrong else 0


def _checkpoint(found: Checkpoint) -> Iterator[str]:
    manifest, place = found.manifest, found.manifest.place
    found.tensors()
    yield f"checkpoint after {place.steps} steps: {place.epoch} whole epochs, and {place.batch} batches of the next"
    if found.metrics:
        yield f"metrics: {numbers(found.metrics)}"
    yield f"written with {', '.join(f'{name} {value}' for name, value in manifest.environment.items())}"
    yield "settings:"
    for line in json.dumps(_short(manifest.settings), indent=1).splitlines()[1:-1]:
        yield f" {line}"
    for record in place.records:
        test = f"  |  test {numbers(record.test)}" if record.test else ""
        yield f"epoch {record.epoch + 1}: {numbers(record.train)}{test}"
    yield f"{manifest.tensors}: whole, {manifest.size:,} bytes"
    yield from _tensors(stored_tensors(found.path.parent / manifest.tensors))


def _short(settings: Json) -> Json:
    """The settings with the model by the name of its class; its tensors are listed below."""
    if not isinstance(settings, dict):
        return settings
    model = settings.get("model")
    return {**settings, "model": model.get("class")} if isinstance(model, dict) else settings


def _tensors(tensors: list[StoredTensor]) -> Iterator[str]:
    width = max((len(_shown(one.name)) for one in tensors), default=0)
    for one in tensors:
        yield f"  {_shown(one.name):<{width}}  {one.dtype:<4}  {_shape(one.shape)}"
    elements, size = sum(one.elements for one in tensors), sum(one.size for one in tensors)
    yield f"{len(tensors)} tensors, {elements:,} numbers, {size:,} bytes"


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) if shape else "one number"


def _shown(name: str) -> str:
    """A name for a terminal, which would obey some characters instead of showing them."""
    return name if name.isprintable() else ascii(name)
