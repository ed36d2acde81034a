"""The value of a loss and its gradient with respect to a whole model."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Protocol, overload

from moonxi import shapes
from moonxi.autodiff import BlasGrad, Grad, constant, variable
from moonxi.errors import GradientError
from moonxi.nn import tree
from moonxi.nn.scope import Scope
from moonxi.traits import MlpTensor, Tensor


class Model[T: Tensor, G, M, Up](Protocol):
    """A model of ``T`` and class ``M``, that is of class ``Up`` when ``f`` has lifted its tensors to ``G``."""

    def map(self, f: Callable[[T], G], /) -> Up: ...
    def parameters(self) -> tuple[T, ...]: ...
    def with_parameters(self, new: Sequence[T], /) -> M: ...


class Mapped[T, U, Result](Protocol):
    """A batch, which is of class ``Result`` when ``f`` has made ``U`` of each."""

    def map(self, f: Callable[[T], U], /) -> Result: ...


@overload
def value_and_grad[T: MlpTensor, M, Up, Batch, Mode](
    loss: Callable[[Up, Batch, Mode], tuple[BlasGrad[T], Mapping[str, BlasGrad[T]]]],
    model: Model[T, BlasGrad[T], M, Up],
    batch: Mapped[T, BlasGrad[T], Batch],
    mode: Mode,
    /,
) -> tuple[tuple[T, dict[str, T]], M]: ...
@overload
def value_and_grad[T: MlpTensor, M, Up, Batch, Mode](
    loss: Callable[[Up, Batch, Mode], BlasGrad[T]],
    model: Model[T, BlasGrad[T], M, Up],
    batch: Mapped[T, BlasGrad[T], Batch],
    mode: Mode,
    /,
) -> tuple[T, M]: ...
@overload
def value_and_grad[T: Tensor, M, Up, Batch, Mode](
    loss: Callable[[Up, Batch, Mode], tuple[Grad[T], Mapping[str, Grad[T]]]],
    model: Model[T, Grad[T], M, Up],
    batch: Mapped[T, Grad[T], Batch],
    mode: Mode,
    /,
) -> tuple[tuple[T, dict[str, T]], M]: ...
@overload
def value_and_grad[T: Tensor, M, Up, Batch, Mode](
    loss: Callable[[Up, Batch, Mode], Grad[T]],
    model: Model[T, Grad[T], M, Up],
    batch: Mapped[T, Grad[T], Batch],
    mode: Mode,
    /,
) -> tuple[T, M]: ...
def value_and_grad(loss: Any, model: Any, batch: Any, mode: Any, /) -> object:  # the overloads are the signature
    """The value of ``loss(model, batch, mode)`` and its gradient with respect to the parameters of the model.

    The loss is a function of any tensor class; here it gets the model and the batch under differentiation. It gives a
    scalar, or a scalar and named tensors to keep besides, such as metrics; then the result is
    ``((value, kept), gradients)``, and nothing of the graph stays alive in ``kept``.

    The gradients are a model of the same class: its parameters are the gradients, zeros where the loss does not depend
    on one, and its state is the state after the step. Raises `GradientError` if the loss is no scalar or depends on no
    parameter."""
    return _value_and_grad(loss, model, batch, mode)


def _value_and_grad[T: Tensor](
    loss: Callable[[object, object, object], Grad[T] | tuple[Grad[T], Mapping[str, Grad[T]]]],
    model: Model[T, Grad[T], object, object],
    batch: Mapped[T, Grad[T], object],
    mode: object,
) -> object:
    trained = {id(parameter) for parameter in model.parameters()}
    variables: list[Grad[T]] = []

    def lift(tensor: T) -> Grad[T]:
        if id(tensor) not in trained:
            return constant(tensor)
        variables.append(variable(tensor))  # each tensor comes once, in the order of the parameters
        return variables[-1]

    lifted = model.map(lift)
    with Scope(lifted) as scope:
        result = loss(lifted, batch.map(constant), mode)
    value, kept = result if isinstance(result, tuple) else (result, None)
    if prod(value.shape) != 1:
        raise GradientError(
            f"value_and_grad: the loss has shape {shapes.show(value.shape)}: expected one number; reduce it with "
            ".mean() or .sum()"
        )
    gradients = value.backward()
    model_of_gradients = model.with_parameters([gradients.of(one) for one in variables])
    if scope.updates:
        after = [scope.updates.get(id(state), state.value) for state in tree.states(lifted).values()]
        model_of_gradients = tree.replaced(model_of_gradients, None, [_plain(tensor) for tensor in after])
    if kept is None:
        return value.value, model_of_gradients
    return (value.value, {name: tensor.value for name, tensor in kept.items()}), model_of_gradients


def _plain(tensor: object) -> Tensor:
    assert isinstance(tensor, Grad), "the state of a lifted model is lifted"
    plain: Tensor = tensor.value
    return plain
