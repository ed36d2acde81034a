"""`Grad[T]`: the trait `Tensor` under differentiation.

Each result holds its value, and for each operand that takes part a function from the result's gradient to the
operand's (its vector-Jacobian product). Those functions use only the trait operations of ``T``, so that every gradient
can be differentiated again by nesting, ``Grad[Grad[T]]``. There is no tape and nothing to reset: the graph is the
results, and goes away with them.
"""

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Self, override

import numpy as np
from numpy.typing import NDArray

from moonxi import shapes
from moonxi.autodiff import levels
from moonxi.autodiff.gradients import Gradients
from moonxi.autodiff.propagation import propagated
from moonxi.autodiff.vjp import Vjp, larger, same, summed
from moonxi.dims import Dim
from moonxi.dtypes import DType, HostArray
from moonxi.errors import GradientError
from moonxi.key import Key
from moonxi.traits import Axes, DerivedTensor, Index, Labels, Mask, Shape, Tensor


class Grad[T: Tensor](DerivedTensor["Grad[T]"], Tensor):
    """A tensor ``value`` together with where it came from.

    ``parents`` is None for a constant, empty for a variable, and else holds the operands with their vjps."""

    __slots__ = ("parents", "value")

    def __init__(self, value: T, parents: "tuple[tuple[Grad[T], Vjp[T]], ...] | None" = None, /) -> None:
        self.value: T = value
        self.parents = parents

    @classmethod
    def variable(cls, value: T, /) -> Self:
        """A tensor with respect to which to differentiate."""
        return cls(value, ())

    @classmethod
    def constant(cls, value: T, /) -> Self:
        """A tensor that takes no part in differentiation."""
        return cls(value)

    @override
    def __repr__(self) -> str:
        kind = "constant" if self.parents is None else "result" if self.parents else "variable"
        return f"{type(self).__name__}({kind}, {self.value!r})"

    @property
    @override
    def shape(self) -> Shape:
        return self.value.shape

    @property
    @override
    def dtype(self) -> type[DType]:
        return self.value.dtype

    # -- recording -----------------------------------------------------------------------------------------------

    def _unary(self, value: T, vjp: Vjp[T]) -> Self:
        return type(self)(value, None if self.parents is None else ((self, vjp),))

    def _binary(self, other: "Grad[T]", value: T, left: Vjp[T], right: Vjp[T]) -> Self:
        """The result of two operands, whose vjps may leave the undoing of broadcasting to this method."""
        parents: tuple[tuple[Grad[T], Vjp[T]], ...] = ()
        shape = value.shape
        if self.parents is not None:
            parents = ((self, left if self.value.shape == shape else partial(summed, left, self.value.shape)),)
        if other.parents is not None:
            undone = right if other.value.shape == shape else partial(summed, right, other.value.shape)
            parents = (*parents, (other, undone))
        return type(self)(value, parents or None)

    def _number(self, other: Self | float, operation: str) -> float:
        if isinstance(other, (float, int, Dim)):
            return float(other)
        raise levels.differ(operation, self, other)

    def _held(self, held: Labels[Self] | Mask[Self], operation: str) -> T:
        """The plain carrier of labels or of a mask at this level."""
        if not isinstance(held.carrier, Grad):
            raise levels.held_elsewhere(operation, self, held)
        return held.carrier.value

    # -- differentiation -----------------------------------------------------------------------------------------

    def backward(self, seed: T | None = None, *, keep: "Sequence[Grad[T]]" = ()) -> Gradients[T]:
        """The gradients of this result, or of its inner product with ``seed``, with respect to its variables.

        ``seed`` has this shape, and may be left out for a single number. Raises `GradientError` for a constant."""
        if self.parents is None:
            raise GradientError(
                f"backward: {levels.named(self)} {shapes.show(self.shape)}: a constant depends on no variable; make "
                "the parameters with variable(x) and compute the loss from them"
            )
        if seed is None:
            if prod(self.shape) != 1:
                raise GradientError(
                    f"backward: {shapes.show(self.shape)}: a result that is not one number needs a seed of its shape; "
                    "reduce it with .sum() or .mean(), or pass backward(seed)"
                )
            seed = self.value.full(self.shape, 1.0)
        else:
            shapes.equal("backward (result and seed)", self.shape, seed.shape)
        return propagated(self, seed, keep)

    @override
    def stop_gradient(self) -> Self:
        return type(self)(self.value.stop_gradient())

    # -- from and to the host --------------------------------------------------------------------------------

    @override
    def full(self, shape: Shape, fill: float, /) -> Self:
        return type(self)(self.value.full(shape, fill))

    @override
    def from_host(self, array: HostArray | NDArray[np.integer], /) -> Self:
        return type(self)(self.value.from_host(array))

    @override
    def labels(self, array: NDArray[np.integer], /) -> Labels[Self]:
        return Labels(type(self)(self.value.labels(array).carrier))

    @override
    def uniform(self, shape: Shape, key: Key, /) -> Self:
        return type(self)(self.value.uniform(shape, key))

    @override
    def normal(self, shape: Shape, key: Key, /) -> Self:
        return type(self)(self.value.normal(shape, key))

    @override
    def to_host(self) -> HostArray:
        return self.value.to_host()

    # -- arithmetic ----------------------------------------------------------------------------------------------

    @override
    def __add__(self, other: Self | float, /) -> Self:
        if isinstance(other, Grad):
            return self._binary(other, self.value + other.value, same, same)
        return self._unary(self.value + self._number(other, "add"), same)

    @override
    def __sub__(self, other: Self | float, /) -> Self:
        if isinstance(other, Grad):
            return self._binary(other, self.value - other.value, same, lambda g: -g)
        return self._unary(self.value - self._number(other, "subtract"), same)

    @override
    def __rsub__(self, other: float, /) -> Self:
        return self._unary(self._number(other, "subtract") - self.value, lambda g: -g)

    @override
    def __mul__(self, other: Self | float, /) -> Self:
        if isinstance(other, Grad):
            x, y = self.value, other.value
            return self._binary(other, x * y, lambda g: g * y, lambda g: g * x)
        k = self._number(other, "multiply")
        return self._unary(self.value * k, lambda g: g * k)

    @override
    def __truediv__(self, other: Self | float, /) -> Self:
        if isinstance(other, Grad):
            y = other.value
            quotient = self.value / y
            return self._binary(other, quotient, lambda g: g / y, lambda g: -(g * quotient / y))
        k = self._number(other, "divide")
        return self._unary(self.value / k, lambda g: g / k)

    @override
    def __pow__(self, other: Self | float, /) -> Self:
        x = self.value
        if isinstance(other, Grad):
            y = other.value
            power = x**y

            def of_base(g: T) -> T:
                # y * x**(y-1), which is 0 for x = y = 0; there the base is replaced, not the result, lest its own
                # gradient become 0 times infinity
                return g * y * x.where(~(x.equal(0.0) & y.equal(0.0)), 1.0) ** (y - 1.0)

            def of_exponent(g: T) -> T:
                # x**y * log(x), which is 0 where x is 0 and y is not negative
                return g * power * x.where(~(x.equal(0.0) & (y >= 0.0)), 1.0).log()

            return self._binary(other, power, of_base, of_exponent)
        k = self._number(other, "power")
        return self._unary(x**k, lambda g: g * 0.0 if k == 0.0 else g * x ** (k - 1.0) * k)

    @override
    def __neg__(self) -> Self:
        return self._unary(-self.value, lambda g: -g)

    @override
    def exp(self) -> Self:
        e = self.value.exp()
        return self._unary(e, lambda g: g * e)

    @override
    def log(self) -> Self:
        x = self.value
        return self._unary(x.log(), lambda g: g / x)

    @override
    def tanh(self) -> Self:
        t = self.value.tanh()
        return self._unary(t, lambda g: g * (1.0 - t * t))

    @override
    def sqrt(self) -> Self:
        root = self.value.sqrt()
        return self._unary(root, lambda g: g / (root * 2.0))

    @override
    def floor(self) -> Self:
        return type(self)(self.value.floor())

    @override
    def square(self) -> Self:
        x = self.value
        return self._unary(x.square(), lambda g: g * (x * 2.0))

    @override
    def relu(self) -> Self:
        x = self.value
        return self._unary(x.relu(), lambda g: g.where(x > 0.0, 0.0))

    @override
    def maximum(self, other: Self | float, /) -> Self:
        x = self.value
        if isinstance(other, Grad):
            y = other.value
            return self._binary(other, x.maximum(y), lambda g: larger(g, x, y), lambda g: larger(g, y, x))
        k = self._number(other, "maximum")
        return self._unary(x.maximum(k), lambda g: g.where(x > k, (g * 0.5).where(x.equal(k), 0.0)))

    # -- comparison ----------------------------------------------------------------------------------------------

    def _mask(self, mask: Mask[T]) -> Mask[Self]:
        return Mask(type(self)(mask.carrier))

    def _plain(self, other: Self | float, operation: str) -> T | float:
        return other.value if isinstance(other, Grad) else self._number(other, operation)

    @override
    def __lt__(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(self.value < self._plain(other, "less"))

    @override
    def __le__(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(self.value <= self._plain(other, "less_equal"))

    @override
    def __gt__(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(self.value > self._plain(other, "greater"))

    @override
    def __ge__(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(self.value >= self._plain(other, "greater_equal"))

    @override
    def equal(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(self.value.equal(self._plain(other, "equal")))

    @override
    def where(self, mask: Mask[Self], other: Self | float, /) -> Self:
        plain = Mask(self._held(mask, "where"))
        # The number case goes the same way: the mask may be the larger operand.
        right = other if isinstance(other, Grad) else self.full((), self._number(other, "where"))
        value = self.value.where(plain, right.value)
        return self._binary(right, value, lambda g: g.where(plain, 0.0), lambda g: g.full((), 0.0).where(plain, g))

    # -- reductions ----------------------------------------------------------------------------------------------

    def _kept(self, axes: Axes, operation: str) -> Shape:
        return shapes.reduced(operation, self.shape, axes, keepdims=True, one=1)

    @override
    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        shape, kept = self.shape, self._kept(axes, "sum")
        return self._unary(self.value.sum(axes, keepdims=keepdims), lambda g: g.reshape(kept).broadcast_to(shape))

    @override
    def max(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        x, kept = self.value, self._kept(axes, "max")
        largest = x.max(axes, keepdims=keepdims)

        def vjp(g: T) -> T:
            chosen = x.equal(largest.reshape(kept))
            share = g.reshape(kept) / chosen.to_tensor(x).sum(axes, keepdims=True)
            return share.broadcast_to(x.shape).where(chosen, 0.0)

        return self._unary(largest, vjp)

    # -- shape ---------------------------------------------------------------------------------------------------

    @override
    def reshape(self, shape: Shape, /) -> Self:
        before = self.shape
        return self._unary(self.value.reshape(shape), lambda g: g.reshape(before))

    @override
    def permute(self, axes: tuple[int, ...], /) -> Self:
        order = shapes.axes(self.shape, axes, "permute")
        back = tuple(sorted(range(len(order)), key=order.__getitem__))
        return self._unary(self.value.permute(axes), lambda g: g.permute(back))

    @override
    def broadcast_to(self, shape: Shape, /) -> Self:
        before = self.shape
        return self._unary(self.value.broadcast_to(shape), lambda g: g.sum_to(before))

    @override
    def __getitem__(self, index: Index, /) -> Self:
        shape = self.shape
        return self._unary(self.value[index], lambda g: g.put_slice(index, shape))

    @override
    def put_slice(self, index: Index, shape: Shape, /) -> Self:
        return self._unary(self.value.put_slice(index, shape), lambda g: g[index])

    # -- classes -------------------------------------------------------------------------------------------------

    @override
    def argmax(self, axis: int, /) -> Labels[Self]:
        return Labels(type(self)(self.value.argmax(axis).carrier))

    @override
    def pick(self, labels: Labels[Self], /) -> Self:
        plain = Labels(self._held(labels, "pick"))
        value = self.value.pick(plain)
        classes = self.shape[-1]
        return self._unary(value, lambda g: g.put(plain, classes))

    @override
    def put(self, labels: Labels[Self], classes: int, /) -> Self:
        plain = Labels(self._held(labels, "put"))
        return self._unary(self.value.put(plain, classes), lambda g: g.pick(plain))

    @override
    def one_hot(self, labels: Labels[Self], classes: int, /) -> Self:
        return type(self)(self.value.one_hot(Labels(self._held(labels, "one_hot")), classes))

    @override
    def gather(self, labels: Labels[Self], /) -> Self:
        plain = Labels(self._held(labels, "gather"))
        value, shape = self.value.gather(plain), self.shape
        return self._unary(value, lambda g: g.scatter_add(plain, shape[-1]))

    @override
    def scatter_add(self, labels: Labels[Self], size: int, /) -> Self:
        plain = Labels(self._held(labels, "scatter_add"))
        return self._unary(self.value.scatter_add(plain, size), lambda g: g.gather(plain))

    @override
    def softmax(self, axis: int, /) -> Self:
        s = self.value.softmax(axis)
        return self._unary(s, lambda g: s * (g - (g * s).sum(axis, keepdims=True)))

    @override
    def log_softmax(self, axis: int, /) -> Self:
        logs = self.value.log_softmax(axis)
        return self._unary(logs, lambda g: g - logs.exp() * g.sum(axis, keepdims=True))
