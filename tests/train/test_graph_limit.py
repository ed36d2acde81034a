"""Batches of more sizes than a step may have graphs."""

import warnings
from collections.abc import Mapping

import moonxi as mx
from moonxi import losses, nn
from moonxi.compiled import CompileReport
from moonxi.errors import CompileWarning

type Host = mx.NpArray[mx.F32]

CPU = mx.numpy()


def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Paired[T], mode: nn.Mode) -> T:
    return losses.mse(model.forward(batch.x), batch.y)


def test_what_is_compiled_stays_so_and_the_rest_is_eager() -> None:
    def trained(*, compile: bool) -> tuple[Host, Mapping[str, CompileReport]]:
        model = nn.Linear.init(3, 2, like=CPU, key=mx.Key(0))
        trainer = mx.Trainer(model, loss, mx.Sgd(lr=0.1), key=mx.Key(1), compile=compile)
        for size in [*range(1, 20), 1, 18]:
            trainer.step(mx.Paired(CPU.normal((size, 3), mx.Key(2)), CPU.normal((size, 2), mx.Key(3))))
        return trainer.model.weight, trainer.compile_reports()

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        compiled, reports = trained(compile=True)
    assert [one.category for one in told] == [CompileWarning]
    assert "update: calls that need another graph run eagerly" in str(told[0].message)
    traces = reports["update"].traces
    assert len(traces) == 16
    assert sum(trace.replays for trace in traces) == 1  # the second batch of one
    eager, _ = trained(compile=False)
    assert (compiled - eager).abs().max().item() < 1e-6
