"""Formulas on the GPU: generated kernels compute what the operations compute one by one, bit for bit."""

from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi.backends.cupy import formula_source
from moonxi.dtypes import BF16, F16, F32, F64
from moonxi.formulas import COMPARISONS, ELEMENTWISE, Formula, Kind, Step
from moonxi.traits import Mask
from tests.backends.on_gpu import gpu_or_skip
from tests.backends.test_gpu_sources import compiled, nvrtc_is_missing
from tests.compiled.test_random_programs import COLUMNS, ROWS, arrays, step

EACH, ONE, AXIS = Kind.EACH, Kind.ONE, Kind.AXIS
ELEMENTS = [pytest.param(element, id=element.__name__) for element in (F32, F64, F16, BF16)]
UNARY = ("exp", "log", "expm1", "log1p", "sin", "cos", "erf", "tanh", "sqrt", "floor", "square", "relu", "__neg__")
BINARY = sorted(ELEMENTWISE - set(UNARY) - {"where"})

# x, y: each element; one: a single one; row: along one axis; mask: each. Every operation, on operands of every kind.
STEPS = (
    *(Step(name, (0,)) for name in UNARY),
    *(Step(name, (0, 1)) for name in BINARY),
    *(Step(name, (0, 2)) for name in BINARY),
    *(Step(name, (0, 3)) for name in BINARY),
    *(Step(name, (0, "-0x1.8p-1")) for name in BINARY),
    *(Step(name, ("0x1.8p+1", 1)) for name in ("__sub__", "__truediv__", "__pow__")),
    Step("where", (0, 4, 1)),
    Step("where", (0, 4, "nan")),
    Step("where", (0, 4, "-inf")),
)
EVERY = Formula(
    (EACH, EACH, ONE, AXIS, EACH), (False, False, False, False, True), STEPS, tuple(range(5, 5 + len(STEPS))), ()
)


def one_by_one(formula: Formula, operands: list[Any]) -> list[Any]:
    """Results and sums, by the operations themselves."""
    values: list[Any] = [Mask(x) if is_mask else x for x, is_mask in zip(operands, formula.masks, strict=True)]
    for one in formula.steps:
        first, *rest = (values[term] if isinstance(term, int) else float.fromhex(term) for term in one.terms)
        if isinstance(first, float):
            first = operands[0].full((), first)
        values.append(getattr(first, one.operation)(*rest))
    made = [values[number] for number in formula.results]
    made += [values[number].sum() for number in formula.sums]
    return [one.carrier if isinstance(one, Mask) else one for one in made]


def operands_of(like: Any, shape: tuple[int, ...], axis: int) -> list[Any]:
    keys = mx.Key(sum(shape)).split(4)
    row = tuple(size if place == axis else 1 for place, size in enumerate(shape))
    x, y = (like.normal(shape, key) for key in keys[:2])
    return [x, y, like.normal((1,), keys[2]), like.normal(row, keys[3]), (x > y).carrier]


@pytest.mark.gpu
@pytest.mark.parametrize("element", ELEMENTS)
def test_every_operation_on_every_kind_of_operand(element: Any) -> None:
    like = gpu_or_skip(element)()
    for shape, axis in (((3, 5), 1), ((3, 5), 0), ((2, 3, 4), 1), ((0, 4), 1), ((1, 1), 0), ((2, 1030), 1)):
        operands = operands_of(like, shape, axis)
        found = like.fused(EVERY, operands)
        for number, (mine, theirs) in enumerate(zip(found, one_by_one(EVERY, operands), strict=True)):
            assert mine.shape == theirs.shape
            assert np.array_equal(mine.to_host(), theirs.to_host(), equal_nan=True), STEPS[number]


@pytest.mark.gpu
def test_operands_lie_in_memory_anyhow() -> None:
    like = gpu_or_skip(F32)()
    formula = Formula((EACH, EACH, AXIS), (False,) * 3, (Step("__mul__", (0, 1)), Step("__add__", (3, 2))), (4,), (3,))
    x, y = like.normal((2, 3, 4, 5), mx.Key(0)), like.normal((2, 4, 5, 3), mx.Key(1)).permute((0, 3, 1, 2))
    along = like.normal((6, 1, 1), mx.Key(2))[::2]
    parts = like.normal((4, 6, 4, 5), mx.Key(3))[1:3, ::-2]
    for operands in ([x, y, along], [y, x, along], [parts, y, along], [parts, x[:1].broadcast_to(x.shape), along]):
        for mine, theirs in zip(like.fused(formula, operands), one_by_one(formula, operands), strict=True):
            np.testing.assert_allclose(mine.to_host(), theirs.to_host(), rtol=1e-5, atol=1e-6)


@pytest.mark.gpu
def test_there_may_be_many_members_of_any_size_and_none_of_their_elements_is_mixed_up() -> None:
    like = gpu_or_skip(F64)()
    formula = Formula((EACH, ONE), (False, False), (Step("__mul__", (0, 1)), Step("square", (2,))), (2, 3), (2, 3))
    sizes = [0, 1, 2, 1023, 1024, 1025, 5000] * 30
    members = [[like.normal((size,), mx.Key(n)), like.full((), n / 7)] for n, size in enumerate(sizes)]
    found = iter(like.fused(formula, *members))
    for member in members:
        for theirs in one_by_one(formula, member):
            mine = next(found)
            assert mine.shape == theirs.shape
            np.testing.assert_allclose(mine.to_host(), theirs.to_host(), rtol=1e-12, atol=1e-12)


@pytest.mark.gpu
@pytest.mark.parametrize("element", ELEMENTS)
def test_products_that_nobody_has_asked_for_are_computed_along_with_the_same_bits(element: Any) -> None:
    like = gpu_or_skip(element)()
    steps = (Step("__mul__", (0, "0x1.8p-1")), Step("__add__", (3, 1)), Step("__truediv__", (4, 2)))
    formula = Formula((EACH, EACH, ONE), (False,) * 3, steps, (0, 4, 5), (5,))
    factors = [like.normal((), mx.Key(9).fold(number)) for number in range(3)]

    def members(number: int, *, wait: bool) -> list[Any]:
        x, y = (like.normal((number + 2, 3), mx.Key(number).fold(place)) for place in range(2))
        ways: list[tuple[Any, Any]] = [
            *((x, y), (x * factors[0], y), (x * 0.3, y * factors[1]), (x * 0.7, y * 0.7), (x.square(), y * factors[0])),
            (x, factors[2] * y),
        ]
        first, second = ways[number]
        one = factors[1] * factors[2] if number % 2 else factors[1]
        operands = [first, second, one]
        if not wait:
            for operand in operands:
                operand.to_host()
        return operands

    found = like.fused(formula, *(members(number, wait=True) for number in range(6)))
    expected = like.fused(formula, *(members(number, wait=False) for number in range(6)))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine.to_host(), theirs.to_host())
    for number in range(6):
        results = one_by_one(formula, members(number, wait=False))[:3]
        for mine, theirs in zip(found[4 * number : 4 * number + 3], results, strict=True):
            np.testing.assert_array_equal(mine.to_host(), theirs.to_host())


@pytest.mark.gpu
def test_a_product_may_be_a_factor_in_one_member_and_an_operand_of_another() -> None:
    like = gpu_or_skip(F32)()
    steps = (Step("__mul__", (1, 2)), Step("__sub__", (0, 3)))
    formula = Formula((EACH, EACH, ONE), (False,) * 3, steps, (4,), (4,))
    x = [like.normal((4, 3), mx.Key(number)) for number in range(4)]

    def members(*, wait: bool) -> list[list[Any]]:
        rate = like.full((), 3.0) * 0.5
        if wait:
            rate.to_host()
        return [[x[0], x[1] * rate, rate], [x[2], x[3], rate]]

    for _ in range(2):  # prepared, and once more
        found = like.fused(formula, *members(wait=False))
        expected = [one for member in members(wait=True) for one in one_by_one(formula, member)]
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine.to_host(), theirs.to_host(), rtol=1e-5, atol=1e-5)


@pytest.mark.gpu
def test_results_with_four_axes_have_the_channels_last_if_an_operand_has() -> None:
    like = gpu_or_skip(F32)()
    formula = Formula((EACH, EACH), (False, False), (Step("__add__", (0, 1)),), (2,), ())
    rows = like.normal((4, 3, 5, 2), mx.Key(0))
    last = like.normal((4, 5, 2, 3), mx.Key(1)).permute((0, 3, 1, 2))
    for operands in ([rows, last], [last, rows]):
        (found,) = like.fused(formula, operands)
        assert found.data.strides == last.data.strides
        np.testing.assert_array_equal(found.to_host(), rows.to_host() + last.to_host())
    (found,) = like.fused(formula, [rows, rows])
    assert found.data.strides == rows.data.strides


@pytest.mark.gpu
def test_random_programs_run_as_formulas() -> None:
    like = gpu_or_skip(F64)()
    rng = np.random.default_rng(0)
    from tests.compiled.test_random_programs import NAMES

    for number in range(0, len(NAMES), 2):
        names = [NAMES[number], NAMES[(number + 1) % len(NAMES)], "multiply"]
        program = tuple(
            (name, int(one), int(other)) for name, (one, other) in zip(names, rng.integers(0, 4, (3, 2)), strict=True)
        )
        compiled_step: Any = mx.compile(step)
        eager: Any = step
        for seed in range(3):
            x, y = (like.normal((ROWS, COLUMNS), key) for key in mx.Key(seed).split())
            labels = like.labels(np.array([seed, 3 - seed, 1]))
            expected = arrays(eager(program, x, y, labels))
            for mine, theirs in zip(arrays(compiled_step(program, x, y, labels)), expected, strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-11)


@nvrtc_is_missing
@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_a_generated_kernel_compiles(element: Any, architecture: str) -> None:
    for lanes in {1, 16 // element.itemsize if element.itemsize <= 4 else 1}:
        code = formula_source.source(EVERY, element, lanes)
        assert compiled(code, architecture, ("--std=c++17", "--fmad=false")) == ""


def test_a_generated_kernel_can_be_read() -> None:
    formula = Formula(
        (EACH, ONE, AXIS, EACH),
        (False, False, False, True),
        (
            Step("__mul__", (0, 1)),
            Step("__add__", (4, 2)),
            Step("where", (5, 3, "0x0.0p+0")),
            Step("__gt__", (6, "inf")),
        ),
        (6, 7),
        (4,),
    )
    assert (
        formula_source.kernel(formula)
        == """
struct Member {
    const u64* own;
    const T* x0;
    const T* x1;
    A v1;
    const T* x2;
    const u8* x3;
    T* y0;
    u8* y1;
    A total0;

    DEVICE Member(const u64* own) : own(own) {
        x0 = (const T*)own[1];
        x1 = (const T*)own[2];
        v1 = load(x1[0]);
        x2 = (const T*)own[3];
        x3 = (const u8*)own[4];
        y0 = (T*)own[5];
        y1 = (u8*)own[6];
        total0 = 0;
    }
    template <int N> DEVICE void at(u64 i) {
        A here0[N];
        take(x0 + i, here0);
        bool here3[N];
        take(x3 + i, here3);
        A there0[N];
        bool there1[N];
        for (int n = 0; n < N; n++) {
            A v0 = here0[n];
            A v2 = load(x2[along(i + n, own + 8)]);
            bool v3 = here3[n];
            A v4 = rounded(multiply_of(v0, v1));
            A v5 = rounded(add_of(v4, v2));
            A v6 = v3 ? v5 : (A)(0x0.0p+0);
            bool v7 = greater_of(v6, (A)(INFINITY));
            there0[n] = v6;
            there1[n] = v7;
            total0 += v4;
        }
        put(y0 + i, there0);
        put(y1 + i, there1);
    }
};

KERNEL formula(IN_PLACE Pack pack) {
    u64 members = pack.word[0], chunks = pack.word[1], share = (chunks + gridDim.x - 1) / gridDim.x;
    u64 chunk = blockIdx.x * share, last = min(chunk + share, chunks), number = member_of(pack, chunk);
    for (; chunk < last; chunk++) {
        while (number + 1 < members && pack.word[3 + number] <= chunk) number++;
        const u64* own = pack.word + 2 + members + number * 11;
        u64 begin = (chunk - pack.word[2 + number]) * CHUNK, end = min(begin + CHUNK, own[0]);
        u64 i = begin + threadIdx.x * LANES, step = blockDim.x * LANES;
        Member member(own);
        for (; i + step + LANES <= end; i += 2 * step) {
            member.at<LANES>(i);
            member.at<LANES>(i + step);
        }
        for (; i < end; i += step) {
            if (i + LANES <= end) member.at<LANES>(i);
            else for (u64 rest = i; rest < end; rest++) member.at<1>(rest);
        }
        add_up(member.total0, (A*)own[7] + chunk);
    }
}
"""
    )


def test_every_operation_of_a_formula_has_a_function() -> None:
    assert set(formula_source._FUNCTIONS) == ELEMENTWISE - {"where"}
    assert COMPARISONS < ELEMENTWISE
