"""What annotations cannot say of moonxi's layers: the sizes that ``init`` gives, and what ``forward`` makes of images.

A class method is here by its full name with the fields that it gives; a ``forward`` with the operation of the tensor
that it is, whose rule `ShapeTensor` has. Everything else that the layers do is in their annotations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod

from moonxi.dims import Dim, Size
from moonxi.errors import ShapeError
from moonxi.mypy_plugin.shapes.equations import Equations
from moonxi.mypy_plugin.shapes.objects import Object
from moonxi.mypy_plugin.shapes.operations import called
from moonxi.mypy_plugin.shapes.values import UNKNOWN, is_known
from moonxi.shape_tensor import ShapeTensor

type Arguments = Mapping[str, object]
"""By name, or by number from 1 on where only the place counts."""
type Fields = dict[str, object]


@dataclass(frozen=True)
class Operation:
    """A ``forward`` that is one operation: its name, the fields in their order, and those by name with defaults."""

    name: str
    fields: tuple[str, ...]
    options: Mapping[str, object] = field(default_factory=dict)


def fields_of_init(method: str) -> Callable[[Arguments], Fields] | None:
    """For the full name of a class method, what makes the fields from the arguments of a call."""
    return _FIELDS.get(method)


def result_of_forward(method: str, layer: Object, x: object, equations: Equations) -> object:
    """The result of a ``forward`` by the operation that it is; `UNKNOWN` of another, or where a field is not known."""
    if method == _FLATTEN:
        return _flattened(layer, x, equations)
    operation = _OPERATIONS.get(method)
    if operation is None or not isinstance(x, ShapeTensor):
        return UNKNOWN
    fields = [layer.attribute(name) for name in operation.fields]
    options = {
        name: default if layer.exact and name not in layer.fields else layer.attribute(name)
        for name, default in operation.options.items()
    }
    if not all(map(is_known, (*fields, *options.values()))):
        return UNKNOWN
    try:
        return called(operation.name, x, fields, options, equations)
    except ShapeError:
        return UNKNOWN  # the annotations say what is wrong


def _flattened(layer: Object, x: object, equations: Equations) -> object:
    first = layer.attribute("first") if "first" in layer.fields or not layer.exact else 1
    if not isinstance(x, ShapeTensor) or not isinstance(first, int):
        return UNKNOWN
    shape = equations.shape(x.shape)
    if not -len(shape) <= first < len(shape):
        return UNKNOWN
    first %= len(shape)
    sizes: tuple[Size, ...] = (*shape[:first], prod(shape[first:]))
    return ShapeTensor(sizes, x.dtype)


def _linear(arguments: Arguments) -> Fields:
    inputs, outputs = _sizes(arguments, "1", "2")
    return _weighted((inputs, outputs), outputs, arguments)


def _bilinear(arguments: Arguments) -> Fields:
    left, right, outputs = _sizes(arguments, "1", "2", "3")
    return _weighted((outputs, left, right), outputs, arguments)


def _conv2d(arguments: Arguments) -> Fields:
    inputs, outputs = _sizes(arguments, "1", "2")
    kernel, groups = _kernel(arguments), arguments.get("groups", 1)
    if inputs is None or kernel is None or not isinstance(groups, int) or groups < 1:
        return {}
    fields = _weighted((outputs, inputs // groups, *kernel), outputs, arguments)
    options = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}
    return fields | {"inputs": inputs} | {name: arguments.get(name, default) for name, default in options.items()}


def _conv_transpose2d(arguments: Arguments) -> Fields:
    inputs, outputs = _sizes(arguments, "1", "2")
    kernel, groups = _kernel(arguments), arguments.get("groups", 1)
    if outputs is None or kernel is None or not isinstance(groups, int) or groups < 1:
        return {}
    fields = _weighted((inputs, outputs // groups, *kernel), outputs, arguments)
    options = {"stride": 1, "padding": 0, "output_padding": 0, "dilation": 1, "groups": 1}
    return fields | {name: arguments.get(name, default) for name, default in options.items()}


def _scaled(place: str) -> Callable[[Arguments], Fields]:
    """A weight and a bias with one number for each feature."""

    def fields(arguments: Arguments) -> Fields:
        (size,) = _sizes(arguments, place)
        return _weighted((size,), size, arguments)

    return fields


def _embedding(arguments: Arguments) -> Fields:
    words, features = _sizes(arguments, "1", "2")
    return {} if words is None or features is None else {"weight": ShapeTensor((words, features))}


def _weighted(shape: tuple[Size | None, ...], outputs: Size | None, arguments: Arguments) -> Fields:
    sizes = tuple(size for size in shape if size is not None)
    if len(sizes) != len(shape) or outputs is None:
        return {}
    has_bias = arguments.get("bias", True)
    bias = ShapeTensor((outputs,)) if has_bias is True else None if has_bias is False else UNKNOWN
    return {"weight": ShapeTensor(sizes), "bias": bias}


def _kernel(arguments: Arguments) -> tuple[Size, Size] | None:
    kernel = arguments.get("3", UNKNOWN)
    rows, columns = kernel if isinstance(kernel, tuple) and len(kernel) == 2 else (kernel, kernel)
    if isinstance(rows, int | Dim) and isinstance(columns, int | Dim):
        return rows, columns
    return None


def _sizes(arguments: Arguments, *names: str) -> tuple[Size | None, ...]:
    given = [arguments.get(name) for name in names]
    return tuple(one if isinstance(one, int | Dim) else None for one in given)


_FIELDS: Mapping[str, Callable[[Arguments], Fields]] = {
    "moonxi.nn.linear.Linear.init": _linear,
    "moonxi.nn.bilinear.Bilinear.init": _bilinear,
    "moonxi.nn.convolution.Conv2d.init": _conv2d,
    "moonxi.nn.convolution.ConvTranspose2d.init": _conv_transpose2d,
    "moonxi.nn.embedding.Embedding.init": _embedding,
    "moonxi.nn.feature_norm.LayerNorm.init": _scaled("1"),
    "moonxi.nn.feature_norm.RMSNorm.init": _scaled("1"),
    "moonxi.nn.normalisation.BatchNorm2d.init": _scaled("1"),
    "moonxi.nn.normalisation.GroupNorm.init": _scaled("2"),
}
_WINDOW: Mapping[str, object] = {"stride": None, "padding": 0, "ceil_mode": False}
_CONVOLUTION: Mapping[str, object] = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}
_FLATTEN = "moonxi.nn.flatten.Flatten.forward"
_OPERATIONS: Mapping[str, Operation] = {
    "moonxi.nn.convolution.Conv2d.forward": Operation("conv2d", ("weight",), _CONVOLUTION),
    "moonxi.nn.convolution.ConvTranspose2d.forward": Operation(
        "conv_transpose2d", ("weight",), {**_CONVOLUTION, "output_padding": 0}
    ),
    "moonxi.nn.pooling.MaxPool2d.forward": Operation("max_pool2d", ("kernel",), {**_WINDOW, "dilation": 1}),
    "moonxi.nn.pooling.AvgPool2d.forward": Operation("avg_pool2d", ("kernel",), _WINDOW),
    "moonxi.nn.pooling.AdaptiveAvgPool2d.forward": Operation("adaptive_avg_pool2d", ("size",)),
}
