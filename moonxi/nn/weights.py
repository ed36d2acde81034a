"""Weights on disk, as safetensors: the parameters and state of a model, by path."""

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as from_bytes
from safetensors.numpy import save as to_bytes

from moonxi.dtypes import HostArray
from moonxi.errors import CheckpointError
from moonxi.nn.module import Module
from moonxi.shapes import show
from moonxi.traits import Tensor
from moonxi.whole_file import reason, try_writing, write_whole

_DIGEST: Final = "moonxi sha256"
"""Under this name a file states what its tensors add up to; files of other programs do not."""


def save[T: Tensor](model: Module[T], path: str | os.PathLike[str], /) -> None:
    """Write the parameters and the state of a model; a tied parameter once, under its first path.

    The file appears whole or not at all: it is written beside its place, synchronised and renamed; a SHA-256 in its
    metadata tells damage later. Raises `CheckpointError` if it cannot be written; an older file of that name is then
    still there."""
    tensors = {**model.named_parameters(), **model.named_states()}
    arrays = {name: tensor.to_host() for name, tensor in tensors.items()}
    write_whole("save", Path(path), to_bytes(arrays, metadata={_DIGEST: _digest(arrays)}))


def check_writable(path: str | os.PathLike[str], /) -> None:
    """Raise `CheckpointError` if `save` could not write there: to be asked before a long run, not after it."""
    target = Path(path)
    try:
        try_writing(target)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"save: {target}: cannot be written: {reason(error)}") from error


class Weighted[T: Tensor, M](Protocol):
    """A model of class ``M`` with named weights."""

    def named_parameters(self) -> dict[str, T]: ...
    def named_states(self) -> dict[str, T]: ...
    def with_parameters(self, new: Sequence[T], /) -> "Weighted[T, M]": ...
    def with_states(self, new: Sequence[T], /) -> M: ...


def load[T: Tensor, M](model: Weighted[T, M], path: str | os.PathLike[str], /) -> M:
    """The model with the weights of a file that `save` wrote; class, device and element type stay the model's.

    Strict: raises `CheckpointError`, listing every tensor that is missing, not known to the model, of another shape or
    element type, and for a file that cannot be read. The model given is unchanged."""
    return filled(model, read(path), str(path))


def read(path: str | os.PathLike[str], /) -> dict[str, NDArray[np.generic]]:
    """The arrays of a safetensors file by name.

    Raises `CheckpointError` for a file that cannot be read, and for one of `save` that is not as it was written."""
    source = Path(path)
    try:
        data = source.read_bytes()
    except (OSError, ValueError) as error:
        of_a_run = isinstance(error, IsADirectoryError) and any(source.glob("step-*.json"))
        advice = f": {_from_folder(source)}" if of_a_run else ""
        raise CheckpointError(f"load: {source}: cannot be read: {reason(error)}{advice}") from error
    try:
        arrays = from_bytes(data)
    except SafetensorError as error:
        raise CheckpointError(
            f"load: {source}: not a whole safetensors file: {error}{_instead(source, data)}"
        ) from error
    except KeyError as error:
        raise CheckpointError(f"load: {source}: holds elements of type {error.args[0]}, which NumPy lacks") from error
    stated = _metadata(data).get(_DIGEST)
    if stated is not None and stated != _digest(arrays):
        raise CheckpointError(f"load: {source}: damaged: its tensors do not have the SHA-256 that it states")
    return arrays


def _from_folder(folder: Path) -> str:
    return f"moonxi.train.Checkpoints({str(folder)!r}).last() has .model(model) for the weights"


def _instead(source: Path, data: bytes) -> str:
    """What to do with a file of another kind, where it shows what it is."""
    if source.match("step-*.json"):
        return f"; it says what is in a checkpoint: {_from_folder(source.parent)}"
    if data.startswith((b"PK\x03\x04", b"\x80")):  # zip archives and pickles
        return (
            "; it looks like one of PyTorch or NumPy: write one there with "
            "safetensors.torch.save_file(model.state_dict(), path), and see moonxi.nn.load_state_dict"
        )
    return ""


def _digest(arrays: Mapping[str, NDArray[np.generic]]) -> str:
    """Of names, element types, shapes and elements."""
    found = sha256()
    for name, array in sorted(arrays.items()):
        found.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _metadata(data: bytes) -> dict[str, str]:
    """What a whole safetensors file says of itself: its header is JSON, after 8 bytes with the length of it."""
    header: dict[str, dict[str, str] | None] = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")].decode())
    return header.get("__metadata__") or {}


def filled[T: Tensor, M](model: Weighted[T, M], stored: Mapping[str, NDArray[np.generic]], source: str, /) -> M:
    """The model with these arrays, by path, as its weights. Strict, as `load`; ``source`` is named in its errors."""
    parameters, states = model.named_parameters(), model.named_states()
    own = {**parameters, **states}
    wrong = [f"{name}: missing in the file" for name in own if name not in stored]
    wrong += [f"{name}: not in the model" for name in stored if name not in own]
    for name in own.keys() & stored.keys():
        there = f"{stored[name].dtype.name} {show(stored[name].shape)}"
        here = f"{own[name].dtype.name} {show(own[name].shape)}"
        if there != here:
            wrong.append(f"{name}: {there} in the file, {here} in the model")
    if wrong:
        if parameters and all(f"parameters/{name}" in stored for name in parameters):
            raise CheckpointError(f"load: {source}: the tensors of a checkpoint: {_from_folder(Path(source).parent)}")
        listed = "\n  ".join(sorted(wrong))
        raise CheckpointError(f"load: {source}: not the weights of this {type(model).__name__}:\n  {listed}")
    arrays = {name: tensor.from_host(_real(stored[name])) for name, tensor in own.items()}
    return model.with_parameters([arrays[name] for name in parameters]).with_states([arrays[name] for name in states])


def _real(array: NDArray[np.generic]) -> HostArray:
    """The array, which by its name has the element type of a tensor."""
    return cast(HostArray, array)  # such an element type is a floating-point one
