"""`Checkpoints`: the folder in which a run leaves checkpoints, and which of them are kept."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from math import isnan
from pathlib import Path
from typing import Final, Literal

from moonxi.errors import CheckpointError, OptionError
from moonxi.json_fields import Json
from moonxi.optim import EmaState, OptimizerState
from moonxi.settings import flags, whole
from moonxi.train.checkpoint import Checkpoint, Stored, read_checkpoint, write_checkpoint
from moonxi.train.place import Place
from moonxi.traits import Tensor
from moonxi.whole_file import PART, reason

_MANIFEST: Final = re.compile(r"step-(\d+)\.json")
_TENSORS: Final = re.compile(r"step-(\d+)-[0-9a-f]+\.safetensors")


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """Checkpoints in a folder of their own, made after each epoch and, if ``every`` says so, after so many steps.

    The ``keep_last`` newest are kept, and the ``keep_best`` with the best ``metric`` of an epoch's evaluation (of the
    test data, or of the training where there is none). One process at a time writes to a folder. With
    ``damaged="skip"`` checkpoints that are damaged are passed over, and `last` is the newest that is whole.

    Raises `OptionError` for ``every`` or ``keep_last`` < 1 and ``keep_best`` < 0."""

    folder: Path | str
    _: KW_ONLY
    every: int | None = None
    keep_last: int = 2
    keep_best: int = 1
    metric: str = "loss"
    higher_is_better: bool = False
    damaged: Literal["refuse", "skip"] = "refuse"

    def __post_init__(self) -> None:
        if self.every is not None:
            whole("Checkpoints", 1, every=self.every)
        whole("Checkpoints", 1, keep_last=self.keep_last)
        whole("Checkpoints", 0, keep_best=self.keep_best)
        flags("Checkpoints", higher_is_better=self.higher_is_better)
        if self.damaged not in ("refuse", "skip"):
            raise OptionError(f'Checkpoints: damaged={self.damaged!r}: it is "refuse" or "skip"')

    def last(self) -> Checkpoint | None:
        """The newest checkpoint, verified; None if there are none.

        Raises `CheckpointError` if it is damaged, with ``damaged="skip"`` only if all are."""
        return self._first(reversed(self._manifests()))

    def best(self) -> Checkpoint | None:
        """The checkpoint with the best metric, verified, of equal ones the oldest; None if there is none with it.

        Raises `CheckpointError` as `last` does."""
        return self._first([one.path for one in self._ranked(self.all())])

    def all(self) -> list[Checkpoint]:
        """All checkpoints, the oldest first; of their tensors nothing is read yet.

        Raises `CheckpointError` for a manifest that is damaged, unless these are skipped."""
        return list(self._readable(self._manifests(), skip=self.damaged == "skip"))

    def save[T: Tensor, M](
        self,
        model: Stored[T, M],
        state: OptimizerState[T, M],
        /,
        *,
        average: EmaState[T, M] | None = None,
        place: Place,
        settings: Json,
        metrics: Mapping[str, float],
    ) -> Checkpoint:
        """Write a checkpoint, and only then remove those that are not kept.

        Raises `CheckpointError` if that fails: what was there before is then still there; and, when that is written,
        `OptionError` if there are metrics, but not the one by which the best are kept."""
        self.prepare()
        written = write_checkpoint(
            Path(self.folder),
            model,
            state,
            average=average,
            place=place,
            settings=settings,
            metrics=metrics,
            metric=self.metric,
            higher_is_better=self.higher_is_better,
        )
        self._tidy(written)
        if metrics and self.keep_best and self.metric not in metrics:
            raise OptionError(f"Checkpoints: no metric {self.metric!r}: there are {', '.join(metrics)}")
        return written

    def prepare(self) -> None:
        """Make the folder if need be. Raises `CheckpointError` if that cannot be: to be asked before a long run."""
        try:
            Path(self.folder).mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise CheckpointError(f"checkpoint: {self.folder}: cannot be made: {reason(error)}") from error

    def _first(self, paths: Iterable[Path], /) -> Checkpoint | None:
        """The first that is whole."""
        reasons: list[str] = []
        for path in paths:
            try:
                found = read_checkpoint(path)
                found.tensors()
            except CheckpointError as error:
                if self.damaged == "refuse":
                    raise CheckpointError(
                        f'{error}. Checkpoints(..., damaged="skip") goes on from the newest one that is whole'
                    ) from error
                reasons.append(str(error))
            else:
                return found
        if reasons:
            listed = "\n  ".join(reasons)
            raise CheckpointError(f"checkpoint: {self.folder}: none of {len(reasons)} is whole:\n  {listed}")
        return None

    def _manifests(self) -> list[Path]:
        """The manifests by step."""
        steps = {path: _step(_MANIFEST, path) for path in self._files()}
        return sorted((path for path, step in steps.items() if step is not None), key=lambda path: steps[path] or 0)

    def _files(self) -> list[Path]:
        try:
            return list(Path(self.folder).iterdir())
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise CheckpointError(f"checkpoint: {self.folder}: cannot be read: {reason(error)}") from error

    def _readable(self, paths: Iterable[Path], /, *, skip: bool) -> Iterator[Checkpoint]:
        for path in paths:
            try:
                yield read_checkpoint(path)
            except CheckpointError:
                if not skip:
                    raise

    def _ranked(self, checkpoints: Iterable[Checkpoint], /) -> list[Checkpoint]:
        """Those with the metric, the best first."""
        sign = -1.0 if self.higher_is_better else 1.0
        having = [one for one in checkpoints if not isnan(one.metrics.get(self.metric, float("nan")))]
        return sorted(having, key=lambda one: sign * one.metrics[self.metric])

    def _tidy(self, newest: Checkpoint, /) -> None:
        """Remove what is not kept: each time the manifest first, so that what is left is a checkpoint or none.

        Damaged manifests stay, with whatever tensors are of their step: somebody may want to look into them."""
        own = [one for one in self._readable(self._manifests(), skip=True) if one.step <= newest.step]
        kept = {one.path for one in (*own[-self.keep_last :], *self._ranked(own)[: self.keep_best], newest)}
        try:
            for one in own:
                if one.path not in kept:
                    one.path.unlink(missing_ok=True)
            there = {_step(_MANIFEST, path) for path in self._manifests()}
            named = {one.step: one.manifest.tensors for one in own}
            for path in self._files():
                step = _step(_TENSORS, path)
                orphan = step is not None and (step not in there or named.get(step, path.name) != path.name)
                if orphan or path.name.startswith(PART):  # a part that a killed process left
                    path.unlink(missing_ok=True)
        except (OSError, ValueError) as error:
            raise CheckpointError(f"checkpoint: {self.folder}: old ones cannot be removed: {reason(error)}") from error


def _step(pattern: re.Pattern[str], path: Path, /) -> int | None:
    found = pattern.fullmatch(path.name)
    return int(found[1]) if found else None
