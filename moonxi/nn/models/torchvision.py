"""The weights of torchvision's ``resnet18``, by its names, in moonxi's `ResNet18`."""

import os
from typing import Final

from moonxi.nn.models.resnet import ResNet18
from moonxi.nn.state_dict import RUNNING, TorchKeys, load_state_dict
from moonxi.traits import ImageModelTensor

_CONV_NORMS: Final = {
    "first": ("conv1", "bn1"),
    "second": ("conv2", "bn2"),
    "shortcut": ("downsample.0", "downsample.1"),
}


def load_resnet18[T: ImageModelTensor](model: ResNet18[T], path: str | os.PathLike[str], /) -> ResNet18[T]:
    """The model with weights that torchvision's ``resnet18`` wrote as safetensors.

    The model is one made with ``bias=False`` and as many classes. Raises `CheckpointError` as `load_state_dict`."""
    return load_state_dict(model, path, TorchKeys(torchvision_layer))


def torchvision_layer(path: str, /) -> str:
    """What torchvision calls the layer at this path of a `ResNet18`: ``blocks[2].first.conv`` is ``layer2.0.conv1``."""
    if path == "head":
        return "fc"
    place, _, kind = path.rpartition(".")
    if place == "stem":
        prefix, (conv, norm) = "", ("conv1", "bn1")
    else:
        block, _, part = place.partition(".")
        number = int(block.removeprefix("blocks[").removesuffix("]"))
        prefix, (conv, norm) = f"layer{number // 2 + 1}.{number % 2}.", _CONV_NORMS[part]
    return prefix + (conv if kind == "conv" else norm)


def torchvision_name(path: str, /) -> str:
    """What torchvision calls the tensor at this path of a `ResNet18`: ``blocks[2].first.conv.weight`` is
    ``layer2.0.conv1.weight``."""
    layer, _, tensor = path.rpartition(".")
    return f"{torchvision_layer(layer)}.{RUNNING.get(tensor, tensor)}"
