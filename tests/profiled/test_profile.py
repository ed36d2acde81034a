"""What a profile says, on a clock that the tests move."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import F64, Profile, ShapeTensor, constant, nn, numpy, profile, variable
from moonxi.computing import current_layer, layers
from moonxi.data import Paired
from moonxi.dims import symbol
from moonxi.errors import OperandError, ShapeError
from moonxi.profiled import Row
from moonxi.profiled.work import Work

MILLISECOND = 1_000_000
NOTHING = Work()


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now

    def move(self, milliseconds: int) -> None:
        self.now += milliseconds * MILLISECOND


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("moonxi.profiled.collector.perf_counter_ns", clock)
    return clock


def takes(times: Profile, clock: Clock, name: str, milliseconds: int, work: Work = NOTHING) -> None:
    times.measure(name, lambda: clock.move(milliseconds), lambda _: work)


def found(times: Profile) -> dict[str, Row]:
    rows = {row.operation: row for row in times.rows}
    assert len(rows) == len(times.rows)
    return rows


def test_calls_of_one_operation_add_up_and_the_longest_stands_first(clock: Clock) -> None:
    times = Profile()
    takes(times, clock, "exp", 1, Work(8))
    takes(times, clock, "matmul", 6, Work(24, 6_000_000))
    takes(times, clock, "exp", 2, Work(16))
    assert times.rows == (
        Row("matmul", "forward", 1, 0.006, 0.006, 6 / 9, 24, 6_000_000),
        Row("exp", "forward", 2, 0.003, 0.003, 3 / 9, 24, 0),
    )
    assert times.seconds == pytest.approx(0.009)
    assert times.rows[1].mean == 0.0015
    assert times.rows[0].flops_per_second == pytest.approx(1e9)
    assert times.rows[1].flops_per_second is None


def test_the_table_is_plain_text(clock: Clock) -> None:
    times = Profile()
    with times.section("a step"):
        takes(times, clock, "matmul", 6, Work(2_400_000, 6_000_000))
        takes(times, clock, "exp", 1)
        clock.move(1)
    assert str(times) == (
        "operation  direction  calls  total ms  self ms  mean us  share     MB  GFLOP/s\n"
        "matmul     forward        1     6.000    6.000   6000.0  75.0%  2.400     1.00\n"
        "a step     section        1     8.000    1.000   8000.0  12.5%\n"
        "exp        forward        1     1.000    1.000   1000.0  12.5%\n"
        "all                       3              8.000"
    )


def test_an_empty_profile_has_no_rows_and_a_table() -> None:
    assert Profile().rows == ()
    assert Profile().seconds == 0.0
    assert str(Profile()).splitlines()[1].split() == ["all", "0", "0.000"]


def test_nested_calls_are_counted_once(clock: Clock) -> None:
    times = Profile()

    def outer() -> None:
        clock.move(1)
        takes(times, clock, "inner", 2)
        clock.move(3)
        takes(times, clock, "inner", 4)

    times.measure("outer", outer, lambda _: NOTHING)
    rows = found(times)
    assert (rows["outer"].total, rows["outer"].own) == (0.010, 0.004)
    assert (rows["inner"].total, rows["inner"].own) == (0.006, 0.006)
    assert times.seconds == pytest.approx(0.010)
    assert sum(row.share for row in times.rows) == pytest.approx(1.0)


def test_a_call_within_one_of_the_same_row_adds_nothing_to_its_total(clock: Clock) -> None:
    times = Profile()

    def outer() -> None:
        clock.move(1)
        takes(times, clock, "exp", 2)

    times.measure("exp", outer, lambda _: NOTHING)
    row = found(times)["exp"]
    assert (row.calls, row.total, row.own) == (2, 0.003, 0.003)


def test_a_tensor_that_is_profiled_twice_in_one_profile_is_counted_once() -> None:
    times = Profile()
    x = profile(profile(numpy(F64), into=times), into=times).ones((300, 300))
    times.clear()
    (x @ x).exp()
    rows = found(times)
    assert {name: row.calls for name, row in rows.items()} == {"matmul": 2, "exp": 2}
    assert all(row.own <= row.total for row in times.rows)
    assert times.seconds == pytest.approx(sum(row.total for row in times.rows))


def test_two_profiles_one_around_the_other_see_their_own_operations() -> None:
    inner, outer = Profile(), Profile()
    like = numpy(F64).zeros((2, 2))
    y = profile(variable(profile(like, into=inner)), into=outer)
    y.softmax(1)
    assert {row.operation for row in outer.rows} == {"softmax"}
    assert {row.operation for row in inner.rows} == {"softmax"}


def test_an_operation_that_fails_is_not_in_the_profile(clock: Clock) -> None:
    times = Profile()

    def fail() -> None:
        clock.move(1)
        takes(times, clock, "exp", 2)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        times.measure("outer", fail, lambda _: NOTHING)
    takes(times, clock, "log", 1)
    assert {name: row.own for name, row in found(times).items()} == {"exp": 0.002, "log": 0.001}


def test_a_section_that_fails_is_in_the_profile(clock: Clock) -> None:
    times = Profile()

    def fail() -> None:
        with times.section("load"):
            clock.move(3)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    takes(times, clock, "exp", 1)
    assert {name: row.own for name, row in found(times).items()} == {"load": 0.003, "exp": 0.001}


def test_the_device_is_waited_for_before_each_look_at_the_clock(clock: Clock) -> None:
    pending: list[int] = []
    waits: list[int] = []

    def wait() -> None:
        waits.append(len(pending))
        clock.move(sum(pending))
        pending.clear()

    times = Profile(synchronize=wait)
    pending.append(5)  # from before: not the operation's
    times.measure("exp", lambda: pending.append(7), lambda _: NOTHING)
    assert found(times)["exp"].total == 0.007
    assert waits == [1, 1]


def test_each_thread_has_calls_of_its_own(clock: Clock) -> None:
    times = Profile()
    begun, done = threading.Event(), threading.Event()

    def other() -> None:
        begun.wait(10)
        takes(times, clock, "exp", 2)
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with times.section("wait"):
        begun.set()
        assert done.wait(10)
    thread.join()
    assert {name: row.own for name, row in found(times).items()} == {"wait": 0.002, "exp": 0.002}


def test_clear_forgets_the_calls_until_then(clock: Clock, tmp_path: Path) -> None:
    times = Profile()
    takes(times, clock, "exp", 1)
    times.clear()
    takes(times, clock, "log", 2)
    assert set(found(times)) == {"log"}
    assert [event["ts"] for event in events(times, tmp_path)] == [0.0]


def events(times: Profile, folder: Path) -> list[dict[str, object]]:
    times.save_trace(folder / "trace.json")
    trace = json.loads((folder / "trace.json").read_text())
    assert set(trace) == {"traceEvents", "displayTimeUnit", "otherData"}
    found: list[dict[str, object]] = trace["traceEvents"]
    return found


def test_the_trace_has_complete_events_in_microseconds(clock: Clock, tmp_path: Path) -> None:
    clock.move(50)
    times = Profile()
    clock.move(1)
    with times.section("step"):
        clock.move(2)
        takes(times, clock, "matmul", 3, Work(24, 6))
    assert events(times, tmp_path) == [
        {
            "name": "matmul",
            "cat": "forward",
            "ph": "X",
            "ts": 3000.0,
            "dur": 3000.0,
            "pid": 0,
            "tid": 0,
            "args": {"bytes": 24, "flops": 6},
        },
        {
            "name": "step",
            "cat": "section",
            "ph": "X",
            "ts": 1000.0,
            "dur": 5000.0,
            "pid": 0,
            "tid": 0,
            "args": {"bytes": 0, "flops": 0},
        },
    ]


def test_a_trace_keeps_the_first_calls_and_says_how_many_it_leaves_out(clock: Clock, tmp_path: Path) -> None:
    times = Profile(events=2)
    for _ in range(5):
        takes(times, clock, "exp", 1)
    assert [event["ts"] for event in events(times, tmp_path)] == [0.0, 1000.0]
    assert json.loads((tmp_path / "trace.json").read_text())["otherData"] == {"events left out": "3"}
    assert found(times)["exp"].calls == 5


WORK: dict[str, tuple[Callable[..., object], tuple[tuple[int, ...], ...], int, int]] = {
    # call, shapes of the operands, elements of operands and results, floating-point operations
    "add": (lambda x, y: x + y, ((3, 4), (4,)), 12 + 4 + 12, 0),
    "multiply": (lambda x: x * 2.0, ((3, 4),), 12 + 12, 0),
    "matmul": (lambda x, y: x @ y, ((5, 2, 3), (3, 4)), 30 + 12 + 40, 2 * 40 * 3),
    "conv2d": (
        lambda x, w, b: x.conv2d(w, b, groups=2),
        ((1, 4, 6, 6), (8, 2, 3, 3), (8,)),
        144 + 144 + 8 + 128,
        2 * 128 * 18,
    ),
    "conv2d_input_grad": (
        lambda g, w: g.conv2d_input_grad(w, (1, 4, 6, 6), groups=2),
        ((1, 8, 4, 4), (8, 2, 3, 3)),
        128 + 144 + 144,
        2 * 128 * 18,
    ),
    "conv2d_weight_grad": (
        lambda x, g: x.conv2d_weight_grad(g, (8, 2, 3, 3), groups=2),
        ((1, 4, 6, 6), (1, 8, 4, 4)),
        144 + 128 + 144,
        2 * 128 * 18,
    ),
    "conv_transpose2d": (
        lambda x, w: x.conv_transpose2d(w),
        ((1, 2, 3, 3), (2, 4, 2, 2)),
        18 + 32 + 64,
        2 * 18 * 16,
    ),
    "batch_norm": (lambda x, w: x.batch_norm(w, w), ((4, 3), (3,)), 12 + 3 + 3 + 12 + 3 + 3, 0),
}


@pytest.mark.parametrize(("operation", "case"), WORK.items(), ids=WORK)
def test_bytes_and_floating_point_operations_follow_from_the_shapes(
    operation: str, case: tuple[Callable[..., object], tuple[tuple[int, ...], ...], int, int]
) -> None:
    call, shapes, elements, flops = case
    times = Profile()
    operands = [profile(numpy(F64).ones(shape), into=times) for shape in shapes]
    call(*operands)
    row = found(times)[operation]
    assert (row.bytes, row.flops) == (8 * elements, flops)


def test_masks_and_labels_count_in_their_own_element_types() -> None:
    times = Profile()
    x = profile(numpy(F64).ones((2, 3)), into=times)
    assert (x > 0.0).shape == (2, 3)
    assert x.argmax(1).shape == (2,)
    assert {row.operation: row.bytes for row in times.rows} == {"greater": 6 * 8 + 6, "argmax": 6 * 8 + 2 * 8}


def test_shapes_without_data_are_timed_and_their_symbolic_sizes_count_nothing() -> None:
    times = Profile()
    x = profile(ShapeTensor((symbol("batch"), 3)), into=times)
    y = x @ profile(ShapeTensor((3, 4)), into=times)
    assert str(y.shape) == str((symbol("batch"), 4))
    row = found(times)["matmul"]
    assert (row.calls, row.bytes, row.flops) == (1, 12 * 4, 0)


PLAIN = numpy().ones((2, 2))
TIMED = profile(PLAIN, into=Profile())
NAME = "ImageProfiled[NpArray[F32]]"
ADVICE = (
    "both operands must be profiled; bring a plain tensor in with profile(x, into=p), or take the plain one out with"
)
LIFT = "map(lambda x: profile(x, into=p))"
HELD = "both must be profiled; bring"
MIXED: dict[str, tuple[Callable[[Any, Any], object], str]] = {
    "plain on the right": (lambda x, y: x + y, f"add: {NAME} with NpArray[F32]: {ADVICE} x.value"),
    "a matrix product": (lambda x, y: x @ y, f"matmul: {NAME} with NpArray[F32]: {ADVICE} x.value"),
    "an array on the left": (lambda x, y: np.ones(2) - x, f"subtract: {NAME} with ndarray: {ADVICE} x.value"),
    "differentiation": (lambda x, y: x * constant(y), f"multiply: {NAME} with ImageGrad[F32]: {ADVICE} x.value"),
    "a plain mask": (
        lambda x, y: x.where(y > 0.0, 1.0),
        f"where: {NAME} with Mask of NpArray[Bool]: {HELD} the mask in with mask.{LIFT}",
    ),
    "plain labels": (
        lambda x, y: x.pick(y.argmax(1)),
        f"pick: {NAME} with Labels of NpArray[I64]: {HELD} the labels in with labels.{LIFT}",
    ),
}


@pytest.mark.parametrize(("call", "text"), MIXED.values(), ids=MIXED)
def test_a_tensor_that_is_not_profiled_is_refused(call: Callable[[Any, Any], object], text: str) -> None:
    with pytest.raises(OperandError) as error:
        call(TIMED, PLAIN)
    assert str(error.value) == text


def test_what_the_wrapped_class_refuses_is_said_in_its_own_words() -> None:
    x: Any = TIMED
    with pytest.raises(OperandError, match=r"^index: list \[0\]: expected an integer"):
        x[[0]]


def test_it_shows_what_it_wraps() -> None:
    assert repr(profile(numpy().ones(()), into=Profile())) == "ImageProfiled(NpArray[F32] () 1.)"


def test_the_trace_says_in_which_layer_an_operation_was_computed(tmp_path: Path) -> None:
    times = Profile()
    like = profile(numpy(F64), into=times)
    key, inner = mx.Key(0).split(2)
    model = nn.Sequential(
        nn.Linear.init(3, 4, like=like, key=key), nn.Relu(), nn.Sequential(nn.Linear.init(4, 2, like=like, key=inner))
    )

    def loss[T: mx.MlpTensor](model: nn.Sequential[T], batch: Paired[T], mode: mx.Mode) -> T:
        return (model.forward(batch.x, mode) - batch.y).square().mean()

    batch = Paired(like.ones((5, 3)), like.ones((5, 2)))
    times.clear()
    mx.value_and_grad(loss, model, batch, mx.Eval())
    forward: list[Any] = [one for one in events(times, tmp_path) if one["cat"] == "forward"]
    places = [(one["name"], one["args"].get("layer", "")) for one in forward]
    assert [one for one in places if one[0] in ("matmul", "relu", "subtract")] == [
        ("matmul", "layers[0]"),
        ("relu", "layers[1]"),
        ("matmul", "layers[2].layers[0]"),
        ("subtract", ""),
    ]


def test_an_error_within_a_layer_leaves_no_layer_behind() -> None:
    layer = nn.Linear.init(3, 4, like=numpy(), key=mx.Key(0))
    with pytest.raises(ShapeError):
        layer.forward(numpy().ones((2, 2)))
    assert layers() == []
    assert current_layer() == ""
