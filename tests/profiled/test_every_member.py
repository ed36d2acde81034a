"""Nothing of the traits is left out: each member is that of the wrapped class, and counts as one operation."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import get_protocol_members

from moonxi.backends.numpy import NpArray
from moonxi.dtypes import F64, Floating
from moonxi.profiled import ImageProfiled, Profile, profile
from moonxi.traits import ImageModelTensor, Tensor
from tests.conformance.case import Operation
from tests.conformance.operations import OPERATIONS

MEMBERS = sorted(get_protocol_members(ImageModelTensor))
REFUSED = {"__bool__"}
UNTIMED = {"shape", "dtype"}
log: list[tuple[int, str]] = []
"""How many calls each call stood in, and its name."""
running: list[str] = []


class Spy[D: Floating](NpArray[D]):
    """`NpArray` that writes down which members are called."""

    __slots__ = ()


def written_down(name: str, member: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: object, *args: object, **kwargs: object) -> Any:
        log.append((len(running), name))
        running.append(name)
        try:
            return member(self, *args, **kwargs)
        finally:
            running.pop()

    return call


for name in MEMBERS:
    if name not in UNTIMED:
        setattr(Spy, name, written_down(name, getattr(Spy, name)))


def defined_here(cls: type, member: str) -> bool:
    """Whether the class that a member comes from is one of the profiler's."""
    home = next((one for one in cls.__mro__ if member in vars(one)), object)
    return home.__module__.startswith("moonxi.profiled.")


@pytest.mark.parametrize("member", MEMBERS)
def test_every_member_of_the_traits_is_written_by_the_profiler(member: str) -> None:
    assert defined_here(ImageProfiled, member) is (member not in REFUSED)


def test_a_member_that_somebody_adds_to_a_trait_is_missed() -> None:
    class More(Tensor, Protocol):
        def cube(self) -> None: ...

    assert {one for one in get_protocol_members(More) if not defined_here(ImageProfiled, one)} == {"cube", *REFUSED}


@pytest.mark.parametrize("operation", [pytest.param(one, id=one.name) for one in OPERATIONS])
@given(data=st.data())
def test_the_wrapped_class_gets_the_same_calls_and_gives_the_same_bits(
    operation: Operation, data: st.DataObject
) -> None:
    case = data.draw(operation.cases)
    like, times = Spy[F64](np.zeros(())), Profile()
    plain = [operand.place(like) for operand in case.operands]
    timed = [profile(operand.place(like), into=times) for operand in case.operands]
    log.clear()
    expected = case.apply(plain)
    calls = log.copy()
    log.clear()
    found = case.apply(timed)
    assert log == calls
    assert sum(row.calls for row in times.rows) == sum(depth == 0 for depth, _ in calls)
    assert type(found) is type(timed[0])
    assert type(found.value) is Spy
    assert found.value.dtype is expected.dtype
    assert found.shape == expected.shape
    assert found.value.to_host().tobytes() == expected.to_host().tobytes()
