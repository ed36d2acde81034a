"""Batch norms with formulas on the GPU, against the formulas of the paper in double precision."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import moonxi as mx
from moonxi.backends.cupy import norm_source, normalisation, norms
from moonxi.dtypes import BF16, F16, F32, F64, Bool
from moonxi.formulas import Formula, Kind, Step
from moonxi.norms import NormGradients, Norms
from tests.backends.on_gpu import gpu_or_skip
from tests.backends.test_gpu_sources import compiled, nvrtc_is_missing

EACH, ONE, AXIS = Kind.EACH, Kind.ONE, Kind.AXIS
ELEMENTS = [pytest.param(element, id=element.__name__) for element in (F32, F64, F16, BF16)]
TOLERANCE: dict[Any, float] = {F32: 1e-5, F64: 1e-13, F16: 2e-3, BF16: 2e-2}
EPS = 1e-5

PLAIN = Formula((EACH,), (False,), (), (0,), ())
RESIDUAL = Formula(
    (EACH, EACH), (False, False), (Step("__add__", (0, 1)), Step("relu", (2,)), Step("__gt__", (3, "0x0.0p+0"))),
    (3, 4), (),
)  # fmt: skip
ALL_KINDS = Formula(
    (EACH, AXIS, ONE, EACH, AXIS), (False, False, False, True, False),
    (Step("__mul__", (0, 1)), Step("__add__", (5, 2)), Step("where", (6, 3, "0x1.8p+0")), Step("__sub__", (7, 4))),
    (0, 8), (),
)  # fmt: skip
MASKED = Formula(
    (EACH, EACH, EACH), (False, False, True), (Step("__add__", (0, 1)), Step("where", (3, 2, "0x0.0p+0"))), (4,), ()
)
FORWARD = {"plain": Norms((EPS,), PLAIN), "residual": Norms((EPS,), RESIDUAL), "two": Norms((EPS, 0.1), RESIDUAL),
           "all kinds": Norms((EPS,), ALL_KINDS)}  # fmt: skip
BACKWARD = {"plain": NormGradients((EPS,), Formula((EACH,), (False,), (), (), ()), 0),
            "masked": NormGradients((EPS,), MASKED, 4), "two": NormGradients((EPS, 0.1), MASKED, 4)}  # fmt: skip
SHAPES = [(4, 8, 3, 3), (2, 24, 5, 1), (3, 7, 2, 2), (70, 16), (2, 64, 16, 16), (1500, 8), (3, 1, 2, 2)]


def own(shape: Sequence[int]) -> tuple[int, ...]:
    """The shape in which a vector of the channels goes with images."""
    return (-1, *(1 for _ in shape[2:]))


def host(x: Any) -> Any:
    return x.to_host().astype(np.float64)


def step_by_step(formula: Formula, values: list[Any]) -> list[Any]:
    rules: dict[str, Any] = {
        "__add__": np.add, "__sub__": np.subtract, "__mul__": np.multiply, "relu": lambda x: np.maximum(x, 0),
        "__gt__": np.greater, "where": lambda x, mask, y: np.where(mask, x, y),
    }  # fmt: skip
    for one in formula.steps:
        terms = [values[term] if isinstance(term, int) else float.fromhex(term) for term in one.terms]
        values.append(rules[one.operation](*terms))
    return values


def operands_of(like: Any, formula: Formula, given: int, shape: tuple[int, ...], key: mx.Key) -> list[Any]:
    made: list[Any] = []
    for number, (kind, is_mask) in enumerate(zip(formula.kinds, formula.masks, strict=True)):
        if number < given:
            continue
        mine = shape if kind is EACH else (1,) if kind is ONE else (shape[1], *(1 for _ in shape[2:]))
        if kind is AXIS and number == 4:  # along another axis
            mine = (shape[0], *(1 for _ in shape[1:]))
        x = like.normal(mine, key.fold(number))
        made.append((x > 0.0).carrier if is_mask else x)
    return made


def last(x: Any) -> Any:
    """The same tensor with its channels last in memory."""
    rank = len(x.shape)
    copy = x.from_host(np.ascontiguousarray(np.moveaxis(x.to_host(), 1, -1)))
    return copy.permute((0, rank - 1, *range(1, rank - 1)))


def as_host(x: Any, is_mask: bool) -> Any:
    return x.to_host().astype(bool) if is_mask else host(x)


def close(mine: Any, theirs: Any, element: Any) -> None:
    assert mine.shape == theirs.shape
    if mine.space.element is Bool:
        assert (mine.to_host() == theirs).mean() > 0.99  # where rounding decides about the sign
        return
    scale = max(1.0, float(np.abs(theirs).max()))
    assert np.abs(host(mine) - theirs).max() <= TOLERANCE[element] * scale


@pytest.fixture(params=["one kernel", "three kernels"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "three kernels":
        monkeypatch.setattr(norms, "_CACHED", 0)
    norms.prepared.cache_clear()
    normalisation._alone.cache_clear()
    normalisation._gradient_alone.cache_clear()


@pytest.mark.gpu
@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", list(FORWARD))
def test_results_of_batch_norms_go_into_a_formula(element: Any, name: str) -> None:
    like = gpu_or_skip(element)()
    recipe = FORWARD[name]
    for number, shape in enumerate(SHAPES):
        key = mx.Key(number)
        operands: list[Any] = []
        values: list[Any] = []
        axes = (0, *range(2, len(shape)))
        for n, eps in enumerate(recipe.eps):
            x = like.normal(shape, key.fold(100 + n)) * 2.0 + 3.0
            x = last(x) if number % 2 else x
            weight, bias = (like.normal((shape[1],), key.fold(200 + 10 * n + m)) for m in range(2))
            operands += [x, weight, bias]
            mean, variance = host(x).mean(axes), host(x).var(axes)
            scale = host(weight) / np.sqrt(variance + eps)
            moved, scaled, added = (one.reshape(own(shape)) for one in (mean, scale, host(bias)))
            values.append((host(x) - moved) * scaled + added)
        others = operands_of(like, recipe.formula, len(recipe.eps), shape, key)
        masks = recipe.formula.masks[len(recipe.eps) :]
        values += [as_host(x, is_mask) for x, is_mask in zip(others, masks, strict=True)]
        expected = [step_by_step(recipe.formula, values)[place] for place in recipe.formula.results]
        for n in range(len(recipe.eps)):
            expected += [host(operands[3 * n]).mean(axes), host(operands[3 * n]).var(axes)]
        found = like.normalised(recipe, [*operands, *others])
        for mine, theirs in zip(found, expected, strict=True):
            close(mine, theirs, element)


@pytest.mark.gpu
@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", list(BACKWARD))
def test_gradients_of_batch_norms_come_from_a_formula(element: Any, name: str) -> None:
    like = gpu_or_skip(element)()
    recipe = BACKWARD[name]
    for number, shape in enumerate(SHAPES):
        key = mx.Key(number)
        operands = operands_of(like, recipe.formula, 0, shape, key)
        values = [as_host(x, is_mask) for x, is_mask in zip(operands, recipe.formula.masks, strict=True)]
        values = step_by_step(recipe.formula, values)
        expected = [values[place] for place in recipe.formula.results]
        dy, axes, vector = values[recipe.gradient], (0, *range(2, len(shape))), own(shape)
        for n, eps in enumerate(recipe.eps):
            x = like.normal(shape, key.fold(100 + n)) * 2.0 + 0.5
            x = last(x) if number % 2 else x
            weight = like.normal((shape[1],), key.fold(200 + n))
            mean, variance = (like.from_host(one) for one in (host(x).mean(axes), host(x).var(axes)))
            operands += [x, weight, mean, variance]
            root = np.sqrt(host(variance) + eps)
            normal = (host(x) - host(mean).reshape(vector)) / root.reshape(vector)
            dw, db = (dy * normal).sum(axes), dy.sum(axes)
            share = 1 / (dy.size / shape[1])
            rest = dy - db.reshape(vector) * share - normal * dw.reshape(vector) * share
            expected += [rest * (host(weight) / root).reshape(vector), dw, db]
        found = like.normalised_gradients(recipe, operands)
        for mine, theirs in zip(found, expected, strict=True):
            close(mine, theirs, element)


@pytest.mark.gpu
@pytest.mark.usefixtures("form")
def test_a_mean_far_from_zero_and_a_first_element_far_from_it_cost_no_digits() -> None:
    like = gpu_or_skip(F32)()
    for rows, outlier in ((4096, 0.0), (64, 1e4)):
        values = np.random.default_rng(0).normal(1000.0, 1.0, (rows, 8)).astype(np.float32)
        values[0] += outlier
        ones = like.ones((8,))
        _, mean, variance = like.normalised(Norms((EPS,), PLAIN), [like.from_host(values), ones, ones])
        np.testing.assert_allclose(host(mean), values.astype(np.float64).mean(0), rtol=3e-6)
        np.testing.assert_allclose(host(variance), values.astype(np.float64).var(0), rtol=1e-4)


class H200:
    """A space of bf16 on an H200, or on a GPU without clusters."""

    itemsize = 2

    def __init__(self, most_in_cluster: int = 16) -> None:
        self.device = SimpleNamespace(processors=132, most_in_cluster=most_in_cluster)


@pytest.mark.gpu
@pytest.mark.parametrize("element", ELEMENTS)
def test_the_gradient_of_what_goes_into_a_norm_has_the_sum_zero_which_nobody_adds_up(element: Any) -> None:
    like: Any = gpu_or_skip(element)()
    x, dy = (like.normal((4, 8, 3, 5), mx.Key(seed)) for seed in (1, 2))
    weight, bias = like.ones((8,)), like.zeros((8,))
    _, mean, variance = x.batch_norm(weight, bias)
    dx, *_ = x.batch_norm_grad(dy, weight, mean, variance)
    size = np.abs(host(dx)).sum((0, 2, 3))
    for known in (dx.sum((0, 2, 3)), dx.sum((3, -2, 0), keepdims=True)):
        assert (known.to_host() == 0.0).all()
        assert np.abs(host(dx).sum((0, 2, 3))).max() <= TOLERANCE[element] * size.max()
    assert dx.sum((0, 2, 3)).shape == (8,)
    assert dx.sum((0, 2, 3), keepdims=True).shape == (1, 8, 1, 1)
    one, other = dx.sum((0, 2, 3)), dx.sum((0, 2, 3))
    assert one.data.pointer == other.data.pointer
    assert host(one + 1.0).tolist() == [1.0] * 8
    # What is another sum, of another array, or of a norm with another mean, is added up.
    for sums, expected in {
        "other axes": (dx.sum((0, 1)), host(dx).sum((0, 1))),
        "permuted": (dx.permute((1, 0, 2, 3)).sum((0, 2, 3)), host(dx).sum((1, 2, 3))),
        "a part": (dx[:2].sum((0, 2, 3)), host(dx)[:2].sum((0, 2, 3))),
        "shifted": ((dx + 1.0).sum((0, 2, 3)), (host(dx) + 1.0).sum((0, 2, 3))),
        "scaled": ((dx * 2.0 + 1.0).sum((0, 2, 3)), (host(dx) * 2.0 + 1.0).sum((0, 2, 3))),
        "the largest": (dx.max((0, 2, 3)), host(dx).max((0, 2, 3))),
    }.values():
        assert np.abs(host(sums) - expected).max() <= 4 * TOLERANCE[element] * max(size.max(), 60.0)
    moved, *_ = x.batch_norm_grad(dy, weight, mean + 1.0, variance)
    assert np.abs(host(moved.sum((0, 2, 3))) - host(moved).sum((0, 2, 3))).max() <= TOLERANCE[element] * size.max()
    assert np.abs(host(moved.sum((0, 2, 3)))).max() > 0.1


@pytest.mark.gpu
def test_a_bias_before_a_norm_has_zeros_for_its_gradient_and_the_norm_its_second_derivatives() -> None:
    like: Any = gpu_or_skip(F64)()
    x, weight = like.normal((3, 2, 5, 5), mx.Key(1)), like.normal((4, 2, 3, 3), mx.Key(2))
    bias, scale = like.normal((4,), mx.Key(3)), like.normal((4,), mx.Key(4))

    def loss(x: Any, weight: Any, bias: Any, scale: Any) -> Any:
        return x.conv2d(weight, bias).batch_norm(scale, scale)[0].sin().sum()

    dw, db = cast(Any, mx.grad)(lambda w, b: loss(mx.constant(x), w, b, mx.constant(scale)), weight, bias)
    assert (db.to_host() == 0.0).all()
    assert np.abs(host(dw)).max() > 0.1

    mx.check_gradients(cast(Any, loss), x, weight, bias, scale, order=2, tolerance=1e-4)


@pytest.mark.parametrize(
    ("rows", "channels", "splits"), [(8192, 64, 16), (2048, 128, 4), (512, 256, 1), (128, 512, 1), (32768, 64, 0)]
)
def test_threads_of_a_cluster_keep_all_their_rows(rows: int, channels: int, splits: int) -> None:
    way = norms._way(cast(Any, H200()), rows, channels, 8, 3)
    assert way.alone == (splits > 0)
    if way.alone:
        assert way.splits == splits
        assert rows <= way.splits * 4 * 256 // way.across


def test_clusters_leave_half_of_the_gpu_to_others() -> None:
    for itemsize, lanes, splits in (2, 8, 16), (4, 4, 8):
        space = H200()
        space.itemsize = itemsize
        way = norms._way(cast(Any, space), 8192, 64, lanes, 4)
        assert (way.alone, way.splits, way.groups * way.splits) == (True, splits, 64)


def test_gpus_without_clusters_have_blocks_alone() -> None:
    assert norms._way(cast(Any, H200(1)), 8192, 64, 8, 3).alone is False
    assert norms._way(cast(Any, H200(1)), 1024, 64, 8, 3).splits == 1
    assert norms._way(cast(Any, H200(8)), 8192, 64, 8, 3).splits == 8


@nvrtc_is_missing
@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("element", ELEMENTS)
def test_the_kernels_compile(element: Any, alone: bool, architecture: str) -> None:
    lanes = {F32: 4, F64: 1, F16: 8, BF16: 8}[element]
    for recipe in (FORWARD["two"], FORWARD["all kinds"], BACKWARD["two"]):
        for width in {1, lanes}:
            code = norm_source.source(recipe, element, width, alone=alone)
            assert "#include" not in code
            assert compiled(code, architecture, ("--std=c++17", "--fmad=false")) == ""


def test_what_is_generated_can_be_read() -> None:
    assert (
        norm_source.kernels(BACKWARD["masked"], alone=True)
        == """
struct Work {
    static const int NORMS = 1;
    NormGradient norm[NORMS];
    u64 rows, channels, splits;
    const T* x0;
    const T* x1;
    const u8* x2;
    T* y0;

    struct Others { Words<T, LANES> x0; Words<T, LANES> x1; Words<u8, LANES> x2; };
    DEVICE void read(u64 i, Others& others) const {
        others.x0.read(x0 + i);
        others.x1.read(x1 + i);
        others.x2.read(x2 + i);
    }
    template <bool KEEP>
    DEVICE void formula(u64 i, const Others& others, A (&gradient)[LANES]) const {
        A here0[LANES];
        unpack(others.x0, here0);
        A here1[LANES];
        unpack(others.x1, here1);
        bool here2[LANES];
        unpack(others.x2, here2);
        A there0[LANES];
        for (int n = 0; n < LANES; n++) {
            A v0 = here0[n];
            A v1 = here1[n];
            bool v2 = here2[n];
            A v3 = rounded(add_of(v0, v1));
            A v4 = v2 ? v3 : (A)(0x0.0p+0);
            there0[n] = v4;
            gradient[n] = v4;
        }
        if (KEEP) put(y0 + i, there0);
    }
};

KERNEL BESIDE_OTHERS together(IN_PLACE Work own) { gradients<TOGETHER>(own); }
"""
    )
