"""Ctrl-C at every line of a replay on the GPU: what was given out stays as it is, and the next call is right."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Self

import numpy as np
import pytest

import moonxi as mx
from moonxi import losses, nn, optim
from moonxi.backends.cupy import GpuTensor
from moonxi.dtypes import F32
from tests.backends.on_gpu import gpu_or_skip

pytestmark = pytest.mark.gpu

type Gpu = GpuTensor[F32]
type Model = nn.Linear[Gpu]
type State = optim.OptimizerState[Gpu, Model]
type Step = Callable[[Model, State, mx.Paired[Gpu], mx.Key], tuple[Model, State, Gpu]]

# Not step.py: at the end of a `with` Python lets no interrupt in, and a tracing function can.
FILES = {"recording.py", "lease.py", "bringing.py", "device_plan.py", "going_on.py"}


class Interrupt:
    """Raises `KeyboardInterrupt` at a line of these files, counted from the start."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __enter__(self) -> Self:
        self._before = sys.gettrace()
        sys.settrace(self._look)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(self._before)

    def _look(self, frame: FrameType, event: str, argument: object) -> Any:
        path = Path(frame.f_code.co_filename)
        if path.name not in FILES or path.parent.name not in ("cupy", "compiled"):
            return None
        return self._line

    def _line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self._line


def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Paired[T], mode: mx.Mode) -> T:
    return losses.mse(model.forward(batch.x), batch.y)


def step_with(optimizer: optim.Sgd) -> Step:
    def step(model: Model, state: State, batch: mx.Paired[Gpu], key: mx.Key) -> tuple[Model, State, Gpu]:
        value, gradients = mx.value_and_grad(loss, model, batch, mx.Train(key))
        return (*optimizer.update(model, gradients, state), value)

    return step


def hosts(model: Model, state: State) -> list[np.ndarray[Any, Any]]:
    return [x.to_host() for x in (*model.named_parameters().values(), *state.slots["velocity"])]


def same(found: tuple[Model, State], expected: list[np.ndarray[Any, Any]]) -> bool:
    return all(np.allclose(one, other, atol=1e-6) for one, other in zip(hosts(*found), expected, strict=True))


@pytest.mark.parametrize("calls", [1, 3], ids=["recording", "replay"])
@pytest.mark.parametrize("repeated", [False, True], ids=["single", "repeated"])
def test_an_interrupt_at_any_line_changes_nothing(calls: int, *, repeated: bool) -> None:
    like = gpu_or_skip(F32)()
    step = step_with(optimizer := optim.Sgd(lr=0.1, momentum=0.9))
    runs, key = (4 if repeated else 1), mx.Key(3)
    batches = [
        mx.Paired(like.normal((4 * runs, 3), mx.Key(n)), like.normal((4 * runs, 2), mx.Key(n + 9))) for n in (1, 2)
    ]
    start = nn.Linear.init(3, 2, like=like, key=mx.Key(0))

    def fresh() -> tuple[Step, Model, State]:
        compiled: Step = mx.repeat(mx.compile(step), runs) if repeated else mx.compile(step)
        model, state = start, optimizer.init(start)
        for _ in range(calls):
            model, state, _ = compiled(model, state, batches[0], key)
        return compiled, model, state

    def eagerly(model: Model, state: State, batch: mx.Paired[Gpu]) -> list[np.ndarray[Any, Any]]:
        for run in range(runs):
            part = mx.Paired(batch.x[4 * run : 4 * run + 4], batch.y[4 * run : 4 * run + 4])
            model, state, _ = step(model, state, part, key)
        return hosts(model, state)

    compiled, model, state = fresh()
    kept, row = hosts(model, state), model.weight[1]
    row_kept = row.to_host()
    expected = [eagerly(model, state, batch) for batch in batches]
    for at in range(1, 100_000, 1 if calls == 3 else 31):
        if calls == 1:  # each time it is the recording that is interrupted
            compiled, model, state = fresh()
        try:
            with Interrupt(at) as interrupt:
                compiled(model, state, batches[1], key)
        except KeyboardInterrupt:
            pass
        else:
            assert interrupt.left > 0
            break
        assert same((model, state), kept), at
        for batch, wanted in zip(reversed(batches), reversed(expected), strict=True):
            found = compiled(model, state, batch, key)
            assert same(found[:2], wanted), at
            assert same((model, state), kept), at
            again = compiled(*found[:2], batch, key)
            assert same(found[:2], wanted), at
            assert same(again[:2], eagerly(*found[:2], batch)), at
        assert np.array_equal(row.to_host(), row_kept), at
    assert at > 20
