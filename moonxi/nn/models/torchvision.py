"""The weights of torchvision's ``resnet18``, by its names, in moonxi's `ResNet18`."""

import os

import numpy as np
from numpy.typing import NDArray

from moonxi.errors import CheckpointError
from moonxi.nn.models.resnet import ResNet18
from moonxi.nn.weights import filled, read
from moonxi.traits import ImageModelTensor

_NORM = {"weight": "weight", "bias": "bias", "mean": "running_mean", "variance": "running_var"}
_CONV_NORMS = {"first": ("conv1", "bn1"), "second": ("conv2", "bn2"), "shortcut": ("downsample.0", "downsample.1")}


def load_resnet18[T: ImageModelTensor](model: ResNet18[T], path: str | os.PathLike[str], /) -> ResNet18[T]:
    """The model with weights that torchvision's ``resnet18`` wrote as safetensors.

    The model is one made with ``bias=False`` and as many classes. Raises `CheckpointError` as `moonxi.nn.load`."""
    stored = read(path)
    own = [*model.named_parameters(), *model.named_states()]
    arrays: dict[str, NDArray[np.generic]] = {}
    for name in own:
        theirs = torchvision_name(name)
        if theirs not in stored:
            raise CheckpointError(f"load_resnet18: {os.fspath(path)}: {theirs} (here {name}) is missing in the file")
        arrays[name] = stored.pop(theirs)
    arrays["head.weight"] = arrays["head.weight"].T  # theirs is (outputs, inputs)
    arrays |= {name: array for name, array in stored.items() if not name.endswith("num_batches_tracked")}
    return filled(model, arrays, os.fspath(path))


def torchvision_name(path: str, /) -> str:
    """What torchvision calls the tensor at this path of a `ResNet18`: ``blocks[2].first.conv.weight`` is
    ``layer2.0.conv1.weight``."""
    layer, _, tensor = path.rpartition(".")
    if layer == "head":
        return f"fc.{tensor}"
    place, _, kind = layer.rpartition(".")
    if place == "stem":
        prefix, (conv, norm) = "", ("conv1", "bn1")
    else:
        block, _, part = place.partition(".")
        number = int(block.removeprefix("blocks[").removesuffix("]"))
        prefix, (conv, norm) = f"layer{number // 2 + 1}.{number % 2}.", _CONV_NORMS[part]
    return prefix + (f"{conv}.{tensor}" if kind == "conv" else f"{norm}.{_NORM[tensor]}")
