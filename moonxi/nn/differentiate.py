"""The value of a loss and its gradient with respect to a whole model."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Protocol, cast, overload

from moonxi import shapes
from moonxi.autodiff import BlasGrad, Grad, ImageGrad, variable
from moonxi.autodiff.lift import constants_beside
from moonxi.autodiff.node import is_node
from moonxi.collecting import collector_rests
from moonxi.errors import GradientError
from moonxi.identity import identity
from moonxi.nn import tree
from moonxi.nn.loss_function import called, expect_mapped
from moonxi.nn.scope import Scope, active
from moonxi.nn.state import State
from moonxi.settings import POSITIVE, numbers
from moonxi.traits import ImageModelTensor, MlpTensor, Shape, Tensor

type Frozen = Callable[[str, Shape], bool]
"""From a parameter's path and shape to whether it is not trained: see `moonxi.optim.Predicate`."""


class Model[T: Tensor, G, M, LossModel](Protocol):
    """A model of ``T`` and class ``M``, that is of class ``LossModel`` when ``f`` has lifted its tensors to ``G``."""

    def map(self, f: Callable[[T], G], /) -> LossModel: ...
    def parameters(self) -> tuple[T, ...]: ...
    def with_parameters(self, new: Sequence[T], /) -> M: ...


class Mapped[T, U, Result](Protocol):
    """A batch, which is of class ``Result`` when ``f`` has made ``U`` of each."""

    def map(self, f: Callable[[T], U], /) -> Result: ...


@overload
def value_and_grad[T: ImageModelTensor, M, LossModel, LossBatch, Mode](
    loss: Callable[[LossModel, LossBatch, Mode], ImageGrad[T]],
    model: Model[T, ImageGrad[T], M, LossModel],
    batch: Mapped[T, ImageGrad[T], LossBatch],
    mode: Mode,
    /,
    *,
    frozen: Frozen | None = None,
    scale: T | float = 1.0,
) -> tuple[T, M]: ...
@overload
def value_and_grad[T: ImageModelTensor, M, LossModel, LossBatch, Mode](
    loss: Callable[[LossModel, LossBatch, Mode], tuple[ImageGrad[T], Mapping[str, ImageGrad[T]]]],
    model: Model[T, ImageGrad[T], M, LossModel],
    batch: Mapped[T, ImageGrad[T], LossBatch],
    mode: Mode,
    /,
    *,
    frozen: Frozen | None = None,
    scale: T | float = 1.0,
) -> tuple[tuple[T, dict[str, T]], M]: ...
@overload
def value_and_grad[T: MlpTensor, M, LossModel, LossBatch, Mode](
    loss: Callable[[LossModel, LossBatch, Mode], BlasGrad[T]],
    model: Model[T, BlasGrad[T], M, LossModel],
    batch: Mapped[T, BlasGrad[T], LossBatch],
    mode: Mode,
    /,
    *,
    frozen: Frozen | None = None,
    scale: T | float = 1.0,
) -> tuple[T, M]: ...
@overload
def value_and_grad[T: MlpTensor, M, LossModel, LossBatch, Mode](
    loss: Callable[[LossModel, LossBatch, Mode], tuple[BlasGrad[T], Mapping[str, BlasGrad[T]]]],
    model: Model[T, BlasGrad[T], M, LossModel],
    batch: Mapped[T, BlasGrad[T], LossBatch],
    mode: Mode,
    /,
    *,
    frozen: Frozen | None = None,
    scale: T | float = 1.0,
) -> tuple[tuple[T, dict[str, T]], M]: ...
@overload
def value_and_grad[T: Tensor, M, LossModel, LossBatch, Mode](
    loss: Callable[[LossModel, LossBatch, Mode], Grad[T]],
    model: Model[T, Grad[T], M, LossModel],
    batch: Mapped[T, Grad[T], LossBatch],
    mode: Mode,
    /,
    *,
    frozen: Frozen | None = None,
    scale: T | float = 1.0,
) -> tuple[T, M]: ...
@overload
def value_and_grad[T: Tensor, M, LossModel, LossBatch, Mode](
    loss: Callable[[LossModel, LossBatch, Mode], tuple[Grad[T], Mapping[str, Grad[T]]]],
    model: Model[T, Grad[T], M, LossModel],
    batch: Mapped[T, Grad[T], LossBatch],
    mode: Mode,
    /,
    *,
    frozen: Frozen | None = None,
    scale: T | float = 1.0,
) -> tuple[tuple[T, dict[str, T]], M]: ...
@overload
def value_and_grad[T: Tensor, G: Tensor, M, LossModel, LossBatch, Mode](
    loss: Callable[[LossModel, LossBatch, Mode], G],
    model: Model[T, G, M, LossModel],
    batch: Mapped[T, G, LossBatch],
    mode: Mode,
    /,
    *,
    variable: Callable[[T], G],
    frozen: Frozen | None = None,
    scale: T | float = 1.0,
) -> tuple[T, M]: ...
@overload
def value_and_grad[T: Tensor, G: Tensor, M, LossModel, LossBatch, Mode](
    loss: Callable[[LossModel, LossBatch, Mode], tuple[G, Mapping[str, G]]],
    model: Model[T, G, M, LossModel],
    batch: Mapped[T, G, LossBatch],
    mode: Mode,
    /,
    *,
    variable: Callable[[T], G],
    frozen: Frozen | None = None,
    scale: T | float = 1.0,
) -> tuple[tuple[T, dict[str, T]], M]: ...
def value_and_grad(  # the overloads are the signature
    loss: Any,
    model: Any,
    batch: Any,
    mode: Any,
    /,
    *,
    variable: Any = variable,
    frozen: Frozen | None = None,
    scale: Any = 1.0,
) -> object:
    """The value of ``loss(model, batch, mode)`` and its gradient with respect to the parameters of the model.

    The loss is a function of any tensor class; here it gets the model and the batch under differentiation. It gives a
    scalar, or a scalar and named tensors to keep besides, such as metrics; then the result is
    ``((value, kept), gradients)``, and nothing of the graph stays alive in ``kept``.

    The gradients are a model of the same class: its parameters are the gradients, zeros where the loss does not depend
    on one, and its state is the state after the step. Raises `GradientError` if the loss is no scalar, depends on no
    parameter, or is not computed from the model and the batch that it gets.

    Parameters that ``frozen`` picks by path and shape are constants: nothing is computed for their gradients, which
    are zeros. An optimizer leaves them as they are if it is given `moonxi.optim.Unfrozen`.

    The backward pass is that of the loss times ``scale``, and its gradients are divided by that again before they come
    out: what is too small for F16 on the way is kept, and nobody ever holds, or clips, a scaled gradient (Micikevicius
    et al. 2018, section 3.2). It is a number or a scalar tensor: see `moonxi.optim.LossScaled`. Raises `OptionError`
    for a number that is not positive, and `ShapeError` for a tensor with axes.

    For operations of your own, ``variable`` is that of your class of tensors under differentiation:
    ``MyGrad.variable``."""
    if not isinstance(scale, int | float) and isinstance(scale, Tensor):
        shapes.equal("value_and_grad (scale)", (), scale.shape)
    else:
        numbers("value_and_grad", POSITIVE, scale=scale)
    expect_mapped("value_and_grad", batch)
    with collector_rests():
        return _value_and_grad(loss, model, batch, mode, variable, frozen, scale)


def in_narrow_passes(
    loss: Any, model: Any, low: Any, batch: Any, mode: Any, /, *, variable: Any, frozen: Any, scale: Any
) -> Any:
    """The value of the loss of ``low``, and the gradients of ``model``, which it is with fewer bits.

    The gradients, divided by ``scale``, and the running statistics, as they move, are of the model's element type."""
    with collector_rests():
        return _value_and_grad(loss, low, batch, mode, variable, frozen, scale, None if low is model else model)


def _value_and_grad[T: Tensor](
    loss: Callable[[object, object, object], object],
    model: Model[T, Grad[T], object, object],
    batch: Mapped[T, Grad[T], object],
    mode: object,
    variable: Callable[[T], Grad[T]],
    frozen: Frozen | None,
    scale: T | float,
    wide: Any = None,
) -> object:
    constant = constants_beside(variable)
    parameters = model.parameters()
    keys = list(map(identity, parameters))
    trained = set(keys)
    if frozen is not None:
        named = tree.parameters(model)
        trained = {identity(parameter) for path, parameter in named.items() if not frozen(path, parameter.shape)}
        if named and not trained:
            raise GradientError(
                f"value_and_grad: {type(model).__name__}: all {len(named)} parameters are frozen: there is none to "
                "differentiate for"
            )
    variables: dict[int, Grad[T]] = {}

    def lift(tensor: T) -> "Grad[T]":
        key = identity(tensor)
        if key not in trained:
            return constant(tensor)
        lifted = variables.get(key)  # a tied one is the same variable at all its places
        if lifted is None:
            lifted = variables[key] = variable(tensor)
        return lifted

    lifted = model.map(lift)
    if not parameters:
        raise GradientError(f"value_and_grad: {type(model).__name__}: there is no parameter to differentiate for")
    if len(variables) != len(trained):
        raise GradientError(
            f"value_and_grad: {type(model).__name__}.map leaves out {len(trained) - len(variables)} of {len(trained)} "
            "parameters: it must map each field"
        )
    like = next(iter(variables.values()))
    outer = active()
    with Scope(lifted) as scope:
        if outer is not None and outer.updated:  # another differentiation, which may have computed the model before
            for state, own in _paired_states(like, model, lifted):
                scope.update(own, constant(outer.newest(state)))
        value, kept = called("value_and_grad", loss, lifted, batch.map(constant), mode)
    loss_value = _at_level_of(like, value, "the loss")
    if prod(loss_value.shape) != 1:
        raise GradientError(
            f"value_and_grad: the loss has shape {shapes.show(loss_value.shape)}: expected one number; reduce it with "
            ".mean() or .sum()"
        )
    if loss_value.parents is None:
        raise GradientError(
            "value_and_grad: the loss depends on no parameter: compute it from the model that the loss function gets"
        )
    seed = None if isinstance(scale, int | float) and scale == 1.0 else _seed(loss_value.value, scale)
    gradients = loss_value.backward(seed)
    found = [
        gradients.of(variables[key]) if key in trained else one.zeros(one.shape)
        for key, one in zip(keys, parameters, strict=True)
    ]
    if wide is not None:
        found = [_as_wide(one, own) for one, own in zip(found, wide.parameters(), strict=True)]
    if seed is not None:
        found = [one / scale for one in found]
    base = model if wide is None else wide
    if not scope.updated:
        result_model: object = base.with_parameters(found)
    else:
        pairs = _paired_states(like, model, lifted)
        plain = [_at_level_of(like, scope.newest(own), "a state after the step").value for _, own in pairs]
        if wide is not None:
            owns: list[Any] = [state.value for state in tree.states(wide).values()]
            plain = [_moved(like, scope, own, old, new) for (_, own), old, new in zip(pairs, owns, plain, strict=True)]
        tree.expect_alike("with_parameters", tree.parameters(base), found)
        result_model = tree.replaced(base, found, plain)
        if outer is not None:  # the result of the differentiation around this one has the new state too
            for (state, _), new in zip(pairs, plain, strict=True):
                outer.update(state, new)
    if kept is None:
        return loss_value.value, result_model
    aside = {name: _at_level_of(like, one, f"the kept tensor {name}").value for name, one in kept.items()}
    return (loss_value.value, aside), result_model


def _seed[T: Tensor](value: T, scale: T | float) -> T:
    """The gradient of a scaled loss, in the element type of the loss."""
    if isinstance(scale, int | float):
        return value.full(value.shape, scale)
    seed: T = value.full(value.shape, 1.0) * _as_wide(scale, value)
    return seed


def _as_wide(tensor: Any, like: Any) -> Any:
    """The tensor in the element type of another one."""
    return tensor if tensor.dtype is like.dtype else tensor.cast(like.dtype)


def _moved[T: Tensor](like: Grad[T], scope: Scope, state: State[Grad[T]], old: T, new: T) -> T:
    """A state field after all its moves, in its own element type; one that was set is what it was set to."""
    moves = scope.moves(state)
    if not moves:
        wide: T = _as_wide(new, old)
        return wide
    for target, share in moves:
        value: T = _as_wide(_at_level_of(like, target, "a state after the step").value, old)
        old = old * (1.0 - share) + value * share
    return old


def _paired_states[T: Tensor](like: Grad[T], model: object, lifted: object) -> list[tuple[State[T], State[Grad[T]]]]:
    """The state fields of a model, each with that of the lifted model, which is under differentiation as ``like``."""
    own = cast("dict[str, State[T]]", tree.states(model))  # the model is of T
    held = cast("dict[str, State[Grad[T]]]", tree.states(lifted))  # the tensors of a lifted model are lifted
    return [(state, held[path]) for path, state in own.items()]


def _at_level_of[T: Tensor](like: Grad[T], value: object, what: str) -> Grad[T]:
    """A result of the loss, checked to be under the same differentiation as the parameters."""
    if isinstance(value, Grad) and _are_at_one_level(value.value, like.value):
        return value
    if isinstance(value, Tensor):
        advice = "a plain tensor becomes one with constant(x)"
    else:
        advice = "it stays a tensor, without .item()"
    raise GradientError(
        f"value_and_grad: {what} is {_named(value)}, and the parameters are {_named(like)}: compute it from the model "
        f"and the batch that the loss function gets; {advice}"
    )


def _are_at_one_level(one: object, other: object) -> bool:
    while is_node(one):
        if not is_node(other):
            return False
        one, other = one.value, other.value
    return not is_node(other)


def _named(value: object) -> str:
    name = "None" if value is None else type(value).__name__
    return f"{name}[{_named(value.value)}]" if isinstance(value, Grad) else name
