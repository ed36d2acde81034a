"""Every wrong use of the image operations is refused with its reason, plain and under differentiation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from moonxi.autodiff import constant, variable
from moonxi.backends.numpy import NpArray, numpy
from moonxi.dtypes import F32, F64
from moonxi.errors import OperandError, ShapeError

cpu = numpy()

type Call = Callable[[Any, Callable[..., Any]], object]

X, W = "(2, 4, 5, 6)", "(2, 4, 5, 6) by weight "

WRONG: dict[str, tuple[Call, str]] = {
    # convolution
    "not four axes": (
        lambda x, like: x[0].conv2d(like(2, 4, 3, 3)),
        "conv2d: (4, 5, 6): expected a batch of images, (batch, channels, height, width)",
    ),
    "weight of three axes": (
        lambda x, like: x.conv2d(like(4, 3, 3)),
        f"conv2d: {W}(4, 3, 3): the weight must be (outputs, inputs of a group, height, width)",
    ),
    "channels": (
        lambda x, like: x.conv2d(like(2, 3, 3, 3)),
        f"conv2d: {W}(2, 3, 3, 3): 4 channels need a weight for 4 inputs, not 3",
    ),
    "channels of groups": (
        lambda x, like: x.conv2d(like(2, 4, 3, 3), groups=2),
        f"conv2d: {W}(2, 4, 3, 3): 4 channels in 2 groups need a weight for 2 inputs, not 4",
    ),
    "groups that do not divide the channels": (
        lambda x, like: x.conv2d(like(3, 1, 3, 3), groups=3),
        f"conv2d: {W}(3, 1, 3, 3): 4 channels cannot be split into 3 groups",
    ),
    "groups that do not divide the outputs": (
        lambda x, like: x.conv2d(like(3, 2, 3, 3), groups=2),
        f"conv2d: {W}(3, 2, 3, 3): 3 outputs cannot be split into 2 groups",
    ),
    "no groups": (lambda x, like: x.conv2d(like(2, 4, 3, 3), groups=0), "conv2d: groups=0: must be at least 1"),
    "kernel larger than the image": (
        lambda x, like: x.conv2d(like(2, 4, 3, 7)),
        f"conv2d: {W}(2, 4, 3, 7): a kernel of width 7 does not fit an image of width 6",
    ),
    "dilated kernel larger than the padded image": (
        lambda x, like: x.conv2d(like(2, 4, 4, 2), dilation=3, padding=1),
        f"conv2d: {W}(2, 4, 4, 2): a kernel of height 4, dilated to 10, does not fit an image of height 5 padded to 7",
    ),
    "kernel of no size": (
        lambda x, like: x.conv2d(like(2, 4, 0, 3)),
        f"conv2d: {W}(2, 4, 0, 3): the kernel has height 0, and needs at least 1",
    ),
    "stride": (lambda x, like: x.conv2d(like(2, 4, 3, 3), stride=0), "conv2d: stride=0: must be at least 1"),
    "dilation": (
        lambda x, like: x.conv2d(like(2, 4, 3, 3), dilation=(1, -1)),
        "conv2d: dilation=(1, -1): must be at least 1",
    ),
    "negative padding": (
        lambda x, like: x.conv2d(like(2, 4, 3, 3), padding=(0, -1)),
        "conv2d: padding=(0, -1): must be at least 0",
    ),
    "same with a stride": (
        lambda x, like: x.conv2d(like(2, 4, 3, 3), padding="same", stride=(1, 2)),
        "conv2d: padding='same', stride=(1, 2): the result has the size of the image only with stride 1",
    ),
    "bias": (
        lambda x, like: x.conv2d(like(2, 4, 3, 3), like(4)),
        "conv2d (bias): (2, 2, 3, 4) with (4,): there must be one element for each of the 2 channels",
    ),
    "input gradient": (
        lambda x, like: x.conv2d_input_grad(like(4, 3, 3, 3), (2, 3, 5, 6)),
        (
            "conv2d_input_grad: (2, 3, 5, 6) by weight (4, 3, 3, 3), gradient (2, 4, 5, 6): the gradient must have the "
            "shape of the result, (2, 4, 3, 4)"
        ),
    ),
    "weight gradient": (
        lambda x, like: x.conv2d_weight_grad(like(2, 2, 5, 6), (2, 4, 3, 3)),
        (
            "conv2d_weight_grad: (2, 4, 5, 6) by weight (2, 4, 3, 3), gradient (2, 2, 5, 6): the gradient must have "
            "the shape of the result, (2, 2, 3, 4)"
        ),
    ),
    # transposed convolution
    "transposed, weight of three axes": (
        lambda x, like: x.conv_transpose2d(like(4, 3, 3)),
        f"conv_transpose2d: {W}(4, 3, 3): the weight must be (inputs, outputs of a group, height, width)",
    ),
    "transposed, channels": (
        lambda x, like: x.conv_transpose2d(like(2, 3, 3, 3)),
        f"conv_transpose2d: {W}(2, 3, 3, 3): 4 channels need a weight for 4 inputs, not 2",
    ),
    "transposed, groups": (
        lambda x, like: x.conv_transpose2d(like(4, 2, 3, 3), groups=3),
        f"conv_transpose2d: {W}(4, 2, 3, 3): 4 channels cannot be split into 3 groups",
    ),
    "transposed, output padding": (
        lambda x, like: x.conv_transpose2d(like(4, 2, 3, 3), stride=2, output_padding=(1, 2)),
        "conv_transpose2d: output_padding=(1, 2): must be less than the stride or the dilation",
    ),
    "transposed, too much padding": (
        lambda x, like: x.conv_transpose2d(like(4, 2, 3, 1), padding=3),
        f"conv_transpose2d: {W}(4, 2, 3, 1): with padding 3 the result would have width 0",
    ),
    "transposed, kernel of no size": (
        lambda x, like: x.conv_transpose2d(like(4, 2, 3, 0)),
        f"conv_transpose2d: {W}(4, 2, 3, 0): the kernel has width 0, and needs at least 1",
    ),
    "transposed, bias": (
        lambda x, like: x.conv_transpose2d(like(4, 2, 1, 1), like(3)),
        "conv_transpose2d (bias): (2, 2, 5, 6) with (3,): there must be one element for each of the 2 channels",
    ),
    # pooling
    "pool of vectors": (
        lambda x, like: like(2, 4).max_pool2d(2),
        "max_pool2d: (2, 4): expected a batch of images, (batch, channels, height, width)",
    ),
    "window larger than the image": (
        lambda x, like: x.max_pool2d(7, padding=0),
        f"max_pool2d: {X} with kernel 7: a window of height 7 does not fit an image of height 5",
    ),
    "dilated window larger than the padded image": (
        lambda x, like: x.max_pool2d((4, 2), dilation=3, padding=(2, 0)),
        f"max_pool2d: {X} with kernel (4, 2): a window of height 10 does not fit an image of height 5 padded to 9",
    ),
    "padding beyond half of the window": (
        lambda x, like: x.avg_pool2d((3, 2), padding=(1, 2)),
        f"avg_pool2d: {X} with kernel (3, 2), padding (1, 2): padding must be at most half of the window, 1",
    ),
    "no kernel": (lambda x, like: x.sum_pool2d(0), "sum_pool2d: kernel=0: must be at least 1"),
    "a window without elements": (
        lambda x, like: like(1, 1, 1, 4).max_pool2d((2, 1), padding=(1, 0), dilation=(2, 1)),
        "max_pool2d: (1, 1, 1, 4) with kernel (2, 1), dilation (2, 1): a window holds no element of the image",
    ),
    "max pool gradient": (
        lambda x, like: x.max_pool2d_grad(like(2, 4, 3, 3), 2),
        (
            f"max_pool2d_grad: {X} with kernel 2, gradient (2, 4, 3, 3): the gradient must have the shape of the "
            "result, (2, 4, 2, 3)"
        ),
    ),
    "sum pool gradient": (
        lambda x, like: x.sum_pool2d_grad((2, 4, 5, 6), 2),
        (
            f"sum_pool2d_grad: {X} with kernel 2, gradient {X}: the gradient must have the shape of the "
            "result, (2, 4, 2, 3)"
        ),
    ),
    # size
    "no size": (lambda x, like: x.adaptive_avg_pool2d((0, 2)), "adaptive_avg_pool2d: size=(0, 2): must be at least 1"),
    "nothing to average": (
        lambda x, like: like(2, 3, 0, 4).adaptive_avg_pool2d(1),
        "adaptive_avg_pool2d: (2, 3, 0, 4): the image has no elements",
    ),
    "nothing to enlarge": (
        lambda x, like: like(2, 3, 4, 0).upsample_nearest2d(4),
        "upsample_nearest2d: (2, 3, 4, 0): the image has no elements",
    ),
    "bilinear, three axes": (
        lambda x, like: x[0].upsample_bilinear2d(4),
        "upsample_bilinear2d: (4, 5, 6): expected a batch of images, (batch, channels, height, width)",
    ),
    "pad, negative": (
        lambda x, like: x.pad2d(((1, -1), (0, 0))),
        "pad2d: padding=((1, -1), (0, 0)): must be at least 0; cut an image with a slice",
    ),
    "pad, reflect": (
        lambda x, like: x.pad2d(((5, 0), (0, 0)), mode="reflect"),
        (
            f"pad2d: {X}, padding ((5, 0), (0, 0)), mode 'reflect': an image of height 5 has only 4 elements to "
            "reflect, not 5"
        ),
    ),
    "pad, circular": (
        lambda x, like: x.pad2d((0, 7), mode="circular"),
        f"pad2d: {X}, padding (0, 7), mode 'circular': an image of width 6 has only 6 elements to repeat, not 7",
    ),
    "pad, replicate": (
        lambda x, like: like(1, 1, 0, 2).pad2d(1, mode="replicate"),
        "pad2d: (1, 1, 0, 2), padding 1, mode 'replicate': the image has no elements to repeat",
    ),
    # normalisation
    "batch norm of a vector": (
        lambda x, like: like(4).batch_norm(like(4), like(4)),
        "batch_norm: (4,) with (4,) and (4,): the axes must be (batch, channels, ...)",
    ),
    "batch norm, weight": (
        lambda x, like: x.batch_norm(like(5), like(4)),
        f"batch_norm: {X} with (5,) and (4,): there must be one element for each of the 4 channels",
    ),
    "batch norm, one value": (
        lambda x, like: like(1, 4).batch_norm(like(4), like(4)),
        "batch_norm: (1, 4): the statistics of a batch need more than one value in each channel",
    ),
    "batch norm with, mean": (
        lambda x, like: x.batch_norm_with(like(4, 1), like(4), like(4), like(4)),
        (
            f"batch_norm_with: {X} with (4, 1) and (4,) and (4,) and (4,): there must be one element for each of the "
            "4 channels"
        ),
    ),
    "batch norm gradient": (
        lambda x, like: x.batch_norm_grad(like(2, 4, 5, 5), like(4), like(4), like(4)),
        (
            f"batch_norm_grad (tensor and gradient): {X} and (2, 4, 5, 5): the shapes must be equal; reshape one of "
            "them if you mean it"
        ),
    ),
    "group norm": (
        lambda x, like: x.group_norm(3, like(4), like(4)),
        f"group_norm: {X}: 4 channels cannot be split into 3 groups",
    ),
    "group norm, bias": (
        lambda x, like: x.group_norm(2, like(4), like(2)),
        f"group_norm: {X} with (4,) and (2,): there must be one element for each of the 4 channels",
    ),
}


@pytest.mark.parametrize(("call", "text"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_shape_or_option_says_what_is_wrong(call: Call, text: str) -> None:
    for lift in _plain, variable, constant:
        with pytest.raises(ShapeError) as raised:
            call(lift(cpu.ones((2, 4, 5, 6))), lambda *shape, lift=lift: lift(cpu.ones(shape)))
        assert str(raised.value) == text


NO_PAIRS: dict[str, tuple[Call, str]] = {
    "stride": (
        lambda x, like: x.conv2d(like(2, 4, 3, 3), stride=(1, 2, 3)),
        "conv2d: stride=(1, 2, 3): expected an integer, or a pair of them for rows and columns",
    ),
    "padding": (
        lambda x, like: x.conv2d(like(2, 4, 3, 3), padding="valid"),
        "conv2d: padding='valid': expected an integer, or a pair of them for rows and columns",
    ),
    "kernel": (
        lambda x, like: x.max_pool2d(2.0),
        "max_pool2d: kernel=2.0: expected an integer, or a pair of them for rows and columns",
    ),
    "size": (
        lambda x, like: x.upsample_nearest2d([2, 3]),
        "upsample_nearest2d: size=[2, 3]: expected an integer, or a pair of them for rows and columns",
    ),
    "edges": (
        lambda x, like: x.pad2d((1, 2, 3, 4)),
        "pad2d: padding=(1, 2, 3, 4): expected an integer, (rows, columns) or ((top, bottom), (left, right))",
    ),
}


@pytest.mark.parametrize(("call", "text"), NO_PAIRS.values(), ids=NO_PAIRS.keys())
def test_an_option_that_is_no_pair_is_refused(call: Call, text: str) -> None:
    for lift in _plain, variable:
        with pytest.raises(OperandError) as raised:
            call(lift(cpu.ones((2, 4, 5, 6))), lambda *shape, lift=lift: lift(cpu.ones(shape)))
        assert str(raised.value) == text


def test_an_option_that_does_not_exist_is_refused() -> None:
    call: Any = cpu.ones((1, 1, 2, 2)).conv2d
    with pytest.raises(TypeError, match="unexpected keyword argument 'strides'"):
        call(cpu.ones((1, 1, 1, 1)), strides=2)


MIXED: dict[str, Callable[[Any, Any, Any], object]] = {
    "conv2d": lambda x, w, v: x.conv2d(w),
    "conv2d (bias)": lambda x, w, v: x.conv2d(x, v),
    "conv2d_input_grad": lambda x, w, v: x.conv2d_input_grad(w, (2, 2, 2, 2)),
    "conv2d_weight_grad": lambda x, w, v: x.conv2d_weight_grad(w, (2, 2, 1, 1)),
    "max_pool2d_grad": lambda x, w, v: x.max_pool2d_grad(w, 1),
    "batch_norm": lambda x, w, v: x.batch_norm(v, v),
    "batch_norm_grad": lambda x, w, v: x.batch_norm_grad(w, v, v, v),
}
"""Of ``x`` with an operand of its shape, or a vector of its channels, that is another kind of tensor."""


@pytest.mark.parametrize(("operation", "call"), MIXED.items(), ids=MIXED.keys())
def test_another_element_type_or_level_is_refused(operation: str, call: Callable[[Any, Any, Any], object]) -> None:
    x, other = cpu.ones((2, 2, 2, 2)), numpy(F64).ones((2, 2, 2, 2))
    with pytest.raises(OperandError) as raised:
        call(x, other, other[0, 0, 0])
    assert str(raised.value) == (
        f"{operation}: NpArray[F32] with NpArray[F64]: both operands must be NpArray[F32]; convert with "
        "x.from_host(y.to_host())"
    )
    if operation in ("max_pool2d_grad", "batch_norm_grad"):
        return  # derived under differentiation, of operations that say it in their own words
    lifted = variable(x)
    with pytest.raises(OperandError) as raised:
        call(lifted, x, x[0, 0, 0])
    assert str(raised.value) == (
        f"{operation}: ImageGrad[NpArray[F32]] with NpArray[F32]: both operands must be under differentiation alike; "
        "bring a plain tensor in with constant(x), or take the plain one out with x.value"
    )


@pytest.mark.parametrize("call", [MIXED["max_pool2d_grad"], MIXED["batch_norm_grad"]])
def test_a_plain_gradient_is_refused_under_differentiation(call: Callable[[Any, Any, Any], object]) -> None:
    x: NpArray[F32] = cpu.from_host(np.ones((2, 2, 2, 2)))
    with pytest.raises(OperandError, match="ImageGrad"):
        call(variable(x), x, x[0, 0, 0])


def _plain[T](x: T) -> T:
    return x
