"""The rules for images give the sizes that the operations have, also for sizes that are symbols."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonxi import shapes
from moonxi.autodiff import variable
from moonxi.backends.numpy import numpy
from moonxi.dims import Dim, evaluate, symbol
from moonxi.errors import ShapeError
from moonxi.shapes import Sizes
from tests.conformance import image_reference as reference

cpu = numpy()
n, h, w = symbol("n"), symbol("h", least=1), symbol("w", least=1)
images: Sizes = (n, 3, h, w)

sizes = st.integers(1, 12)
kernels = st.integers(1, 5)
strides = st.integers(1, 4)
paddings = st.integers(0, 3)
dilations = st.integers(1, 3)


def twice(strategy: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(strategy, strategy)


def outcome(rule: Callable[[], Sizes]) -> object:
    """The shape, or that it is refused."""
    try:
        return rule()
    except ShapeError:
        return ShapeError


def at(shape: Any, **values: int) -> object:
    """A symbolic shape with these values."""
    if not isinstance(shape, tuple):
        return shape
    return tuple(evaluate(size, values) if isinstance(size, Dim) else size for size in shape)


@given(twice(sizes), twice(kernels), twice(strides), twice(paddings), twice(dilations))
def test_the_result_of_a_convolution_has_as_many_places_as_the_kernel_fits(
    size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any
) -> None:
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    x, weight = (2, 3, *size), (4, 3, *kernel)
    places = reference.count(np.zeros(x), kernel, stride, padding, dilation)
    fits = min(s + 2 * p - (k - 1) * d - 1 for s, p, k, d in zip(size, padding, kernel, dilation, strict=True)) >= 0
    expected: object = (2, 4, *places) if fits else ShapeError
    assert outcome(lambda: shapes.conv2d(x, weight, **options).shape) == expected
    assert outcome(lambda: cpu.zeros(x).conv2d(cpu.zeros(weight), **options).shape) == expected
    assert outcome(lambda: variable(cpu.zeros(x)).conv2d(variable(cpu.zeros(weight)), **options).shape) == expected
    if fits:
        symbolic: Any = shapes.conv2d(images, weight, **options).shape
        assert at(symbolic, n=2, h=size[0], w=size[1]) == expected


@given(twice(sizes), twice(kernels), twice(dilations))
def test_same_padding_keeps_the_size(size: Any, kernel: Any, dilation: Any) -> None:
    conv = shapes.conv2d((2, 3, *size), (4, 3, *kernel), padding="same", dilation=dilation)
    assert conv.shape == (2, 4, *size)
    assert shapes.conv2d(images, (4, 3, *kernel), padding="same", dilation=dilation).shape == (n, 4, h, w)


@given(twice(sizes), twice(kernels), twice(strides), twice(paddings), twice(dilations), st.booleans())
def test_a_pooling_has_as_many_places_as_windows_start_in_the_image(
    size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> None:
    x = (2, 3, *size)
    padding = tuple(min(p, ((k - 1) * d + 1) // 2) for p, k, d in zip(padding, kernel, dilation, strict=True))
    options = {"stride": stride, "padding": padding, "dilation": dilation, "ceil_mode": ceil_mode}
    found = outcome(lambda: shapes.pool2d("max_pool2d", x, kernel, **options).shape)
    assert outcome(lambda: cpu.zeros(x).max_pool2d(kernel, **options).shape) == found
    assert outcome(lambda: cpu.zeros(x).max_pool2d_indices(kernel, **options).shape) == found
    assert outcome(lambda: cpu.zeros(x).sum_pool2d(kernel, **options).shape) == found
    if found is not ShapeError:
        places, _ = reference.pool(np.zeros(x), kernel, stride, padding, dilation, ceil_mode)
        assert found == (2, 3, *places)
        symbolic = shapes.pool2d("max_pool2d", images, kernel, **options).shape
        assert at(symbolic, n=2, h=size[0], w=size[1]) == found


@given(twice(sizes), twice(kernels), twice(strides), twice(paddings), twice(dilations), twice(st.integers(0, 2)))
def test_a_transposed_convolution_gives_what_a_convolution_would_take(
    size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, extra: Any
) -> None:
    extra = tuple(min(e, s - 1) for e, s in zip(extra, stride, strict=True))
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    x, weight = (2, 3, *size), (3, 4, *kernel)
    found: Any = outcome(lambda: shapes.conv_transpose2d(x, weight, output_padding=extra, **options))
    if found is not ShapeError:
        assert shapes.conv2d(found, weight, **options).shape == x
        assert cpu.zeros(x).conv_transpose2d(cpu.zeros(weight), output_padding=extra, **options).shape == found
        symbolic = shapes.conv_transpose2d(images, weight, output_padding=extra, **options)
        assert at(symbolic, n=2, h=size[0], w=size[1]) == found


def test_symbolic_sizes_print_as_one_would_write_them() -> None:
    kernel: Sizes = (64, 3, 3, 3)
    halved = shapes.conv2d((n, 3, h, 8), kernel, stride=2, padding=1).shape
    assert str(halved) == "(n, 64, (h-1)//2+1, 4)"
    assert str(shapes.pool2d("max_pool2d", images, 2).shape) == "(n, 3, h//2, w//2)"
    doubled = shapes.conv_transpose2d(images, (3, 8, 2, 2), stride=2)
    assert str(doubled) == "(n, 8, 2*h, 2*w)"
    assert str(shapes.pad2d(images, ((1, 2), (0, 3)), "constant")) == "(n, 3, h+3, w+3)"
    assert str(shapes.resized("adaptive_avg_pool2d", images, (2, 1))) == "(n, 3, 2, 1)"


def test_what_is_provably_wrong_with_symbols_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"3 channels need a weight for 3 inputs, not 4"):
        shapes.conv2d(images, (8, 4, 3, 3))
    with pytest.raises(ShapeError, match=r"there must be one element for each of the n channels"):
        shapes.per_channel("batch_norm", (2, n, 3), (n + 1,))
