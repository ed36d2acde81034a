"""Makes optimizers.npz: the parameters of a small network after each of 20 steps of PyTorch's optimizers, in float64.

    python tests/optim/references/make_optimizer_references.py

Runs wherever PyTorch is installed, and needs nothing of moonxi. Made with PyTorch 2.13.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

torch: Any = import_module("torch")
optim: Any = import_module("torch.optim")

STEPS = 20
SHAPES = {"w1": (3, 5), "b1": (5,), "w2": (5, 2), "b2": (2,)}
# The optimizer and its options, the norm to clip to, the period and the factor of the learning rate.
RECIPES: dict[str, tuple[str, dict[str, Any], float | None, tuple[int, float] | None]] = {
    "sgd": ("SGD", {"lr": 0.1}, None, None),
    "sgd_momentum": ("SGD", {"lr": 0.1, "momentum": 0.9}, None, None),
    "sgd_nesterov": ("SGD", {"lr": 0.1, "momentum": 0.8, "nesterov": True}, None, None),
    "sgd_weight_decay": ("SGD", {"lr": 0.1, "weight_decay": 0.05}, None, None),
    "sgd_momentum_weight_decay": ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.05}, None, None),
    "sgd_clipped": ("SGD", {"lr": 0.3}, 1.5, None),
    "sgd_step_decay": ("SGD", {"lr": 0.5}, None, (7, 0.1)),
    "sgd_all": ("SGD", {"lr": 0.2, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}, 0.5, (5, 0.5)),
    "adam": ("Adam", {"lr": 0.05}, None, None),
    "adam_other_betas": ("Adam", {"lr": 0.05, "betas": (0.5, 0.75), "eps": 1e-3}, None, None),
    "adam_no_memory": ("Adam", {"lr": 0.01, "betas": (0.0, 0.0)}, None, None),
    "adam_weight_decay": ("Adam", {"lr": 0.05, "weight_decay": 0.1}, None, None),
    "adam_clipped": ("Adam", {"lr": 0.05, "eps": 1e-2}, 2.0, None),
    "adam_step_decay": ("Adam", {"lr": 0.1}, None, (6, 0.25)),
    "adam_all": ("Adam", {"lr": 0.1, "weight_decay": 0.01}, 1.0, (5, 0.5)),
}


def main() -> None:
    """Writes the file beside this script."""
    rng = np.random.default_rng(7)
    problem = {
        "x": rng.normal(size=(8, 3)),
        "y": rng.normal(size=(8, 2)) * 2.0,
        **{name: rng.normal(size=shape) for name, shape in SHAPES.items()},
    }
    arrays = dict(problem)
    for recipe in RECIPES:
        arrays[recipe] = train(recipe, problem)
    np.savez_compressed(Path(__file__).with_name("optimizers.npz"), **arrays)  # type: ignore[arg-type, unused-ignore]


def train(recipe: str, problem: dict[str, Any]) -> Any:
    """All parameters one after another as a row, one row for each step."""
    method, options, limit, decay = RECIPES[recipe]
    x, y = torch.tensor(problem["x"]), torch.tensor(problem["y"])
    parameters = [torch.tensor(problem[name], requires_grad=True) for name in SHAPES]
    optimizer = getattr(optim, method)(parameters, **options)
    schedule = optim.lr_scheduler.StepLR(optimizer, decay[0], decay[1]) if decay else None
    norms = []
    rows = []
    for _ in range(STEPS):
        w1, b1, w2, b2 = parameters
        loss = (((x @ w1 + b1).tanh() @ w2 + b2 - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        if limit is not None:
            norms.append(float(torch.nn.utils.clip_grad_norm_(parameters, limit)))
        optimizer.step()
        if schedule is not None:
            schedule.step()
        rows.append(torch.cat([parameter.detach().reshape(-1) for parameter in parameters]).numpy())
    if limit is not None:
        print(f"{recipe}: {sum(norm > limit for norm in norms)} of {STEPS} steps are clipped")
    return np.stack(rows)


if __name__ == "__main__":
    main()
