"""`Checkpoint`: a run at one step, on disk: a manifest, and the file of tensors that it names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Protocol, cast, override

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as from_bytes
from safetensors.numpy import save as to_bytes

from moonxi.dtypes import HostArray
from moonxi.errors import CheckpointError
from moonxi.json_fields import Json
from moonxi.optim import EmaState, OptimizerState
from moonxi.shapes import show
from moonxi.train.manifest import Manifest, environment
from moonxi.train.place import Place
from moonxi.traits import Tensor
from moonxi.whole_file import reason, write_whole

PARAMETERS: Final = "parameters/"
STATES: Final = "states/"
OPTIMIZER: Final = "optimizer/"
AVERAGE: Final = "average/"


class Stored[T: Tensor, M](Protocol):
    """A model of class ``M`` with named tensors: every `Module`."""

    def named_tensors(self) -> tuple[dict[str, T], dict[str, T]]: ...
    def with_tensors(self, parameters: Sequence[T], states: Sequence[T], /) -> M: ...


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A whole checkpoint. Its tensors are read when they are asked for, and checked then."""

    path: Path
    """Of the manifest."""
    manifest: Manifest

    @override
    def __repr__(self) -> str:
        metrics = "".join(f", {name} {value:.4g}" for name, value in self.metrics.items())
        return f"Checkpoint({str(self.path)!r}: step {self.step}, epoch {self.manifest.place.epoch}{metrics})"

    @property
    def step(self) -> int:
        """Updates made before it."""
        return self.manifest.place.steps

    @property
    def metrics(self) -> dict[str, float]:
        """Of the evaluation at this very step; empty within an epoch."""
        return self.manifest.metrics

    def model[T: Tensor, M](self, like: Stored[T, M], /, *, averaged: bool = False) -> M:
        """The model at this step; class, device and element type are those of ``like``, which is unchanged.

        With ``averaged`` its weights are the averages of a run with ``ema``. Raises `CheckpointError` if the file of
        tensors is missing or damaged, if they are of another model, and if there are no averages."""
        stored = self.tensors()
        if averaged:
            averages = {name.removeprefix(AVERAGE): one for name, one in _part(stored, AVERAGE + PARAMETERS).items()}
            if not averages:
                raise CheckpointError(
                    f"checkpoint: {self.path}: has no averages of the weights: the run was without ema"
                )
            stored = {**_part(stored, STATES), **averages}
        return _filled_model(like, stored, f"{self.path}")

    def average[T: Tensor, M](self, state: EmaState[T, M], /) -> EmaState[T, M]:
        """The averages of the weights; those given say of what shapes. Raises as `model` does."""
        stored = self.tensors()
        own = _averages(state)
        wrong = _differences(own, _part(stored, AVERAGE))
        if wrong:
            raise CheckpointError(f"checkpoint: {self.path}: not the averages of this model:\n  " + "\n  ".join(wrong))
        arrays = {name: one.from_host(_real(stored[name])) for name, one in own.items()}
        after: EmaState[T, M] = EmaState(
            arrays[f"{AVERAGE}step"], {path: arrays[f"{AVERAGE}{PARAMETERS}{path}"] for path in state.averages}
        )
        return after

    def restored[T: Tensor, M](
        self, model: Stored[T, M], state: OptimizerState[T, M], /
    ) -> tuple[M, OptimizerState[T, M]]:
        """The model and what its optimizer remembered; those given say of what classes and shapes.

        Raises as `model` does, and also if the optimizer remembers something else."""
        stored = self.tensors()
        own = {f"{OPTIMIZER}{name}": one for name, one in _memory(state).items()}
        wrong = _differences(own, _part(stored, OPTIMIZER))
        if wrong:
            raise CheckpointError(f"checkpoint: {self.path}: not of this optimizer:\n  " + "\n  ".join(wrong))
        arrays = {name: one.from_host(_real(stored[name])) for name, one in own.items()}
        slots = {
            slot: tuple(arrays[f"{OPTIMIZER}{slot}/{at}"] for at in range(len(tensors)))
            for slot, tensors in state.slots.items()
        }
        remembered: OptimizerState[T, M] = OptimizerState(arrays[f"{OPTIMIZER}step"], state.names, slots)
        return _filled_model(model, stored, f"{self.path}"), remembered

    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """All tensors by name: ``parameters/...``, ``states/...``, ``optimizer/...`` and ``average/...``.

        Raises `CheckpointError` if the file is missing, or is not to the bit the one that was written."""
        path = self.path.parent / self.manifest.tensors
        try:
            data = path.read_bytes()
        except (OSError, ValueError) as error:
            raise CheckpointError(f"checkpoint: {path}: cannot be read: {reason(error)}") from error
        if len(data) != self.manifest.size or sha256(data).hexdigest() != self.manifest.digest:
            raise CheckpointError(
                f"checkpoint: {path}: damaged: {len(data)} bytes; {self.path.name} names {self.manifest.size}, with "
                "another SHA-256"
            )
        try:
            return from_bytes(data)
        except (SafetensorError, KeyError) as error:
            raise CheckpointError(f"checkpoint: {path}: not a file of tensors that can be read: {error}") from error


def read_checkpoint(path: Path, /) -> Checkpoint:
    """The checkpoint of a manifest. Raises `CheckpointError` if that is damaged, foreign or of a later version."""
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise CheckpointError(f"checkpoint: {path}: cannot be read: {reason(error)}") from error
    return Checkpoint(path, Manifest.parse(data, f"{path}"))


def write_checkpoint[T: Tensor, M](
    folder: Path,
    model: Stored[T, M],
    state: OptimizerState[T, M],
    /,
    *,
    average: EmaState[T, M] | None = None,
    place: Place,
    settings: Json,
    metrics: Mapping[str, float],
    metric: str = "loss",
    higher_is_better: bool = False,
) -> Checkpoint:
    """Write the tensors, and then the manifest that makes them a checkpoint; killed between, there is none.

    The name of the file of tensors has a part of their digest: another checkpoint of the same step never shares it.
    Raises `CheckpointError` if anything cannot be written."""
    parameters, states = model.named_tensors()
    named = {f"{PARAMETERS}{name}": one for name, one in parameters.items()}
    named.update({f"{STATES}{name}": one for name, one in states.items()})
    named.update({f"{OPTIMIZER}{name}": one for name, one in _memory(state).items()})
    if average is not None:
        named.update(_averages(average))
    data = to_bytes({name: one.to_host() for name, one in named.items()})
    digest = sha256(data).hexdigest()
    stem = f"step-{place.steps:09}"
    manifest = Manifest(
        place=place,
        settings=settings,
        metrics=dict(metrics),
        tensors=f"{stem}-{digest[:16]}.safetensors",
        size=len(data),
        digest=digest,
        environment=environment(),
        metric=metric,
        higher_is_better=higher_is_better,
    )
    path = folder / f"{stem}.json"
    write_whole("checkpoint", folder / manifest.tensors, data)
    write_whole("checkpoint", path, manifest.to_bytes())
    return Checkpoint(path, manifest)


def _memory[T: Tensor, M](state: OptimizerState[T, M]) -> dict[str, T]:
    """The tensors of an optimizer's state by name."""
    slots = {f"{slot}/{at}": one for slot, tensors in state.slots.items() for at, one in enumerate(tensors)}
    return {"step": state.step, **slots}


def _averages[T: Tensor, M](state: EmaState[T, M]) -> dict[str, T]:
    """The tensors of averages by name."""
    return {
        f"{AVERAGE}step": state.step,
        **{f"{AVERAGE}{PARAMETERS}{path}": one for path, one in state.averages.items()},
    }


def _filled_model[T: Tensor, M](like: Stored[T, M], stored: Mapping[str, NDArray[np.generic]], source: str) -> M:
    parameters, states = like.named_tensors()
    own = {f"{PARAMETERS}{name}": one for name, one in parameters.items()}
    own.update({f"{STATES}{name}": one for name, one in states.items()})
    wrong = _differences(own, {**_part(stored, PARAMETERS), **_part(stored, STATES)})
    if wrong:
        listed = "\n  ".join(wrong)
        raise CheckpointError(f"checkpoint: {source}: not of this {type(like).__name__}:\n  {listed}")
    arrays = {name: one.from_host(_real(stored[name])) for name, one in own.items()}
    return like.with_tensors(
        [arrays[f"{PARAMETERS}{name}"] for name in parameters], [arrays[f"{STATES}{name}"] for name in states]
    )


def _part(stored: Mapping[str, NDArray[np.generic]], prefix: str) -> dict[str, NDArray[np.generic]]:
    return {name: one for name, one in stored.items() if name.startswith(prefix)}


def _differences[T: Tensor](own: Mapping[str, T], stored: Mapping[str, NDArray[np.generic]]) -> list[str]:
    """Every tensor that only one side has, or that has another shape or element type there."""
    wrong = [f"{name}: missing in the file" for name in own if name not in stored]
    wrong += [f"{name}: only in the file" for name in stored if name not in own]
    for name in own.keys() & stored.keys():
        # NumPy has no bfloat16: such a tensor is stored as float32, which holds all its values.
        kind = own[name].dtype.name.replace("bfloat16", "float32")
        there, here = f"{stored[name].dtype.name} {show(stored[name].shape)}", f"{kind} {show(own[name].shape)}"
        if there != here:
            wrong.append(f"{name}: {there} in the file, {here} here")
    return sorted(wrong)


def _real(array: NDArray[np.generic]) -> HostArray:
    """The array, which by its name has the element type of a tensor."""
    return cast(HostArray, array)  # such an element type is a floating-point one
