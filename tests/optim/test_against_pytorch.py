"""Twenty steps of each optimizer against PyTorch's, from references/optimizers.npz."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import moonxi as mx
from moonxi import nn, optim
from moonxi.losses import mse

type Float64s = NDArray[np.float64]

OPTIMIZERS: dict[str, optim.Optimizer | optim.Muon] = {
    "sgd": optim.Sgd(lr=0.1),
    "sgd_momentum": optim.Sgd(lr=0.1, momentum=0.9),
    "sgd_nesterov": optim.Sgd(lr=0.1, momentum=0.8, nesterov=True),
    "sgd_weight_decay": optim.Sgd(lr=0.1, weight_decay=0.05),
    "sgd_momentum_weight_decay": optim.Sgd(lr=0.1, momentum=0.9, weight_decay=0.05),
    "sgd_clipped": optim.Sgd(lr=0.3, clip_norm=1.5),
    "sgd_step_decay": optim.Sgd(lr=optim.step_decay(0.5, every=optim.Steps(7), factor=0.1)),
    "sgd_all": optim.Sgd(
        lr=optim.step_decay(0.2, every=optim.Steps(5), factor=0.5),
        momentum=0.9,
        nesterov=True,
        weight_decay=0.01,
        clip_norm=0.5,
    ),
    "adam": optim.Adam(lr=0.05),
    "adam_other_betas": optim.Adam(lr=0.05, beta1=0.5, beta2=0.75, epsilon=1e-3),
    "adam_no_memory": optim.Adam(lr=0.01, beta1=0.0, beta2=0.0),
    "adam_weight_decay": optim.Adam(lr=0.05, weight_decay=0.1),
    "adam_clipped": optim.Adam(lr=0.05, epsilon=1e-2, clip_norm=2.0),
    "adam_step_decay": optim.Adam(lr=optim.step_decay(0.1, every=optim.Steps(6), factor=0.25)),
    "adamw": optim.AdamW(lr=0.05, weight_decay=0.1),
    "adamw_all": optim.AdamW(
        lr=optim.step_decay(0.1, every=optim.Steps(5), factor=0.5),
        weight_decay=0.3,
        beta1=0.8,
        beta2=0.9,
        clip_norm=1.0,
    ),
    "rmsprop": optim.RmsProp(lr=0.01),
    "rmsprop_momentum": optim.RmsProp(lr=0.01, momentum=0.9, alpha=0.9),
    "rmsprop_centred": optim.RmsProp(lr=0.01, centred=True, epsilon=1e-3),
    "rmsprop_all": optim.RmsProp(
        lr=optim.step_decay(0.01, every=optim.Steps(5), factor=0.5),
        centred=True,
        momentum=0.5,
        epsilon=1e-3,
        weight_decay=0.1,
        clip_norm=1.0,
    ),
    "adagrad": optim.Adagrad(lr=0.2),
    "adagrad_all": optim.Adagrad(
        lr=optim.step_decay(0.2, every=optim.Steps(5), factor=0.5),
        initial=0.3,
        epsilon=1e-3,
        weight_decay=0.1,
        clip_norm=1.0,
    ),
    "nadam": optim.NAdam(lr=0.05),
    "nadam_all": optim.NAdam(
        lr=optim.step_decay(0.05, every=optim.Steps(5), factor=0.5),
        beta1=0.8,
        beta2=0.95,
        momentum_decay=0.1,
        weight_decay=0.1,
        epsilon=1e-3,
        clip_norm=1.0,
    ),
    "lbfgs": optim.Lbfgs(history=100),
    "lbfgs_short_history": optim.Lbfgs(lr=0.5, history=3),
    "lion": optim.Lion(lr=0.01),
    "lion_all": optim.Lion(
        lr=optim.step_decay(0.02, every=optim.Steps(5), factor=0.5),
        beta1=0.8,
        beta2=0.95,
        weight_decay=0.3,
        clip_norm=1.0,
    ),
    "lamb": optim.Lamb(lr=0.02),
    "lamb_all": optim.Lamb(
        lr=optim.step_decay(0.05, every=optim.Steps(5), factor=0.5),
        beta1=0.8,
        beta2=0.95,
        weight_decay=0.3,
        epsilon=1e-3,
        clip_norm=1.0,
    ),
    "muon": optim.Muon(lr=0.02, rest=optim.AdamW(lr=0.02, weight_decay=0.1)),
    "muon_all": optim.Muon(
        lr=optim.step_decay(0.05, every=optim.Steps(5), factor=0.5),
        momentum=0.8,
        nesterov=False,
        weight_decay=0.5,
        adjust="match_rms_adamw",
        clip_norm=1.0,
        rest=optim.AdamW(lr=optim.step_decay(0.05, every=optim.Steps(5), factor=0.5), weight_decay=0.1),
    ),
    "clipped_by_value": optim.Sgd(lr=0.3, clip_value=0.2),
    "decay_of_matrices": optim.AdamW(lr=0.05, weight_decay=0.5, decay_where=optim.weights),
    "groups": optim.Grouped(
        groups=(optim.Group(optim.named("bias"), optim.Adam(lr=0.2, beta1=0.5, beta2=0.9)),), rest=optim.Adam(lr=0.05)
    ),
    "adam_all": optim.Adam(
        lr=optim.step_decay(0.1, every=optim.Steps(5), factor=0.5), weight_decay=0.01, clip_norm=1.0
    ),
}


def stored() -> dict[str, Float64s]:
    with np.load(Path(__file__).parent / "references" / "optimizers.npz") as file:
        return {name: file[name] for name in file.files}


REFERENCES = stored()


@dataclass(frozen=True, eq=False)
class Points[T: mx.Tensor]:
    x: T
    y: T

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Points[U]":
        return Points(f(self.x), f(self.y))


@dataclass(frozen=True)
class Net[T: mx.MlpTensor](nn.Module[T]):
    hidden: nn.Linear[T]
    out: nn.Linear[T]

    def forward(self, x: T) -> T:
        return self.out.forward(self.hidden.forward(x).tanh())


def loss[T: mx.MlpTensor](model: Net[T], batch: Points[T], mode: mx.Mode) -> T:
    return mse(model.forward(batch.x), batch.y)


def trained[T: mx.MlpTensor](like: T, optimizer: optim.Optimizer | optim.Muon, steps: int) -> Float64s:
    """All parameters one after another as a row, one row for each step."""
    given = {name: like.from_host(REFERENCES[name]) for name in ("x", "y", "w1", "b1", "w2", "b2")}
    model = Net(nn.Linear(given["w1"], given["b1"]), nn.Linear(given["w2"], given["b2"]))
    batch = Points(given["x"], given["y"])
    state = optimizer.init(model)
    rows = []
    for _ in range(steps):
        _, gradients = mx.value_and_grad(loss, model, batch, mx.Eval())
        model, state = optimizer.update(model, gradients, state)
        rows.append(np.concatenate([one.to_host().reshape(-1) for one in model.parameters()]))
    return np.stack(rows).astype(np.float64)


def test_every_stored_recipe_is_tested() -> None:
    assert REFERENCES.keys() - {"x", "y", "w1", "b1", "w2", "b2"} == OPTIMIZERS.keys()


@pytest.mark.parametrize("recipe", OPTIMIZERS)
def test_float64_agrees_with_pytorch_to_1e_10(recipe: str) -> None:
    expected = REFERENCES[recipe]
    found = trained(mx.numpy(mx.F64), OPTIMIZERS[recipe], len(expected))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("recipe", OPTIMIZERS)
def test_float32_agrees_with_pytorch_to_1e_5_of_the_largest_element(recipe: str) -> None:
    expected = REFERENCES[recipe]
    found = trained(mx.numpy(), OPTIMIZERS[recipe], len(expected))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-5 * np.abs(expected).max())
