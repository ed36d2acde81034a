"""The layers of a multi-layer perceptron."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import moonxi as mx
from moonxi import nn
from moonxi.errors import AxisError, OperandError, ShapeError
from tests.nn.models import CPU, Array, line, numbers

ELEMENTS = pytest.mark.parametrize("like", [mx.numpy(), CPU], ids=["F32", "F64"])
sizes = st.integers(0, 4)
EVAL = mx.Eval()


@given(st.lists(sizes, max_size=3), sizes, sizes, st.booleans())
def test_linear_is_x_times_weight_plus_bias_along_the_last_axis(
    batch: list[int], inputs: int, outputs: int, bias: bool
) -> None:
    layer = nn.Linear(numbers(inputs, outputs), numbers(outputs, seed=1) if bias else None)
    x = numbers(*batch, inputs, seed=2)
    expected = x.to_host() @ layer.weight.to_host() + (layer.bias.to_host() if layer.bias is not None else 0.0)
    y = layer.forward(x)
    assert y.shape == (*batch, outputs)
    np.testing.assert_allclose(y.to_host(), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("batch", [(), (5,), (2, 3), (0,), (2, 0)])
def test_the_gradients_of_linear_are_numpys_for_every_rank(batch: tuple[int, ...]) -> None:
    layer, x = line(3, 4), mx.variable(numbers(*batch, 3))
    lifted = layer.map(mx.variable)
    y = lifted.forward(x)
    seed = numbers(*y.shape, seed=5)
    gradients = y.backward(seed)
    rows, ends = x.to_host().reshape(-1, 3), seed.to_host().reshape(-1, 4)
    np.testing.assert_allclose(gradients.of(lifted.weight).to_host(), rows.T @ ends, rtol=1e-13, atol=1e-14)
    assert lifted.bias is not None
    np.testing.assert_allclose(gradients.of(lifted.bias).to_host(), ends.sum(0), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(
        gradients.of(x).to_host(), seed.to_host() @ layer.weight.to_host().T, rtol=1e-13, atol=1e-14
    )


@ELEMENTS
def test_a_new_linear_lives_where_like_lives_with_a_bias_of_zeros[D: mx.F32 | mx.F64](like: mx.NpArray[D]) -> None:
    layer = nn.Linear.init(3, 4, like=like, key=mx.Key(0))
    assert (layer.inputs, layer.outputs) == (3, 4)
    assert layer.bias is not None
    assert layer.weight.dtype is layer.bias.dtype is like.dtype
    assert not layer.bias.to_host().any()
    assert layer.weight.to_host().all()


def test_a_linear_without_bias_has_one_parameter() -> None:
    layer = nn.Linear.init(3, 4, like=CPU, key=mx.Key(0), bias=False)
    assert layer.bias is None
    assert list(layer.named_parameters()) == ["weight"]
    assert layer.map(mx.variable).bias is None


def test_linear_takes_a_mode_or_none() -> None:
    layer, x = line(3, 4), numbers(2, 3)
    for mode in (None, EVAL, mx.Train(mx.Key(0))):
        np.testing.assert_array_equal(layer.forward(x, mode).to_host(), layer.forward(x).to_host())


def test_linear_keeps_the_element_type_and_the_class() -> None:
    layer = nn.Linear.init(3, 4, like=mx.numpy(), key=mx.Key(0))
    y = layer.forward(mx.numpy().ones((2, 3)))
    assert (type(y), y.dtype) == (mx.NpArray, mx.F32)
    other: Any = CPU.ones((2, 3))
    with pytest.raises(OperandError, match=r"^matmul: NpArray\[F64\] with NpArray\[F32\]: both operands must be "):
        layer.forward(other)


def test_sequential_is_one_layer_after_another() -> None:
    first, second, x = line(3, 4), line(4, 2, 1), numbers(5, 3)
    chain = nn.Sequential(first, nn.Relu(), second, nn.Tanh())
    expected = second.forward(first.forward(x).relu()).tanh()
    np.testing.assert_array_equal(chain.forward(x, EVAL).to_host(), expected.to_host())


def test_an_empty_sequential_is_the_identity_and_one_may_hold_another() -> None:
    x = numbers(2, 3)
    assert nn.Sequential[Array]().forward(x, EVAL) is x
    layer = line(3, 3)
    nested = nn.Sequential(layer, nn.Sequential(nn.Relu(), nn.Sequential(layer)))
    np.testing.assert_array_equal(nested.forward(x, EVAL).to_host(), layer.forward(layer.forward(x).relu()).to_host())


def test_sequential_hands_the_mode_on() -> None:
    x = CPU.ones((20, 20))
    chain = nn.Sequential[Array](nn.Sequential(nn.Dropout(0.5)))
    assert chain.forward(x, EVAL) is x
    assert (chain.forward(x, mx.Train(mx.Key(0))).to_host() == 0.0).any()


def test_a_chain_of_widths_that_do_not_meet_names_the_layer() -> None:
    chain = nn.Sequential(line(3, 4), line(5, 2))
    with pytest.raises(
        ShapeError, match=r'^layers\[1\] \(Linear\)\.forward: argument x: expected Float\[T, "\*batch 5"\]'
    ):
        chain.forward(numbers(2, 3), EVAL)


def test_an_empty_batch_passes_through_a_model() -> None:
    chain = nn.Sequential(nn.Flatten(), line(12, 4), nn.Relu(), nn.Dropout(0.5), line(4, 2), nn.Tanh())
    for mode in (EVAL, mx.Train(mx.Key(0))):
        assert chain.forward(CPU.zeros((0, 3, 4)), mode).shape == (0, 2)


@given(st.lists(sizes, min_size=1, max_size=4), st.integers(-4, 3))
def test_flatten_joins_the_axes_from_the_first_on(shape: list[int], first: int) -> None:
    x, layer = numbers(*shape), nn.Flatten(first)
    if not -len(shape) <= first < len(shape):
        with pytest.raises(AxisError, match=rf"^flatten: .*, axis {first}: axes run from "):
            layer.forward(x)
        return
    kept = shape[:first] if first >= 0 else shape[: len(shape) + first]
    y = layer.forward(x, EVAL)
    assert y.shape == (*kept, int(np.prod(shape[len(kept) :])))
    np.testing.assert_array_equal(y.to_host().reshape(-1), x.to_host().reshape(-1))


def test_activations_are_the_functions_of_the_tensor() -> None:
    x = CPU.from_host(np.array([-2.0, -0.0, 0.0, 3.0]))
    for mode in (None, EVAL):
        assert nn.Relu().forward(x, mode).to_host().tolist() == [0.0, 0.0, 0.0, 3.0]
        np.testing.assert_array_equal(nn.Tanh().forward(x, mode).to_host(), np.tanh(x.to_host()))


def test_layers_without_parameters_are_values() -> None:
    assert nn.Relu() == nn.Relu()
    assert nn.Dropout(0.5) == nn.Dropout(0.5) != nn.Dropout(0.25)
    assert len({nn.Flatten(), nn.Flatten(1), nn.Flatten(2)}) == 2


def test_residual_adds_equal_shapes_and_refuses_to_broadcast() -> None:
    x, y = numbers(2, 3), numbers(2, 3, seed=1)
    np.testing.assert_array_equal(nn.residual(x, y).to_host(), x.to_host() + y.to_host())
    for shape in ((3,), (1, 3), (2, 1), ()):
        text = r"^residual \(branch and shortcut\): \(2, 3\) and .*: the shapes must be equal; reshape one of them"
        with pytest.raises(ShapeError, match=text):
            nn.residual(x, numbers(*shape))


def test_a_layer_of_ones_own_with_parameters_trains() -> None:
    @dataclass(frozen=True)
    class Scale[T: mx.Tensor](nn.Module[T]):
        factor: T

        def forward(self, x: T, mode: nn.Mode, /) -> T:
            return x * self.factor

    chain = nn.Sequential(Scale(CPU.full((), 2.0)), nn.Tanh(), Scale(CPU.full((), 3.0)))
    assert list(chain.named_parameters()) == ["layers[0].factor", "layers[2].factor"]
    assert chain.forward(CPU.full((), 0.5), EVAL).item() == pytest.approx(3.0 * np.tanh(1.0))
