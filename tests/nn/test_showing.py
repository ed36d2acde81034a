"""How models, tensors and what belongs to a run are printed: what they are, on no more than a page."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader
from moonxi.nn.models import ResNet18
from moonxi.train import Checkpoints
from tests.train.test_trainer import dataset, new_trainer

CPU = mx.numpy()


def linear() -> nn.Linear[mx.NpArray[mx.F32]]:
    return nn.Linear.init(4, 3, like=CPU, key=mx.Key(0))


def test_a_layer_shows_the_shapes_of_its_tensors_and_its_settings() -> None:
    assert repr(linear()) == "Linear(weight=NpArray[F32] (4, 3), bias=NpArray[F32] (3,))"
    assert repr(nn.Dropout(0.5)) == "Dropout(rate=0.5)"
    norm = repr(nn.BatchNorm2d.init(3, like=CPU))
    assert norm.startswith("BatchNorm2d(weight=NpArray[F32] (3,), ")
    assert "variance=State(NpArray[F32] (3,))" in norm
    assert repr(linear().map(mx.variable)).startswith("Linear(weight=ImageGrad[F32] (4, 3), ")


def test_layers_within_layers_are_set_in() -> None:
    network = nn.Sequential(linear(), nn.Relu(), nn.Linear.init(3, 2, like=CPU, key=mx.Key(1)))
    assert repr(network).splitlines() == [
        "Sequential(",
        "  layers=(",
        "    Linear(weight=NpArray[F32] (4, 3), bias=NpArray[F32] (3,)),",
        "    Relu(),",
        "    Linear(weight=NpArray[F32] (3, 2), bias=NpArray[F32] (2,))",
        "  )",
        ")",
    ]


def test_a_model_has_a_page_at_most() -> None:
    lines = repr(ResNet18.init(like=CPU, key=mx.Key(0))).splitlines()
    assert len(lines) == 60
    assert lines[0] == "ResNet18("
    assert lines[-1] == ")"
    assert lines[-2].endswith(" more lines; summary() is a table")


@dataclass(frozen=True)
class Named[T: mx.Tensor](nn.Module[T]):
    weights: dict[str, T]

    def __repr__(self) -> str:
        return f"Named({', '.join(self.weights)})"


@dataclass(frozen=True)
class Longer[T: mx.Tensor](Named[T]):
    name: str = "none"


@dataclass(frozen=True)
class Mixed[T: mx.Tensor](nn.Module[T]):
    weights: dict[str, T]
    one: tuple[T]
    settings: list[int]


def test_a_repr_of_ones_own_stays_and_containers_are_looked_into() -> None:
    x = CPU.ones((2,))
    assert repr(Named({"a": x, "b": x})) == "Named(a, b)"
    assert repr(Longer({"a": x})) == "Named(a)"
    assert repr(Mixed({"a": x}, (x,), [1, 2])) == (
        "Mixed(weights={'a': NpArray[F32] (2,)}, one=(NpArray[F32] (2,),), settings=[1, 2])"
    )


@pytest.mark.parametrize("shape", [(64, 3, 32, 32), (2, 3, 4), (100, 100), (100_000,)])
def test_a_tensor_is_a_few_lines(shape: tuple[int, ...]) -> None:
    text = repr(CPU.from_host(np.arange(np.prod(shape), dtype=np.float64).reshape(shape)))
    assert len(text.splitlines()) <= 5
    assert text.startswith(f"NpArray[F32] {shape} [")
    assert repr(CPU.ones((2, 2, 2))).count("[") == 8  # so few are shown as they lie


def test_what_belongs_to_a_run_is_a_line(tmp_path: Path) -> None:
    trainer = new_trainer()
    assert repr(trainer) == f"Trainer(Linear, {optim.Sgd(lr=0.1, momentum=0.9)}, 0 steps, 0 epochs)"
    data = DataLoader(dataset(), batch_size=8, seed=0)
    history = trainer.fit(data, epochs=3, progress=False, checkpoints=Checkpoints(tmp_path / "run"))
    assert repr(history).startswith("History(3 epochs, the last: EpochRecord(epoch=2, steps=21, ")
    assert repr(trainer.state) == "OptimizerState(2 parameters: velocity of 2)"
    assert repr(optim.Ema().init(trainer.model)) == "EmaState(2 parameters)"
    last = Checkpoints(tmp_path / "run").last()
    assert repr(last).startswith(f"Checkpoint('{tmp_path}/run/step-000000021.json': step 21, epoch 3, loss 0.")
    resnet = ResNet18.init(like=CPU, key=mx.Key(0))
    assert repr(optim.within(resnet, resnet)) == (
        "within(stem.conv.weight, stem.conv.bias, stem.norm.weight, stem.norm.bias, ... 78 more)"
    )
