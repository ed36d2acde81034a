"""A model's parameters and state found and exchanged in one walk are those of two."""

from dataclasses import dataclass

import moonxi as mx
from moonxi import nn

type Array = mx.NpArray[mx.F32]

CPU = mx.numpy()


@dataclass(frozen=True)
class Net[T: mx.Tensor](nn.Module[T]):
    first: T
    mean: mx.State[T]
    parts: dict[str, T]
    tied: T
    again: mx.State[T]


def net() -> Net[Array]:
    shared, state = CPU.ones((2,)), mx.State(CPU.zeros((3,)))
    return Net(shared, state, {"a": CPU.ones((1,))}, shared, state)


def test_one_walk_finds_what_two_find_in_the_same_order() -> None:
    parameters, states = net().named_tensors()
    assert list(parameters) == list(net().named_parameters()) == ["first", "parts['a']"]
    assert list(states) == list(net().named_states()) == ["mean"]
    model = net()
    parameters, states = model.named_tensors()
    assert all(one is model.named_parameters()[path] for path, one in parameters.items())
    assert all(one is model.named_states()[path] for path, one in states.items())


def test_parameters_and_state_exchanged_together_are_as_one_after_the_other_and_stay_tied() -> None:
    new = [CPU.full((2,), 5.0), CPU.full((1,), 6.0)]
    states = [CPU.full((3,), 7.0)]
    together, apart = net().with_tensors(new, states), net().with_parameters(new).with_states(states)
    for one in (together, apart):
        assert one.first is one.tied
        assert one.mean is one.again
        assert [tensor.to_host().tolist() for tensor in one.parameters()] == [[5.0, 5.0], [6.0]]
        assert one.mean.value.to_host().tolist() == [7.0, 7.0, 7.0]
