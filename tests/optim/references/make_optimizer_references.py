"""Makes optimizers.npz: the parameters of a small network after each of 20 steps of PyTorch's optimizers, in float64.

Those that PyTorch has not, Lion and LAMB, are plain transcriptions of their papers with NumPy. PyTorch's Muon computes
in bfloat16 in the middle; here it is kept from that. Its weights are the other way round, here too.

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
# Optimizer and options, the norm to clip to (or minus the value), the period and the factor of the learning rate.
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
    "adamw": ("AdamW", {"lr": 0.05, "weight_decay": 0.1}, None, None),
    "adamw_all": ("AdamW", {"lr": 0.1, "weight_decay": 0.3, "betas": (0.8, 0.9)}, 1.0, (5, 0.5)),
    "rmsprop": ("RMSprop", {"lr": 0.01}, None, None),
    "rmsprop_momentum": ("RMSprop", {"lr": 0.01, "momentum": 0.9, "alpha": 0.9}, None, None),
    "rmsprop_centred": ("RMSprop", {"lr": 0.01, "centered": True, "eps": 1e-3}, None, None),
    "rmsprop_all": (
        "RMSprop",
        {"lr": 0.01, "centered": True, "momentum": 0.5, "eps": 1e-3, "weight_decay": 0.1},
        1.0,
        (5, 0.5),
    ),
    "adagrad": ("Adagrad", {"lr": 0.2}, None, None),
    "adagrad_all": (
        "Adagrad",
        {"lr": 0.2, "initial_accumulator_value": 0.3, "eps": 1e-3, "weight_decay": 0.1},
        1.0,
        (5, 0.5),
    ),
    "nadam": ("NAdam", {"lr": 0.05}, None, None),
    "nadam_all": (
        "NAdam",
        {"lr": 0.05, "betas": (0.8, 0.95), "momentum_decay": 0.1, "weight_decay": 0.1, "eps": 1e-3},
        1.0,
        (5, 0.5),
    ),
    "lbfgs": ("LBFGS", {"lr": 1.0, "max_iter": 1}, None, None),
    "lbfgs_short_history": ("LBFGS", {"lr": 0.5, "max_iter": 1, "history_size": 3}, None, None),
    "lion": ("Lion", {"lr": 0.01}, None, None),
    "lion_all": ("Lion", {"lr": 0.02, "betas": (0.8, 0.95), "weight_decay": 0.3}, 1.0, (5, 0.5)),
    "lamb": ("Lamb", {"lr": 0.02}, None, None),
    "lamb_all": ("Lamb", {"lr": 0.05, "betas": (0.8, 0.95), "weight_decay": 0.3, "eps": 1e-3}, 1.0, (5, 0.5)),
    "muon": ("Muon", {"lr": 0.02}, None, None),
    "muon_all": (
        "Muon",
        {"lr": 0.05, "momentum": 0.8, "nesterov": False, "weight_decay": 0.5, "adjust_lr_fn": "match_rms_adamw"},
        1.0,
        (5, 0.5),
    ),
    "clipped_by_value": ("SGD", {"lr": 0.3}, -0.2, None),
    "decay_of_matrices": ("AdamW", {"lr": 0.05, "weight_decay": 0.5, "decay": "matrices"}, None, None),
    "groups": ("Adam", {"lr": 0.05, "biases": {"lr": 0.2, "betas": (0.5, 0.9)}}, None, None),
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
    turned = method == "Muon"
    x, y = torch.tensor(problem["x"]), torch.tensor(problem["y"])
    parameters = [torch.tensor(problem[name].T if turned else problem[name], requires_grad=True) for name in SHAPES]
    optimizers = made(method, options, parameters)
    schedules = [optim.lr_scheduler.StepLR(one, decay[0], decay[1]) for one in optimizers] if decay else []
    norms = []
    rows = []

    def backward() -> Any:
        w1, b1, w2, b2 = (one.T if turned and one.ndim == 2 else one for one in parameters)
        loss = (((x @ w1 + b1).tanh() @ w2 + b2 - y) ** 2).mean()
        for one in parameters:
            one.grad = None
        loss.backward()
        return loss

    for _ in range(STEPS):
        backward()
        if limit is not None and limit > 0:
            norms.append(float(torch.nn.utils.clip_grad_norm_(parameters, limit)))
        elif limit is not None:
            torch.nn.utils.clip_grad_value_(parameters, -limit)
        for optimizer in optimizers:
            optimizer.step(*([backward] if method == "LBFGS" else []))
        for schedule in schedules:
            schedule.step()
        rows.append(
            torch.cat([(one.T if turned and one.ndim == 2 else one).detach().reshape(-1) for one in parameters])
        )
    if limit is not None and limit > 0:
        print(f"{recipe}: {sum(norm > limit for norm in norms)} of {STEPS} steps are clipped")
    return torch.stack(rows).numpy()


def made(method: str, options: dict[str, Any], parameters: list[Any]) -> list[Any]:
    """The optimizers of the parameters: two where Muon leaves some to another."""
    matrices, biases = parameters[::2], parameters[1::2]
    options = dict(options)
    if method in ("Lion", "Lamb"):
        return [{"Lion": Lion, "Lamb": Lamb}[method](parameters, **options)]
    if method == "Muon":
        return [optim.Muon(matrices, **options), optim.AdamW(biases, lr=options["lr"], weight_decay=0.1)]
    if options.pop("decay", None) == "matrices":
        return [getattr(optim, method)([{"params": matrices}, {"params": biases, "weight_decay": 0.0}], **options)]
    if "biases" in options:
        others = options.pop("biases")
        return [getattr(optim, method)([{"params": matrices}, {"params": biases, **others}], **options)]
    return [getattr(optim, method)(parameters, **options)]


class Lion(optim.Optimizer):  # type: ignore[misc, unused-ignore]
    """Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms", algorithm 2."""

    def __init__(self, parameters: Any, lr: float, betas: Any = (0.9, 0.99), weight_decay: float = 0.0) -> None:
        super().__init__(parameters, {"lr": lr})
        self.betas, self.decay = betas, weight_decay
        self.m: dict[int, Any] = {}

    def step(self) -> None:
        """One update of the memory that the tensors share with NumPy."""
        for group in self.param_groups:
            for one in group["params"]:
                theta, g, m = one.detach().numpy(), one.grad.numpy(), self.m.get(id(one), 0.0)
                c = self.betas[0] * m + (1 - self.betas[0]) * g
                theta[...] = theta - group["lr"] * (np.sign(c) + self.decay * theta)
                self.m[id(one)] = self.betas[1] * m + (1 - self.betas[1]) * g


class Lamb(optim.Optimizer):  # type: ignore[misc, unused-ignore]
    """You et al. 2020, "Large Batch Optimization for Deep Learning", algorithm 2, with the identity as phi."""

    def __init__(
        self, parameters: Any, lr: float, betas: Any = (0.9, 0.999), eps: float = 1e-6, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, {"lr": lr})
        self.betas, self.eps, self.decay = betas, eps, weight_decay
        self.t = 0
        self.memory: dict[int, tuple[Any, Any]] = {}

    def step(self) -> None:
        """One update of the memory that the tensors share with NumPy."""
        self.t += 1
        b1, b2 = self.betas
        for group in self.param_groups:
            for one in group["params"]:
                x, g = one.detach().numpy(), one.grad.numpy()
                m, v = self.memory.get(id(one), (0.0, 0.0))
                m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
                self.memory[id(one)] = m, v
                r = (m / (1 - b1**self.t)) / (np.sqrt(v / (1 - b2**self.t)) + self.eps)
                u = r + self.decay * x
                x[...] = x - group["lr"] * np.linalg.norm(x) / np.linalg.norm(u) * u


if __name__ == "__main__":
    torch.Tensor.bfloat16 = torch.Tensor.clone  # only Muon calls it
    torch.set_default_dtype(torch.float64)  # NAdam keeps the product of its momenta in it
    main()
