"""What is remembered of a model between two walks is what a walk would find."""

import gc
import weakref
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import pytest

import moonxi as mx
from moonxi import nn
from moonxi.nn import outline

type Array = mx.NpArray[mx.F32]

CPU = mx.numpy()


class Two[T: mx.Tensor](NamedTuple):
    left: T
    right: T


@dataclass(frozen=True)
class Layer[T: mx.Tensor](nn.Module[T]):
    weight: T
    mean: mx.State[T]
    factor: float = 2.0

    @cached_property
    def size(self) -> int:
        return self.weight.shape[0]


@dataclass(frozen=True)
class Net[T: mx.Tensor](nn.Module[T]):
    layers: tuple[Layer[T], ...]
    pair: Two[T]
    nothing: tuple[int, ...] = (1, 2)
    none: None = None


@dataclass(frozen=True)
class Listed[T: mx.Tensor](nn.Module[T]):
    parts: list[T]


def layer(value: float) -> Layer[Array]:
    return Layer(CPU.full((2,), value), mx.State(CPU.full((2,), -value)))


def net() -> Net[Array]:
    tied = layer(1.0)
    return Net((tied, layer(2.0), tied), Two(CPU.full((1,), 3.0), tied.weight))


def numbers(model: Net[Array]) -> list[float]:
    return [float(one.to_host()[0]) for one in (*model.parameters(), *model.named_states().values())]


def test_a_model_made_from_another_is_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model = net()
    assert list(model.named_parameters()) == ["layers[0].weight", "layers[1].weight", "pair[0]"]

    def refuse(*_: object) -> None:
        raise AssertionError("a second search")

    monkeypatch.setattr(outline, "_Search", refuse)
    for _ in range(2):
        model = model.map(lambda x: x + 1.0)
    assert numbers(model) == [3.0, 4.0, 5.0, 1.0, 0.0]
    assert list(model.named_states()) == ["layers[0].mean", "layers[1].mean"]


def test_what_is_tied_stays_tied_and_settings_are_the_same_objects() -> None:
    model = net()
    after = model.map(lambda x: x * 2.0)
    assert type(after) is Net
    assert type(after.pair) is Two
    assert after.layers[0] is after.layers[2]
    assert after.layers[0] is not after.layers[1]
    assert after.layers[0].weight is after.pair.right
    assert after.layers[0].factor == 2.0
    assert after.nothing is model.nothing
    assert after.none is None


def test_a_cached_property_is_computed_anew() -> None:
    first = layer(1.0)
    assert first.size == 2
    after = first.map(lambda x: x.reshape((1, 2)))
    assert after.size == 1


def test_a_list_that_is_changed_in_place_is_seen() -> None:
    model = Listed([CPU.full((1,), 1.0)])
    assert list(model.named_parameters()) == ["parts[0]"]
    model.parts.append(CPU.full((1,), 2.0))
    assert list(model.named_parameters()) == ["parts[0]", "parts[1]"]


def test_a_model_is_remembered_no_longer_than_it_lives() -> None:
    model = net().map(lambda x: x + 1.0)
    tensor, before = weakref.ref(model.layers[0]), len(outline._known)
    assert model.parameters()
    del model
    gc.collect()
    assert tensor() is None
    assert len(outline._known) < before
