from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from moonxi.autodiff import variable
from moonxi.backends.numpy import numpy
from moonxi.dims import evaluate, symbol
from moonxi.errors import ShapeError
from moonxi.shape_tensor import ShapeTensor
from moonxi.traits import ConvOptions, Pair, PoolOptions

cpu = numpy()
batch, height, width = symbol("batch", least=1), symbol("h", least=1), symbol("w", least=1)
images = ShapeTensor((batch, 4, height, width))
some = st.integers(1, 3)
pairs = st.tuples(some, some) | some
pads = st.tuples(st.integers(0, 2), st.integers(0, 2)) | st.integers(0, 2)


def agree(call: Callable[..., Any], operands: tuple[tuple[int, ...], ...], sizes: tuple[int, int, int]) -> None:
    """Value and gradients have the shapes of the NumPy backend, whatever numbers the symbols stand for."""
    values = dict(zip(("batch", "h", "w"), sizes, strict=True))
    try:
        x = variable(cpu.zeros((sizes[0], 4, *sizes[1:])))
        expected = call(x, *(variable(cpu.zeros(shape)) for shape in operands))
    except ShapeError:
        assume(False)  # an image too small for its window: a symbolic one may be larger
        raise
    others = [variable(ShapeTensor(shape)) for shape in operands]
    y = variable(images)
    result = call(y, *others)
    assert tuple(evaluate(size, values) for size in result.shape) == expected.shape
    gradients = result.backward(result.value.ones(result.shape))
    assert gradients.of(y).shape == images.shape
    assert [gradients.of(x).shape for x in others] == list(operands)
    plain = call(images, *(ShapeTensor(shape) for shape in operands))
    assert plain.shape == result.shape


sizes = st.tuples(st.integers(2, 3), st.integers(1, 12), st.integers(1, 12))


@given(sizes, st.tuples(some, some), pairs, pads | st.just("same"), pairs, st.sampled_from((1, 2, 4)), st.booleans())
def test_convolution(
    numbers: tuple[int, int, int], kernel: tuple[int, int], stride: Pair, padding: Any, dilation: Pair, groups: int,
    bias: bool,
) -> None:  # fmt: skip
    options = ConvOptions(stride=1 if padding == "same" else stride, padding=padding, dilation=dilation, groups=groups)
    operands: tuple[tuple[int, ...], ...] = ((8, 4 // groups, *kernel),)
    agree(lambda x, *w: x.conv2d(*w, **options), (*operands, (8,)) if bias else operands, numbers)


@given(sizes, st.tuples(some, some), pairs, pads, pairs, st.sampled_from((1, 2, 4)))
def test_transposed_convolution(
    numbers: tuple[int, int, int], kernel: tuple[int, int], stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> None:
    agree(
        lambda x, w: x.conv_transpose2d(w, stride=stride, padding=padding, dilation=dilation, groups=groups),
        ((4, 6, *kernel),),
        numbers,
    )


@given(sizes, pairs, pairs, st.integers(0, 1), pairs, st.booleans(), st.sampled_from(("max_pool2d", "sum_pool2d")))
def test_pooling(
    numbers: tuple[int, int, int],
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    ceil_mode: bool,
    name: str,
) -> None:
    options = PoolOptions(stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode)
    agree(lambda x: getattr(x, name)(kernel, **options), (), numbers)


@given(sizes, pairs, pairs, st.integers(0, 1), st.booleans(), st.booleans())
def test_mean_pooling(
    numbers: tuple[int, int, int], kernel: Pair, stride: Pair, padding: Pair, ceil_mode: bool, include: bool
) -> None:
    agree(
        lambda x: x.avg_pool2d(kernel, stride=stride, padding=padding, ceil_mode=ceil_mode, count_include_pad=include),
        (),
        numbers,
    )


@given(sizes, pairs, st.sampled_from(("adaptive_avg_pool2d", "upsample_nearest2d", "upsample_bilinear2d")))
def test_resampling(numbers: tuple[int, int, int], size: Pair, name: str) -> None:
    agree(lambda x: getattr(x, name)(size), (), numbers)


edges = st.tuples(*(st.tuples(st.integers(0, 2), st.integers(0, 2)) for _ in range(2)))


@given(sizes, edges, st.sampled_from(("constant", "reflect", "replicate", "circular")), st.sampled_from((0.0, 1.0)))
def test_padding(numbers: tuple[int, int, int], padding: Any, mode: Any, fill: float) -> None:
    agree(lambda x: x.pad2d(padding, mode=mode, fill=fill), (), numbers)


@given(sizes)
def test_normalisation(numbers: tuple[int, int, int]) -> None:
    agree(lambda x, w, b: x.batch_norm(w, b)[0], ((4,), (4,)), numbers)
    agree(lambda x, w, b: x.group_norm(2, w, b), ((4,), (4,)), numbers)
    agree(lambda x, m, v, w, b: x.batch_norm_with(m, v, w, b), ((4,), (4,), (4,), (4,)), numbers)
    agree(lambda x, w, b: sum(one.sum() for one in x.batch_norm(w, b)), ((4,), (4,)), numbers)


def test_global_pooling_takes_the_symbolic_size_of_the_image() -> None:
    x: Any
    for x in (images, variable(images)):
        assert x.avg_pool2d(x.shape[2:]).shape == (batch, 4, 1, 1)
        assert x.mean((2, 3)).shape == (batch, 4)
        assert x.upsample_nearest2d((2 * x.shape[2], 2 * x.shape[3])).shape == (batch, 4, 2 * height, 2 * width)


def test_second_derivatives_have_shapes_too() -> None:
    inner = variable(images)
    x = variable(inner)
    w = variable(variable(ShapeTensor((8, 4, 3, 3))))
    loss = x.conv2d(w, stride=2, padding=1).relu().avg_pool2d(2).square().mean()
    slope = (loss.backward().of(x).square().sum() + loss.backward().of(w).square().sum()).backward()
    assert slope.of(inner).shape == images.shape


def test_a_shape_is_printed_as_it_would_be_written() -> None:
    x = ShapeTensor((batch, 3, height, 15))
    y = x.conv2d(ShapeTensor((64, 3, 3, 3)), stride=2, padding=1)
    assert repr(y) == "ShapeTensor[F32] (batch, 64, (h-1)//2+1, 8)"
    assert repr(variable(y)) == "ImageGrad(variable, ShapeTensor[F32] (batch, 64, (h-1)//2+1, 8))"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda x: x.conv2d(ShapeTensor((8, 3, 3, 3))),
            "conv2d: (batch, 4, h, w) by weight (8, 3, 3, 3): 4 channels need a weight for 4 inputs, not 3",
        ),
        (
            lambda x: x.reshape((x.shape[0], -1)) @ ShapeTensor((100, 10)),
            "matmul: (batch, 4*h*w) @ (100, 10): inner dimensions differ (4*h*w and 100)",
        ),
        (
            lambda x: x + x.permute((0, 1, 3, 2)),
            "add: (batch, 4, h, w) and (batch, 4, w, h): axis -2 has sizes h and w, which are not equal or 1",
        ),
        (lambda x: x.max_pool2d(2).pad2d(-1), "pad2d: padding=-1: must be at least 0"),
    ],
)
def test_what_is_wrong_for_some_images_is_refused(call: Callable[..., object], text: str) -> None:
    with pytest.raises(ShapeError) as error:
        call(images)
    assert str(error.value) == text


def test_labels_of_windows_are_labels() -> None:
    assert images.max_pool2d_indices(2).shape == cast(Any, (batch, 4, height // 2, width // 2))
    assert images.labels(np.arange(3)).shape == (3,)
