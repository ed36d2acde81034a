"""Weights on disk, as safetensors: the parameters and state of a model, by path."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from safetensors import SafetensorError
from safetensors.numpy import load_file
from safetensors.numpy import save as to_bytes

from moonxi.errors import CheckpointError
from moonxi.nn.module import Module
from moonxi.shapes import show
from moonxi.traits import Tensor


def save[T: Tensor](model: Module[T], path: str | os.PathLike[str], /) -> None:
    """Write the parameters and the state of a model; a tied parameter once, under its first path.

    The file appears whole or not at all: it is written beside its place, synchronised and renamed. Raises
    `CheckpointError` if it cannot be written; an older file of that name is then still there."""
    target = Path(path)
    tensors = {**model.named_parameters(), **model.named_states()}
    data = to_bytes({name: tensor.to_host() for name, tensor in tensors.items()})
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise CheckpointError(f"save: {target}: cannot be written: {error.strerror or error}") from error


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
    source = Path(path)
    try:
        stored = load_file(source)
    except OSError as error:
        raise CheckpointError(f"load: {source}: cannot be read: {error.strerror or error}") from error
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"load: {source}: not a whole safetensors file: {error}") from error
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
        listed = "\n  ".join(sorted(wrong))
        raise CheckpointError(f"load: {source}: not the weights of this {type(model).__name__}:\n  {listed}")
    filled = model.with_parameters([tensor.from_host(stored[name]) for name, tensor in parameters.items()])
    return filled.with_states([tensor.from_host(stored[name]) for name, tensor in states.items()])
