"""Activations, Embedding, LayerNorm, RMSNorm and Bilinear against PyTorch (references/more_layers.npz), and beyond."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import moonxi as mx
from moonxi import nn
from tests.nn.models import CPU, Array
from tests.nn.references.more_layers import SHAPES, labels, operand, seed

CASES = pytest.mark.parametrize("case", SHAPES)
ACTIVATIONS: dict[str, nn.Step[Array]] = {
    "sigmoid": nn.Lambda(lambda x: nn.Sigmoid().forward(x).value),
    "silu": nn.Silu(),
    "gelu": nn.Gelu(),
    "gelu, tanh": nn.Gelu("tanh"),
    "elu": nn.Elu(),
    "elu, alpha": nn.Elu(0.3),
    "leaky_relu": nn.LeakyRelu(),
    "leaky_relu, slope": nn.LeakyRelu(0.3),
    "softplus": nn.Softplus(),
    "softplus, beta": nn.Softplus(2.0),
    "mish": nn.Mish(),
    "hardswish": nn.Hardswish(),
    "softmax": nn.Lambda(lambda x: nn.Softmax().forward(x).value),
    "softmax, first axis": nn.Lambda(lambda x: x.softmax(0)),
}


@pytest.fixture(scope="module")
def reference() -> dict[str, NDArray[np.float64]]:
    with np.load(Path(__file__).parent / "references" / "more_layers.npz") as stored:
        return dict(stored)


def function[T: mx.Tensor](case: str, x: T) -> T:
    """The function of a case."""
    match case:
        case "sigmoid":
            return x.sigmoid()
        case "silu":
            return nn.silu(x)
        case "gelu":
            return nn.gelu(x)
        case "gelu, tanh":
            return nn.gelu(x, form="tanh")
        case "elu":
            return nn.elu(x)
        case "elu, alpha":
            return nn.elu(x, alpha=0.3)
        case "leaky_relu":
            return nn.leaky_relu(x)
        case "leaky_relu, slope":
            return nn.leaky_relu(x, slope=0.3)
        case "softplus":
            return nn.softplus(x)
        case "softplus, beta":
            return nn.softplus(x, beta=2.0)
        case "mish":
            return nn.mish(x)
        case "hardswish":
            return nn.hardswish(x)
        case "softmax":
            return x.softmax(-1)
        case "softmax, first axis":
            return x.softmax(0)
    raise AssertionError(case)


def applied[T: mx.MlpTensor](case: str, operands: Mapping[str, T], mode: nn.Mode | None = None) -> T:
    """The result of a case: of its function, or of its layer."""
    if case in ACTIVATIONS:
        return function(case, operands["x"])
    weight, bias = operands["weight"], operands.get("bias")
    name = case.partition(",")[0].partition(" of ")[0]
    match name:
        case "layer norm":
            return nn.LayerNorm(weight, bias, 0.1 if "eps" in case else 1e-5).forward(operands["x"], mode)
        case "rms norm" if "eps" in case:
            return nn.RMSNorm(weight, 0.1).forward(operands["x"], mode)
        case "rms norm":
            return nn.RMSNorm(weight).forward(operands["x"], mode)
        case "bilinear":
            return nn.Bilinear(weight, bias).forward(operands["x"], operands["y"], mode)
        case "embedding":
            padding = 2 if "padding" in case else None
            return nn.Embedding(weight, padding).forward(weight.labels(labels(case)), mode)
    raise AssertionError(case)


@CASES
def test_values_and_gradients_are_those_of_pytorch(case: str, reference: dict[str, NDArray[np.float64]]) -> None:
    operands = {name: mx.variable(CPU.from_host(operand(case, name))) for name in SHAPES[case]}
    y = applied(case, operands)
    np.testing.assert_allclose(y.to_host(), reference[f"{case}.y"], rtol=1e-8, atol=1e-10)
    gradients = y.backward(CPU.from_host(seed(case, y.shape)))
    for name, one in operands.items():
        found = gradients.of(one).to_host()
        np.testing.assert_allclose(found, reference[f"{case}.d{name}"], rtol=1e-8, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("case", ACTIVATIONS)
def test_a_layer_is_its_function(case: str) -> None:
    x = CPU.from_host(operand(case, "x"))
    for mode in (mx.Eval(), mx.Train(mx.Key(0))):
        found = ACTIVATIONS[case].forward(x, mode).to_host()
        np.testing.assert_array_equal(found, function(case, x).to_host())


@CASES
def test_the_mode_makes_no_difference(case: str) -> None:
    operands = {name: CPU.from_host(operand(case, name)) for name in SHAPES[case]}
    evaluated, trained = (applied(case, operands, mode) for mode in (mx.Eval(), mx.Train(mx.Key(0))))
    np.testing.assert_array_equal(evaluated.to_host(), trained.to_host())


@pytest.mark.parametrize("case", [one for one in SHAPES if "padding" not in one])  # its row counts, without a gradient
def test_gradients_are_differentiable_again(case: str) -> None:
    names = list(SHAPES[case])

    def of_one[T: mx.MlpTensor](x: T) -> T:
        return applied(case, dict(zip(names, (x,), strict=True)))

    def of_two[T: mx.MlpTensor](x: T, y: T) -> T:
        return applied(case, dict(zip(names, (x, y), strict=True)))

    def of_three[T: mx.MlpTensor](x: T, y: T, z: T) -> T:
        return applied(case, dict(zip(names, (x, y, z), strict=True)))

    def of_four[T: mx.MlpTensor](x: T, y: T, z: T, w: T) -> T:
        return applied(case, dict(zip(names, (x, y, z, w), strict=True)))

    match [CPU.from_host(operand(case, name)) for name in names]:
        case [x]:
            mx.check_gradients(of_one, x, order=2)
        case [x, y]:
            mx.check_gradients(of_two, x, y, order=2)
        case [x, y, z]:
            mx.check_gradients(of_three, x, y, z, order=2)
        case [x, y, z, w]:
            mx.check_gradients(of_four, x, y, z, w, order=2)
        case _:
            raise AssertionError(case)


@CASES
def test_single_precision_stays_and_is_near(case: str, reference: dict[str, NDArray[np.float64]]) -> None:
    y = applied(case, {name: mx.numpy().from_host(operand(case, name)) for name in SHAPES[case]})
    assert y.dtype is mx.F32
    np.testing.assert_allclose(y.to_host(), reference[f"{case}.y"], rtol=2e-5, atol=1e-5)


@CASES
def test_shapes_without_data_are_those_of_the_values(case: str, reference: dict[str, NDArray[np.float64]]) -> None:
    operands = {name: mx.ShapeTensor(shape) for name, shape in SHAPES[case].items()}
    assert applied(case, operands).shape == reference[f"{case}.y"].shape


@pytest.mark.parametrize("case", [one for one in ACTIVATIONS if not one.startswith("softmax")])
def test_activations_take_no_elements_and_one(case: str) -> None:
    for shape in ((0,), (3, 0), (1,), (1, 1)):
        assert function(case, CPU.ones(shape)).shape == shape


@pytest.mark.parametrize("case", [one for one in ACTIVATIONS if not one.startswith("softmax")])
def test_large_inputs_and_nan_behave(case: str) -> None:
    x = mx.variable(CPU.from_host(np.array([1e4, -1e4, np.nan])))
    y = function(case, x)
    assert np.isfinite(y.to_host()[:2]).all()
    assert np.isnan(y.to_host()[2])
    assert np.isfinite(y.sum().backward().of(x).to_host()[:2]).all()


def test_the_derivatives_at_the_kinks() -> None:
    x = mx.variable(CPU.zeros((1,)))
    assert nn.elu(x, alpha=0.3).sum().backward().of(x).item() == 0.3
    assert nn.leaky_relu(x, slope=0.2).sum().backward().of(x).item() == 0.2
    ends = mx.variable(CPU.from_host(np.array([-3.0, 3.0])))
    np.testing.assert_allclose(nn.hardswish(ends).sum().backward().of(ends).to_host(), [-0.5, 1.5])
