"""Makes image_layers.npz beside this file, with PyTorch: results and gradients of the layers, in float64.

    python -m tests.nn.references.make_image_layers

Run from the root of the project by an interpreter that has torch. Made with PyTorch 2.13.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tests.nn.references.image_layers import SHAPES, operand, seed

torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")


def transposed(x: Any, weight: Any, bias: Any) -> Any:
    options = {"stride": (2, 1), "padding": (1, 0), "output_padding": (1, 0), "groups": 2}
    return functional.conv_transpose2d(x, weight, bias, **options)


LAYERS: dict[str, Callable[..., Any]] = {
    "conv": lambda x, w, b: functional.conv2d(x, w, b, stride=(1, 2), padding=(1, 0), dilation=(2, 1), groups=2),
    "transposed": functional.conv_transpose2d,
    "transposed, grouped": transposed,
    "transposed, without bias": lambda x, w: functional.conv_transpose2d(x, w, stride=2, dilation=2),
    "group norm": lambda x, w, b: functional.group_norm(x, 3, w, b),
    "group norm of one group": lambda x, w, b: functional.group_norm(x, 1, w, b, eps=0.1),
    "group norm of sequences": lambda x, w, b: functional.group_norm(x, 2, w, b),
    "max pool": lambda x: functional.max_pool2d(x, 2),
    "max pool, overlapping": lambda x: functional.max_pool2d(x, (3, 2), (2, 3), (1, 0), (1, 2), ceil_mode=True),
    "avg pool": lambda x: functional.avg_pool2d(x, (2, 3)),
    "avg pool, padding not counted": lambda x: functional.avg_pool2d(x, 3, 2, 1, True, False),
    "adaptive avg pool": lambda x: functional.adaptive_avg_pool2d(x, (3, 5)),
    "global avg pool": lambda x: functional.adaptive_avg_pool2d(x, 1).flatten(1),
    "nearest": lambda x: functional.interpolate(x, scale_factor=(2, 3), mode="nearest"),
    "bilinear": lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear"),
    "bilinear, corners aligned": lambda x: functional.interpolate(
        x, scale_factor=(3, 2), mode="bilinear", align_corners=True
    ),
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
    np.savez_compressed(Path(__file__).with_name("image_layers.npz"), **arrays)


if __name__ == "__main__":
    main()
