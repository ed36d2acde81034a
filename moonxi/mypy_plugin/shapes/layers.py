"""What annotations cannot say: the shapes that the class methods of layers give to the fields."""

from collections.abc import Callable, Mapping

from moonxi.dims import Dim, Size
from moonxi.mypy_plugin.shapes.values import UNKNOWN
from moonxi.shape_tensor import ShapeTensor

type Arguments = Mapping[str, object]
"""By name, or by number from 1 on where only the place counts."""
type Fields = dict[str, object]


def fields_of_init(method: str) -> Callable[[Arguments], Fields] | None:
    """For the full name of a class method, what makes the fields from the arguments of a call."""
    return _FIELDS.get(method)


def _linear(arguments: Arguments) -> Fields:
    inputs, outputs = _sizes(arguments, "1", "2")
    return _weighted((inputs, outputs), outputs, arguments)


def _conv2d(arguments: Arguments) -> Fields:
    inputs, outputs = _sizes(arguments, "1", "2")
    kernel, groups = arguments.get("3", UNKNOWN), arguments.get("groups", 1)
    rows, columns = kernel if isinstance(kernel, tuple) and len(kernel) == 2 else (kernel, kernel)
    if inputs is None or not isinstance(groups, int) or groups < 1:
        return {}
    if not isinstance(rows, int | Dim) or not isinstance(columns, int | Dim):
        return {}
    fields = _weighted((outputs, inputs // groups, rows, columns), outputs, arguments)
    options = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}
    return fields | {"inputs": inputs} | {name: arguments.get(name, default) for name, default in options.items()}


def _weighted(shape: tuple[Size | None, ...], outputs: Size | None, arguments: Arguments) -> Fields:
    sizes = tuple(size for size in shape if size is not None)
    if len(sizes) != len(shape) or outputs is None:
        return {}
    has_bias = arguments.get("bias", True)
    bias = ShapeTensor((outputs,)) if has_bias is True else None if has_bias is False else UNKNOWN
    return {"weight": ShapeTensor(sizes), "bias": bias}


def _sizes(arguments: Arguments, *names: str) -> tuple[Size | None, ...]:
    given = [arguments.get(name) for name in names]
    return tuple(one if isinstance(one, int | Dim) else None for one in given)


_FIELDS: Mapping[str, Callable[[Arguments], Fields]] = {
    "moonxi.nn.linear.Linear.init": _linear,
    "moonxi.nn.convolution.Conv2d.init": _conv2d,
}
