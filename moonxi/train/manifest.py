"""`Manifest`: the part of a checkpoint that is no tensor, as JSON that tells damage."""

import json
import platform
import re
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from moonxi import __version__
from moonxi.errors import CheckpointError
from moonxi.json_fields import Fields, Json, JsonError, number, parsed
from moonxi.train.environment import threads
from moonxi.train.history import EpochRecord
from moonxi.train.place import Place

FORMAT: Final = "moonxi checkpoint"
VERSION: Final = 1
"""Of the format. A file of a later one is refused, as nobody can know what it means."""
_TENSORS: Final = re.compile(r"step-\d+-[0-9a-f]+\.safetensors")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a checkpoint says about the run."""

    place: Place
    """How far the run was."""
    settings: Json
    """The settings that decide how it goes on: model, loss, optimizer, key, data."""
    metrics: dict[str, float]
    """Of the evaluation at this very step; empty within an epoch."""
    tensors: str
    """The name of the file of tensors, in the same folder."""
    size: int
    """Its size in bytes."""
    digest: str
    """Its SHA-256."""
    environment: dict[str, str]
    """Where it was written: versions, the machine, the number of threads."""
    metric: str = "loss"
    """By which the best checkpoints are kept."""
    higher_is_better: bool = False

    def to_bytes(self) -> bytes:
        """The file: readable by people, with a SHA-256 over what it says."""
        body: Json = {
            "step": self.place.steps,
            "epoch": self.place.epoch,
            "batch": self.place.batch,
            "sums": _numbers(self.place.sums),
            "samples": self.place.samples,
            "seconds": number(self.place.seconds),
            "metrics": _numbers(self.metrics),
            "best": {"metric": self.metric, "higher_is_better": self.higher_is_better},
            "tensors": {"file": self.tensors, "bytes": self.size, "sha256": self.digest},
            "settings": self.settings,
            "environment": dict(self.environment),
            "records": [_record(one) for one in self.place.records],
        }
        whole: Json = {"format": FORMAT, "version": VERSION, "sha256": _digest(body), "body": body}
        return json.dumps(whole, indent=1, allow_nan=False).encode() + b"\n"

    @classmethod
    def parse(cls, data: bytes, source: str, /) -> "Manifest":
        """The manifest that `to_bytes` wrote.

        Raises `CheckpointError` for anything else: damaged, cut off, of another program or of a later version."""
        try:
            read = parsed(data)
        except JsonError as error:
            raise CheckpointError(f"checkpoint: {source}: damaged, or not a manifest: {error}") from error
        try:
            return cls._of(Fields.of(read, "file"), source)
        except JsonError as error:
            raise CheckpointError(f"checkpoint: {source}: {error}") from error

    @classmethod
    def _of(cls, whole: Fields, source: str, /) -> "Manifest":
        if whole.members.get("format") != FORMAT:
            raise CheckpointError(f"checkpoint: {source}: not a manifest of moonxi: its format is not {FORMAT!r}")
        found = whole.count("version")
        if found != VERSION:
            raise CheckpointError(
                f"checkpoint: {source}: has version {found} of the format, and this moonxi ({__version__}) reads "
                f"{VERSION}: use the version of moonxi that wrote it, or a newer one"
            )
        body = whole.fields("body")
        if whole.text("sha256") != _digest(body.members):
            raise CheckpointError(
                f"checkpoint: {source}: damaged: what it says does not have the SHA-256 that it states"
            )
        tensors = body.fields("tensors")
        name = tensors.text("file")
        if not _TENSORS.fullmatch(name):
            raise tensors.wrong("file", "a name such as step-000000120-0123456789abcdef.safetensors")
        best = body.fields("best")
        return cls(
            place=Place(
                epoch=body.count("epoch"),
                batch=body.count("batch"),
                steps=body.count("step"),
                sums=body.numbers("sums"),
                samples=body.count("samples"),
                seconds=body.number("seconds"),
                records=tuple(map(_parsed_record, body.listed("records"))),
            ),
            settings=body.value("settings"),
            metrics=body.numbers("metrics"),
            tensors=name,
            size=tensors.count("bytes"),
            digest=tensors.text("sha256"),
            environment={key: body.fields("environment").text(key) for key in body.fields("environment").members},
            metric=best.text("metric"),
            higher_is_better=best.flag("higher_is_better"),
        )


def environment() -> dict[str, str]:
    """Where this process runs; the same bits come only from the same."""
    return {
        "moonxi": __version__,
        "python": platform.python_version(),
        "numpy": _installed("numpy"),
        "machine": platform.machine(),
        "threads": str(threads()),
    }


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _digest(body: Json) -> str:
    """Of one spelling of the content, so that another layout of the file does not matter."""
    try:
        return sha256(json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()).hexdigest()
    except (ValueError, RecursionError):  # a number too large for a float, or too deep: nothing that was ever written
        return ""


def _numbers(values: dict[str, float]) -> Json:
    return {name: number(value) for name, value in values.items()}


def _record(record: EpochRecord) -> Json:
    return {
        "epoch": record.epoch,
        "steps": record.steps,
        "train": _numbers(record.train),
        "test": _numbers(record.test),
        "seconds": number(record.seconds),
        "samples": record.samples,
    }


def _parsed_record(fields: Fields) -> EpochRecord:
    return EpochRecord(
        epoch=fields.count("epoch"),
        steps=fields.count("steps"),
        train=fields.numbers("train"),
        test=fields.numbers("test"),
        seconds=fields.number("seconds"),
        samples=fields.count("samples"),
    )
