"""Makes transformations.npz: derivatives by PyTorch of a function to one number and of one to many, in float64.

    python tests/autodiff/references/make_transformation_references.py

Runs wherever PyTorch is installed, and needs nothing of moonxi. Made with PyTorch 2.13.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

torch: Any = import_module("torch")
func: Any = import_module("torch.func")


def energy(x: Any, w: Any) -> Any:
    """One number."""
    hidden = torch.tanh(x @ w)
    return (hidden * hidden).mean() + (torch.log_softmax(hidden, 1).exp() ** 2).sum() + (x.exp() / (x * x + 1)).sum()


def field(x: Any, w: Any) -> Any:
    """As many numbers as the product has."""
    return torch.sin(x @ w) * torch.softmax(x @ w, 1)


def main() -> None:
    """Writes the file beside this script."""
    rng = np.random.default_rng(11)
    shapes = {"x": (3, 4), "w": (4, 5), "tangent": (3, 4), "cotangent": (3, 5), "examples": (6, 4)}
    given = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    x, w, tangent, cotangent, examples = (torch.tensor(value) for value in given.values())
    found = {
        "grad": func.grad(energy)(x, w),
        "grad of w": func.grad(energy, argnums=1)(x, w),
        "vjp": func.vjp(lambda x: field(x, w), x)[1](cotangent)[0],
        "jvp": func.jvp(lambda x: field(x, w), (x,), (tangent,))[1],
        "hvp": func.jvp(func.grad(lambda x: energy(x, w)), (x,), (tangent,))[1],
        "jacobian": func.jacrev(field)(x, w),
        "hessian": func.hessian(energy)(x, w),
        "per example": func.vmap(func.grad(lambda w, row: energy(row[None], w)), in_dims=(None, 0))(w, examples),
    }
    arrays = {**given, **{name: value.numpy() for name, value in found.items()}}
    np.savez_compressed(Path(__file__).with_name("transformations.npz"), **arrays)  # type: ignore[arg-type, unused-ignore]


if __name__ == "__main__":
    main()
