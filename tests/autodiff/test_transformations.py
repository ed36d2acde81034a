"""`grad`, `vjp`, `jvp`, `hvp`, `jacobian`, `hessian` and `per_example_grad`: against PyTorch, closed forms, nested."""

from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import moonxi as mx
from moonxi.dims import symbol
from moonxi.errors import GradientError, OperandError, ShapeError
from tests.backends.on_gpu import gpu_or_skip

cpu = mx.numpy(mx.F64)


def stored() -> dict[str, NDArray[np.float64]]:
    with np.load(Path(__file__).parent / "references" / "transformations.npz") as file:
        return {name: file[name] for name in file.files}


REFERENCES = stored()
PRECISIONS = pytest.mark.parametrize(("like", "rtol", "atol"), [(cpu, 1e-8, 1e-10), (mx.numpy(), 2e-4, 2e-5)])


def energy[T: mx.MlpTensor](x: T, w: T) -> T:
    hidden = (x @ w).tanh()
    return hidden.square().mean() + hidden.log_softmax(1).exp().square().sum() + (x.exp() / (x.square() + 1.0)).sum()


def field[T: mx.MlpTensor](x: T, w: T) -> T:
    return (x @ w).sin() * (x @ w).softmax(1)


def cubes[T: mx.Tensor](x: T) -> T:
    return (x * x * x).sum()


def derivatives[T: mx.MlpTensor](like: T) -> dict[str, T]:
    """What the file holds, computed here."""
    x, w, tangent, cotangent, examples = (
        like.from_host(REFERENCES[name]) for name in ("x", "w", "tangent", "cotangent", "examples")
    )
    of_x, of_w = mx.grad(energy, x, w)
    return {
        "grad": of_x,
        "grad of w": of_w,
        "vjp": mx.vjp(lambda x: field(x, mx.constant(w)), x, cotangent)[1],
        "jvp": mx.jvp(lambda x: field(x, mx.constant(mx.constant(w))), x, tangent)[1],
        "hvp": mx.hvp(lambda x: energy(x, mx.constant(mx.constant(w))), x, tangent),
        "jacobian": mx.jacobian(lambda x: field(x, mx.constant(w)), x),
        "hessian": mx.hessian(lambda x: energy(x, mx.constant(mx.constant(w))), x),
        "per example": mx.per_example_grad(lambda w, row: energy(row.unsqueeze(0), w), w, examples),
    }


@PRECISIONS
@pytest.mark.parametrize("name", sorted(REFERENCES.keys() - {"x", "w", "tangent", "cotangent", "examples"}))
def test_the_derivatives_are_those_of_pytorch[D: (mx.F32, mx.F64)](
    name: str, like: mx.NpArray[D], rtol: float, atol: float
) -> None:
    found = derivatives(like)[name]
    assert found.dtype is like.dtype
    np.testing.assert_allclose(found.to_host(), REFERENCES[name], rtol=rtol, atol=atol)


@pytest.mark.gpu
def test_on_the_gpu_they_are_those_of_pytorch_too() -> None:
    for name, found in derivatives(gpu_or_skip(mx.F64)()).items():
        np.testing.assert_allclose(found.to_host(), REFERENCES[name], rtol=1e-8, atol=1e-10, err_msg=name)


def test_under_differentiation_they_are_the_same_again() -> None:
    plain, lifted = derivatives(cpu), derivatives(mx.variable(cpu))
    for name, value in plain.items():
        np.testing.assert_array_equal(lifted[name].to_host(), value.to_host(), err_msg=name)


@given(st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=4))
def test_of_a_sum_of_cubes_all_are_known(values: list[float]) -> None:
    x = cpu.from_host(np.array(values))
    a, n = np.array(values), len(values)
    np.testing.assert_allclose(mx.grad(cubes, x).to_host(), 3.0 * a**2, rtol=1e-14)
    np.testing.assert_allclose(mx.hessian(cubes, x).to_host(), np.diag(6.0 * a), rtol=1e-14)
    np.testing.assert_allclose(mx.hvp(cubes, x, x).to_host(), 6.0 * a**2, rtol=1e-14)
    np.testing.assert_allclose(mx.jvp(cubes, x, x)[1].to_host(), np.sum(3.0 * a**3), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(mx.jacobian(lambda z: z * z, x).to_host(), np.diag(2.0 * a), rtol=1e-14)
    third = mx.jacobian(lambda z: mx.hessian(cubes, z), x).to_host()
    assert third.shape == (n, n, n)
    np.testing.assert_allclose(third, 6.0 * np.einsum("ij,ik->ijk", np.eye(n), np.eye(n)), rtol=1e-14)


@given(st.integers(1, 5), st.floats(-1.0, 1.0))
def test_grad_of_grad_to_any_depth(depth: int, value: float) -> None:
    def nth[T: mx.Tensor](x: T, n: int) -> T:
        return x.exp() if n == 0 else mx.grad(lambda y: nth(y, n - 1), x)

    assert nth(cpu.full((), value), depth).item() == np.exp(value)


def test_perturbations_are_not_confused() -> None:
    """d/dx (x * d/dy (x + y)) is 1, not 2 (Siskind and Pearlmutter 2005)."""

    def outer[T: mx.MlpTensor](x: T) -> T:
        return x * mx.grad(lambda y: mx.constant(x) + y, x)

    assert mx.grad(outer, cpu.ones(())).item() == 1.0


def test_jvp_and_vjp_are_adjoint() -> None:
    x, u, v = cpu.normal((3, 4), mx.Key(0)), cpu.normal((3, 4), mx.Key(1)), cpu.normal((3, 4), mx.Key(2))
    value, forward = mx.jvp(lambda z: z.softmax(1) * z.exp(), x, v)
    same, backward = mx.vjp(lambda z: z.softmax(1) * z.exp(), x, u)
    np.testing.assert_array_equal(value.to_host(), same.to_host())
    np.testing.assert_allclose((u * forward).sum().item(), (v * backward).sum().item(), rtol=1e-13)


def test_the_products_are_differentiated_again() -> None:
    x, v = cpu.normal((3,), mx.Key(0)), cpu.normal((3,), mx.Key(1))
    mx.check_gradients(lambda x, v: mx.jvp(lambda z: z.sin() * z, x, v)[1], x, v)
    mx.check_gradients(lambda x, v: mx.vjp(lambda z: z.sin() * z, x, v)[1], x, v)
    mx.check_gradients(lambda x, v: mx.hvp(lambda z: (z.sin() * z).prod(), x, v), x, v)
    mx.check_gradients(lambda x: mx.jacobian(lambda z: z.softmax(0), x), x)
    mx.check_gradients(lambda w, e: mx.per_example_grad(lambda w, e: (w * e).sum().exp(), w, e), x, cpu.ones((2, 3)))


def test_what_a_function_does_not_depend_on_has_zeros() -> None:
    x = cpu.normal((2, 3), mx.Key(0))
    assert mx.grad(lambda z: mx.constant(x).sum(), x).to_host().tolist() == [[0.0] * 3] * 2
    assert not mx.jvp(lambda z: mx.constant(mx.constant(x)), x, x)[1].to_host().any()
    assert not mx.vjp(lambda z: z.floor(), x, x)[1].to_host().any()
    assert mx.hessian(lambda z: z.sum(), x).shape == (2, 3, 2, 3)
    assert not mx.hvp(lambda z: z.sum(), x, x).to_host().any()
    assert mx.jacobian(lambda z: mx.constant(x), x).shape == (2, 3, 2, 3)
    first, second = mx.grad(lambda y, z: (z * z).sum(), x, x)
    assert not first.to_host().any()
    np.testing.assert_array_equal(second.to_host(), 2.0 * x.to_host())


def test_of_nothing_there_is_a_matrix_without_elements() -> None:
    assert mx.jacobian(lambda z: z * z, cpu.ones((0,))).shape == (0, 0)
    assert mx.jacobian(lambda z: z[:0], cpu.ones((2,))).shape == (0, 2)
    assert mx.per_example_grad(lambda w, e: (w * e).sum(), cpu.ones((2,)), cpu.ones((0, 2))).shape == (0, 2)


def test_shapes_alone_go_through_all_of_them() -> None:
    n: Any = symbol("n", least=1)
    x, w = mx.ShapeTensor((n, 4)), mx.ShapeTensor((4, 5))
    assert mx.grad(energy, x, w)[0].shape == (n, 4)
    assert mx.jvp(lambda z: z @ mx.constant(mx.constant(w)), x, x)[1].shape == (n, 5)
    assert mx.vjp(lambda z: z @ mx.constant(w), x, mx.ShapeTensor((n, 5)))[1].shape == (n, 4)
    assert mx.jacobian(lambda z: z.sum(1), x).shape == (n, n, 4)
    assert mx.hessian(cubes, x).shape == (n, 4, n, 4)
    assert mx.per_example_grad(lambda w, e: (e.unsqueeze(0) @ w).sum(), w, x).shape == (n, 4, 5)


class Attending(mx.Tensor, mx.BlasTensor, Protocol):
    """An intersection of traits that a user has made."""


def scores[T: Attending](x: T) -> T:
    return (x @ x.transpose()).softmax(1).log().sum()


def pooled[T: mx.ImageModelTensor](x: T) -> T:
    return x.avg_pool2d(2).square().sum()


def all_of_scores[T: Attending](x: T) -> tuple[T, T, T, T]:
    """In generic code of the user's own bound, at its own level."""
    return mx.grad(scores, x), mx.hvp(scores, x, x), mx.jvp(scores, x, x)[1], mx.hessian(scores, x)


def test_functions_of_any_bound_are_differentiated_in_generic_code() -> None:
    x = cpu.normal((2, 2), mx.Key(0))
    plain: tuple[mx.NpArray[mx.F64], ...] = all_of_scores(x)
    lifted = all_of_scores(mx.variable(x))
    for one, other in zip(plain, lifted, strict=True):
        np.testing.assert_array_equal(one.to_host(), other.value.to_host())
    gradient, product, slope, matrix = plain
    np.testing.assert_allclose(slope.item(), (gradient * x).sum().item(), rtol=1e-12)
    np.testing.assert_allclose(product.to_host(), mx.tensordot(matrix, x, 2).to_host(), rtol=1e-12)


def test_functions_of_images_are_differentiated() -> None:
    x = cpu.normal((1, 1, 4, 4), mx.Key(0))
    means = x.to_host().reshape(2, 2, 2, 2).mean((1, 3))
    expected = np.kron(means, np.ones((2, 2))) / 2.0
    np.testing.assert_allclose(mx.grad(pooled, x).to_host()[0, 0], expected, rtol=1e-12)
    np.testing.assert_allclose(mx.hvp(pooled, x, x).to_host(), mx.grad(pooled, x).to_host(), rtol=1e-12)


class Own[T: mx.MlpTensor](mx.BlasGrad[T]):
    """A class of another package, with an operation of its own."""

    __slots__ = ()

    def cubed(self) -> Self:
        return self * self * self


def test_classes_of_other_packages_are_named_at_the_call() -> None:
    x = cpu.from_host(np.array([1.0, -2.0]))
    gradient: mx.NpArray[mx.F64] = mx.grad(lambda z: z.cubed().sum(), x, variable=Own.variable)
    assert gradient.to_host().tolist() == [3.0, 12.0]
    assert mx.vjp(lambda z: z.cubed(), x, x, variable=Own.variable)[1].to_host().tolist() == [3.0, -24.0]
    assert mx.jacobian(lambda z: z.cubed(), x, variable=Own.variable).to_host().tolist() == [[3.0, 0.0], [0.0, 12.0]]
    rows = mx.per_example_grad(lambda w, e: (w.cubed() * e.cubed()).sum(), x, x.unsqueeze(0), variable=Own.variable)
    assert rows.to_host().tolist() == [[3.0, -96.0]]


x = cpu.ones((3,))


def test_more_than_one_number_is_refused() -> None:
    rule = r": the function gave \(3,\): expected one number; reduce it with .sum\(\) or .mean\(\), or use vjp or jac"
    with pytest.raises(GradientError, match="^grad" + rule):
        mx.grad(lambda z: z * z, x)
    with pytest.raises(GradientError, match="^hvp" + rule):
        mx.hvp(lambda z: z * z, x, x)
    with pytest.raises(GradientError, match="^hessian" + rule):
        mx.hessian(lambda z: z * z, x)
    with pytest.raises(GradientError, match="^per_example_grad" + rule):
        mx.per_example_grad(lambda z, e: z * e, x, cpu.ones((2, 3)))


def test_directions_of_another_shape_are_refused() -> None:
    short = cpu.ones((2,))
    with pytest.raises(ShapeError, match=r"^jvp \(point and tangent\): \(3,\) and \(2,\): the shapes must be equal"):
        mx.jvp(lambda z: z, x, short)
    with pytest.raises(ShapeError, match=r"^vjp \(result and cotangent\): \(\) and \(3,\): the shapes must be equal"):
        mx.vjp(cubes, x, x)
    with pytest.raises(ShapeError, match=r"^hvp \(point and vector\): \(3,\) and \(2,\): the shapes must be equal"):
        mx.hvp(cubes, x, short)


def test_a_result_of_another_level_is_refused() -> None:
    def plain(z: object) -> mx.Grad[mx.NpArray[mx.F64]]:
        return x.sum()  # type: ignore[return-value]  # the mistake

    with pytest.raises(
        GradientError,
        match=r"^grad: the function gave NpArray\[F64\] for ImageGrad\[NpArray\[F64\]\]: it must compute its result "
        r"from its arguments, by operations of any tensor class; a plain tensor becomes one of these with constant",
    ):
        mx.grad(plain, x)
    with pytest.raises(GradientError, match=r"^jvp: the function gave NpArray\[F64\] for ImageGrad\[ImageGrad\[NpArr"):
        mx.jvp(plain, x, x)  # type: ignore[arg-type]  # the mistake


def test_a_tensor_of_another_level_that_is_held_is_refused() -> None:
    with pytest.raises(OperandError, match=r"^multiply: ImageGrad\[NpArray\[F64\]\] with NpArray\[F64\]: both"):
        mx.grad(lambda z: (z * x).sum(), x)  # type: ignore[operator]  # the mistake


def test_directions_of_another_level_are_refused() -> None:
    lifted = mx.constant(x)
    rule = (
        r" is ImageGrad\[NpArray\[F64\]\], the point NpArray\[F64\]: both must be at one level; bring one in with "
        r"constant\(x\), or take the other out with x.value$"
    )
    with pytest.raises(OperandError, match="^vjp: the cotangent" + rule):
        mx.vjp(lambda z: z, x, lifted)  # type: ignore[tensor-mix]  # the mistake
    with pytest.raises(OperandError, match="^jvp: the tangent" + rule):
        mx.jvp(lambda z: z, x, lifted)  # type: ignore[tensor-mix]  # the mistake
    with pytest.raises(OperandError, match="^hvp: the vector" + rule):
        mx.hvp(cubes, x, lifted)  # type: ignore[tensor-mix]  # the mistake
