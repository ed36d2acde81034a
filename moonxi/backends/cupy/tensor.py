"""The trait `Tensor` on CUDA.

Nothing here waits for the device but `to_host` and `item` (and labels with ``debug=True``). Shapes are checked by the
rules in `moonxi.shapes` before anything is launched.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Self, override

import numpy as np
from numpy.typing import NDArray

from moonxi import shapes
from moonxi.backends.cupy import bits, classes, elementwise, operands, pending, random, reductions, views
from moonxi.backends.cupy.memory import DeviceArray, Space, restored
from moonxi.dtypes import DType, Floating, HostArray
from moonxi.errors import OperandError
from moonxi.key import Key
from moonxi.traits import Axes, DerivedTensor, Index, Labels, Mask, Shape, expect_held, foreign
from moonxi.traits.class_indices import checked

_SHOWN: Final = 20
"""How many elements are printed all; of more, in more than two axes, the first and the last."""


class CudaTensor[D: Floating](DerivedTensor["CudaTensor[D]"]):
    """Elements in device memory that nobody changes. Results are ``type(self)(array, space)``: a subclass stays."""

    __slots__ = ("data", "space")

    def __init__(self, data: DeviceArray, space: Space, /) -> None:
        self.data = data
        self.space = space

    if TYPE_CHECKING:

        @property
        @override
        def shape(self) -> Shape: ...
    else:
        shape = property(attrgetter("data.shape"))  # without a call of Python, for everybody asks for it

    @override
    def __reduce__(self) -> tuple[Callable[..., Self], tuple[object, ...]]:
        where = self.space
        host = where.to_bits(self.data, bits.kind(where.element))
        options = {"debug": where.debug, "tf32": where.tf32, "autotune": where.autotune}
        return restored, (type(self), host, where.element, where.device.index, options)

    @override
    def __repr__(self) -> str:
        array = self._read()
        if array.ndim > 2 and array.size > _SHOWN:
            array = array.reshape(-1)  # images would fill a page
        values = np.array2string(array, threshold=_SHOWN, edgeitems=2, precision=4, separator=", ")
        return f"{type(self).__name__}[{self.dtype.__name__}] {shapes.show(self.shape)} {values}"

    @property
    @override
    def dtype(self) -> type[DType]:
        return self.space.element

    @property
    def alike(self) -> Space:
        """What tensors have in common that are computed with together: a compiled step is for tensors of one such."""
        return self.space

    @property
    def device(self) -> int:
        """The number of the GPU."""
        return self.space.device.index

    # -- operands ------------------------------------------------------------------------------------------------

    def _made(self, data: DeviceArray) -> Self:
        return type(self)(data, self.space)

    def _tensor(self, other: Self, operation: str) -> DeviceArray:
        """The array of an operand that must be a tensor of this backend, element type and GPU."""
        if getattr(other, "space", None) is self.space:  # faster than isinstance of an abstract class
            return other.data
        if isinstance(other, CudaTensor) and other.space.element is self.space.element:
            if other.space.device is self.space.device:
                return other.data
            raise OperandError(
                f"{operation}: {self._name()} on GPU {self.device} with one on GPU {other.device}: both operands must "
                "live on one GPU; move one with x.from_host(y.to_host())"
            )
        mine = self._name()
        advice = "; convert it with y.cast(x.dtype)" if isinstance(other, CudaTensor) else foreign.advice(other)
        raise OperandError(f"{operation}: {mine} with {foreign.described(other)}: both operands must be {mine}{advice}")

    def _name(self) -> str:
        return f"{type(self).__name__}[{self.dtype.__name__}]"

    def _binary(self, name: str, operation: str, other: Self | float) -> Self:
        where = self.space
        if isinstance(other, (float, int)):
            return type(self)(elementwise.number(where, name, self.data, float(other)), where)
        right = other.data if getattr(other, "space", None) is where else self._tensor(other, operation)
        return type(self)(elementwise.binary(where, name, self.data, right), where)

    def _left(self, name: str, operation: str, other: Self | float) -> Self:
        if isinstance(other, (float, int)):
            return self._made(elementwise.number(self.space, name, self.data, float(other), left=True))
        return self._made(elementwise.binary(self.space, name, self._tensor(other, operation), self.data))

    def _compared(self, name: str, other: Self | float) -> Mask[Self]:
        where = self.space
        if isinstance(other, (float, int)):
            found = elementwise.number(where, name, self.data, float(other))
        else:
            found = elementwise.binary(where, name, self.data, self._tensor(other, name))
        return Mask(type(self)(found, where.booleans))

    def _unary(self, name: str) -> Self:
        return type(self)(elementwise.unary(self.space, name, self.data), self.space)

    def _held(self, held: Labels[Self] | Mask[Self], operation: str) -> DeviceArray:
        """The array of labels or of a mask, which must live in this backend, on this GPU."""
        expect_held(operation, held)
        carrier: object = held.carrier
        where = getattr(carrier, "space", None)
        if where is self.space.booleans or where is self.space.integers:
            return held.carrier.data
        if not isinstance(carrier, CudaTensor):
            raise OperandError(
                f"{operation}: {self._name()} with {type(held).__name__} of {foreign.described(carrier)}: both must "
                "live in the same tensor class"
            )
        if carrier.space.device is not self.space.device:
            raise OperandError(
                f"{operation}: {self._name()} on GPU {self.device} with {type(held).__name__} on GPU {carrier.device}: "
                "both must live on one GPU"
            )
        return carrier.data

    def _checked(self, labels: Labels[Self], count: int, operation: str) -> DeviceArray:
        """The array of labels; with ``debug=True`` read, to see that each is a class."""
        found = self._held(labels, operation)
        if self.space.debug:
            host = self.space.integers.to_bits(found, np.dtype(np.int64))
            checked(host, count, operation)
        return found

    # -- from and to the host --------------------------------------------------------------------------------

    @override
    def full(self, shape: Shape, fill: float, /) -> Self:
        foreign.number("full", "fill", fill)
        return self._made(self.space.full(shapes.sizes("full", shape), float(fill)))

    @override
    def from_host(self, array: HostArray | NDArray[np.integer], /) -> Self:
        if foreign.kind(array) not in "fiu":
            raise OperandError(
                f"from_host: {foreign.described(array)}: expected a NumPy array of real numbers; "
                "convert with numpy.asarray(values)"
            )
        return self._made(self.space.from_bits(bits.rounded(array, self.space.element)))

    @override
    def labels(self, array: NDArray[np.integer], /) -> Labels[Self]:
        if foreign.kind(array) not in "iu":
            raise OperandError(
                f"labels: {foreign.described(array)}: expected a NumPy array of integers, one class index each; "
                "if these are whole numbers, convert with array.astype(numpy.int64)"
            )
        integers = self.space.integers
        return Labels(type(self)(integers.from_bits(np.array(array, dtype=np.int64, order="C")), integers))

    @override
    def uniform(self, shape: Shape, key: Key, /) -> Self:
        return self._made(random.uniform(self.space, shapes.sizes("uniform", shape), key))

    @override
    def normal(self, shape: Shape, key: Key, /) -> Self:
        return self._made(random.normal(self.space, shapes.sizes("normal", shape), key))

    @override
    def to_host(self) -> HostArray:
        found = self._read()
        self.space.device.check_labels()
        return found

    def _read(self) -> HostArray:
        where = self.space
        return bits.widened(where.to_bits(self.data, bits.kind(where.element)), where.element)

    # -- arithmetic ----------------------------------------------------------------------------------------------

    @override
    def __add__(self, other: Self | float, /) -> Self:
        return self._binary("add", "add", other)

    @override
    def __sub__(self, other: Self | float, /) -> Self:
        return self._binary("subtract", "subtract", other)

    @override
    def __rsub__(self, other: float, /) -> Self:
        return self._left("subtract", "subtract", other)

    @override
    def __mul__(self, other: Self | float, /) -> Self:
        return self._binary("multiply", "multiply", other)

    @override
    def __truediv__(self, other: Self | float, /) -> Self:
        return self._binary("divide", "divide", other)

    @override
    def __rtruediv__(self, other: float, /) -> Self:
        return self._left("divide", "divide", other)

    @override
    def __pow__(self, other: Self | float, /) -> Self:
        return self._binary("power", "power", other)

    @override
    def __rpow__(self, other: float, /) -> Self:
        return self._left("power", "power", other)

    @override
    def __neg__(self) -> Self:
        return self._unary("negative")

    @override
    def exp(self) -> Self:
        return self._unary("exponential")

    @override
    def log(self) -> Self:
        return self._unary("logarithm")

    @override
    def expm1(self) -> Self:
        return self._unary("exponential_less_one")

    @override
    def log1p(self) -> Self:
        return self._unary("logarithm_of_one_more")

    @override
    def sin(self) -> Self:
        return self._unary("sine")

    @override
    def cos(self) -> Self:
        return self._unary("cosine")

    @override
    def erf(self) -> Self:
        return self._unary("error_function")

    @override
    def tanh(self) -> Self:
        return self._unary("hyperbolic_tangent")

    @override
    def sqrt(self) -> Self:
        return self._unary("square_root")

    @override
    def floor(self) -> Self:
        return self._unary("round_down")

    @override
    def square(self) -> Self:
        return self._made(pending.square(self.space, self.data))

    @override
    def relu(self) -> Self:
        return self._unary("rectified")

    @override
    def maximum(self, other: Self | float, /) -> Self:
        return self._binary("maximum", "maximum", other)

    # -- comparison ----------------------------------------------------------------------------------------------

    @override
    def __lt__(self, other: Self | float, /) -> Mask[Self]:
        return self._compared("less", other)

    @override
    def __le__(self, other: Self | float, /) -> Mask[Self]:
        return self._compared("less_equal", other)

    @override
    def __gt__(self, other: Self | float, /) -> Mask[Self]:
        return self._compared("greater", other)

    @override
    def __ge__(self, other: Self | float, /) -> Mask[Self]:
        return self._compared("greater_equal", other)

    @override
    def equal(self, other: Self | float, /) -> Mask[Self]:
        return self._compared("equal", other)

    @override
    def where(self, mask: Mask[Self], other: Self | float, /) -> Self:
        condition = self._held(mask, "where")
        right = float(other) if isinstance(other, (float, int)) else self._tensor(other, "where")
        return self._made(elementwise.where(self.space, condition, self.data, right))

    # -- reductions ----------------------------------------------------------------------------------------------

    @override
    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self._reduced("sum", operands.axes(self.data.shape, axes, "sum"), keepdims)

    @override
    def max(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self._reduced("max", operands.axes(self.data.shape, axes, "max"), keepdims)

    def _reduced(self, name: str, axes: tuple[int, ...], keepdims: bool) -> Self:
        found = reductions.reduced(self.space, name, self.data, axes)
        if keepdims:
            shape = tuple(1 if axis in axes else size for axis, size in enumerate(self.data.shape))
            found = views.reshaped(self.space, found, shape)
        return self._made(found)

    # -- shape ---------------------------------------------------------------------------------------------------

    @override
    def reshape(self, shape: Shape, /) -> Self:
        return self._made(views.reshaped(self.space, self.data, operands.sizes(self.data.shape, shape)))

    @override
    def permute(self, axes: tuple[int, ...], /) -> Self:
        return self._made(views.permuted(self.data, operands.order(self.data.shape, axes)))

    @override
    def broadcast_to(self, shape: Shape, /) -> Self:
        if shape != self.data.shape:
            shapes.broadcast_to(self.data.shape, shape)
        return self._made(views.repeated(self.data, shape))

    @override
    def __getitem__(self, index: Index, /) -> Self:
        shapes.index_kinds(index)
        shapes.indexed(self.shape, index)
        return self._made(views.part(self.data, index))

    @override
    def put_slice(self, index: Index, shape: Shape, /) -> Self:
        shapes.index_kinds(index)
        out = self.space.full(shapes.put_slice(self.shape, index, shape), 0.0)
        self.space.copy(self.data, views.part(out, index))
        return self._made(out)

    # -- classes -------------------------------------------------------------------------------------------------

    @override
    def argmax(self, axis: int, /) -> Labels[Self]:
        axis = shapes.axis(self.shape, axis, "argmax")
        shapes.nothing_to_reduce("argmax", self.shape, axis)
        return Labels(type(self)(reductions.argmax(self.space, self.data, axis), self.space.integers))

    @override
    def argsort(self, axis: int, /, *, descending: bool = False) -> Labels[Self]:
        order = shapes.to_last(self.shape, axis, "argsort")
        found = classes.argsort(self.space, self.permute(order).data, descending)
        return Labels(type(self)(found, self.space.integers)).permute(shapes.inverse(order))

    @override
    def gather(self, labels: Labels[Self], /) -> Self:
        shapes.gather(self.shape, labels.shape)
        found = self._checked(labels, self.shape[-1], "gather")
        return self._made(classes.gather(self.space, self.data, found))

    @override
    def scatter_add(self, labels: Labels[Self], size: int, /) -> Self:
        shapes.scatter_add(self.shape, labels.shape, size)
        found = self._checked(labels, size, "scatter_add")
        return self._made(classes.scatter_add(self.space, self.data, found, size))

    @override
    def pick(self, labels: Labels[Self], /) -> Self:
        shapes.pick(self.shape, labels.shape)
        found = self._checked(labels, self.shape[-1], "pick")
        return self._made(classes.pick(self.space, self.data, found))

    @override
    def put(self, labels: Labels[Self], classes_: int, /) -> Self:
        shapes.put(self.shape, labels.shape, classes_)
        found = self._checked(labels, classes_, "put")
        return self._made(classes.put(self.space, self.data, found, classes_))

    @override
    def one_hot(self, labels: Labels[Self], classes_: int, /) -> Self:
        shapes.one_hot(labels.shape, classes_)
        found = self._checked(labels, classes_, "one_hot")
        return self._made(classes.one_hot(self.space, found, classes_))

    @override
    def softmax(self, axis: int, /) -> Self:
        return self._softmax("softmax", axis)

    @override
    def log_softmax(self, axis: int, /) -> Self:
        return self._softmax("log_softmax", axis)

    def _softmax(self, name: str, axis: int) -> Self:
        shapes.nothing_to_reduce(name, self.shape, axis)
        return self._made(reductions.softmax(self.space, name, self.data, axis % len(self.shape)))

    @override
    def stop_gradient(self) -> Self:
        return self
