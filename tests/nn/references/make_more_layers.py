"""Makes more_layers.npz beside this file, with PyTorch: results and gradients of the layers, in float64.

    python -m tests.nn.references.make_more_layers

Run from the root of the project by an interpreter that has torch. Made with PyTorch 2.13.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tests.nn.references.more_layers import SHAPES, labels, operand, seed

torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")


def embedding(case: str, **options: Any) -> Callable[..., Any]:
    return lambda weight: functional.embedding(torch.from_numpy(labels(case)), weight, **options)


def norm(**options: Any) -> Callable[..., Any]:
    return lambda x, weight, bias=None: functional.layer_norm(x, weight.shape, weight, bias, **options)


def rms(eps: float) -> Callable[..., Any]:
    return lambda x, weight: functional.rms_norm(x, weight.shape, weight, eps)


LAYERS: dict[str, Callable[..., Any]] = {
    "sigmoid": torch.sigmoid,
    "silu": functional.silu,
    "gelu": functional.gelu,
    "gelu, tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "elu": functional.elu,
    "elu, alpha": lambda x: functional.elu(x, alpha=0.3),
    "leaky_relu": functional.leaky_relu,
    "leaky_relu, slope": lambda x: functional.leaky_relu(x, negative_slope=0.3),
    "softplus": functional.softplus,
    "softplus, beta": lambda x: functional.softplus(x, beta=2.0, threshold=100.0),
    "mish": functional.mish,
    "hardswish": functional.hardswish,
    "softmax": lambda x: functional.softmax(x, -1),
    "softmax, first axis": lambda x: functional.softmax(x, 0),
    "layer norm": norm(),
    "layer norm, eps": norm(eps=0.1),
    "layer norm, without bias": norm(),
    "layer norm of one": norm(),
    "rms norm": rms(2.0**-23),
    "rms norm, eps": rms(0.1),
    "rms norm of one": rms(2.0**-23),
    "bilinear": functional.bilinear,
    "bilinear of sequences": functional.bilinear,
    "bilinear, without bias": functional.bilinear,
    "embedding": embedding("embedding"),
    "embedding, padding": embedding("embedding, padding", padding_idx=2),
    "embedding of one label": embedding("embedding of one label"),
}


def main() -> None:
    """Writes the file."""
    arrays: dict[str, Any] = {}
    for case, shapes in SHAPES.items():
        operands = {name: torch.from_numpy(operand(case, name)).requires_grad_() for name in shapes}
        y = LAYERS[case](*operands.values())
        y.backward(torch.from_numpy(seed(case, tuple(y.shape))))
        arrays[f"{case}.y"] = y.detach().numpy()
        arrays |= {f"{case}.d{name}": one.grad.numpy() for name, one in operands.items()}
    np.savez_compressed(Path(__file__).with_name("more_layers.npz"), **arrays)


if __name__ == "__main__":
    main()
