"""Threads that make batches ahead: nothing about them can be seen but the time."""

import _thread
import gc
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonxi.backends.numpy import numpy
from moonxi.data import Augmented, Crop, DataLoader, Flip, Indices, LabelledArrays, Position
from moonxi.errors import AxisError, DataError
from tests.examples.program import environment


class Fault(Exception):
    pass


@dataclass
class Numbers:
    """The numbers below ``length``; those of ``faults`` cannot be had, and the slow ones take their time."""

    length: int
    faults: frozenset[int] = frozenset()
    slow: frozenset[int] = frozenset()
    made: list[int] = field(default_factory=list)
    error: type[BaseException] = Fault

    def __len__(self) -> int:
        return self.length

    def batch(self, indices: Indices, /) -> list[int]:
        found: list[int] = indices.tolist()
        if self.slow & set(found):
            time.sleep(0.002)
        self.made.extend(found)
        if self.faults & set(found):
            raise self.error(f"no {min(self.faults & set(found))}")
        return found


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("moonxi-data-")]


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Ends the test if it waits for ever."""
    timer = threading.Timer(seconds, _thread.interrupt_main)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@given(
    count=st.integers(1, 40),
    batch_size=st.integers(1, 7),
    workers=st.integers(1, 6),
    prefetch=st.integers(1, 3),
    slow=st.frozensets(st.integers(0, 39), max_size=5),
    epoch=st.integers(0, 2),
)
@settings(max_examples=60, deadline=None)
def test_any_number_of_workers_gives_the_same_batches_in_the_same_order(
    count: int, batch_size: int, workers: int, prefetch: int, slow: frozenset[int], epoch: int
) -> None:
    alone = DataLoader(Numbers(count), batch_size=batch_size, seed=3)
    helped = DataLoader(Numbers(count, slow=slow), batch_size=batch_size, seed=3, workers=workers, prefetch=prefetch)
    with at_most(30):
        assert list(helped.epoch(epoch)) == list(alone.epoch(epoch))
    assert threads() == []


def test_augmented_images_have_the_same_bits_with_workers() -> None:
    images = np.random.default_rng(0).random((50, 1, 6, 6), np.float32)
    data = Augmented(LabelledArrays(numpy(), images, np.arange(50)), (Crop(2), Flip()))
    one, four = (DataLoader(data, batch_size=7, seed=1, workers=workers) for workers in (0, 4))
    for epoch in 0, 1:
        pairs = zip(one.epoch(epoch), four.epoch(epoch), strict=True)
        assert all(a.x.to_host().tobytes() == b.x.to_host().tobytes() for a, b in pairs)


@given(
    faults=st.frozensets(st.integers(0, 29), min_size=1, max_size=6),
    slow=st.frozensets(st.integers(0, 29), max_size=6),
    workers=st.integers(0, 5),
    start=st.integers(0, 9),
)
@settings(max_examples=60, deadline=None)
def test_the_first_fault_comes_in_its_place_with_its_batch_and_ends_the_workers(
    faults: frozenset[int], slow: frozenset[int], workers: int, start: int
) -> None:
    loader = DataLoader(Numbers(30, faults, slow), batch_size=3, workers=workers)
    bad = min((fault // 3 for fault in faults if fault // 3 >= start), default=None)
    batches = loader.epoch(0, start=start)
    seen: list[list[int]] = []
    with at_most(30):
        if bad is None:
            assert len(list(batches)) == 10 - start
        else:
            first = min(fault for fault in faults if fault // 3 == bad)
            with pytest.raises(Fault, match=rf"^no {first}\n") as caught:
                seen.extend(batches)
            assert len(seen) == bad - start
            assert caught.value.__notes__ == [
                f"DataLoader: epoch 0, batch {bad} of 10: samples {3 * bad}, {3 * bad + 1}, {3 * bad + 2}"
            ]
            assert workers == 0 or next(batches, None) is None
    assert threads() == []


def test_after_a_fault_no_batch_behind_it_is_begun() -> None:
    data = Numbers(1000, frozenset({10}))
    with pytest.raises(Fault):
        list(DataLoader(data, batch_size=1, workers=2, prefetch=1).epoch(0))
    assert max(data.made) <= 10 + 2 + 1


def test_an_error_of_moonxi_keeps_its_class() -> None:
    class Wrong(Numbers):
        def batch(self, indices: Indices, /) -> list[int]:
            raise AxisError("batch: 3 samples: index 9")

    for workers in 0, 2:
        with pytest.raises(AxisError) as caught:
            list(DataLoader(Wrong(20), batch_size=10, workers=workers).epoch(0))
        assert caught.value.__notes__ == ["DataLoader: epoch 0, batch 0 of 2: samples 0, 1, 2, 3, 4, 5, 6, 7, ..."]


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_even_an_exit_in_a_worker_arrives(error: type[BaseException]) -> None:
    loader = DataLoader(Numbers(9, frozenset({4}), error=error), batch_size=1, workers=3)
    with at_most(30), pytest.raises(error):
        for _ in loader.epoch(0):
            pass
    assert threads() == []


def test_no_thread_begins_before_the_first_batch_is_asked_for() -> None:
    batches = DataLoader(Numbers(9), batch_size=1, workers=3).epoch(0)
    assert threads() == []
    next(batches)
    assert len(threads()) == 3


def test_leaving_the_loop_ends_the_workers() -> None:
    loader = DataLoader(Numbers(500), batch_size=1, workers=4)
    for _ in loader.epoch(0):
        assert len(threads()) == 4
        break
    assert threads() == []


@pytest.mark.parametrize("keep", ["pass", "import sys; sys.kept = batches", "kept = [batches]; kept.append(kept)"])
def test_a_program_that_ends_amid_an_epoch_ends(keep: str) -> None:
    program = f"""
import numpy as np
from moonxi.backends.numpy import numpy
from moonxi.data import DataLoader, LabelledArrays
data = LabelledArrays(numpy(), np.zeros(100), np.zeros(100, int))
batches = DataLoader(data, batch_size=1, workers=3).epoch(0)
next(batches)
{keep}
print("end")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout, done.stderr) == ("end\n", "")


def test_an_exception_in_the_loop_ends_the_workers() -> None:
    loader = DataLoader(Numbers(500), batch_size=1, workers=4)

    def loop() -> None:
        for _ in loader.epoch(0):
            raise Fault

    with pytest.raises(Fault):
        loop()
    assert threads() == []


def test_ctrl_c_while_the_loop_waits_ends_it_and_the_workers() -> None:
    released = threading.Event()

    class Stuck(Numbers):
        def batch(self, indices: Indices, /) -> list[int]:
            if indices[0] == 2:
                _thread.interrupt_main()  # as Ctrl-C does, while the loop waits for this batch
                time.sleep(0.05)
                released.set()
            return super().batch(indices)

    seen = []

    def loop() -> None:
        for batch in DataLoader(Stuck(100), batch_size=1, workers=1, prefetch=1).epoch(0):
            seen.append(batch)
            if batch == [1]:
                released.wait(5)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a program in the background may ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            loop()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert seen[:1] == [[0]]
    assert len(seen) < 5
    assert threads() == []


def test_workers_are_not_further_ahead_than_they_may() -> None:
    data = Numbers(100)
    batches = DataLoader(data, batch_size=1, workers=2, prefetch=3).epoch(0)
    next(batches)
    end = time.monotonic() + 10
    while len(data.made) < 7 and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(0.02)
    assert sorted(data.made) == list(range(7))


def test_two_epochs_run_side_by_side() -> None:
    loader = DataLoader(Numbers(20), batch_size=3, seed=0, workers=3)
    with at_most(30):
        pairs = list(zip(loader.epoch(0), loader.epoch(1), strict=True))
    alone = DataLoader(Numbers(20), batch_size=3, seed=0)
    assert pairs == list(zip(alone.epoch(0), alone.epoch(1), strict=True))


def test_a_batch_that_is_used_up_is_not_kept() -> None:
    class Held(list[int]):
        pass

    class Lists(Numbers):
        def batch(self, indices: Indices, /) -> list[int]:
            return Held(indices.tolist())

    batches = DataLoader(Lists(100), batch_size=1, workers=3).epoch(0)
    first = weakref.ref(next(batches))
    next(batches)
    gc.collect()
    assert first() is None


def test_workers_follow_the_settings_of_numpy_of_the_loop() -> None:
    class Divided(Numbers):
        def batch(self, indices: Indices, /) -> list[int]:
            return [int(1.0 / x) for x in np.zeros(1)]

    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        list(DataLoader(Divided(4), batch_size=1, workers=2).epoch(0))


@given(count=st.integers(1, 30), batch_size=st.integers(1, 7), workers=st.integers(0, 3), data=st.data())
@settings(deadline=None)
def test_an_epoch_from_a_batch_on_is_the_end_of_the_epoch(
    count: int, batch_size: int, workers: int, data: st.DataObject
) -> None:
    loader = DataLoader(Numbers(count), batch_size=batch_size, seed=5, workers=workers)
    start = data.draw(st.integers(0, len(loader)))
    assert list(loader.epoch(2, start=start)) == list(loader.epoch(2))[start:]


@given(count=st.integers(1, 12), batch_size=st.integers(1, 5), done=st.integers(0, 20), workers=st.integers(0, 2))
@settings(deadline=None)
def test_a_stream_goes_on_from_any_position_as_if_there_had_been_no_break(
    count: int, batch_size: int, done: int, workers: int
) -> None:
    loader = DataLoader(Numbers(count), batch_size=batch_size, seed=5, workers=workers)
    stream = loader.stream()
    whole = [next(stream) for _ in range(done + 10)]
    position = whole[done - 1][1] if done else Position()
    again = loader.stream(position)
    assert [next(again) for _ in range(10)] == whole[done:]


def test_a_stream_counts_epochs_and_batches() -> None:
    stream = DataLoader(Numbers(3), batch_size=2).stream(Position(4, 1))
    assert [next(stream) for _ in range(3)] == [
        ([2], Position(5)),
        ([0, 1], Position(5, 1)),
        ([2], Position(6)),
    ]


def test_what_is_no_position_is_refused() -> None:
    loader = DataLoader(Numbers(6), batch_size=2)
    for start in -1, 4:
        with pytest.raises(DataError, match=rf"^DataLoader: epoch 1, start {start}: an epoch has the batches 0 to 2$"):
            loader.epoch(1, start=start)
    with pytest.raises(DataError, match=r"^DataLoader: epoch 1, start 9: an epoch has the batches 0 to 2$"):
        loader.stream(Position(1, 9))
    with pytest.raises(DataError, match=r"^Position: epoch 0, batch -1: both count from 0$"):
        Position(0, -1)


def test_wrong_numbers_of_workers_are_refused() -> None:
    with pytest.raises(DataError, match=r"^DataLoader: workers -1: 0 threads or more make batches ahead$"):
        DataLoader(Numbers(6), batch_size=2, workers=-1)
    with pytest.raises(DataError, match=r"^DataLoader: prefetch 0: a worker is at least 1 batch ahead; see workers$"):
        DataLoader(Numbers(6), batch_size=2, prefetch=0)
