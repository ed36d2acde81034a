"""`einsum`, `tensordot` and `outer`: NumPy's results, on every level and on shapes alone."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import moonxi as mx
from moonxi import shapes
from moonxi.dims import symbol
from moonxi.errors import AxisError, OptionError, ShapeError
from tests.backends.on_gpu import gpu_or_skip

cpu = mx.numpy(mx.F64)
SIZES = {"a": 2, "b": 3, "c": 1, "d": 4, "e": 2}
EQUATIONS = (
    "ab,bd->ad",
    "ab,bd",
    "ab->ba",
    "ba",
    "ab->",
    "ab->b",
    "ae,ea->",
    "bb->b",
    "bb->",
    "bb",
    "abba->ab",
    "bbb->b",
    "bab,ad->bd",
    "a,b->ab",
    "a,a->",
    "a,a->a",
    "abd,abe->abed",
    "abd,aeb->ade",
    "ab,ab,ab->ab",
    "ab,bd,de->ae",
    "ab,bd,de,ea->",
    "da,ab,bd,c->cd",
    "ab,de->",
    "...b,bd->...d",
    "a...,a...->...",
    "...ab,...bd->...ad",
    "...->...",
    "...ab->...ba",
    "b...b->...",
    "ab , bd -> ad",
    ",ab->ab",
)


def operands(equation: str, *, dots: tuple[tuple[int, ...], ...] = ()) -> list[mx.NpArray[mx.F64]]:
    """Random tensors of sizes that fit, with those of the dots for each operand."""
    found = []
    for number, term in enumerate(equation.replace(" ", "").split("->")[0].split(",")):
        front, with_dots, back = term.partition("...")
        more = (dots[number] if number < len(dots) else (3, 2)) if with_dots else ()
        shape = (*(SIZES[one] for one in front), *more, *(SIZES[one] for one in back))
        found.append(cpu.normal(shape, mx.Key(number)))
    return found


def close(found: mx.NpArray[mx.F64], expected: Any) -> None:
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found.to_host(), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("equation", EQUATIONS)
def test_the_result_is_that_of_numpy(equation: str) -> None:
    tensors = operands(equation)
    close(mx.einsum(equation, *tensors), np.einsum(equation, *(one.to_host() for one in tensors)))


@pytest.mark.gpu
@pytest.mark.parametrize("equation", EQUATIONS)
def test_the_result_on_the_gpu_is_that_of_numpy(equation: str) -> None:
    arrays = [one.to_host() for one in operands(equation)]
    like = gpu_or_skip(mx.F64)()
    found = mx.einsum(equation, *map(like.from_host, arrays)).to_host()
    np.testing.assert_allclose(found, np.einsum(equation, *arrays), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("equation", [one for one in EQUATIONS if one.count(",") < 3])
def test_the_gradients_are_right_and_differentiable_again(equation: str) -> None:
    def contraction[T: mx.MlpTensor](*inputs: T) -> T:
        return mx.einsum(equation, *inputs)

    match operands(equation):
        case [x]:
            mx.check_gradients(contraction, x, order=2)
        case [x, y]:
            mx.check_gradients(contraction, x, y, order=2)
        case [x, y, z]:
            mx.check_gradients(contraction, x, y, z)


terms = st.lists(st.text(alphabet="abcde", max_size=3), min_size=1, max_size=4)


@given(st.data())
def test_any_equation_gives_what_numpy_gives(data: st.DataObject) -> None:
    inputs = data.draw(terms)
    there = sorted(set("".join(inputs)))
    output = "".join(data.draw(st.permutations(there)))[: data.draw(st.integers(0, len(there)))]
    equation = f"{','.join(inputs)}->{output}"
    tensors = operands(equation)
    expected = np.einsum(equation, *(one.to_host() for one in tensors))
    close(mx.einsum(equation, *tensors), expected)
    assert shapes.einsum(equation, *(one.shape for one in tensors)).shape == expected.shape
    assert mx.einsum(equation, *(mx.ShapeTensor(one.shape) for one in tensors)).shape == expected.shape


@given(st.lists(st.integers(0, 3), max_size=3), st.data())
def test_the_axes_of_dots_broadcast(whole: list[int], data: st.DataObject) -> None:
    dots = []
    for _ in range(2):
        kept = data.draw(st.integers(0, len(whole)))
        dots.append(tuple(data.draw(st.sampled_from([1, size])) for size in whole[len(whole) - kept :]))
    tensors = operands("a...b,b...->...a", dots=tuple(dots))
    close(mx.einsum("a...b,b...->...a", *tensors), np.einsum("a...b,b...->...a", *(one.to_host() for one in tensors)))


@pytest.mark.parametrize("axes", [0, 1, 2, ((1,), (0,)), ((0, 2), (2, 1)), ((-1, -2), (1, 0)), ((), ())])
def test_tensordot_is_that_of_numpy(axes: int | tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, y = cpu.normal((3, 3, 3), mx.Key(0)), cpu.normal((3, 3, 3), mx.Key(1))
    close(mx.tensordot(x, y, axes), np.tensordot(x.to_host(), y.to_host(), axes))
    a, b = x[:2, :2, :2], y[:2, :2, :2]
    mx.check_gradients(lambda a, b: mx.tensordot(a, b, axes), a, b)


def test_outer_is_that_of_numpy() -> None:
    x, y = cpu.normal((3,), mx.Key(0)), cpu.normal((4,), mx.Key(1))
    close(mx.outer(x, y), np.outer(x.to_host(), y.to_host()))
    mx.check_gradients(lambda x, y: mx.outer(x, y), x, y, order=2)


def test_float32_stays_float32() -> None:
    like = mx.numpy()
    x, y = like.normal((3, 4), mx.Key(0)), like.normal((4, 2), mx.Key(1))
    found = mx.einsum("ij,jk->ki", x, y)
    assert found.dtype is mx.F32
    np.testing.assert_allclose(found.to_host(), (x.to_host() @ y.to_host()).T, rtol=1e-5)


def test_nothing_to_sum_over_gives_zeros() -> None:
    close(mx.einsum("ij,jk->ik", cpu.ones((2, 0)), cpu.ones((0, 3))), np.zeros((2, 3)))
    close(mx.einsum("ii->i", cpu.ones((0, 0))), np.zeros(0))


def test_a_long_chain_is_contracted_in_the_cheap_order() -> None:
    """From the left each product would have a million elements."""
    x, y = cpu.ones((1000, 1)), cpu.ones((1, 1000))
    times = mx.Profile()
    tensors = [mx.profile(one, into=times) for one in (x, y, x, y, x)]
    assert mx.einsum("ab,bc,cd,de,ef->af", *tensors).shape == (1000, 1)
    largest = max(row.bytes or 0 for row in times.rows)
    assert largest < 1_000_000


def test_symbolic_sizes_give_symbolic_results() -> None:
    n: Any = symbol("n", least=1)
    m: Any = symbol("m", least=1)
    x, y = mx.ShapeTensor((n, m, 4)), mx.ShapeTensor((m, 4))
    assert mx.einsum("bij,ij->bi", x, y).shape == (n, m)
    assert mx.einsum("...ij,ij->...", x, y).shape == (n,)
    assert mx.einsum("aab->ba", mx.ShapeTensor((n, n, m))).shape == (m, n)
    assert mx.einsum("ab,bc,cd->da", y, mx.ShapeTensor((4, n)), mx.ShapeTensor((n, 2))).shape == (2, m)
    assert mx.tensordot(x, y, ((1, 2), (0, 1))).shape == (n,)
    assert mx.outer(mx.ShapeTensor((n,)), mx.ShapeTensor((m,))).shape == (n, m)
    with pytest.raises(ShapeError, match=r"^einsum: 'ij,jk->ik' of \(m, 4\), \(m, 4\): j has sizes 4 and m$"):
        mx.einsum("ij,jk->ik", y, y)


x = cpu.ones((2, 3))


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        ("ij->ii", "i is 2 times in the result: name each axis of the result once"),
        ("ij->k", "k of the result is in no operand: an axis has its size from an operand"),
        ("i1->i", "the term 'i1' is not of letters and at most one ...: write it as in 'ij,jk->ik'"),
        ("i...j...", "the term 'i...j...' is not of letters and at most one ...: write it as in 'ij,jk->ik'"),
        ("ij->i->j", "the term 'i->j' is not of letters and at most one ...: write it as in 'ij,jk->ik'"),
        ("...j->j", "the result leaves out ...: say where its axes go, or give them letters to sum over them"),
    ],
)
def test_an_equation_that_means_nothing_is_refused(equation: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        mx.einsum(equation, x)
    assert str(caught.value) == f"einsum: {equation!r}: {message}"


def test_operands_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^einsum: 'ij,jk->ik' of \(2, 3\), \(2, 3\): j has sizes 3 and 2$"):
        mx.einsum("ij,jk->ik", x, x)
    with pytest.raises(ShapeError, match=r"^einsum: 'ij,jk->ik' of \(2, 3\): 2 terms for 1 operands$"):
        mx.einsum("ij,jk->ik", x)
    with pytest.raises(ShapeError, match=r"^einsum: 'ijk->i' of \(2, 3\): the term ijk needs 3 axes$"):
        mx.einsum("ijk->i", x)
    with pytest.raises(ShapeError, match=r"^einsum: 'i...jk->i...' of \(2, 3\): the term i...jk needs at least 3 ax"):
        mx.einsum("i...jk->i...", x)
    with pytest.raises(ShapeError, match=r"^einsum: 'ii' of \(2, 3\): i has sizes 2 and 3$"):
        mx.einsum("ii", x)
    with pytest.raises(ShapeError, match=r"^einsum \(axes of ...\): .*: axis -1 has sizes 3 and 2, which are not eq"):
        mx.einsum("...,...->...", x, cpu.ones((2,)))
    with pytest.raises(ShapeError, match=r"^einsum: 'ij,ij->ij' of \(2, 3\), \(1, 3\): i has sizes 2 and 1$"):
        mx.einsum("ij,ij->ij", x, cpu.ones((1, 3)))
    with pytest.raises(ShapeError, match=r"^tensordot: \(2, 3\) and \(2, 3\), axes 1: axis 1 has size 3, axis 0 of th"):
        mx.tensordot(x, x, 1)
    with pytest.raises(ShapeError, match=r"^tensordot: \(2, 3\) and \(2, 3\), axes 3: there must be 3 axes in both$"):
        mx.tensordot(x, x, 3)
    with pytest.raises(ShapeError, match=r"^tensordot: .*: 2 axes of the first, 1 of the second: they go in pairs$"):
        mx.tensordot(x, x, ((0, 1), (0,)))
    with pytest.raises(AxisError, match=r"^tensordot: \(2, 3\), axis 5: axes run from -2 to 1$"):
        mx.tensordot(x, x, ((5,), (0,)))
    with pytest.raises(
        ShapeError, match=r"^outer: \(2, 3\) and \(3,\): both must have one axis; for others use einsum"
    ):
        mx.outer(x, cpu.ones((3,)))
