"""A loss scale that adapts itself: it shrinks where gradients are not finite and skips updates, and grows elsewhere."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader, Labelled, LabelledArrays
from moonxi.dtypes import F16, F32
from moonxi.errors import ModuleError, OptionError
from moonxi.train import Checkpoints
from tests.backends.on_gpu import gpu_or_skip
from tests.train.test_trainer import loss

type Host = mx.NpArray[mx.F64]

CPU = mx.numpy(mx.F64)
RULE = optim.Sgd(lr=0.1, momentum=0.9, weight_decay=0.01)
SCALED = optim.LossScaled(optimizer=RULE, initial=1024.0, every=2, smallest=256.0)


def model_and_gradients() -> tuple[nn.Linear[Host], nn.Linear[Host]]:
    keys = mx.Key(0).split(2)
    model = nn.Linear.init(4, 3, like=CPU, key=keys[0])
    return model, model.map(lambda one: one.normal(one.shape, keys[1]))


def with_one(gradients: nn.Linear[Host], value: float) -> nn.Linear[Host]:
    """The gradients with one element that is something else."""
    array = gradients.weight.to_host().copy()
    array[1, 2] = value
    return nn.Linear(CPU.from_host(array), gradients.bias)


@pytest.mark.parametrize("compiled", [False, True])
def test_finite_gradients_update_as_the_rule_does(compiled: bool) -> None:
    update = mx.compile(SCALED.update) if compiled else SCALED.update
    model, gradients = model_and_gradients()
    state, other, plain = SCALED.init(model), model, RULE.init(model)
    scales = []
    for _ in range(5):
        scales.append(SCALED.scale(state).item())
        model, state = update(model, gradients, state)
        other, plain = RULE.update(other, gradients, plain)
        np.testing.assert_allclose(model.weight.to_host(), other.weight.to_host(), rtol=1e-12)
    assert scales == [1024.0, 1024.0, 2048.0, 2048.0, 4096.0]
    assert state.step.item() == 5.0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_that_are_not_finite_change_nothing_but_the_scale(compiled: bool, value: float) -> None:
    update = mx.compile(SCALED.update) if compiled else SCALED.update
    model, gradients = model_and_gradients()
    first, state = update(model, gradients, SCALED.init(model))
    after, skipped = update(first, with_one(gradients, value), state)
    for mine, theirs in zip(after.parameters(), first.parameters(), strict=True):
        np.testing.assert_array_equal(mine.to_host(), theirs.to_host())
    assert skipped.step.item() == 1.0
    np.testing.assert_array_equal(skipped.slots["velocity"][0].to_host(), state.slots["velocity"][0].to_host())
    assert SCALED.scale(skipped).item() == 512.0
    _, again = update(after, gradients, skipped)
    assert SCALED.scale(again).item() == 512.0, "the count of good updates began anew"
    _, again = update(after, gradients, again)
    assert SCALED.scale(again).item() == 1024.0
    for _ in range(3):
        _, again = update(after, with_one(gradients, value), again)
    assert SCALED.scale(again).item() == 256.0, "never below the smallest"


def test_the_scale_stays_below_the_largest() -> None:
    scaled = optim.LossScaled(optimizer=RULE, initial=2.0**14, every=1)
    model, gradients = model_and_gradients()
    state = scaled.init(model)
    for _ in range(3):
        model, state = scaled.update(model, gradients, state)
    assert scaled.scale(state).item() == 2.0**15


def test_a_scale_that_is_a_tensor_gives_the_gradients_of_a_number() -> None:
    model, _ = model_and_gradients()
    batch = mx.Labelled(CPU.normal((5, 4), mx.Key(3)), CPU.labels(np.arange(5) % 3))
    _, expected = mx.value_and_grad(loss, model, batch, mx.Eval(), scale=64.0)
    _, found = mx.value_and_grad(loss, model, batch, mx.Eval(), scale=CPU.full((), 64.0))
    np.testing.assert_array_equal(found.weight.to_host(), expected.weight.to_host())


def test_wrong_settings_and_states_are_refused() -> None:
    with pytest.raises(OptionError, match=r"LossScaled: growth=1.0: must be greater than 1"):
        optim.LossScaled(optimizer=RULE, growth=1.0)
    with pytest.raises(OptionError, match=r"LossScaled: backoff=1.0: must be greater than 0 and less than 1"):
        optim.LossScaled(optimizer=RULE, backoff=1.0)
    with pytest.raises(OptionError, match=r"initial=65536.0, largest=65536.0: must rise, up to 65504"):
        optim.LossScaled(optimizer=RULE, initial=65536.0, largest=65536.0)
    model, gradients = model_and_gradients()
    with pytest.raises(ModuleError, match=r"LossScaled: the state is of an optimizer without a loss scale: make one"):
        SCALED.update(model, gradients, RULE.init(model))


def loader() -> DataLoader[Labelled[Host]]:
    generator = np.random.default_rng(0)
    return DataLoader(
        LabelledArrays(CPU, generator.normal(size=(40, 4)), generator.integers(0, 3, 40)), batch_size=8, seed=0
    )


def test_a_resumed_run_goes_on_with_its_scale(tmp_path: Path) -> None:
    def new() -> mx.Trainer[Host, nn.Linear[Host], Any]:
        model, _ = model_and_gradients()
        return mx.Trainer(model, loss, SCALED, key=mx.Key(0), passes=mx.numpy())

    whole, first, second = new(), new(), new()
    whole.fit(loader(), epochs=2, progress=False)
    first.fit(loader(), epochs=1, progress=False, checkpoints=Checkpoints(tmp_path))
    second.fit(loader(), epochs=2, progress=False, checkpoints=Checkpoints(tmp_path), resume=True)
    assert SCALED.scale(second.state).item() == SCALED.scale(whole.state).item() > 1024.0
    np.testing.assert_array_equal(second.model.weight.to_host(), whole.model.weight.to_host())


@pytest.mark.gpu
@pytest.mark.parametrize("compiled", [False, True])
def test_half_precision_trains_with_it_where_gradients_would_vanish_or_overflow(compiled: bool) -> None:
    """The loss is a millionth: its gradients are 0 in F16 without a scale, and with the first one some are infinite."""

    def small[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Labelled[T], mode: mx.Mode) -> T:
        value, _ = loss(model, batch, mode)
        return value * 3e-5

    like, half = gpu_or_skip(F32)(), gpu_or_skip(F16)()
    generator = np.random.default_rng(0)
    batch = mx.Labelled(like.from_host(generator.normal(size=(32, 4))), like.labels(np.arange(32) % 3))
    start = nn.Linear.init(4, 3, like=like, key=mx.Key(1))
    losses = []
    for passes in like, half:
        rule = optim.Sgd(lr=3e4)
        optimizer: Any = optim.LossScaled(optimizer=rule, every=4) if passes is half else rule
        trainer: Any = mx.Trainer(start, small, optimizer, key=mx.Key(0), passes=passes, compile=compiled)
        losses.append([trainer.step(batch)["loss"] for _ in range(12)])
    assert losses[0][-1] < 0.9 * losses[0][0]
    np.testing.assert_allclose(losses[1], losses[0], rtol=2e-2)
