"""Makes line_search.npz: the parameters after each of 30 steps of PyTorch's LBFGS with a line search, in float64.

    python tests/optim/references/make_line_search_references.py

Runs wherever PyTorch is installed, and needs nothing of moonxi. Made with PyTorch 2.13. The first loss is Rosenbrock's
function of 4 numbers, whose steps overshoot and undershoot; the second the mean squared error of a network that is
narrower than its data, from a start that is far away.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

torch: Any = import_module("torch")

STEPS = 30
# The options, and the most evaluations of one line search.
RECIPES: dict[str, tuple[str, dict[str, Any]]] = {
    "rosenbrock": ("rosenbrock", {"lr": 1.0, "history_size": 10}),
    "rosenbrock_long_first_steps": ("rosenbrock", {"lr": 8.0, "history_size": 3}),
    "rosenbrock_short_first_steps": ("rosenbrock", {"lr": 1e-3, "history_size": 5}),
    "network": ("network", {"lr": 1.0, "history_size": 10}),
}


def rosenbrock(x: Any) -> Any:
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()


def main() -> None:
    rng = np.random.default_rng(7)
    start = np.array([-1.2, 1.0, -0.5, 2.0])
    x, y = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    weights = {"w1": 3.0 * rng.normal(size=(3, 4)), "w2": rng.normal(size=(4, 2))}
    arrays: dict[str, Any] = {"start": start, "x": x, "y": y, **weights}
    for name, (kind, options) in RECIPES.items():
        initial = [start] if kind == "rosenbrock" else list(weights.values())
        parameters = [torch.tensor(one.copy(), requires_grad=True) for one in initial]

        def loss(parameters: Any = parameters, kind: str = kind) -> Any:
            if kind == "rosenbrock":
                return rosenbrock(parameters[0])
            hidden = torch.tanh(torch.tensor(x) @ parameters[0])
            return ((hidden @ parameters[1] - torch.tensor(y)) ** 2).mean()

        optimizer = torch.optim.LBFGS(
            parameters, max_iter=1, max_eval=26, line_search_fn="strong_wolfe", tolerance_grad=0.0, **options
        )

        def closure(loss: Any = loss, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            value = loss()
            value.backward()
            return value

        seen = []
        for _ in range(STEPS):
            optimizer.step(closure)
            seen.append(np.concatenate([one.detach().numpy().reshape(-1) for one in parameters]))
        arrays[f"{name}/after"] = np.stack(seen)
        arrays[f"{name}/evaluations"] = np.array(optimizer.state[parameters[0]]["func_evals"])
    np.savez_compressed(Path(__file__).with_name("line_search.npz"), **arrays)


if __name__ == "__main__":
    main()
