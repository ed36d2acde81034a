"""Threads that make batches ahead upload them beside the work of a device, and the loop waits for that there."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from moonxi import uploading
from moonxi.data import DataLoader, Indices, LabelledArrays
from moonxi.dtypes import BF16, F32
from tests.backends.on_gpu import gpu_or_skip


@dataclass
class Log:
    """What became of uploads: begun and awaited, with the thread."""

    begun: list[str] = field(default_factory=list)
    awaited: list[tuple[int, str]] = field(default_factory=list)


@dataclass
class Upload:
    log: Log
    number: int

    def awaited(self) -> None:
        self.log.awaited.append((self.number, threading.current_thread().name))


@dataclass
class Uploaded:
    """Batches that are uploads."""

    log: Log
    fault: int | None = None

    def __len__(self) -> int:
        return 8

    def batch(self, indices: Indices, /) -> int:
        found = uploading.arrivals()
        (number,) = indices.tolist()
        if found is not None:
            self.log.begun.append(threading.current_thread().name)
            found.append(Upload(self.log, number))
        if number == self.fault:
            raise ValueError("no such sample")
        return int(number)


def test_the_thread_of_the_loop_waits_for_each_batch_when_it_takes_it() -> None:
    log = Log()
    for number in DataLoader(Uploaded(log), batch_size=1, workers=2).epoch(0):
        assert log.awaited[-1] == (number, threading.current_thread().name)
    assert [number for number, _ in log.awaited] == list(range(8))
    assert all(name.startswith("moonxi-data-") for name in log.begun)


def test_without_workers_an_upload_is_over_when_it_returns() -> None:
    log = Log()
    assert list(DataLoader(Uploaded(log), batch_size=1).epoch(0)) == list(range(8))
    assert log == Log()
    assert uploading.arrivals() is None


def test_batches_that_nobody_takes_are_waited_for_before_they_go() -> None:
    log = Log()
    epoch = DataLoader(Uploaded(log), batch_size=1, workers=2, prefetch=2).epoch(0)
    next(epoch)
    del epoch
    assert sorted(number for number, _ in log.awaited) == list(range(len(log.begun)))


def test_a_fault_ends_the_uploads_of_its_batch() -> None:
    log = Log()
    with pytest.raises(ValueError, match="no such sample"):
        list(DataLoader(Uploaded(log, fault=2), batch_size=1, workers=1).epoch(0))
    assert {0, 1, 2} <= {number for number, _ in log.awaited}
    assert len(log.awaited) == len(log.begun)


def images(like: Any, samples: int, size: int) -> LabelledArrays[Any]:
    stored = np.random.default_rng(0).integers(0, 256, (samples, size), np.uint8)
    return LabelledArrays(like, stored, np.arange(samples) % 10, divisor=255)


@pytest.mark.gpu
@pytest.mark.parametrize("element", [F32, BF16])
@pytest.mark.parametrize("workers", [1, 3])
def test_the_gpu_gets_the_batches_of_the_host(element: Any, workers: int) -> None:
    """Batches of 4 MiB, from whose memory the device still computes when the next ones come."""
    like = gpu_or_skip(element)()
    data = images(like, 24, 1 << 18)
    work: Callable[[Any], Any] = lambda x: (x * 2.0 + x.square()).sum(1) + x.exp().sum(1)  # noqa: E731
    expected = [(work(one.x).to_host(), one.labels.to_host()) for one in DataLoader(data, batch_size=4).epoch(0)]
    for _ in range(4):
        found = [(work(one.x), one.labels) for one in DataLoader(data, batch_size=4, workers=workers).epoch(0)]
        for (mine, labels), (theirs, right) in zip(found, expected, strict=True):
            np.testing.assert_array_equal(mine.to_host(), theirs)
            np.testing.assert_array_equal(labels.to_host(), right)


@pytest.mark.gpu
def test_leaving_a_loop_early_leaves_memory_as_it_was() -> None:
    like = gpu_or_skip(F32)()
    data = images(like, 24, 1 << 18)
    for _ in range(4):
        epoch = DataLoader(data, batch_size=4, workers=2).epoch(0)
        first = next(epoch).x
        del epoch
        zeros = [like.zeros((4, 1 << 18)) for _ in range(8)]
        assert [one.sum().item() for one in zeros] == [0.0] * 8
        np.testing.assert_array_equal(first.to_host(), data.batch(np.arange(4)).x.to_host())
