"""moonxi from nothing: the idea of the library in one file, on NumPy alone.

    python examples/tutorial.py

The program fits the line y = 3 x + 1 by gradient descent and builds all it needs on the way: a trait, tensors, a model,
derivatives, training. It imports nothing of moonxi, but its parts bear the names they have there, and each heading says
where. Read it from top to bottom.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isclose, prod
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

# 1. A trait (moonxi/traits)
#
# To fit a line takes seven operations. A Protocol writes them down, names and types without any code. A class that has
# such methods has the trait: it does not inherit from it and need not have heard of it. `Self` is the class at hand, so
# both operands of + are of one class, and so is the result.
#
# `full` makes a tensor "like this one". It is a method because only a tensor knows where it lives: in the memory of the
# processor, in that of a GPU, or nowhere. Shapes must be equal in + - *; a single number is repeated by `broadcast_to`.
# A way to read the numbers is missing on purpose. Code that cannot ask for a number also runs where there are none.

type Shape = tuple[int, ...]


class Tensor(Protocol):
    """What a tensor can do."""

    @property
    def shape(self) -> Shape: ...
    def full(self, shape: Shape, fill: float, /) -> Self: ...
    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...
    def __mul__(self, other: Self, /) -> Self: ...
    def sum(self) -> Self: ...
    def broadcast_to(self, shape: Shape, /) -> Self: ...


# What follows from these seven is written once, and every tensor class has it. `[T: Tensor]` reads: for any class T
# with the trait. A parameter `x: Tensor` would forget which class came in, so a trait is never the type of a value.


def mean[T: Tensor](x: T, /) -> T:
    """The average of all elements."""
    return x.sum() * x.full((), 1.0 / prod(x.shape))


# 2. An interpreter (moonxi/backends/numpy)
#
# The trait says what can be done, a tensor class says what that means. `Array` means numbers, and NumPy does the work.
# No operation writes into an existing array, so a result may hold on to its operands; part 5 relies on that.


class Array:
    """Numbers in the memory of the processor."""

    def __init__(self, data: ArrayLike, /) -> None:
        self.data: NDArray[np.float64] = np.asarray(data, np.float64)

    @property
    def shape(self) -> Shape:
        return self.data.shape

    def full(self, shape: Shape, fill: float, /) -> "Array":
        return Array(np.full(shape, fill))

    def __add__(self, other: "Array", /) -> "Array":
        return Array(self.data + self._alike(other))

    def __sub__(self, other: "Array", /) -> "Array":
        return Array(self.data - self._alike(other))

    def __mul__(self, other: "Array", /) -> "Array":
        return Array(self.data * self._alike(other))

    def sum(self) -> "Array":
        return Array(self.data.sum())

    def broadcast_to(self, shape: Shape, /) -> "Array":
        return Array(np.full(shape, self.data.item()))

    def _alike(self, other: "Array", /) -> NDArray[np.float64]:
        # NumPy would stretch one operand to fit the other, and `Grad` would not learn of it.
        if other.shape != self.shape:
            raise ValueError(f"shapes {self.shape} and {other.shape} differ; repeat a number with broadcast_to")
        return other.data


# 3. A model (moonxi/nn)
#
# A model is a dataclass of tensors and a function of whatever interpreter they belong to. It is written once, here, and
# no later part touches it. `map` carries a model from one interpreter to another; data travel in the same way.


@dataclass(frozen=True)
class Line[T: Tensor]:
    """The line w x + b."""

    w: T
    b: T

    def map[U: Tensor](self, f: Callable[[T], U], /) -> "Line[U]":
        return Line(f(self.w), f(self.b))

    def forward(self, x: T, /) -> T:
        return x * self.w.broadcast_to(x.shape) + self.b.broadcast_to(x.shape)


@dataclass(frozen=True)
class Points[T: Tensor]:
    """Points to lay a line through."""

    x: T
    y: T

    def map[U: Tensor](self, f: Callable[[T], U], /) -> "Points[U]":
        return Points(f(self.x), f(self.y))


def loss[T: Tensor](line: Line[T], points: Points[T]) -> T:
    """The mean squared distance of the line from the points."""
    error = line.forward(points.x) - points.y
    return mean(error * error)


# 4. Another interpreter
#
# `Text` means formulas. It holds no numbers and computes nothing: an operation writes itself down. With that, every
# generic function of this file has a second meaning. `loss` of a `Line[Text]` is the formula of the loss.


@dataclass(frozen=True)
class Text:
    """A formula for a tensor of some shape. It has brackets around each sum and difference, so products need none."""

    text: str
    shape: Shape = ()

    def full(self, shape: Shape, fill: float, /) -> "Text":
        return Text(f"{fill:g}", shape)

    def __add__(self, other: "Text", /) -> "Text":
        return Text(f"({self.text} + {other.text})", self.shape)

    def __sub__(self, other: "Text", /) -> "Text":
        return Text(f"({self.text} - {other.text})", self.shape)

    def __mul__(self, other: "Text", /) -> "Text":
        return Text(f"{self.text} * {other.text}", self.shape)

    def sum(self) -> "Text":
        return Text(f"sum({self.text})")

    def broadcast_to(self, shape: Shape, /) -> "Text":
        return Text(self.text, shape)


# 5. Differentiation (moonxi/autodiff)
#
# `Grad[T]` interprets the trait over another interpreter, T. It holds a value, which is a T, and the operands it came
# from. With each operand goes a function from the gradient of the result to that of the operand, its vector-Jacobian
# product or vjp: if z = x y, then dx = dz y and dy = dz x. An operation lets T compute the value and notes the vjps.
# For a constant, and for what depends on constants alone, nothing is noted.
#
# `sum` and `broadcast_to` are each other's vjp: what was added up is handed out, what was handed out is added up.


@dataclass(frozen=True, eq=False)  # compared by identity: two variables of the same value are two
class Grad[T: Tensor]:
    """A tensor under differentiation. Its parents are None for a constant and () for a variable."""

    value: T
    parents: "tuple[tuple[Grad[T], Callable[[T], T]], ...] | None"

    @property
    def shape(self) -> Shape:
        return self.value.shape

    def full(self, shape: Shape, fill: float, /) -> "Grad[T]":
        return constant(self.value.full(shape, fill))

    def __add__(self, other: "Grad[T]", /) -> "Grad[T]":
        return result(self.value + other.value, (self, lambda g: g), (other, lambda g: g))

    def __sub__(self, other: "Grad[T]", /) -> "Grad[T]":
        return result(self.value - other.value, (self, lambda g: g), (other, lambda g: g * g.full(g.shape, -1.0)))

    def __mul__(self, other: "Grad[T]", /) -> "Grad[T]":
        x, y = self.value, other.value
        return result(x * y, (self, lambda g: g * y), (other, lambda g: g * x))

    def sum(self) -> "Grad[T]":
        return result(self.value.sum(), (self, lambda g: g.broadcast_to(self.shape)))

    def broadcast_to(self, shape: Shape, /) -> "Grad[T]":
        return result(self.value.broadcast_to(shape), (self, lambda g: g.sum()))

    def backward(self) -> "dict[Grad[T], T]":
        """The gradients of this number with respect to all that it depends on."""
        if self.shape != ():
            raise ValueError(f"shape {self.shape} is not a single number; reduce it with sum or mean")
        gradients: dict[Grad[T], T] = {self: self.value.full((), 1.0)}
        for tensor in users_first(self):
            for parent, vjp in tensor.parents or ():
                part = vjp(gradients[tensor])
                gradients[parent] = gradients[parent] + part if parent in gradients else part
        return gradients


def variable[T: Tensor](value: T, /) -> Grad[T]:
    """A tensor to differentiate with respect to."""
    return Grad(value, ())


def constant[T: Tensor](value: T, /) -> Grad[T]:
    """A tensor that takes no part in differentiation."""
    return Grad(value, None)


def result[T: Tensor](value: T, /, *operands: tuple[Grad[T], Callable[[T], T]]) -> Grad[T]:
    """A tensor computed from operands, each given with its vjp."""
    return Grad(value, tuple(operand for operand in operands if operand[0].parents is not None) or None)


# The gradient of a tensor is complete when everything that uses the tensor has added its part; hence this order. The
# graph may be deeper than Python can recurse, so the walk keeps a stack of its own. There is no tape, and nothing to
# set to zero before the next step: the graph hangs on the loss and goes with it.


def users_first[T: Tensor](end: Grad[T], /) -> Iterator[Grad[T]]:
    """All that ``end`` depends on, each tensor after those that use it."""
    order: list[Grad[T]] = []
    seen: set[Grad[T]] = set()
    stack = [(end, False)]
    while stack:
        tensor, parents_done = stack.pop()
        if parents_done:
            order.append(tensor)
        elif tensor not in seen:
            seen.add(tensor)
            stack.append((tensor, True))
            stack.extend((parent, False) for parent, _ in tensor.parents or ())
    return reversed(order)


# The parameters become variables, the points constants, and `loss` runs as it stands. The gradients come back as a
# `Line`, one in the place of each parameter. Whoever forgets to lift the points hears of it before anything runs:
#
#     variables.forward(points.x)
#     mypy: Argument 1 to "forward" of "Line" has incompatible type "T"; expected "Grad[T]"  [arg-type]
#
# Methods and operators are safe in this way. A constructor or a function of two tensors is not: for `Points(x, lifted)`
# mypy takes the bare trait as T and is content. For moonxi's traits its plugin for mypy rejects that as well.


def value_and_grad[T: Tensor](line: Line[T], points: Points[T]) -> tuple[T, Line[T]]:
    """The loss, and its gradient with respect to w and b."""
    variables = line.map(variable)
    value = loss(variables, points.map(constant))
    gradients = value.backward()
    return value.value, variables.map(lambda parameter: gradients[parameter])


# 6. Differentiation, twice
#
# The vjps use operations of T only, and T may be a `Grad` again. Then `value_and_grad` itself runs under
# differentiation, so the derivative of a derivative needs no code of its own: `slope.w` below is a `Grad[T]`, found
# through `Grad[Grad[T]]`.


def curvature[T: Tensor](line: Line[T], points: Points[T]) -> T:
    """The second derivative of the loss with respect to w."""
    variables = line.map(variable)
    _, slope = value_and_grad(variables, points.map(constant))
    return slope.w.backward()[variables.w]


# 7. Training (moonxi/optim, moonxi/train)
#
# A step takes a line and returns a better one. Nothing is changed in place, and the step, too, is a function of any
# interpreter.


def step[T: Tensor](line: Line[T], points: Points[T], rate: float) -> tuple[T, Line[T]]:
    """The loss of a line, and the line one step downhill."""
    value, slope = value_and_grad(line, points)
    factor = value.full((), rate)
    return value, Line(line.w - factor * slope.w, line.b - factor * slope.b)


def main() -> None:
    """The same functions, with one tensor class after another."""
    # Grad[Text]: no line of this file derives formulas, and yet here is the derivative as a formula.
    formula, slopes = value_and_grad(Line(Text("w"), Text("b")), Points(Text("x", (64,)), Text("y", (64,))))
    print(f"loss = {formula.text}\nd loss / dw = {slopes.w.text}\n")

    # Grad[Grad[Array]]: the loss is a parabola in w, so its second derivative is the same at every line, 2 mean(x x).
    x = np.linspace(-1.0, 1.0, 64)
    points = Points(Array(x), Array(3.0 * x + 1.0))
    line = Line(Array(0.0), Array(0.0))
    found, by_hand = curvature(line, points).data.item(), 2.0 * float(np.mean(x * x))
    print(f"d2 loss / dw2 = {found:.6f}, by hand {by_hand:.6f}\n")

    # Grad[Array]: as x averages to 0, a step multiplies the error in w by 1 - rate * curvature, which is 0.93.
    for epoch in range(200):
        value, line = step(line, points, rate=0.1)
        if epoch % 50 == 49:
            print(f"epoch {epoch + 1:3}  loss {value.data.item():.2e}")
    w, b = line.w.data.item(), line.b.data.item()
    print(f"w {w:.2f}  b {b:.2f}")
    if not isclose(found, by_hand) or abs(w - 3.0) > 0.005 or abs(b - 1.0) > 0.005:
        sys.exit("expected w 3.00 and b 1.00, and the second derivative found by hand")


if __name__ == "__main__":
    main()
