"""Weights that PyTorch wrote: the tensors of a ``state_dict``, by its names, in an equivalent model."""

import os
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from moonxi.errors import CheckpointError, OptionError
from moonxi.nn import tree
from moonxi.nn.linear import Linear
from moonxi.nn.normalisation import BatchNorm2d
from moonxi.nn.weights import Weighted, filled, read
from moonxi.shapes import show
from moonxi.traits import Tensor

RUNNING: Final = {"mean": "running_mean", "variance": "running_var"}
"""What PyTorch calls the state of a batch norm."""
_RENAMED: Final[Mapping[type, Mapping[str, str]]] = {BatchNorm2d: RUNNING}
"""What PyTorch calls a tensor of a layer where it is not what it is called here."""
_TRANSPOSED: Final = {(Linear, "weight")}
"""What PyTorch keeps with its two axes the other way round."""
_COUNTER: Final = "num_batches_tracked"
"""A state of PyTorch's batch norm of which nothing depends with a momentum."""


@dataclass(frozen=True, slots=True)
class TorchTensor:
    """A tensor of a state_dict: its whole name, and whether its axes are the other way round there."""

    name: str
    _: KW_ONLY
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class TorchKeys:
    """What PyTorch's names are of the layers and tensors at the paths of a model.

    ``layers`` gives the name of the layer at a path, as a table or a function: ``{"layers[0]": "net.0"}``; the model
    itself is at ``""``. Within a layer the names are those of PyTorch's layer of that kind: ``running_mean``, and a
    linear weight transposed. Of a layer of your own they are the names of the fields, unless ``tensors`` says for the
    path of a tensor what it is. ``unused`` names what of the file is to be left out, beside the counters of batches."""

    layers: Mapping[str, str] | Callable[[str], str]
    _: KW_ONLY
    tensors: Mapping[str, TorchTensor] = field(default_factory=dict)
    unused: frozenset[str] = frozenset()

    def of[T: Tensor, M](self, model: Weighted[T, M], /) -> dict[str, TorchTensor]:
        """For the path of each parameter and state of the model, what it is in the state_dict.

        Raises `OptionError` for a path in ``layers`` or ``tensors`` that the model does not have, and for a layer with
        tensors that ``layers`` does not name."""
        own = {"": model, **dict(tree.layers(model))}
        paths = [*model.named_parameters(), *model.named_states()]
        wrong = [f"{path!r}: no tensor of the model" for path in self.tensors if path not in paths]
        if isinstance(self.layers, Mapping):
            wrong += [f"{path!r}: no layer of the model" for path in self.layers if path not in own]
        found: dict[str, TorchTensor] = {}
        for path in paths:
            owner = max((layer for layer in own if _inside(path, layer)), key=len)
            if path in self.tensors:
                found[path] = self.tensors[path]
            elif isinstance(self.layers, Mapping) and owner not in self.layers:
                wrong.append(f"{path!r}: its layer {owner!r} has no name in layers")
            else:
                layer = self.layers[owner] if isinstance(self.layers, Mapping) else self.layers(owner)
                found[path] = _named(layer, type(own[owner]), path[len(owner) :].lstrip("."))
        if wrong:
            listed = "\n  ".join(wrong)
            raise OptionError(f"TorchKeys: names do not fit this {type(model).__name__}:\n  {listed}")
        return found


def load_state_dict[T: Tensor, M](
    model: Weighted[T, M], path: str | os.PathLike[str], keys: TorchKeys | Mapping[str, str], /
) -> M:
    """The model with the weights of PyTorch's state_dict in a safetensors file; a mapping names the layers.

    Strict: raises `CheckpointError`, listing every tensor that is missing, not wanted, of another shape or element
    type, by PyTorch's name and the path here, and for a file that cannot be read; and `OptionError` for names that do
    not fit the model. The model given is unchanged."""
    names = keys if isinstance(keys, TorchKeys) else TorchKeys(keys)
    theirs = names.of(model)
    stored = read(path)
    own = {**model.named_parameters(), **model.named_states()}
    wrong, arrays = [], dict[str, NDArray[np.generic]]()
    for place, tensor in theirs.items():
        if tensor.name not in stored:
            wrong.append(f"{tensor.name} (here {place}): missing in the file")
            continue
        array, shape = stored[tensor.name], own[place].shape
        there = f"{array.dtype.name} {show(array.shape)}"
        expected = f"{own[place].dtype.name} {show(shape[::-1] if tensor.transposed else shape)}"
        if there != expected:
            wrong.append(f"{tensor.name} (here {place}): {there} in the file, {expected} expected")
        arrays[place] = array.T if tensor.transposed else array
    known = {tensor.name for tensor in theirs.values()} | names.unused
    wrong += [
        f"{name}: not in the model" for name in stored if name not in known and name.rpartition(".")[2] != _COUNTER
    ]
    if wrong:
        listed = "\n  ".join(sorted(wrong))
        raise CheckpointError(
            f"load_state_dict: {os.fspath(path)}: not the weights of this {type(model).__name__}:\n  {listed}"
        )
    return filled(model, arrays, os.fspath(path))


def _named(layer: str, kind: type, tensor: str) -> TorchTensor:
    name = next((names[tensor] for cls, names in _RENAMED.items() if issubclass(kind, cls) and tensor in names), tensor)
    transposed = any(issubclass(kind, cls) and tensor == one for cls, one in _TRANSPOSED)
    return TorchTensor(f"{layer}.{name}" if layer else name, transposed=transposed)


def _inside(path: str, layer: str) -> bool:
    return not layer or path.startswith((f"{layer}.", f"{layer}["))
