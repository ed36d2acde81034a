"""The layers of images against stored values of PyTorch (references/make_image_layers.py), and by what they promise."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import moonxi as mx
from moonxi import nn
from moonxi.dims import symbol
from moonxi.errors import OptionError, ShapeError
from tests.nn.models import CPU, Array, numbers
from tests.nn.references.image_layers import SHAPES, operand, seed

EVAL, TRAIN = mx.Eval(), mx.Train(mx.Key(0))


@pytest.fixture(scope="module")
def reference() -> dict[str, NDArray[np.float64]]:
    with np.load(Path(__file__).parent / "references" / "image_layers.npz") as stored:
        return dict(stored)


def applied[T: mx.ImageModelTensor](case: str, x: T, weight: T | None, bias: T | None, mode: nn.Mode) -> T:
    """The result of the layer of a case."""
    match case, weight, bias:
        case "max pool", None, None:
            return nn.MaxPool2d(2).forward(x, mode)
        case "max pool, overlapping", None, None:
            pool = nn.MaxPool2d((3, 2), stride=(2, 3), padding=(1, 0), dilation=(1, 2), ceil_mode=True)
            return pool.forward(x, mode)
        case "avg pool", None, None:
            return nn.AvgPool2d((2, 3)).forward(x, mode)
        case "avg pool, padding not counted", None, None:
            return nn.AvgPool2d(3, stride=2, padding=1, ceil_mode=True, count_include_pad=False).forward(x, mode)
        case "adaptive avg pool", None, None:
            return nn.AdaptiveAvgPool2d((3, 5)).forward(x, mode)
        case "global avg pool", None, None:
            return nn.GlobalAvgPool2d().forward(x, mode)
        case "nearest", None, None:
            return nn.UpsampleNearest2d((2, 3)).forward(x, mode)
        case "bilinear", None, None:
            return nn.UpsampleBilinear2d(2).forward(x, mode)
        case "bilinear, corners aligned", None, None:
            return nn.UpsampleBilinear2d((3, 2), align_corners=True).forward(x, mode)
    assert weight is not None
    match case, bias:
        case "conv", _:
            conv = nn.Conv2d(weight, bias, stride=(1, 2), padding=(1, 0), dilation=(2, 1), groups=2)
            return conv.forward(x, mode)
        case "transposed", _:
            return nn.ConvTranspose2d(weight, bias).forward(x, mode)
        case "transposed, grouped", _:
            layer = nn.ConvTranspose2d(weight, bias, (2, 1), (1, 0), (1, 0), groups=2)
            return layer.forward(x, mode)
        case "transposed, without bias", _:
            return nn.ConvTranspose2d(weight, bias, stride=2, dilation=2).forward(x, mode)
    assert bias is not None
    match case:
        case "group norm":
            return nn.GroupNorm(weight, bias, 3).forward(x, mode)
        case "group norm of one group":
            return nn.GroupNorm(weight, bias, 1, eps=0.1).forward(x, mode)
        case "group norm of sequences":
            return nn.GroupNorm(weight, bias, 2).forward(x, mode)
    raise AssertionError(case)


def host(case: str, name: str) -> Array | None:
    return CPU.from_host(operand(case, name)) if name in SHAPES[case] else None


@pytest.mark.parametrize("case", SHAPES)
def test_values_and_gradients_are_those_of_pytorch(case: str, reference: dict[str, NDArray[np.float64]]) -> None:
    operands = {name: mx.variable(CPU.from_host(operand(case, name))) for name in SHAPES[case]}
    y = applied(case, operands["x"], operands.get("weight"), operands.get("bias"), TRAIN)
    np.testing.assert_allclose(y.to_host(), reference[f"{case}.y"], rtol=1e-8, atol=1e-10)
    gradients = y.backward(CPU.from_host(seed(case, y.shape)))
    for name, one in operands.items():
        found = gradients.of(one).to_host()
        np.testing.assert_allclose(found, reference[f"{case}.d{name}"], rtol=1e-8, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("case", SHAPES)
def test_the_mode_makes_no_difference(case: str) -> None:
    x = CPU.from_host(operand(case, "x"))
    evaluated, trained = (applied(case, x, host(case, "weight"), host(case, "bias"), mode) for mode in (EVAL, TRAIN))
    np.testing.assert_array_equal(evaluated.to_host(), trained.to_host())


@pytest.mark.parametrize("case", SHAPES)
def test_shapes_without_data_are_those_of_the_values(case: str, reference: dict[str, NDArray[np.float64]]) -> None:
    shapes = SHAPES[case]
    x, weight, bias = (mx.ShapeTensor(shapes[name]) if name in shapes else None for name in ("x", "weight", "bias"))
    assert x is not None
    assert applied(case, x, weight, bias, EVAL).shape == reference[f"{case}.y"].shape


BATCH, H, W = (symbol(name, least=1) for name in ("batch", "h", "w"))
IMAGES = mx.ShapeTensor((BATCH, 8, H, W))


@pytest.mark.parametrize(
    ("result", "shape"),
    [
        (lambda: nn.MaxPool2d(2, stride=1, padding=1).forward(IMAGES), (BATCH, 8, H + 1, W + 1)),
        (lambda: nn.GlobalAvgPool2d().forward(IMAGES), (BATCH, 8)),
        (lambda: nn.AdaptiveAvgPool2d((3, 1)).forward(IMAGES), (BATCH, 8, 3, 1)),
        (lambda: nn.UpsampleNearest2d((2, 3)).forward(IMAGES), (BATCH, 8, 2 * H, 3 * W)),
        (lambda: nn.UpsampleBilinear2d(4).forward(IMAGES), (BATCH, 8, 4 * H, 4 * W)),
        (lambda: growing(stride=2).forward(IMAGES), (BATCH, 4, 2 * H, 2 * W)),
        (lambda: growing(stride=2, output_padding=1).forward(IMAGES), (BATCH, 4, 2 * H + 1, 2 * W + 1)),
        (lambda: nn.GroupNorm.init(4, 8, like=IMAGES).forward(IMAGES), (BATCH, 8, H, W)),
        (lambda: nn.Dropout2d(0.5).forward(IMAGES, TRAIN), (BATCH, 8, H, W)),
    ],
)
def test_sizes_may_be_symbols(result: Callable[[], mx.ShapeTensor], shape: tuple[int, ...]) -> None:
    assert result().shape == shape


def growing(*, stride: int, output_padding: int = 0) -> nn.ConvTranspose2d[mx.ShapeTensor]:
    like, key = mx.ShapeTensor(()), mx.Key(0)
    return nn.ConvTranspose2d.init(8, 4, 2, like=like, key=key, stride=stride, output_padding=output_padding)


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5), st.integers(1, 5), st.integers(1, 3), st.integers(1, 3))
def test_a_transposed_convolution_is_the_adjoint_of_the_convolution(
    batch: int, channels: int, height: int, width: int, stride: int, kernel: int
) -> None:
    weight, x = numbers(channels, 2, kernel, kernel), numbers(batch, channels, height, width, seed=1)
    there = nn.ConvTranspose2d(weight, None, stride=stride)
    back = nn.Conv2d(weight, None, stride=stride)
    grown = there.forward(x)
    other = numbers(*grown.shape, seed=2)
    assert (grown * other).sum().item() == pytest.approx((x * back.forward(other)).sum().item(), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("like", [mx.numpy(), CPU], ids=["F32", "F64"])
def test_a_new_transposed_convolution_lives_where_like_lives[D: mx.F32 | mx.F64](like: mx.NpArray[D]) -> None:
    layer = nn.ConvTranspose2d.init(4, 6, (3, 5), like=like, key=mx.Key(0), groups=2)
    assert (layer.inputs, layer.outputs) == (4, 6)
    assert layer.weight.shape == (4, 3, 3, 5)
    assert layer.bias is not None
    assert layer.weight.dtype is layer.bias.dtype is like.dtype
    assert layer.bias.to_host().tolist() == [0.0] * 6
    assert nn.ConvTranspose2d.init(4, 6, 3, like=like, key=mx.Key(0), bias=False).bias is None


def test_a_new_group_norm_gives_each_group_mean_0_and_variance_1() -> None:
    norm = nn.GroupNorm.init(3, 6, like=CPU)
    assert norm.channels == 6
    assert norm.named_parameters().keys() == {"weight", "bias"}
    y = norm.forward(numbers(4, 6, 5, 5) * 3.0 + 7.0).to_host().reshape(4, 3, -1)
    np.testing.assert_allclose(y.mean(2), 0.0, atol=1e-12)
    np.testing.assert_allclose(y.var(2), 1.0, rtol=1e-4)


def test_the_result_of_group_norm_does_not_depend_on_the_other_samples() -> None:
    norm, x = nn.GroupNorm.init(2, 4, like=CPU), numbers(3, 4, 2, 2)
    np.testing.assert_allclose(norm.forward(x).to_host()[1:2], norm.forward(x[1:2]).to_host(), rtol=1e-13)


def test_layers_without_parameters_are_values_and_have_none() -> None:
    assert nn.MaxPool2d(2) == nn.MaxPool2d(2) != nn.MaxPool2d(3)
    assert nn.AvgPool2d(2) != nn.AvgPool2d(2, count_include_pad=False)
    layers = (nn.AdaptiveAvgPool2d(1), nn.GlobalAvgPool2d(), nn.UpsampleNearest2d(2), nn.UpsampleBilinear2d(2))
    assert len({*layers, *layers}) == 4
    assert nn.Sequential[Array](nn.MaxPool2d(2), *layers[:1]).parameters() == ()


def test_layers_of_images_follow_each_other_in_a_sequence() -> None:
    up = nn.ConvTranspose2d.init(4, 3, 2, like=CPU, key=mx.Key(1), stride=2)
    down = nn.Conv2d.init(3, 4, 3, like=CPU, key=mx.Key(0), padding="same")
    model = nn.Sequential(down, nn.GroupNorm.init(2, 4, like=CPU), nn.Relu(), nn.MaxPool2d(2), nn.Dropout2d(0.0), up)
    x = numbers(2, 3, 6, 8)
    assert model.forward(x, TRAIN).shape == x.shape
    value, gradients = nn.value_and_grad(energy, model, Images(x), TRAIN)
    assert value.item() > 0.0
    assert all(gradient.to_host().any() for gradient in gradients.parameters())


class Images[T: mx.Tensor]:
    """A batch without labels."""

    def __init__(self, x: T) -> None:
        self.x = x

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Images[U]":
        return Images(f(self.x))


def energy[T: mx.ImageModelTensor](model: nn.Sequential[T], batch: Images[T], mode: nn.Mode) -> T:
    return model.forward(batch.x, mode).square().mean()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: nn.ConvTranspose2d.init(4, 6, 3, like=CPU, key=mx.Key(0), groups=4),
            r"^ConvTranspose2d: 4 inputs, 6 outputs, groups=4: groups must divide both$",
        ),
        (
            lambda: nn.ConvTranspose2d.init(4, 6, 3, like=CPU, key=mx.Key(0), groups=0),
            r"^ConvTranspose2d: groups=0: must be at least 1$",
        ),
        (
            lambda: nn.GroupNorm.init(4, 6, like=CPU),
            r"^GroupNorm: 6 channels, groups=4: groups must divide the channels$",
        ),
        (
            lambda: nn.GroupNorm.init(0, 6, like=CPU),
            r"^GroupNorm: groups=0: must be at least 1$",
        ),
    ],
)
def test_groups_that_do_not_divide_the_channels_are_refused(make: Callable[[], object], text: str) -> None:
    with pytest.raises(OptionError, match=text):
        make()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: nn.ConvTranspose2d.init(3, 4, 2, like=CPU, key=mx.Key(0)).forward(numbers(2, 4, 5, 5)),
            (
                'ConvTranspose2d.forward: argument x: expected Float[T, "batch 3 height width"] where batch=2, '
                "got NpArray[F64] (2, 4, 5, 5)"
            ),
        ),
        (
            lambda: nn.ConvTranspose2d(numbers(3, 4, 2, 2), numbers(3)).forward(numbers(2, 3, 5, 5)),
            "conv_transpose2d (bias): (2, 4, 6, 6) with (3,): there must be one element for each of the 4 channels",
        ),
        (
            lambda: nn.GroupNorm.init(3, 6, like=CPU).forward(numbers(2, 3, 4, 4)),
            (
                'GroupNorm.forward: argument x: expected Float[T, "batch 6 *space"] where batch=2, '
                "got NpArray[F64] (2, 3, 4, 4)"
            ),
        ),
        (
            lambda: nn.GroupNorm(numbers(6), numbers(6), 4).forward(numbers(2, 6, 4, 4)),
            "group_norm: (2, 6, 4, 4): 6 channels cannot be split into 4 groups",
        ),
        (
            lambda: nn.MaxPool2d(2).forward(numbers(3, 4, 4)),
            (
                'MaxPool2d.forward: argument x: expected Float[T, "batch channels height width"], '
                "got NpArray[F64] (3, 4, 4)"
            ),
        ),
        (
            lambda: nn.MaxPool2d(5).forward(numbers(1, 1, 4, 6)),
            "max_pool2d: (1, 1, 4, 6) with kernel 5: a window of height 5 does not fit an image of height 4",
        ),
        (
            lambda: nn.AvgPool2d(2, padding=2).forward(numbers(1, 1, 4, 6)),
            "avg_pool2d: (1, 1, 4, 6) with kernel 2, padding 2: padding must be at most half of the window, 1",
        ),
        (
            lambda: nn.GlobalAvgPool2d().forward(numbers(2, 3)),
            (
                'GlobalAvgPool2d.forward: argument x: expected Float[T, "batch channels height width"], '
                "got NpArray[F64] (2, 3)"
            ),
        ),
    ],
)
def test_what_does_not_fit_names_operation_and_layer(call: Callable[[], object], text: str) -> None:
    with pytest.raises(ShapeError) as found:
        call()
    assert str(found.value) == text
    assert found.value.__notes__[0].startswith("in the forward of ")


def test_a_group_norm_of_unequal_weight_and_bias_cannot_be_made() -> None:
    text = r'^GroupNorm: field bias: expected Float\[T, "channels"\], got NpArray\[F64\] \(5,\): sizes of one name'
    with pytest.raises(ShapeError, match=text):
        nn.GroupNorm(numbers(6), numbers(5), 3)
