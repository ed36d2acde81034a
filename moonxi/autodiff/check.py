"""Gradients against central differences: for whoever writes an operation, a layer or a loss."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from moonxi import settings, shapes
from moonxi.autodiff import fault, lift
from moonxi.autodiff.blas import BlasGrad
from moonxi.autodiff.lift import constants_beside
from moonxi.autodiff.tensor import Grad
from moonxi.dtypes import F32, F64, DType, HostArray
from moonxi.errors import GradientError, OperandError
from moonxi.key import Key
from moonxi.traits import MlpTensor, Tensor


class Options(TypedDict, total=False):
    """How closely `check_gradients` looks."""

    order: int
    """1 (default) checks the gradient; 2 also the gradient of the gradient; and so on."""
    step: float
    """The difference, relative to an input's element if that is larger than 1; default: 6e-6 in F64, 5e-3 in F32."""
    tolerance: float
    """The error allowed, absolute plus relative; default: 1e-6 in F64, 2e-2 in F32."""
    key: Key
    """Chooses the weights that make one number of a result with many."""


@overload
def check_gradients[T: MlpTensor](f: Callable[[BlasGrad[T]], Grad[T]], x: T, /, **options: Unpack[Options]) -> None: ...
@overload
def check_gradients[T: MlpTensor](
    f: Callable[[BlasGrad[T], BlasGrad[T]], Grad[T]], x: T, y: T, /, **options: Unpack[Options]
) -> None: ...
@overload
def check_gradients[T: MlpTensor](
    f: Callable[[BlasGrad[T], BlasGrad[T], BlasGrad[T]], Grad[T]], x: T, y: T, z: T, /, **options: Unpack[Options]
) -> None: ...
@overload
def check_gradients[T: MlpTensor](
    f: Callable[[BlasGrad[T], BlasGrad[T], BlasGrad[T], BlasGrad[T]], Grad[T]],
    x: T,
    y: T,
    z: T,
    w: T,
    /,
    **options: Unpack[Options],
) -> None: ...
@overload
def check_gradients[T: Tensor](f: Callable[[Grad[T]], Grad[T]], x: T, /, **options: Unpack[Options]) -> None: ...
@overload
def check_gradients[T: Tensor](
    f: Callable[[Grad[T], Grad[T]], Grad[T]], x: T, y: T, /, **options: Unpack[Options]
) -> None: ...
@overload
def check_gradients[T: Tensor](
    f: Callable[[Grad[T], Grad[T], Grad[T]], Grad[T]], x: T, y: T, z: T, /, **options: Unpack[Options]
) -> None: ...
@overload
def check_gradients[T: Tensor, G: Tensor](
    f: Callable[[G], Grad[T]], x: T, /, *, variable: Callable[[T], G], **options: Unpack[Options]
) -> None: ...
@overload
def check_gradients[T: Tensor, G: Tensor](
    f: Callable[[G, G], Grad[T]], x: T, y: T, /, *, variable: Callable[[T], G], **options: Unpack[Options]
) -> None: ...
@overload
def check_gradients[T: Tensor, G: Tensor](
    f: Callable[[G, G, G], Grad[T]], x: T, y: T, z: T, /, *, variable: Callable[[T], G], **options: Unpack[Options]
) -> None: ...
def check_gradients(  # the overloads are the signature
    f: Any, /, *inputs: Any, variable: Any = lift.variable, **options: Unpack[Options]
) -> None:
    """Raise `GradientError` unless the gradients of ``f(*inputs)`` are the central differences of its value.

    The error names the argument, the index, the expected and the found number, and the operation to blame: each one
    that ``f`` records is then checked alone. Every element of every input costs two calls of ``f``. Differences are
    taken in the inputs' own element type, so give inputs of `F64` if you can, away from kinks such as 0 in ``relu``.
    A higher ``order`` needs an ``f`` that takes tensors at any level, as a generic function does. For operations of
    your own, ``variable`` is that of your class of tensors under differentiation: ``MyGrad.variable``."""
    if not inputs:
        raise OperandError("check_gradients: no inputs: give the tensors to differentiate with respect to")
    settings.whole("check_gradients", 1, order=options.get("order", 1))  # of order 0 nothing would be checked
    settings.numbers("check_gradients", settings.POSITIVE, step=options.get("step", 1.0))
    settings.numbers("check_gradients", settings.POSITIVE, tolerance=options.get("tolerance", 1.0))
    for order in range(1, options.get("order", 1) + 1):
        _Check(f, variable, _names(f, len(inputs)), order, options).run(inputs)


@dataclass(frozen=True)
class _Check:
    """The check of one order of differentiation."""

    f: Callable[..., Any]
    variable: Callable[[Any], Grad[Any]]
    names: Sequence[str]
    order: int
    options: Options

    def run[T: Tensor](self, inputs: Sequence[T]) -> None:
        step, tolerance = _resolution(inputs[0].dtype)
        step = self.options.get("step", step)
        tolerance = self.options.get("tolerance", tolerance)
        key = self.options.get("key", Key(0))
        function = _derivative(self.f, self.variable, self.order - 1, key)
        variables = [self.variable(x) for x in inputs]
        result: Grad[T] = function(*variables)
        if not isinstance(result, Grad):
            raise OperandError(
                f"{self._title}: the function gave {type(result).__name__}: expected a tensor under differentiation, "
                "computed from its arguments"
            )
        weights = _weights(result.value, key)
        gradients = None if result.parents is None else result.backward(weights)
        for number, (x, argument) in enumerate(zip(inputs, variables, strict=True)):
            gradient = x.zeros(x.shape) if gradients is None else gradients.of(argument)
            if gradient.shape != x.shape:
                where = fault.find(function, self.variable, inputs, number, step, tolerance, key)
                raise GradientError(
                    f"{self._title}: {self.names[number]} {shapes.show(x.shape)}: "
                    f"the gradient has shape {shapes.show(gradient.shape)}; {where}"
                )
            found = _host(gradient)
            expected = _differences(function, self.variable, inputs, number, _host(weights), step)
            right = np.abs(found - expected) <= tolerance * (1.0 + np.abs(expected))
            if right.all():
                continue
            error = np.where(right, 0.0, np.abs(found - expected))
            worst = np.unravel_index(np.argmax(np.nan_to_num(error, nan=np.inf)), x.shape)
            where = fault.find(function, self.variable, inputs, number, step, tolerance, key)
            raise GradientError(
                f"{self._title}: {self.names[number]} {shapes.show(x.shape)}, "
                f"index {shapes.show(tuple(map(int, worst)))}: expected {expected[worst]:.8g} (central difference), "
                f"found {found[worst]:.8g} (backward); {np.sum(~right)} of {right.size} elements are wrong; {where}"
            )

    @property
    def _title(self) -> str:
        return "check_gradients" if self.order == 1 else f"check_gradients (derivative {self.order})"


def _derivative(
    f: Callable[..., Any], variable: Callable[[Any], Grad[Any]], order: int, key: Key
) -> Callable[..., Any]:
    """The inner product of the gradient of ``f`` with random directions, ``order`` times over."""
    if order == 0:
        return f
    below = _derivative(f, variable, order - 1, key)

    def derivative[T: Tensor](*inputs: T) -> T:
        variables = [variable(x) for x in inputs]
        result: Grad[T] = below(*variables)
        total = inputs[0].zeros(())
        if result.parents is None:
            return total
        # The result r counts as r + r**2 / 2: a gradient that comes in depends on the inputs then, and must keep that.
        gradients = result.backward(_weights(result.value, key) * (result.value + 1.0))
        for number, (x, argument) in enumerate(zip(inputs, variables, strict=True)):
            direction = x.normal(x.shape, key.fold(f"direction {order} {number}"))
            total = total + (gradients.of(argument) * direction).sum()
        return total

    return derivative


def _weights[T: Tensor](result: T, key: Key) -> T:
    return result.normal(result.shape, key.fold("weights")) if result.shape else result.ones(())


def _differences[T: Tensor](
    f: Callable[..., Any],
    variable: Callable[[T], Grad[T]],
    inputs: Sequence[T],
    number: int,
    weights: HostArray,
    step: float,
) -> HostArray:
    """The central difference of ``sum(weights * f)`` for each element of one input."""
    start = _host(inputs[number])
    expected = np.empty(start.shape)
    constant = constants_beside(variable)

    def at(index: tuple[int, ...], shift: float) -> tuple[float, float]:
        """Where the element is after the shift, as its type holds it, and the value there."""
        moved = start.copy()
        moved[index] += shift
        x = inputs[number].from_host(moved)
        result: Grad[T] = f(*(constant(x if n == number else y) for n, y in enumerate(inputs)))
        return float(x.to_host()[index]), float(np.sum(weights * _host(result)))

    for index in np.ndindex(start.shape):
        shift = step * max(1.0, abs(float(start[index])))
        above, value_above = at(index, shift)
        below, value_below = at(index, -shift)
        expected[index] = (value_above - value_below) / (above - below)
    return expected


def _resolution(dtype: type[DType]) -> tuple[float, float]:
    """Step and tolerance: the cube root of the rounding error, and somewhat more than its square."""
    if dtype is F64:
        return 6e-6, 1e-6
    if dtype is F32:
        return 5e-3, 2e-2
    raise OperandError(f"check_gradients: inputs of {dtype.__name__}: central differences need F64, or F32 at least")


def _names(f: Callable[..., Any], count: int) -> list[str]:
    """What to call the arguments: ``argument 1 (x)``."""
    try:
        parameters = list(signature(f).parameters.values())
    except (TypeError, ValueError):  # a callable without a signature, such as some built-in ones
        parameters = []
    named = [p.name for p in parameters if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    return [f"argument {n + 1}" + (f" ({named[n]})" if n < len(named) else "") for n in range(count)]


def _host[T: Tensor](x: T) -> HostArray:
    return np.asarray(x.to_host(), np.float64)
