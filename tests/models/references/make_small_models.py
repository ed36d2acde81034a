"""Makes small_models.json beside this file, with PyTorch: loss, logits and gradients of LeNet and an MLP in float64.

    python -m tests.models.references.make_small_models

Run from the root of the project by an interpreter that has torch. Made with PyTorch 2.13.
"""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tests.models.fixed_weights import entries, tensor, wave

torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")

Weights = Callable[..., Any]


def mlp(x: Any, weight: Weights) -> Any:
    for layer, (inputs, outputs) in enumerate(((7, 12), (12, 9), (9, 4))):
        x = functional.relu(x) if layer else x
        x = functional.linear(
            x, weight(f"layers[{layer}].weight", outputs, inputs), weight(f"layers[{layer}].bias", outputs)
        )
    return x


def lenet(x: Any, weight: Weights) -> Any:
    h = functional.conv2d(x, weight("first.weight", 6, 2, 5, 5), weight("first.bias", 6), padding=2)
    h = functional.max_pool2d(functional.relu(h), 2)
    h = functional.conv2d(h, weight("second.weight", 16, 6, 5, 5), weight("second.bias", 16))
    h = functional.max_pool2d(functional.relu(h), 2).flatten(1)
    for layer, (inputs, outputs) in enumerate(((400, 120), (120, 84), (84, 5))):
        h = functional.relu(h) if layer else h
        name = f"head.layers[{layer}]"
        h = functional.linear(h, weight(f"{name}.weight", outputs, inputs), weight(f"{name}.bias", outputs))
    return h


def reference(name: str, model: Callable[[Any, Weights], Any], shape: tuple[int, ...]) -> dict[str, object]:
    """Loss, logits, and each gradient's norm and 32 of its entries."""
    tensors: dict[str, Any] = {}

    def weight(path: str, *shape: int) -> Any:
        return tensors.setdefault(path, torch.from_numpy(tensor(f"{name}.{path}", shape)).requires_grad_())

    logits = model(torch.from_numpy(wave(f"{name}.x", shape)), weight)
    loss = functional.cross_entropy(logits, torch.arange(shape[0]) % logits.shape[1])
    loss.backward()
    gradients: dict[str, object] = {}
    for path, one in tensors.items():
        flat = one.grad.numpy().reshape(-1)
        found = [float(flat[place]) for place in entries(path, flat.size)]
        gradients[path] = {"norm": float(np.linalg.norm(flat)), "entries": found}
    return {"loss": loss.item(), "logits": logits.tolist(), "gradients": gradients}


if __name__ == "__main__":
    found = {"mlp": reference("mlp", mlp, (6, 7)), "lenet": reference("lenet", lenet, (3, 2, 28, 28))}
    Path(__file__).with_name("small_models.json").write_text(json.dumps(found))
