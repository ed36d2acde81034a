"""What a user still sees is never written to, and memory that nobody needs is used again."""

import threading

import numpy as np

import moonxi as mx
from moonxi.compiled.graph import Spec
from moonxi.compiled.memory import Memory, joined
from moonxi.compiled.results import Result

type Host = mx.NpArray[mx.F32]

CPU = mx.numpy()


def test_memory_of_a_result_is_used_again_when_nobody_holds_it() -> None:
    result = Result(Spec((4, 4), mx.F32))
    first = result.take()
    address = first.ctypes.data
    assert result.take().ctypes.data != address
    del first
    assert result.take().ctypes.data == address


def test_a_view_of_a_view_keeps_the_memory_of_a_result() -> None:
    result = Result(Spec((4, 4), mx.F32), (1, 0))
    first = result.take()
    address = first.ctypes.data
    part = first[1:].reshape(-1)[2:].T
    buffer = memoryview(first.T)
    del first
    assert result.take().ctypes.data != address
    del part
    assert result.take().ctypes.data != address
    del buffer
    assert result.take().ctypes.data == address


def test_memory_is_given_to_one_after_the_other() -> None:
    memory = Memory(reuse=True)
    first = memory.take(Spec((100,), mx.F32))
    memory.give_back(first)
    assert memory.take(Spec((80,), mx.F32)).memory is first.memory
    memory.take(Spec((80,), mx.F32))
    assert memory.bytes == 448 + 320


def test_old_models_and_views_of_them_stay_as_they_are() -> None:
    def step(x: Host) -> tuple[Host, Host]:
        return x * 2.0 + 1.0, x.permute((1, 0))

    compiled = mx.compile(step)
    x = CPU.normal((3, 2), mx.Key(0))
    kept = []
    for _ in range(6):
        y, turned = compiled(x)
        parts = y[1:], y.reshape((6,)), turned.permute((1, 0))
        kept.append(([one.to_host() for one in parts], parts))
        x = y
        del y, turned
    for before, parts in kept:
        for mine, theirs in zip(before, parts, strict=True):
            assert np.array_equal(mine, theirs.to_host())


def test_the_plan_needs_less_memory_than_one_array_for_each_result() -> None:
    def step(x: Host) -> Host:
        for _ in range(10):
            x = (x * 0.5).tanh()
        return x

    planned, unplanned = mx.compile(step), mx.compile(step, without=("memory_plan",))
    x = CPU.ones((64, 64))
    assert np.array_equal(planned(x).to_host(), unplanned(x).to_host())
    used, all_of_it = (mx.compile_report(one).traces[0].peak_bytes for one in (planned, unplanned))
    assert used == 64 * 64 * 4
    assert all_of_it == 19 * used


def test_two_threads_get_their_own_results() -> None:
    def step(x: Host) -> Host:
        for _ in range(20):
            x = (x + 1.0) * 0.5
        return x

    compiled = mx.compile(step)
    wrong: list[int] = []

    def work(number: int) -> None:
        x = CPU.full((50, 50), float(number))
        expected = step(x).to_host()
        for _ in range(50):
            if not np.array_equal(compiled(x).to_host(), expected):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_threads_trace_and_replay_at_once_each_with_its_own_shapes() -> None:
    def step(x: Host, y: Host) -> Host:
        return mx.grad(lambda z: (z.square().sum() + mx.constant(y).sum()).sqrt(), x)

    compiled = mx.compile(step)
    wrong: list[int] = []
    together = threading.Barrier(4)

    def work(size: int) -> None:
        x, y = CPU.normal((size,), mx.Key(size)), CPU.ones((3,))
        expected = step(x, y).to_host()
        together.wait()
        for _ in range(20):
            if not np.array_equal(compiled(x, y).to_host(), expected):
                wrong.append(size)

    threads = [threading.Thread(target=work, args=(size,)) for size in (2, 3, 4, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert sorted(trace.replays for trace in mx.compile_report(compiled).traces) == [19] * 4


@mx.compile
def halved(x: Host, times: int) -> Host:
    """A compiled step that calls itself."""
    return x if times == 0 else halved(x * 0.5, times - 1)


def test_a_compiled_step_may_call_itself() -> None:
    assert halved(CPU.ones(()), 3).item() == 0.125
    assert halved(CPU.ones(()), 3).item() == 0.125
    (trace,) = mx.compile_report(halved).traces
    assert trace.nodes_traced == 3


def test_arrays_side_by_side_in_memory_are_one() -> None:
    memory = np.arange(60.0)
    matrix, turned, other = memory[:20].reshape(4, 5), memory[20:50].reshape(5, 6).T, memory[55:]
    flat = joined([turned, other, matrix])
    assert [one.tolist() for one in flat] == [memory[:50].tolist(), memory[55:].tolist()]
    assert np.shares_memory(flat[0], memory)
    gaps = memory[::2]
    assert all(one is given for one, given in zip(joined([gaps, other]), [gaps, other], strict=True))
