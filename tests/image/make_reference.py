"""Writes ``pytorch.npz``: for every configuration PyTorch's value and gradients in float64.

    PYTHONPATH=. PATH_TO_A_PYTHON_WITH_TORCH tests/image/make_reference.py

Written with PyTorch 2.13. Operands and the gradient of the result are not stored: `Configuration` makes them.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tests.image.configurations import CONFIGURATIONS, Configuration

# PyTorch is no dependency, not even of the development tools, so type checkers do not get to see it.
torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")


def pad(x: Any, padding: Any, mode: str = "constant", fill: float = 0.0) -> Any:
    (top, bottom), (left, right) = padding if isinstance(padding, tuple) else ((padding,) * 2,) * 2
    options = {"value": fill} if mode == "constant" else {}
    return functional.pad(x, (left, right, top, bottom), mode=mode, **options)


def batch_norm(x: Any, weight: Any, bias: Any, eps: float = 1e-5) -> Any:
    """With momentum 1 the running statistics become those of the batch; the variance is the unbiased one."""
    mean, variance = torch.zeros_like(weight), torch.ones_like(weight)
    y = functional.batch_norm(x, mean, variance, weight, bias, training=True, momentum=1.0, eps=eps)
    return y, mean, variance


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "conv2d": functional.conv2d,
    "conv_transpose2d": functional.conv_transpose2d,
    "max_pool2d": functional.max_pool2d,
    "avg_pool2d": functional.avg_pool2d,
    "adaptive_avg_pool2d": functional.adaptive_avg_pool2d,
    "upsample_nearest2d": lambda x, size: functional.interpolate(x, size=size, mode="nearest"),
    "upsample_bilinear2d": lambda x, size, align_corners=False: functional.interpolate(
        x, size=size, mode="bilinear", align_corners=align_corners
    ),
    "pad2d": pad,
    "batch_norm": batch_norm,
    "batch_norm_with": lambda x, mean, variance, weight, bias, eps=1e-5: functional.batch_norm(
        x, mean.detach(), variance.detach(), weight, bias, eps=eps
    ),
    "group_norm": lambda x, weight, bias, groups, eps=1e-5: functional.group_norm(x, groups, weight, bias, eps),
}


def reference(configuration: Configuration) -> dict[str, Any]:
    operands = [torch.from_numpy(array).requires_grad_() for array in configuration.operands()]
    result = FUNCTIONS[configuration.operation](*operands, *configuration.arguments, **configuration.options)
    value, *others = result if isinstance(result, tuple) else (result,)
    value.backward(torch.from_numpy(configuration.cotangent(tuple(value.shape))))
    found = {"value": value}
    found |= {f"other {number}": other for number, other in enumerate(others)}
    found |= {f"gradient {n}": x.grad for n, x in enumerate(operands) if x.grad is not None}
    return {f"{configuration.name}: {part}": array.detach().numpy() for part, array in found.items()}


if __name__ == "__main__":
    arrays: dict[str, Any] = {}
    for one in CONFIGURATIONS:
        arrays |= reference(one)
    np.savez_compressed(Path(__file__).with_name("pytorch.npz"), **arrays)
