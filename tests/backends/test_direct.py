"""Kernels as direct calls: bit for bit what the kernels themselves compute, whatever the numbers are, but for sums."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import moonxi as mx
from moonxi.backends.numpy.kernels import KERNELS
from moonxi.errors import LabelError
from moonxi.traits.kernels import Form, Kernel

SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-45]


def numbers(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    made = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    made.reshape(-1)[: len(SPECIAL)] = SPECIAL
    return made


def kernel(method: Callable[..., object]) -> Kernel:
    return KERNELS[method]


def results(
    one: Kernel, arguments: list[object], out: NDArray[np.float32], moving: int | None, **options: object
) -> None:
    """What the direct calls compute, with one of the arguments known at the call only."""
    assert one.direct is not None
    given = list(arguments)
    if moving is not None:
        array = arguments[moving]
        assert isinstance(array, np.ndarray)
        given[moving] = Form(array.shape, array.dtype)
    calls = one.direct(*given, **options, out=out)
    assert calls is not None
    for function, taken, into in calls:
        brought = [arguments[moving] if moving is not None and one is given[moving] else one for one in taken]
        function(*brought, **({} if into is None else {"out": into}))


LABELS = np.array([0, 9, 3, 3, 7, 1] * 4)

CASES: dict[str, tuple[Callable[..., object], list[object], tuple[int, ...], int | None, dict[str, object]]] = {
    "relu": (mx.NpArray.relu, [numbers(24, 64)], (24, 64), None, {}),
    "relu of few": (mx.NpArray.relu, [numbers(4, 8)], (4, 8), None, {}),
    "where": (mx.NpArray.where, [numbers(24, 10), numbers(24, 10, seed=1) > 0.0, 0.0], (24, 10), None, {}),
    "max": (mx.NpArray.max, [numbers(24, 10)[2:], -1], (22, 1), None, {"keepdims": True}),
    "max without axis": (mx.NpArray.max, [numbers(24, 10), (-1,)], (24,), None, {"keepdims": False}),
    "max of all": (mx.NpArray.max, [numbers(24, 10), None], (), None, {"keepdims": False}),
    "max of what moves": (mx.NpArray.max, [numbers(24, 10), -1], (24, 1), 0, {"keepdims": True}),
    "sum of what is thin": (mx.NpArray.sum, [numbers(1, 10), (0,)], (10,), 0, {"keepdims": False}),
    "sum of rows": (mx.NpArray.sum, [numbers(24, 10)[2:], -1], (22, 1), None, {"keepdims": True}),
    "pick": (mx.NpArray.pick, [numbers(24, 10), LABELS], (24,), 1, {}),
    "put": (mx.NpArray.put, [numbers(24), LABELS, 10], (24, 10), 1, {}),
    "matmul in pieces": (mx.NpArray.matmul, [numbers(64, 200), numbers(200, 128)], (64, 128), 0, {}),
    "matmul by a transpose": (mx.NpArray.matmul, [numbers(64, 200), numbers(128, 200).T], (64, 128), 1, {}),
    "matmul": (mx.NpArray.matmul, [numbers(24, 10), numbers(12, 10).T], (24, 12), 0, {}),
}


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("name", CASES)
def test_direct_calls_compute_what_the_kernel_does(name: str) -> None:
    method, arguments, shape, moving, options = CASES[name]
    expected, found = np.full(shape, 7.0, np.float32), np.full(shape, 8.0, np.float32)
    one = kernel(method)
    one.call(*arguments, **options, out=expected)
    assert one.direct is not None
    results(one, arguments, found, moving, **options)
    assert found.tobytes() == expected.tobytes()


def test_a_sum_over_rows_runs_in_another_order_only() -> None:
    x = numbers(24, 10, seed=2)[1:]
    expected, found = np.empty(10, np.float32), np.empty(10, np.float32)
    kernel(mx.NpArray.sum).call(x, (0,), out=expected)
    results(kernel(mx.NpArray.sum), [x, (0,)], found, 0)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_labels_are_checked_at_every_call() -> None:
    with pytest.raises(LabelError, match=r"pick: labels \(24,\): label 10 at \[4\] is not a class from 0 to 9"):
        results(kernel(mx.NpArray.pick), [numbers(24, 10), np.where(LABELS == 7, 10, LABELS)], numbers(24), 1)
    with pytest.raises(LabelError, match=r"put: labels \(24,\): label -1 at \[4\] is not a class from 0 to 9"):
        results(kernel(mx.NpArray.put), [numbers(24), np.where(LABELS == 7, -1, LABELS), 10], numbers(24, 10), 1)


def test_what_cannot_be_done_directly_says_so() -> None:
    one = kernel(mx.NpArray.where)
    assert one.direct is not None
    x, mask = numbers(24, 10), numbers(24, 10) > 0.0
    assert one.direct(x, mask, -0.0, out=numbers(24, 10)) is None
    assert one.direct(x, mask, x, out=numbers(24, 10)) is None
    assert one.direct(x, mask[0], 0.0, out=numbers(24, 10)) is None
    assert one.direct(Form(x.shape, x.dtype), mask, 0.0, out=numbers(24, 10)) is None
