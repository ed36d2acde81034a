"""The values of the schedules against those of PyTorch's schedulers, from references/schedules.npz."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import moonxi as mx
from moonxi import optim

SCHEDULES: dict[str, optim.Schedule] = {
    "exponential": optim.exponential(0.3, factor=0.9, every=optim.Steps(1)),
    "polynomial": optim.polynomial(0.3, optim.Steps(10), power=2.0),
    "line": optim.polynomial(0.3, optim.Steps(10)),
    "cosine": optim.cosine(0.3, optim.Steps(12), final=0.01),
    "warm_up": optim.warm_up(0.4, optim.Steps(5), start=0.1),
    "one_cycle": optim.one_cycle(0.7, optim.Steps(20)),
    "one_cycle_other": optim.one_cycle(0.7, optim.Steps(17), rising=0.45, start_divisor=10.0, final_divisor=7.0),
    "joined": optim.join(
        (optim.warm_up(0.2, optim.Steps(4), start=0.05), optim.cosine(0.2, optim.Steps(8))), at=(optim.Steps(4),)
    ),
    "chained": optim.chain(
        optim.warm_up(1.0, optim.Steps(4), start=0.25), optim.exponential(0.2, 0.9, every=optim.Steps(1))
    ),
}
PLATEAUS = {
    "plateau": ("falling", optim.Plateau(lr=0.5, factor=0.5, patience=2)),
    "plateau_cooldown": ("falling", optim.Plateau(lr=0.5, factor=0.5, patience=1, cooldown=2, min_lr=0.1)),
    "plateau_rising": (
        "rising",
        optim.Plateau(lr=0.5, factor=0.5, patience=2, threshold=0.02, absolute=True, higher_is_better=True),
    ),
}


def stored() -> dict[str, NDArray[np.float64]]:
    with np.load(Path(__file__).parent / "references" / "schedules.npz") as file:
        return {name: file[name] for name in file.files}


REFERENCES = stored()


def values[T: mx.Tensor](schedule: optim.Schedule, like: T, steps: int) -> list[float]:
    return [schedule(like.full((), float(step))).item() for step in range(steps)]


def test_every_stored_schedule_is_tested() -> None:
    assert REFERENCES.keys() == {"falling", "rising", *SCHEDULES, *PLATEAUS}


@pytest.mark.parametrize("name", SCHEDULES)
def test_float64_agrees_with_pytorch_to_1e_12(name: str) -> None:
    expected = REFERENCES[name]
    found = values(SCHEDULES[name], mx.numpy(mx.F64), len(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize("name", SCHEDULES)
def test_float32_agrees_with_pytorch_to_1e_6_of_the_largest(name: str) -> None:
    expected = REFERENCES[name]
    found = values(SCHEDULES[name], mx.numpy(), len(expected))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-6 * expected.max())


@pytest.mark.parametrize("name", PLATEAUS)
def test_the_rate_falls_on_a_plateau_as_with_pytorch(name: str) -> None:
    metrics, plateau = PLATEAUS[name]
    state = plateau.init()
    found = []
    for metric in REFERENCES[metrics]:
        state = plateau.after(state, float(metric))
        found.append(state.lr)
    assert len(set(found)) > 2
    np.testing.assert_allclose(found, REFERENCES[name], rtol=1e-12)
