"""Parts of a model that are not trained."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader, Labelled, LabelledArrays
from moonxi.errors import CheckpointError, GradientError, OptionError
from moonxi.losses import Logits, cross_entropy
from moonxi.train import Checkpoints, Trainer

type Array = mx.NpArray[mx.F32]
CPU = mx.numpy()


@dataclass(frozen=True)
class Net[T: mx.MlpTensor](nn.Module[T]):
    stem: nn.Linear[T]
    head: nn.Linear[T]

    @classmethod
    def init(cls, like: T) -> "Net[T]":
        stem, head = mx.Key(4).split()
        return cls(nn.Linear.init(4, 5, like=like, key=stem), nn.Linear.init(5, 3, like=like, key=head))

    def forward(self, x: T) -> Logits[T]:
        return Logits(self.head.forward(self.stem.forward(x).relu()))


def loss[T: mx.MlpTensor](model: Net[T], batch: Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(model.forward(batch.x), batch.labels)


def loader() -> DataLoader[Labelled[Array]]:
    generator = np.random.default_rng(0)
    data = LabelledArrays(CPU, generator.normal(size=(20, 4)), generator.integers(0, 3, 20))
    return DataLoader(data, batch_size=8, seed=0)


def trained(
    optimizer: optim.MlpOptimizer, frozen: optim.Predicate | None
) -> Trainer[Array, Net[Array], Labelled[Array]]:
    trainer = Trainer(Net.init(CPU), loss, optimizer, key=mx.Key(0), frozen=frozen)
    trainer.fit(loader(), epochs=2, progress=False)
    return trainer


OPTIMIZERS: list[optim.MlpOptimizer] = [
    optim.AdamW(lr=0.1, weight_decay=0.5),
    optim.Sgd(lr=0.1, momentum=0.9, weight_decay=0.1, clip_norm=0.01),
    optim.Muon(lr=0.1, rest=optim.AdamW(lr=0.1), where=optim.named("weight")),
    optim.Lbfgs(lr=0.1),
]


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda one: type(one).__name__)
def test_frozen_parameters_stay_the_same_objects_and_the_others_are_trained(optimizer: optim.MlpOptimizer) -> None:
    start = Net.init(CPU)
    trainer = Trainer(start, loss, optimizer, key=mx.Key(0), frozen=optim.within(start, start.stem))
    trainer.fit(loader(), epochs=1, progress=False)
    after = trainer.model
    assert (after.stem.weight, after.stem.bias) == (start.stem.weight, start.stem.bias)
    assert not np.array_equal(after.head.weight.to_host(), start.head.weight.to_host())
    assert trainer.state.names == ("head.weight", "head.bias")


def test_the_clipped_norm_is_that_of_what_is_trained() -> None:
    def head_only[T: mx.MlpTensor](model: nn.Linear[T], batch: Labelled[T], mode: nn.Mode) -> T:
        return cross_entropy(Logits(model.forward(batch.x)), batch.labels)

    start = Net.init(CPU)
    optimizer = optim.Sgd(lr=0.5, clip_norm=0.05)
    whole = Trainer(start, loss, optimizer, key=mx.Key(0), frozen=optim.named("stem"))
    alone = Trainer(start.head, head_only, optimizer, key=mx.Key(0))
    for batch in loader().epoch(0):
        whole.step(batch)
        alone.step(Labelled(start.stem.forward(batch.x).relu(), batch.labels))
    assert np.allclose(whole.model.head.weight.to_host(), alone.model.weight.to_host(), atol=1e-7)


def test_no_gradient_is_computed_for_what_is_frozen() -> None:
    model, batch = Net.init(CPU), next(loader().epoch(0))
    _, every = mx.value_and_grad(loss, model, batch, mx.Eval())
    _, some = mx.value_and_grad(loss, model, batch, mx.Eval(), frozen=optim.named("stem"))
    assert some.stem.weight.to_host().tolist() == np.zeros((4, 5)).tolist()
    assert np.array_equal(some.head.weight.to_host(), every.head.weight.to_host())
    assert (products(None), products(optim.named("stem"))) == (3, 1)


def products(frozen: optim.Predicate | None) -> int:
    """How many products of matrices a backward pass has."""
    times = mx.Profile()
    model = Net.init(CPU).map(lambda x: mx.profile(x, into=times))
    batch = next(loader().epoch(0)).map(lambda x: mx.profile(x, into=times))
    mx.value_and_grad(loss, model, batch, mx.Eval(), frozen=frozen)
    return sum(row.calls for row in times.rows if (row.operation, row.direction) == ("matmul", "backward"))


def test_several_batches_a_step_leave_what_is_frozen() -> None:
    start = Net.init(CPU)
    trainer = Trainer(start, loss, optim.Adam(lr=0.1), key=mx.Key(0), frozen=optim.named("stem"))
    trainer.step(*loader().epoch(0))
    assert trainer.model.stem.weight is start.stem.weight


@pytest.mark.parametrize(
    ("frozen", "text"),
    [
        (optim.named("stme"), r"^frozen: named\(patterns=\('stme',\)\) picks none of the 4 parameters of Net: stem\.w"),
        (lambda path, shape: True, r"picks all of the 4 parameters of Net: stem\.weight, stem\.bias, head\.weight, "),
    ],
)
def test_freezing_nothing_or_all_is_refused(frozen: optim.Predicate, text: str) -> None:
    with pytest.raises(OptionError, match=text):
        Trainer(Net.init(CPU), loss, optim.Adam(lr=0.1), key=mx.Key(0), frozen=frozen)


def test_a_gradient_of_nothing_is_refused() -> None:
    with pytest.raises(GradientError, match=r"^value_and_grad: Net: all 4 parameters are frozen: there is none to"):
        mx.value_and_grad(loss, Net.init(CPU), next(loader().epoch(0)), mx.Eval(), frozen=lambda path, shape: True)


def test_a_part_of_another_model_is_refused() -> None:
    model = Net.init(CPU)
    with pytest.raises(OptionError, match=r"^within: part 1, a Linear, has no parameter of this Net$"):
        optim.within(model, model.stem, Net.init(CPU).head)


def test_a_run_with_frozen_parts_goes_on_after_a_break_and_with_others_not(tmp_path: Path) -> None:
    def run(epochs: int, folder: Path, frozen: optim.Predicate) -> bytes:
        trainer = Trainer(Net.init(CPU), loss, optim.Adam(lr=0.1), key=mx.Key(0), frozen=frozen)
        trainer.fit(loader(), epochs=epochs, progress=False, checkpoints=Checkpoints(folder), resume=True)
        return b"".join(one.to_host().tobytes() for one in trainer.model.parameters())

    run(1, tmp_path / "broken", optim.named("stem"))
    assert run(2, tmp_path / "broken", optim.named("stem")) == run(2, tmp_path / "whole", optim.named("stem"))
    with pytest.raises(CheckpointError, match=r"\n  frozen\.patterns: \['stem'\] there, \['head'\] here\n"):
        run(3, tmp_path / "broken", optim.named("head"))
