"""Chains of 100,000 nodes: nothing recurses, in Python or in C, and nothing stays behind."""

import gc
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from moonxi.autodiff import Grad, check_gradients, variable
from moonxi.backends.numpy import NpArray, numpy
from moonxi.dtypes import F64
from moonxi.traits import MlpTensor

cpu = numpy(F64)
DEPTH = 100_000


def nodes() -> int:
    return sum(issubclass(type(one), Grad) for one in gc.get_objects())  # whatever objects say of themselves


@contextmanager
def no_collector() -> Iterator[None]:
    """Memory that only the collector of cycles would give back counts as leaked."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def on_a_small_stack(work: Callable[[], None]) -> None:
    """Run in a thread whose stack would overflow if anything, such as giving back a chain, recursed in C."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    before = threading.stack_size(2 * 1024 * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    if errors:
        raise errors[0]


def chain[T: MlpTensor](x: T, depth: int) -> T:
    """Additions, multiplications and functions, with numbers, with x itself and with broadcasting."""
    small, y = x[:1], x
    for _ in range(depth // 5):
        y = (y * 0.5 + x).tanh() * small + small
    return y.sum()


def test_the_recursion_limit_is_far_below_the_depth() -> None:
    assert sys.getrecursionlimit() * 10 < DEPTH


def test_a_deep_chain_is_differentiated_and_given_back() -> None:
    def work() -> None:
        x = variable(cpu.from_host(np.array([0.5, 0.25])))
        before = nodes()
        result = chain(x, DEPTH)
        assert nodes() >= before + DEPTH
        gradient = result.backward().of(x)
        assert np.isfinite(gradient.to_host()).all()
        del result
        assert nodes() == before

    with no_collector():
        on_a_small_stack(work)


def test_a_deep_chain_of_two_levels_is_differentiated_twice_and_given_back() -> None:
    def work() -> None:
        x = variable(cpu.from_host(np.array([0.5, 0.25])))
        y = variable(x)
        before = nodes()
        first = chain(y, DEPTH).backward().of(y)
        assert nodes() >= before + DEPTH
        second = first.sum().backward().of(x)
        assert np.isfinite(second.to_host()).all()
        del first
        assert nodes() == before

    with no_collector():
        on_a_small_stack(work)


def test_the_derivatives_of_a_long_chain_are_right() -> None:
    check_gradients(lambda x: chain(x, 1000), cpu.from_host(np.array([0.5, 0.25])), order=2)


def test_a_wide_graph_is_given_back() -> None:
    with no_collector():
        x = variable(cpu.full((), 1.0))
        before = nodes()
        total = x * 0.0
        for _ in range(DEPTH):
            total = total + x
        assert total.backward().of(x).item() == DEPTH
        del total
        assert nodes() == before


def step[T: MlpTensor](x: T) -> T:
    return chain(x, 500)


@pytest.mark.parametrize("levels", [1, 2])
def test_repeated_steps_leave_no_memory_behind(levels: int) -> None:
    value = cpu.from_host(np.ones(1000))

    def once() -> None:
        x = variable(value)
        if levels == 1:
            step(x).backward().of(x)
        else:
            y = variable(x)
            step(y).backward().of(y).sum().backward().of(x)

    with no_collector():
        tracemalloc.start()
        try:
            for _ in range(3):  # Python keeps some of the memory it was given for small objects
                once()
            before, _ = tracemalloc.get_traced_memory()
            for _ in range(5):
                once()
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert after - before < 500_000  # one step holds 4 MB; the interpreter itself keeps some tens of kB now and then


def test_the_gradients_of_intermediate_results_are_given_back_on_the_way() -> None:
    size = 10_000
    x = variable(cpu.from_host(np.ones(size)))
    result = x
    for _ in range(200):
        result = result.tanh() + 1.0
    total = result.sum()
    tracemalloc.start()
    try:
        gradients = total.backward()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert gradients.of(x).shape == (size,)
    assert peak < 10 * size * 8  # not 200 or more


def test_gradients_do_not_hold_the_graph() -> None:
    with no_collector():
        x = variable(cpu.full((), 0.5))
        before = nodes()
        gradients = chain(x.broadcast_to((2,)), 1000).backward()
        assert nodes() == before
        assert isinstance(gradients.of(x), NpArray)
