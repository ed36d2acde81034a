"""The threads of the NumPy backend change nothing but the time."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from moonxi.autodiff import variable
from moonxi.backends.numpy import numpy, scratch, threads
from moonxi.backends.numpy.products import product
from moonxi.dtypes import F64, HostArray

cpu = numpy(F64)


@pytest.fixture(params=[1, 2, 3])
def count(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """So many threads, and all work worth them."""
    monkeypatch.setattr(threads, "_threads", request.param)
    monkeypatch.setattr(threads, "WORTH", 1)
    threads._workers.cache_clear()
    yield request.param
    for worker in threads._workers():
        worker.give(None)
    threads._workers.cache_clear()


def test_results_come_in_order_and_neighbours_from_one_thread(count: int) -> None:
    found = threads.each(lambda part: (part, threading.get_ident()), range(10))
    assert [part for part, _ in found] == list(range(10))
    owners = [owner for _, owner in found]
    assert owners[0] == threading.get_ident()
    changes = sum(one != other for one, other in pairwise(owners))
    assert changes <= count - 1


@pytest.mark.parametrize("length", [0, 1, 2, 3, 7, 100])
@pytest.mark.parametrize("most", [None, 0, 1, 2, 5, 1000])
def test_the_parts_are_the_whole(count: int, length: int, most: int | None) -> None:
    found = threads.parts(length, 10**6, most=most)
    assert [place for part in found for place in range(length)[part]] == list(range(length))
    assert all(part.stop - part.start <= max(1, most or length) for part in found)
    assert len(found) >= min(length, count)


def test_work_within_work_stays_on_its_thread(count: int) -> None:
    def inner(_: int) -> set[int]:
        return set(threads.each(lambda _: threading.get_ident(), range(4)))

    assert all(len(owners) == 1 for owners in threads.each(inner, range(4)))


def test_an_error_comes_out_after_all_have_ended(count: int) -> None:
    ended = []

    def work(part: int) -> None:
        if part == 0:
            raise ValueError("the first")
        time.sleep(0.05)
        ended.append(part)

    with pytest.raises(ValueError, match="the first"):
        threads.each(work, range(count))
    assert sorted(ended) == list(range(1, count))
    assert threads.each(str, range(3)) == ["0", "1", "2"]


def test_floating_point_warnings_follow_the_caller(count: int) -> None:
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        threads.each(lambda part: np.divide(np.ones(3), 0.0), range(count))
    with np.errstate(divide="ignore"):
        threads.each(lambda part: np.divide(np.ones(3), 0.0), range(count))


def test_results_do_not_depend_on_the_threads(count: int) -> None:
    rng = np.random.default_rng(0)
    x, weight = cpu.from_host(rng.standard_normal((7, 4, 9, 8))), cpu.from_host(rng.standard_normal((6, 2, 3, 3)))
    scale = cpu.from_host(rng.standard_normal(6))

    def step() -> list[np.ndarray]:
        images, kernel, vector = variable(x), variable(weight), variable(scale)
        y, mean, variance = images.conv2d(kernel, vector, stride=2, padding=1, groups=2).batch_norm(vector, vector)
        pooled = y.max_pool2d(3, stride=2, padding=1)
        head = pooled.reshape((7, -1)) @ pooled.reshape((7, -1)).transpose()
        loss = head.square().sum() + (mean * variance).sum()
        gradients = loss.backward()
        return [loss.to_host(), *(gradients.of(one).to_host() for one in (images, kernel, vector))]

    found = step()
    alone = pytest.MonkeyPatch()
    with alone.context() as patch:
        patch.setattr(threads, "_threads", 1)
        expected = step()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((5, 4), (4, 9)),
        ((9, 4), (4, 5)),
        ((3, 5, 4), (4, 6)),
        ((3, 5, 4), (3, 4, 6)),
        ((5, 4), (3, 4, 6)),
        ((2, 1, 5, 4), (3, 4, 6)),
        ((1, 5, 4), (3, 4, 6)),
        ((3, 5, 4), (1, 4, 6)),
        ((0, 4), (4, 3)),
        ((3, 0), (0, 3)),
    ],
)
def test_products_cut_for_threads_are_products(count: int, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal(left), rng.standard_normal(right)
    np.testing.assert_allclose((cpu.from_host(a) @ cpu.from_host(b)).to_host(), a @ b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rows", [1, 8, 24, 27, 100])
def test_products_in_small_pieces_are_products(count: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_small_product", 1000)
    rng = np.random.default_rng(3)
    for a, b in [
        (rng.standard_normal((rows, 20)), rng.standard_normal((20, 5))),
        (rng.standard_normal((20, rows)).T, rng.standard_normal((5, 20)).T),
    ]:
        np.testing.assert_allclose((cpu.from_host(a) @ cpu.from_host(b)).to_host(), a @ b, rtol=1e-12, atol=1e-12)


def test_a_product_by_a_transpose_is_not_cut_into_pieces(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_small_product", 1000)
    axes: list[int] = []
    multiply = np.matmul

    def counted(left: HostArray, right: HostArray, out: HostArray) -> None:
        axes.append(left.ndim)
        multiply(left, right, out=out)

    monkeypatch.setattr(np, "matmul", counted)
    left, right = np.ones((120, 20)), np.ones((20, 5))
    for other, expected in ((right, 3), (np.ones((5, 20)).T, 2)):
        axes.clear()
        assert np.all(product(left, other, np.empty((120, 5))) == 20.0)
        assert set(axes) == {expected}


def test_threads_of_the_user_do_not_disturb_each_other(count: int) -> None:
    rng = np.random.default_rng(2)
    weight = cpu.from_host(rng.standard_normal((4, 3, 3, 3)))
    images = [cpu.from_host(rng.standard_normal((6, 3, 8, 8))) for _ in range(4)]
    expected = [x.conv2d(weight, padding=1).to_host() for x in images]
    wrong = []

    def work(number: int) -> None:
        for _ in range(30):
            if not np.allclose(images[number].conv2d(weight, padding=1).to_host(), expected[number]):
                wrong.append(number)

    users = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(count: int) -> None:
    threads.each(str, range(count))
    child = os.fork()
    if child == 0:
        os._exit(0 if threads.each(str, range(4)) == ["0", "1", "2", "3"] else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0


def test_scratch_memory_is_one_for_a_name_and_a_thread() -> None:
    single = np.dtype(np.float32)
    first, again = scratch.array("a", (4, 3), single), scratch.array("a", (2, 2), single)
    assert np.shares_memory(first, again)
    assert not np.shares_memory(first, scratch.array("b", (2, 2), single))
    other: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: other.append(scratch.array("a", (2, 2), single)))
    thread.start()
    thread.join()
    assert not np.shares_memory(first, other[0])


def test_memory_beyond_measure_is_not_kept() -> None:
    huge = scratch.array("huge", (scratch._LARGEST + 1,), np.dtype(np.float64))
    assert not np.shares_memory(huge, scratch.array("huge", (1,), np.dtype(np.float64)))


def test_blas_is_on_one_thread_from_the_first_product_on_that_it_would_share() -> None:
    program = """
import numpy as np
from threadpoolctl import threadpool_info
import moonxi as mx

def threads():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas" and "numpy" in one["filepath"]}

cpu = mx.numpy()
cpu.ones((8, 8)) @ cpu.ones((8, 8))
before = threads()
%s
print(before, threads())
"""
    works = (
        "cpu.ones((64, 64)) @ cpu.ones((64, 64))",
        "cpu.ones((4, 3, 16, 16)).conv2d(cpu.ones((8, 3, 3, 3)))",
        "mx.einsum('ij,jk->ik', cpu.ones((64, 64)), cpu.ones((64, 64)))",
    )
    for work in works:
        done = subprocess.run(
            [sys.executable, "-c", program % work],
            env=os.environ | {"OPENBLAS_NUM_THREADS": "2"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout in ("{2} {1}\n", "set() set()\n"), work  # with a BLAS that is not known nothing changes
