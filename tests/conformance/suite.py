"""What conformance means: the checks that every backend passes for every row of the table."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from moonxi.autodiff import ImageGrad, variable
from moonxi.dtypes import F64, HostArray
from moonxi.traits import ImageModelTensor, Shape
from tests.conformance.case import Case, Float64s

_STEP = 1e-5
_WIDE_STEP = 1.5e-4  # second differences divide by its square
_BEND = 0.1


@dataclass(frozen=True)
class Suite[T: ImageModelTensor]:
    """A backend under test, as the prototype of its tensors."""

    like: T

    @property
    def rounding(self) -> float:
        """What a few operations may lose, relative to the largest element."""
        return 1e-13 if self.like.dtype is F64 else 4e-6

    def lift[U: ImageModelTensor](self, value: U, /) -> ImageGrad[U]:
        """A variable whose gradients are under test."""
        return variable(value)

    def check_value(self, case: Case) -> None:
        """The value is NumPy's, in class and element type of the operands, which stay as they are."""
        tensors = [operand.place(self.like) for operand in case.operands]
        arrays = _arrays(tensors)
        result = case.apply(tensors)
        expected = case.expect(arrays)
        assert type(result) is type(self.like)
        assert result.dtype is self.like.dtype
        assert result.shape == expected.shape
        _close(result.to_host(), expected, self.rounding)
        for tensor, array in zip(tensors, arrays, strict=True):
            np.testing.assert_array_equal(tensor.to_host(), array)

    def check_value_under_differentiation(self, case: Case) -> None:
        """`Grad`, and `Grad` of it, compute the same bits as the backend, and keep its class."""
        plain = [operand.place(self.like) for operand in case.operands]
        expected = case.apply(plain)
        lifted = [self.lift(x) for x in plain]
        once = case.apply(lifted)
        twice = case.apply([self.lift(x) for x in lifted])
        assert type(once) is type(lifted[0])
        assert type(once.value) is type(twice.value.value) is type(self.like)
        assert once.dtype is twice.dtype is expected.dtype
        assert once.shape == twice.shape == expected.shape
        if not case.same_bits:
            _close(once.to_host(), expected.to_host().astype(np.float64), self.rounding)
            _close(twice.to_host(), expected.to_host().astype(np.float64), self.rounding)
            return
        np.testing.assert_array_equal(once.to_host(), expected.to_host())
        np.testing.assert_array_equal(twice.to_host(), expected.to_host())

    def check_gradient(self, case: Case, seed: int) -> None:
        """Along a random direction the gradient for each operand is the central difference of NumPy's values."""
        rng = np.random.default_rng(seed)
        tensors = [operand.place(self.like) for operand in case.operands]
        arrays = _arrays(tensors)
        variables = [self.lift(x) for x in tensors]
        result = case.apply(variables)
        weights = self._draw(rng, result.shape)
        gradients = result.backward(self.like.from_host(weights))

        def phi(position: int, shift: Float64s) -> float:
            moved = [array + shift if n == position else array for n, array in enumerate(arrays)]
            return float(np.sum(weights * case.expect(moved)))

        for position, x in enumerate(variables):
            direction = rng.uniform(-1.0, 1.0, x.shape)
            gradient = gradients.of(x)
            assert type(gradient) is type(self.like)
            assert gradient.dtype is self.like.dtype
            assert gradient.shape == x.shape
            terms = gradient.to_host() * direction
            step = _STEP * direction
            expected = (phi(position, step) - phi(position, -step)) / (2.0 * _STEP)
            slack = 1e-8 + 10.0 * self.rounding
            assert abs(terms.sum() - expected) <= slack * (1.0 + np.abs(terms).sum() + np.abs(weights).sum())

    def check_second_derivative(self, case: Case, seed: int) -> None:
        """The gradient of the gradient, all operands at once, is the second difference of NumPy's values.

        The result is bent before it is summed: then also the gradient that comes in depends on the operands, and an
        operation whose vjp drops that dependence is seen, even a linear one."""
        rng = np.random.default_rng(seed)
        tensors = [operand.place(self.like) for operand in case.operands]
        arrays = _arrays(tensors)
        inner = [self.lift(x) for x in tensors]
        outer = [self.lift(x) for x in inner]
        result = case.apply(outer)
        weights = self._draw(rng, result.shape)
        bent = result * (result * _BEND + 1.0) * result.from_host(weights)
        first = bent.sum().backward()
        along = [self._draw(rng, x.shape) for x in inner]
        across = [self._draw(rng, x.shape) for x in inner]
        slope = inner[0].zeros(())
        for variable_above, v in zip(outer, along, strict=True):
            slope = slope + (first.of(variable_above) * inner[0].from_host(v)).sum()

        def phi(s: float, t: float) -> float:
            moved = [array + s * v + t * u for array, v, u in zip(arrays, along, across, strict=True)]
            found = case.expect(moved)
            return float(np.sum(weights * found * (found * _BEND + 1.0)))

        h = _WIDE_STEP
        expected = (phi(h, h) - phi(h, -h) - phi(-h, h) + phi(-h, -h)) / (4.0 * h * h)
        found, size = 0.0, 1.0 + float(np.abs(weights).sum())
        second = slope.backward()
        for x, u in zip(inner, across, strict=True):
            terms = second.of(x).to_host() * u
            found += float(terms.sum())
            size += float(np.abs(terms).sum())
        assert abs(found - expected) <= (3e-6 + 30.0 * self.rounding) * size

    def check_constant(self, case: Case) -> None:
        """The result takes no part in differentiation, although the operands do."""
        variables = [self.lift(operand.place(self.like)) for operand in case.operands]
        assert case.apply(variables).parents is None

    def _draw(self, rng: np.random.Generator, shape: Shape) -> Float64s:
        """Numbers that this element type holds exactly."""
        return self.like.from_host(rng.uniform(-1.0, 1.0, shape)).to_host().astype(np.float64)


def _arrays[T: ImageModelTensor](tensors: Sequence[T]) -> list[Float64s]:
    return [x.to_host().astype(np.float64) for x in tensors]


def _close(found: HostArray, expected: Float64s, rounding: float) -> None:
    largest = float(np.max(np.abs(expected), initial=1.0))
    np.testing.assert_allclose(found, expected, rtol=rounding, atol=rounding * largest)
