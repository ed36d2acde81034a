"""Makes resnet18.json beside this file, with PyTorch: run from the root of the project as
``python -m tests.models.references.make_resnet18`` by an interpreter that has torch. Made with PyTorch 2.13."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tests.models.fixed_weights import entries, tensor, wave

torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")

WIDTHS = (64, 64, 128, 256, 512)


class ResNet:
    """torchvision's resnet18, with its names, as a function of named tensors that are made as they are met."""

    def __init__(self, classes: int, *, bias: bool, training: bool, dtype: Any) -> None:
        self.tensors: dict[str, Any] = {}
        self._classes, self._bias, self._training, self._dtype = classes, bias, training, dtype

    def _tensor(self, name: str, *shape: int) -> Any:
        if name not in self.tensors:
            made = torch.from_numpy(tensor(name, shape)).to(self._dtype)
            self.tensors[name] = made if "running" in name else made.requires_grad_()
        return self.tensors[name]

    def _conv(self, name: str, x: Any, outputs: int, kernel: int, stride: int) -> Any:
        weight = self._tensor(f"{name}.weight", outputs, x.shape[1], kernel, kernel)
        bias = self._tensor(f"{name}.bias", outputs) if self._bias else None
        return functional.conv2d(x, weight, bias, stride, kernel // 2)

    def _norm(self, name: str, x: Any) -> Any:
        names = ("running_mean", "running_var", "weight", "bias")
        mean, variance, weight, bias = (self._tensor(f"{name}.{one}", x.shape[1]) for one in names)
        return functional.batch_norm(x, mean, variance, weight, bias, self._training)

    def _block(self, name: str, x: Any, outputs: int, stride: int) -> Any:
        h = functional.relu(self._norm(f"{name}.bn1", self._conv(f"{name}.conv1", x, outputs, 3, stride)))
        h = self._norm(f"{name}.bn2", self._conv(f"{name}.conv2", h, outputs, 3, 1))
        if stride != 1 or x.shape[1] != outputs:
            x = self._norm(f"{name}.downsample.1", self._conv(f"{name}.downsample.0", x, outputs, 1, stride))
        return functional.relu(h + x)

    def __call__(self, x: Any) -> Any:
        h = functional.relu(self._norm("bn1", self._conv("conv1", x, 64, 7, 2)))
        h = functional.max_pool2d(h, 3, 2, 1)
        for stage in range(1, 5):
            h = self._block(f"layer{stage}.0", h, WIDTHS[stage], 1 if stage == 1 else 2)
            h = self._block(f"layer{stage}.1", h, WIDTHS[stage], 1)
        weight = self._tensor("fc.weight", self._classes, 512)
        return functional.linear(h.mean((2, 3)), weight, self._tensor("fc.bias", self._classes))


def step() -> dict[str, object]:
    """One training step: the loss, each gradient's norm and 32 of its entries, sum and norm of running statistics."""
    model = ResNet(10, bias=True, training=True, dtype=torch.float64)
    loss = functional.cross_entropy(model(torch.from_numpy(wave("images", (8, 3, 32, 32)))), torch.arange(8) % 10)
    loss.backward()
    gradients: dict[str, object] = {}
    running: dict[str, object] = {}
    for name, one in model.tensors.items():
        if "running" in name:
            running[name] = [float(one.sum()), float(one.norm())]
        else:
            flat = one.grad.numpy().reshape(-1)
            found = [float(flat[place]) for place in entries(name, flat.size)]
            gradients[name] = {"norm": float(np.linalg.norm(flat)), "entries": found}
    return {"loss": loss.item(), "gradients": gradients, "running": running}


def logits() -> object:
    """Every 25th logit of a model such as torchvision's, in evaluation, for two images."""
    model = ResNet(1000, bias=False, training=False, dtype=torch.float32)
    with torch.no_grad():
        return model(torch.from_numpy(wave("photographs", (2, 3, 64, 64))).float())[:, ::25].double().tolist()


if __name__ == "__main__":
    Path(__file__).with_name("resnet18.json").write_text(json.dumps({"step": step(), "logits": logits()}))
