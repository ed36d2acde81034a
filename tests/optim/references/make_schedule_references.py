"""Makes schedules.npz: the learning rates of PyTorch's schedulers, one for each step, in float64.

    python tests/optim/references/make_schedule_references.py

Runs wherever PyTorch is installed, and needs nothing of moonxi. Made with PyTorch 2.13.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

torch: Any = import_module("torch")
schedulers: Any = import_module("torch.optim.lr_scheduler")

METRICS = {
    "falling": [1.0, 0.5, 0.4, 0.4, 0.4, 0.39999, 0.4, 0.4, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.2, 0.3, 0.3, 0.3, 0.3, 0.3],
    "rising": [0.1, 0.2, 0.3, 0.29, 0.31, 0.2, 0.2, 0.2, 0.2, 0.5, 0.5, 0.5, 0.501, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
}


def rates(make: Any, lr: float, steps: int) -> Any:
    """The learning rate before each step."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=lr)
    scheduler = make(optimizer)
    found = []
    for number in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if number < steps - 1:
            scheduler.step()
    return np.array(found)


def on_plateau(metrics: list[float], **options: Any) -> Any:
    """The learning rate after each metric."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
    scheduler = schedulers.ReduceLROnPlateau(optimizer, **options)
    found = []
    for metric in metrics:
        scheduler.step(metric)
        found.append(optimizer.param_groups[0]["lr"])
    return np.array(found)


def joined(optimizer: Any) -> Any:
    """A warm-up of 4 steps from a quarter, then a cosine."""
    parts = [
        schedulers.LinearLR(optimizer, start_factor=0.25, total_iters=4),
        schedulers.CosineAnnealingLR(optimizer, T_max=8),
    ]
    return schedulers.SequentialLR(optimizer, parts, milestones=[4])


def chained(optimizer: Any) -> Any:
    """A warm-up of 4 steps from a quarter, while the rate falls."""
    parts = [
        schedulers.LinearLR(optimizer, start_factor=0.25, total_iters=4),
        schedulers.ExponentialLR(optimizer, gamma=0.9),
    ]
    return schedulers.ChainedScheduler(parts)


def main() -> None:
    """Writes the file beside this script."""
    arrays = {
        "exponential": rates(lambda o: schedulers.ExponentialLR(o, gamma=0.9), 0.3, 15),
        "polynomial": rates(lambda o: schedulers.PolynomialLR(o, total_iters=10, power=2.0), 0.3, 15),
        "line": rates(lambda o: schedulers.PolynomialLR(o, total_iters=10), 0.3, 15),
        "cosine": rates(lambda o: schedulers.CosineAnnealingLR(o, T_max=12, eta_min=0.01), 0.3, 13),
        "warm_up": rates(lambda o: schedulers.LinearLR(o, start_factor=0.25, total_iters=5), 0.4, 9),
        "one_cycle": rates(lambda o: schedulers.OneCycleLR(o, max_lr=0.7, total_steps=20), 0.1, 20),
        "one_cycle_other": rates(
            lambda o: schedulers.OneCycleLR(
                o, max_lr=0.7, total_steps=17, pct_start=0.45, div_factor=10.0, final_div_factor=7.0
            ),
            0.1,
            17,
        ),
        "joined": rates(joined, 0.2, 13),
        "chained": rates(chained, 0.2, 12),
        "falling": np.array(METRICS["falling"]),
        "rising": np.array(METRICS["rising"]),
        "plateau": on_plateau(METRICS["falling"], factor=0.5, patience=2),
        "plateau_cooldown": on_plateau(METRICS["falling"], factor=0.5, patience=1, cooldown=2, min_lr=0.1),
        "plateau_rising": on_plateau(
            METRICS["rising"], mode="max", factor=0.5, patience=2, threshold=0.02, threshold_mode="abs"
        ),
    }
    np.savez_compressed(Path(__file__).with_name("schedules.npz"), **arrays)  # type: ignore[arg-type, unused-ignore]


if __name__ == "__main__":
    main()
