"""Makes losses.npz: losses and softmaxes of PyTorch with their gradients, in float64.

    python tests/losses/references/make_loss_references.py

Runs wherever PyTorch is installed, and needs nothing of moonxi. Made with PyTorch 2.13.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")

INF = np.inf


def logits_cases(rng: np.random.Generator) -> dict[str, Any]:
    """Logits with the classes along the last axis."""
    extreme = rng.choice([-1e4, 0.0, 1e4], size=(12, 4))
    masked = rng.normal(size=(5, 4))
    masked[[0, 1, 1, 2, 4], [3, 0, 2, 1, 3]] = -INF
    return {
        "ordinary": rng.normal(size=(6, 5)) * 3.0,
        "one_sample": rng.normal(size=(1, 3)),
        "one_class": rng.normal(size=(4, 1)),
        "equal": np.full((3, 4), 2.5),
        "extreme": extreme,
        "masked": masked,
        "sequence": rng.normal(size=(2, 3, 4)),
        "image": rng.normal(size=(2, 3, 2, 5)),
        "single": rng.normal(size=(3,)),
    }


def main() -> None:
    """Writes the file beside this script."""
    rng = np.random.default_rng(3)
    arrays: dict[str, Any] = {}
    for name, logits in logits_cases(rng).items():
        classes = logits.shape[-1]
        labels = rng.integers(0, classes, logits.shape[:-1])
        if name == "masked":
            labels[2] = 1  # a class that the logits exclude: the loss is infinite
        store_cross_entropy(arrays, f"cross_entropy/{name}", logits, labels)
        if name == "masked":
            labels[:] = [0, 1, 2, 3, 0]
            store_cross_entropy(arrays, f"cross_entropy/{name}_finite", logits, labels)
        for operation in ("softmax", "log_softmax"):
            for axis in {0, logits.ndim - 1}:
                store_softmax(arrays, f"{operation}/{name}/{axis}", operation, logits, axis, rng)
    for name, shape in {"matrix": (5, 3), "one": (1,), "scalar": (), "cube": (2, 3, 4)}.items():
        x = torch.tensor(rng.normal(size=shape), requires_grad=True)
        y = torch.tensor(rng.normal(size=shape), requires_grad=True)
        loss = functional.mse_loss(x, y)
        loss.backward()
        for key, value in {"x": x, "y": y, "value": loss, "dx": x.grad, "dy": y.grad}.items():
            arrays[f"mse/{name}/{key}"] = value.detach().numpy()
    np.savez_compressed(Path(__file__).with_name("losses.npz"), **arrays)


def store_cross_entropy(arrays: dict[str, Any], name: str, logits: Any, labels: Any) -> None:
    x = torch.tensor(logits, requires_grad=True)
    classes = logits.shape[-1]
    loss = functional.cross_entropy(x.reshape(-1, classes), torch.tensor(np.array(labels).reshape(-1)))
    loss.backward()
    arrays[f"{name}/logits"], arrays[f"{name}/labels"] = logits, np.array(labels)
    arrays[f"{name}/value"], arrays[f"{name}/gradient"] = loss.detach().numpy(), x.grad.numpy()


def store_softmax(
    arrays: dict[str, Any], name: str, operation: str, logits: Any, axis: int, rng: np.random.Generator
) -> None:
    x = torch.tensor(logits, requires_grad=True)
    seed = rng.normal(size=logits.shape)
    y = getattr(functional, operation)(x, axis)
    y.backward(torch.tensor(seed))
    arrays[f"{name}/x"], arrays[f"{name}/seed"] = logits, seed
    arrays[f"{name}/value"], arrays[f"{name}/gradient"] = y.detach().numpy(), x.grad.numpy()


if __name__ == "__main__":
    main()
