"""Element by element: one kernel a call. Results lie as the first operand of their shape does, if that has no gaps."""

from functools import lru_cache

from moonxi import shapes
from moonxi.backends.cupy.layouts import Plan, Strides, plan
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.pending import Comparison, Pending, factored, product, product_by
from moonxi.traits import Shape

ORDERS = frozenset({"less", "less_equal", "greater", "greater_equal"})
COMPARISONS = ORDERS | {"equal"}
"""Their results are booleans, a byte each."""


def unary(space: Space, name: str, x: DeviceArray) -> DeviceArray:
    """A function of each element."""
    if not x.dense:
        x = space.compact(x)
    out = space.like(x)
    space.elementwise.launch(name, x.count, x.pointer, out.pointer, x.count)
    return out


def converted(space: Space, x: DeviceArray, source: str) -> DeviceArray:
    """The elements, together and of the type that ``source`` names, rounded to that of the space."""
    out = space.like(x)
    space.elementwise.launch(f"from_{source}", x.count, x.pointer, out.pointer, x.count)
    return out


def number(space: Space, name: str, x: DeviceArray, other: float, *, left: bool = False) -> DeviceArray:
    """A function of each element and a number, which stands on the left or on the right."""
    if name == "multiply":
        return product(space, x, other)
    x = space.dense(x)
    if name in ORDERS:
        return Comparison(space, name, x, other)
    out = space.like(x, 1 if name == "equal" else None)
    kernels = space.moving if name == "equal" else space.elementwise
    kernels.launch(f"{name}_from" if left else f"{name}_number", x.count, x.pointer, out.pointer, other, x.count)
    return out


def binary(space: Space, name: str, x: DeviceArray, y: DeviceArray) -> DeviceArray:
    """A function of the elements of two arrays, which broadcast; raises `ShapeError` if they do not."""
    if name == "multiply" and (x.count == 1 or y.count == 1):
        later = product_by(space, x, y)
        if later is not None:
            return later
    how = _pair(name, x.shape, x.strides, y.shape, y.strides)
    out = space.planned(how, 1 if name in COMPARISONS else None)
    kernels = space.moving if name == "equal" else space.elementwise
    kind, way = ("same", how.count) if how.walk is None else ("strided", how.walk)
    if (name == "add" or name == "subtract") and (isinstance(x, Pending) or isinstance(y, Pending)):
        left, right = factored(x), factored(y)
        arrays = (left.base.pointer, right.base.pointer, out.pointer)
        factors = (left.by, left.factor, right.by, right.factor)
        kernels.launch(f"{name}_scaled_{kind}", how.count, *arrays, *factors, way)
    else:
        kernels.launch(f"{name}_{kind}", how.count, x.pointer, y.pointer, out.pointer, way)
    return out


def add_into(space: Space, x: DeviceArray, pointer: int, shape: Shape, strides: Strides) -> None:
    """Add what lies at an address, and broadcasts to a dense array, to that array, which nobody has seen yet."""
    how = _pair("add", x.shape, x.strides, shape, strides)
    kind, way = ("same", how.count) if how.walk is None else ("strided", how.walk)
    space.elementwise.launch(f"add_{kind}", how.count, x.pointer, pointer, x.pointer, way)


def where(space: Space, mask: DeviceArray, x: DeviceArray, y: DeviceArray | float) -> DeviceArray:
    """``x`` where the mask is, ``y`` elsewhere."""
    if isinstance(y, DeviceArray):
        how = _plan("where", mask, x, y)
        out = space.empty(how.shape, how.strides)
        if how.walk is None:
            space.moving.launch("where_same", how.count, mask.pointer, x.pointer, y.pointer, out.pointer, how.count)
        else:
            space.moving.launch("where_strided", how.count, mask.pointer, x.pointer, y.pointer, out.pointer, how.walk)
        return out
    if isinstance(mask, Comparison):
        chosen = mask.choose(space, x, y)
        if chosen is not None:
            return chosen
    if mask.shape != x.shape:
        shapes.broadcast("where", mask.shape, x.shape, ())
    how = _plan("where", mask, x)
    out = space.empty(how.shape, how.strides)
    if how.walk is None:
        space.moving.launch("where_number", how.count, mask.pointer, x.pointer, out.pointer, y, how.count)
    else:
        space.moving.launch("where_number_strided", how.count, mask.pointer, x.pointer, out.pointer, y, how.walk)
    return out


@lru_cache(maxsize=8192)
def _pair(operation: str, x: Shape, x_strides: Strides, y: Shape, y_strides: Strides) -> Plan:
    shape = x if x == y else shapes.broadcast(operation, x, y)
    return plan(shape, (x, x_strides), (y, y_strides))


def _plan(operation: str, *operands: DeviceArray) -> Plan:
    shape: Shape = operands[0].shape
    if any(one.shape != shape for one in operands):
        shape = shapes.broadcast(operation, *(one.shape for one in operands))
    return plan(shape, *((one.shape, one.strides) for one in operands))
