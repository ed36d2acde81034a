"""Many steps at one call are the steps one by one, over data in memory that are cut into batches."""

import numpy as np
import pytest

import moonxi as mx
from examples.mnist import Mlp, loss
from moonxi import nn, optim
from moonxi.errors import LabelError, OptionError, ShapeError

type Host = mx.NpArray[mx.F32]
type Model = Mlp[Host]
type State = optim.OptimizerState[Host, Model]
type Batch = mx.Labelled[Host]

CPU = mx.numpy()
OPTIMIZER = optim.Adam(lr=0.001)
DIGITS = mx.data.mnist(CPU).train


def step(model: Model, state: State, batch: Batch, key: mx.Key) -> tuple[Model, State, Host, dict[str, Host]]:
    noisy = mx.Labelled(batch.x + batch.x.normal(batch.x.shape, key) * 0.01, batch.labels)
    (value, kept), gradients = nn.value_and_grad(loss, model, noisy, nn.Train(key))
    return (*OPTIMIZER.update(model, gradients, state), value, kept)


def bits(model: Model) -> bytes:
    return b"".join(one.to_host().tobytes() for one in model.parameters())


def test_steps_at_one_call_are_the_steps_one_by_one() -> None:
    model = Mlp.init(CPU, mx.Key(0))
    state, key = OPTIMIZER.init(model), mx.Key(1)
    before = bits(model)
    data = DIGITS.batch(np.arange(12 * 16))

    epoch = mx.repeat(step, 12)
    repeated, after, value, kept = epoch(model, state, data, key)
    seen = []
    for single in (mx.compile(step), step):
        one, memory = model, state
        for number in range(12):
            batch = DIGITS.batch(np.arange(number * 16, number * 16 + 16))
            one, memory, expected, named = single(one, memory, batch, key.fold(number))
            seen.append((expected.item(), named["accuracy"].item(), bits(one)))
    assert (value.item(), kept["accuracy"].item(), bits(repeated)) == seen[11]
    assert seen[11][:2] == pytest.approx(seen[23][:2], rel=1e-4)
    assert after.step.item() == 12.0
    assert bits(model) == before

    again, _, _, _ = epoch(model, state, data, key)
    assert bits(again) == bits(repeated)
    (trace,) = mx.compile_report(epoch).traces
    assert trace.replays == 23


def test_a_compiled_step_stays_the_same_one() -> None:
    compiled = mx.compile(step)
    assert mx.compile_report(mx.repeat(compiled, 3)).traces == ()
    model = Mlp.init(CPU, mx.Key(0))
    compiled(model, OPTIMIZER.init(model), DIGITS.batch(np.arange(8)), mx.Key(0))
    assert len(mx.compile_report(mx.repeat(compiled, 3)).traces) == 1


def test_scalars_and_keys_among_the_data_go_to_every_step_and_sums_are_state() -> None:
    type Data = tuple[Host, Host, mx.Key]

    def add(total: Host, count: Host, data: Data, key: mx.Key) -> tuple[Host, Host, Host]:
        x, rate, own = data
        return total + x.sum() * rate, count + 1.0, x.uniform((), own) - x.uniform((), own)

    x = CPU.from_host(np.arange(6.0))
    total, count, difference = mx.repeat(add, 3)(
        CPU.zeros(()), CPU.zeros(()), (x, CPU.full((), 2.0), mx.Key(3)), mx.Key(0)
    )
    assert (total.item(), count.item(), difference.item()) == (30.0, 3.0, 0.0)


def test_data_that_cannot_be_cut_are_refused() -> None:
    model = Mlp.init(CPU, mx.Key(0))
    data = DIGITS.batch(np.arange(10))
    with pytest.raises(
        ShapeError, match=r"repeat: \(10, 784\), n=3: the first axis of the data must be cut into n parts"
    ):
        mx.repeat(step, 3)(model, OPTIMIZER.init(model), data, mx.Key(0))
    with pytest.raises(OptionError, match="repeat: n=0: must be at least 1"):
        mx.repeat(step, 0)


def test_a_wrong_label_in_the_middle_changes_nothing() -> None:
    model = Mlp.init(CPU, mx.Key(0))
    state, before = OPTIMIZER.init(model), bits(model)
    labels = np.zeros(8, np.int64)
    labels[5] = 10
    data = mx.Labelled(CPU.normal((8, 784), mx.Key(2)), CPU.labels(labels))
    with pytest.raises(LabelError, match=r"label 10 at \[1\] is not a class from 0 to 9"):
        mx.repeat(step, 4)(model, state, data, mx.Key(0))
    assert bits(model) == before
