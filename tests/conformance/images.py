"""The rows of the operations on images: convolution, pooling and size."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.conformance import image_reference as reference
from tests.conformance.case import Case, Operation
from tests.conformance.draws import Domain, operands
from tests.conformance.image_reference import Two

few = st.sampled_from((2, 1, 3))
steps = st.sampled_from((1, 2, 3))


@dataclass(frozen=True)
class Geometry:
    """Images and a window that fits them; the options are numbers where rows and columns agree, or left out."""

    size: Two
    kernel: Two
    stride: Two
    padding: Two
    dilation: Two
    options: dict[str, Any]

    @property
    def window(self) -> tuple[Two, Two, Two]:
        return self.stride, self.padding, self.dilation


@st.composite
def geometries(draw: st.DrawFn, *, pooling: bool = False, dilated: bool = True) -> Geometry:
    axes: list[tuple[int, ...]] = []
    alike = draw(st.booleans())
    for axis in range(2):
        kernel, stride = draw(steps), draw(steps)
        dilation = draw(st.sampled_from((1, 1, 2))) if dilated else 1
        reach = (kernel - 1) * dilation + 1
        padding = draw(st.integers(0, reach // 2 if pooling else 2))
        if axis and alike:
            kernel, stride, padding, dilation = axes[0][1:]
            reach = (kernel - 1) * dilation + 1
        # Of a pooling, every window holds an element, even if it steps over several.
        size = draw(st.integers(max(dilation if pooling else 1, reach - 2 * padding), max(reach - 2 * padding, 0) + 4))
        axes.append((size, kernel, stride, padding, dilation))
    size_, kernel_, stride_, padding_, dilation_ = ((a, b) for a, b in zip(*axes, strict=True))
    options: dict[str, Any] = {}
    for name, value, default in (
        ("stride", stride_, kernel_ if pooling else (1, 1)),
        ("padding", padding_, (0, 0)),
        ("dilation", dilation_, (1, 1)),
    ):
        if value != default or (draw(st.booleans()) and (dilated or name != "dilation")):
            options[name] = value[0] if value[0] == value[1] else value
    return Geometry(size_, kernel_, stride_, padding_, dilation_, options)


@dataclass(frozen=True)
class Convolution:
    geometry: Geometry
    x: tuple[int, ...]
    weight: tuple[int, ...]
    groups: int
    options: dict[str, Any]

    @property
    def y(self) -> tuple[int, ...]:
        geometry = self.geometry
        places = reference.count(np.zeros(self.x), geometry.kernel, *geometry.window)
        return self.x[0], self.weight[0], *places


@st.composite
def convolutions(draw: st.DrawFn) -> Convolution:
    geometry = draw(geometries())
    groups, inputs, outputs = draw(st.sampled_from((1, 1, 2, 3))), draw(few), draw(few)
    batch = draw(st.sampled_from((2, 1, 30))) if geometry.size[0] * geometry.size[1] < 5 else draw(few)
    options = geometry.options | ({"groups": groups} if groups > 1 else {})
    x = (batch, groups * inputs, *geometry.size)
    return Convolution(geometry, x, (groups * outputs, inputs, *geometry.kernel), groups, options)


@st.composite
def _conv2d(draw: st.DrawFn) -> Case:
    conv = draw(convolutions())
    arguments = (*conv.geometry.window, conv.groups)
    x, weight = draw(operands(conv.x)), draw(operands(conv.weight))
    if draw(st.booleans()):
        return Case(
            (x, weight),
            lambda x, w: x.conv2d(w, **conv.options),
            lambda x, w: reference.conv2d(x, w, *arguments),
        )
    return Case(
        (x, weight, draw(operands(conv.weight[:1]))),
        lambda x, w, b: x.conv2d(w, b, **conv.options),
        lambda x, w, b: reference.conv2d(x, w, *arguments) + b[:, None, None],
    )


@st.composite
def _conv2d_same(draw: st.DrawFn) -> Case:
    kernel, dilation = (draw(st.integers(1, 4)), draw(steps)), (draw(st.sampled_from((1, 2))), draw(steps))
    size = (draw(st.integers(1, 5)), draw(st.integers(1, 5)))
    total = tuple((taps - 1) * apart for taps, apart in zip(kernel, dilation, strict=True))
    before, after = tuple(n // 2 for n in total), tuple(n - n // 2 for n in total)
    edges = ((0, 0), (0, 0), (before[0], after[0]), (before[1], after[1]))
    return Case(
        (draw(operands((2, 2, *size))), draw(operands((3, 2, *kernel)))),
        lambda x, w: x.conv2d(w, padding="same", dilation=dilation),
        lambda x, w: reference.conv2d(np.pad(x, edges), w, (1, 1), (0, 0), dilation, 1),
    )


@st.composite
def _conv2d_input_grad(draw: st.DrawFn) -> Case:
    conv = draw(convolutions())
    return Case(
        (draw(operands(conv.y)), draw(operands(conv.weight))),
        lambda dy, w: dy.conv2d_input_grad(w, conv.x, **conv.options),
        lambda dy, w: reference.conv2d_input_grad(dy, w, conv.x, *conv.geometry.window, conv.groups),
    )


@st.composite
def _conv2d_weight_grad(draw: st.DrawFn) -> Case:
    conv = draw(convolutions())
    return Case(
        (draw(operands(conv.x)), draw(operands(conv.y))),
        lambda x, dy: x.conv2d_weight_grad(dy, conv.weight, **conv.options),
        lambda x, dy: reference.conv2d_weight_grad(x, dy, conv.weight, *conv.geometry.window, conv.groups),
    )


@st.composite
def _conv_transpose2d(draw: st.DrawFn) -> Case:
    size, kernel, stride, padding, dilation, extra = [], [], [], [], [], []
    for _ in range(2):
        size.append(draw(few))
        kernel.append(draw(steps))
        stride.append(draw(steps))
        dilation.append(draw(st.sampled_from((1, 2))))
        extra.append(draw(st.integers(0, max(stride[-1], dilation[-1]) - 1)))
        whole = (size[-1] - 1) * stride[-1] + (kernel[-1] - 1) * dilation[-1] + extra[-1] + 1
        padding.append(draw(st.integers(0, min(2, (whole - 1) // 2))))
    groups, inputs, outputs = draw(st.sampled_from((1, 1, 2))), draw(few), draw(few)
    options: dict[str, Any] = {
        "stride": tuple(stride),
        "padding": tuple(padding),
        "output_padding": tuple(extra),
        "dilation": tuple(dilation),
    }
    if groups > 1:
        options["groups"] = groups
    arguments = (*options.values(), 1) if groups == 1 else tuple(options.values())
    x = draw(operands((draw(few), groups * inputs, *size)))
    weight = draw(operands((groups * inputs, outputs, *kernel)))
    if draw(st.booleans()):
        return Case(
            (x, weight),
            lambda x, w: x.conv_transpose2d(w, **options),
            lambda x, w: reference.conv_transpose2d(x, w, *arguments),
        )
    return Case(
        (x, weight, draw(operands((groups * outputs,)))),
        lambda x, w, b: x.conv_transpose2d(w, b, **options),
        lambda x, w, b: reference.conv_transpose2d(x, w, *arguments) + b[:, None, None],
    )


def kernel_of(draw: st.DrawFn, geometry: Geometry) -> int | Two:
    """The kernel as a number if it is square, half of the time."""
    rows, columns = geometry.kernel
    return rows if rows == columns and draw(st.booleans()) else geometry.kernel


@st.composite
def _pool(
    draw: st.DrawFn,
    call: Callable[..., Any],
    expected: Callable[..., Any],
    domain: Domain = "any",
    *,
    gradient: bool = False,
    images: bool = True,
) -> Case:
    """A pooling, or its gradient, of which the images are an operand or only their shape is given."""
    geometry = draw(geometries(pooling=True))
    shape = (draw(few), draw(few), *geometry.size)
    ceil_mode, kernel = draw(st.booleans()), kernel_of(draw, geometry)
    options = geometry.options | ({"ceil_mode": True} if ceil_mode else {})
    arguments = (geometry.kernel, *geometry.window, ceil_mode)
    x = draw(operands(shape, domain))
    if not gradient:
        return Case((x,), lambda x: call(x, kernel, **options), lambda x: expected(x, *arguments))
    places, _ = reference.pool(np.zeros(shape), *arguments)
    dy = draw(operands((*shape[:2], *places)))
    if not images:
        return Case((dy,), lambda dy: call(dy, shape, kernel, **options), lambda dy: expected(dy, shape, *arguments))
    return Case(
        (x, dy),
        lambda x, dy: call(x, dy, kernel, **options),
        lambda x, dy: expected(x, dy, *arguments),
        same_bits=False,
    )


@st.composite
def _avg_pool2d(draw: st.DrawFn) -> Case:
    geometry = draw(geometries(pooling=True, dilated=False))
    options: dict[str, Any] = geometry.options
    flags: dict[str, bool] = {}
    for name in ("ceil_mode", "count_include_pad"):
        if draw(st.booleans()):
            flags[name] = draw(st.booleans())
    x, kernel = draw(operands((draw(few), draw(few), *geometry.size))), kernel_of(draw, geometry)
    arguments = (geometry.stride, geometry.padding, flags.get("ceil_mode", False), flags.get("count_include_pad", True))
    return Case(
        (x,),
        lambda x: x.avg_pool2d(kernel, **options, **flags),
        lambda x: reference.avg_pool2d(x, geometry.kernel, *arguments),
    )


@st.composite
def _resizing(draw: st.DrawFn, call: Callable[..., Any], expected: Callable[..., Any]) -> Case:
    sides = st.integers(1, 6)
    shape, rows, columns = (draw(few), draw(few), draw(sides), draw(sides)), draw(sides), draw(sides)
    size = rows if rows == columns else (rows, columns)
    return Case((draw(operands(shape)),), lambda x: call(x, size), lambda x: expected(x, rows, columns))


@st.composite
def _pad2d(draw: st.DrawFn) -> Case:
    mode: Any = draw(st.sampled_from(("constant", "reflect", "replicate", "circular")))
    height, width = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    least = {"constant": 3, "replicate": 3}
    rows, columns = (
        (draw(st.integers(0, most)), draw(st.integers(0, most)))
        for most in (least.get(mode, size - 1 if mode == "reflect" else size) for size in (height, width))
    )
    fill = draw(st.sampled_from((0.0, 1.5))) if mode == "constant" else 0.0
    given: Any = (rows, columns)
    if rows[0] == rows[1] and columns[0] == columns[1]:
        given = rows[0] if rows == columns else (rows[0], columns[0])
    options = ({"mode": mode} if mode != "constant" else {}) | ({"fill": fill} if fill else {})
    return Case(
        (draw(operands((draw(few), draw(few), height, width))),),
        lambda x: x.pad2d(given, **options),
        lambda x: reference.pad2d(x, (rows, columns), mode, fill),
    )


def _indices(x: Any, kernel: Any, **options: Any) -> Any:
    return x.from_host(x.max_pool2d_indices(kernel, **options).to_host())


IMAGES = (
    Operation("conv2d", "conv2d", _conv2d()),
    Operation("conv2d same", "conv2d", _conv2d_same()),
    Operation("conv2d_input_grad", "conv2d_input_grad", _conv2d_input_grad()),
    Operation("conv2d_weight_grad", "conv2d_weight_grad", _conv2d_weight_grad()),
    Operation("conv_transpose2d", "conv_transpose2d", _conv_transpose2d()),
    Operation(
        "max_pool2d",
        "max_pool2d",
        _pool(lambda x, kernel, **options: x.max_pool2d(kernel, **options), reference.max_pool2d, "distinct"),
    ),
    Operation(
        "max_pool2d_indices",
        "max_pool2d_indices",
        _pool(_indices, reference.max_pool2d_indices, "coarse"),
        smooth=False,
    ),
    Operation(
        "max_pool2d_grad",
        "max_pool2d_grad",
        _pool(
            lambda x, dy, kernel, **options: x.max_pool2d_grad(dy, kernel, **options),
            reference.max_pool2d_grad,
            "distinct",
            gradient=True,
        ),
    ),
    Operation(
        "sum_pool2d",
        "sum_pool2d",
        _pool(lambda x, kernel, **options: x.sum_pool2d(kernel, **options), reference.sum_pool2d),
    ),
    Operation(
        "sum_pool2d_grad",
        "sum_pool2d_grad",
        _pool(
            lambda dy, shape, kernel, **options: dy.sum_pool2d_grad(shape, kernel, **options),
            reference.sum_pool2d_grad,
            gradient=True,
            images=False,
        ),
    ),
    Operation("avg_pool2d", "avg_pool2d", _avg_pool2d()),
    Operation(
        "adaptive_avg_pool2d",
        "adaptive_avg_pool2d",
        _resizing(lambda x, size: x.adaptive_avg_pool2d(size), reference.adaptive_avg_pool2d),
    ),
    Operation(
        "upsample_nearest2d",
        "upsample_nearest2d",
        _resizing(lambda x, size: x.upsample_nearest2d(size), reference.upsample_nearest2d),
    ),
    Operation(
        "upsample_bilinear2d",
        "upsample_bilinear2d",
        _resizing(
            lambda x, size: x.upsample_bilinear2d(size),
            lambda x, rows, columns: reference.upsample_bilinear2d(x, rows, columns, False),
        ),
    ),
    Operation(
        "upsample_bilinear2d corners",
        "upsample_bilinear2d",
        _resizing(
            lambda x, size: x.upsample_bilinear2d(size, align_corners=True),
            lambda x, rows, columns: reference.upsample_bilinear2d(x, rows, columns, True),
        ),
    ),
    Operation("pad2d", "pad2d", _pad2d()),
)
