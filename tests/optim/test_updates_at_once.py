"""Optimizers on a tensor class that computes formulas: many parameters at once, to the same bits as one by one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.formulas import Formula
from moonxi.fusion import formula_of
from tests.compiled.device_array import DeviceArray, device

OPTIMIZERS: dict[str, optim.Optimizer] = {
    "sgd": optim.Sgd(lr=0.1),
    "sgd, clipped": optim.Sgd(lr=0.1, momentum=0.9, weight_decay=0.01, clip_norm=0.5, clip_value=0.4, nesterov=True),
    "sgd, decay of weights, schedule": optim.Sgd(
        lr=optim.step_decay(0.1, every=optim.Steps(2), factor=0.5), weight_decay=0.01, decay_where=optim.weights
    ),
    "adam": optim.Adam(lr=0.01, weight_decay=0.1),
    "adamw": optim.AdamW(lr=optim.step_decay(0.1, every=optim.Steps(2), factor=0.5)),
    "nadam": optim.NAdam(lr=0.01),
    "rmsprop": optim.RmsProp(lr=0.01, momentum=0.9, centred=True),
    "adagrad": optim.Adagrad(lr=0.01),
    "lion": optim.Lion(lr=0.01),
    "lamb": optim.Lamb(lr=0.01, clip_norm=1.0),
}
AT_ONCE = set(OPTIMIZERS) - {"lamb", "nadam"}  # which take norms, and remember one number


@dataclass(frozen=True)
class Parameters[T: mx.MlpTensor](nn.Module[T]):
    """Some of every shape."""

    matrix: T
    other: T
    vector: T
    scalar: T
    empty: T


def made(like: Any, seed: int) -> Parameters[Any]:
    keys = mx.Key(seed).split(5)
    shapes: list[tuple[int, ...]] = [(3, 4), (2, 2), (5,), (), (0, 3)]
    return Parameters(*(like.normal(shape, key) for shape, key in zip(shapes, keys, strict=True)))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_bits_are_those_of_one_by_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    optimizer = OPTIMIZERS[name]
    formulas: list[tuple[Formula, int]] = []
    fused = DeviceArray.fused

    def spy(self: Any, formula: Formula, /, *members: Any) -> Any:
        formulas.append((formula, len(members)))
        return fused(self, formula, *members)

    monkeypatch.setattr(DeviceArray, "fused", spy)
    found: list[list[Any]] = []
    for like in (device(mx.F64), mx.numpy(mx.F64)):
        model: Any = made(like, 0)
        state: Any = optimizer.init(model)
        for number in range(4):
            model, state = optimizer.update(model, made(like, number + 1), state)
        tensors = [*model.named_tensors()[0].values(), *(one for slot in state.slots.values() for one in slot)]
        found.append([one.to_host() for one in tensors])
        if isinstance(like, DeviceArray):
            counts = [count for formula, count in formulas if formula.results and len(formula.steps) > 1]
            assert (5 in counts or {2, 3} <= set(counts)) == (name in AT_ONCE)
    for mine, theirs in zip(*found, strict=True):
        assert np.array_equal(mine, theirs)
    assert name == "lamb" or formulas


def test_what_is_not_element_wise_has_no_formula() -> None:
    assert formula_of(lambda each, _: ([each[0].sum()], []), each=1) is None
    assert formula_of(lambda each, _: ([each[0].reshape((2, 3))], []), each=1) is None
    assert formula_of(lambda each, _: ([each[0].ones((2,))], []), each=1) is None
    assert formula_of(lambda each, _: ([each[0]], []), each=1) is None
    assert formula_of(lambda each, _: ([each[0].full((), 1.0)], []), each=1) is None
    assert formula_of(lambda each, _: ([each[0].full((), 1.0) + 1.0], []), each=1) is None


def test_a_formula_has_a_step_for_each_operation() -> None:
    formula = formula_of(
        lambda each, ones: ([(2.0 - each[0] * ones[0]).where(each[0] > 0.0, each[1]).sigmoid()], [each[1].square()]),
        each=2,
        shared=1,
    )
    assert formula is not None
    assert [step.operation for step in formula.steps][:4] == ["__mul__", "__sub__", "__gt__", "where"]
    assert formula.steps[1].terms == (float(2).hex(), 3)
    assert formula.steps[3].terms == (4, 5, 1)
    assert formula.sums == (2 + 1 + len(formula.steps) - 1,)
