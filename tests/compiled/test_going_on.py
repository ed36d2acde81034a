"""What goes on from call to call is not looked at again, and nothing else is taken for it."""

from typing import Any

import numpy as np
from hypothesis import given

import moonxi as mx
from moonxi.compiled.building import builder
from moonxi.compiled.going_on import GoingOn
from moonxi.compiled.matching import Matcher, matcher
from moonxi.compiled.structure import Structure, flattened
from tests.compiled.test_structures import CPU, Box, values

type Host = mx.NpArray[mx.F32]


def another(leaf: Any) -> object:
    return leaf.fold(1) if isinstance(leaf, mx.Key) else leaf.reshape(leaf.shape)


def same(found: list[object] | None, expected: list[object] | None) -> bool:
    return found is expected is None or list(map(id, found or [])) == list(map(id, expected or []))


def counting(structure: Structure, calls: list[object]) -> Matcher:
    matches = matcher(structure)

    def counted(value: object) -> list[object] | None:
        calls.append(value)
        return matches(value)

    return counted


@given(values, values)
def test_it_takes_what_the_matcher_takes(one: object, other: object) -> None:
    first: tuple[tuple[object, ...], dict[str, object]] = ((one, other), {})
    _, structure = flattened(first, "the arguments")
    met, own = flattened(one, "one")
    matches, build = matcher(structure), builder(own)
    going = GoingOn(structure, matches)
    value, arguments, outputs = one, first, list[object]()
    for _ in range(4):
        found = going.leaves(arguments)
        assert same(found, matches(arguments))
        outputs = list(map(another, met.leaves))
        value = build(outputs)
        going.keep((7, value), outputs)
        arguments = ((value, other), {})
    for odd in (value, one, *outputs[:1]):  # such as a parameter that is the batch too
        arguments = ((value, odd), {})
        assert same(going.leaves(arguments), matches(arguments))
        going.keep((7, value), outputs)
        arguments = ((one, odd), {})
        assert same(going.leaves(arguments), matches(arguments))


def test_a_result_that_comes_in_again_is_not_looked_into() -> None:
    x, calls = CPU.ones((2,)), list[object]()
    first = Box(x, Box(CPU.zeros((3,)), {"slots": (CPU.ones(()),)}))
    _, structure = flattened(((first, x * 2.0), {}), "the arguments")
    going = GoingOn(structure, counting(structure, calls))
    for _ in range(5):
        met, own = flattened(first, "the state")
        assert going.leaves(((first, x * 2.0), {})) is not None
        outputs = list(map(another, met.leaves))
        first = builder(own)(outputs)  # type: ignore[assignment]  # a box again
        going.keep((first, outputs[0]), outputs)
    assert len(calls) == 2  # in the first call, and in the one that finds out


def test_a_state_in_which_somebody_changes_a_dict_is_seen_as_it_is() -> None:
    @mx.compile
    def step(state: Box, x: Host) -> tuple[Box, Host]:
        slots: Any = state.first
        return Box({"sum": slots["sum"] + x}, state.second), slots["sum"] * 1.0

    state = Box({"sum": CPU.zeros(())}, 0.5)
    for number in range(6):
        state, value = step(state, CPU.ones(()))
        assert value.item() == number
    slots: Any = state.first
    slots["sum"] = CPU.full((), 40.0)
    state, value = step(state, CPU.ones(()))
    assert value.item() == 40.0
    slots = state.first
    slots["sum"] = CPU.full((3,), 50.0)
    _, value = step(state, CPU.ones(()))
    np.testing.assert_array_equal(value.to_host(), [50.0] * 3)
    assert len(mx.compile_report(step).traces) == 2


def test_an_older_state_is_gone_on_from_as_it_was() -> None:
    @mx.compile
    def step(state: Box, x: Host) -> tuple[Box, Host]:
        value: Any = state.first
        return Box(value + x, state.second), value * 1.0

    states = [Box(CPU.zeros((2,)))]
    for _ in range(6):
        states.append(step(states[-1], CPU.ones((2,)))[0])
    for number in (2, 6, 0, 5, 5):
        _, value = step(states[number], CPU.ones((2,)))
        np.testing.assert_array_equal(value.to_host(), [float(number)] * 2)
    assert len(mx.compile_report(step).traces) == 1
