"""The mode in which a model is computed: an argument, so that nobody can forget to set or reset it."""

from dataclasses import dataclass
from typing import final

from moonxi import shapes
from moonxi.key import Key
from moonxi.nn import scope
from moonxi.nn.state import State
from moonxi.traits import Tensor


@final
@dataclass(frozen=True, slots=True)
class Train:
    """Training: dropout drops, normalisation uses the batch and updates its running statistics.

    ``key`` is for one step; fold it with the step's number: ``Train(key.fold(step))``."""

    key: Key

    def update[T: Tensor](self, state: State[T], value: T, /) -> None:
        """Give a state field its next value, which comes back with the step's result; the model itself stays.

        Raises `ShapeError` for a value of another shape, `ModuleError` outside a forward."""
        shapes.equal("state update (before and after)", state.value.shape, value.shape)
        scope.collect(state, value.stop_gradient())

    def move[T: Tensor](self, state: State[T], target: T, share: float, /) -> None:
        """Have a state field go a share of the way to a value, as a running mean does.

        A `Trainer` whose passes are of a narrower type than the model does so in that of the model. Raises as `update`
        does."""
        shapes.equal("state update (before and after)", state.value.shape, target.shape)
        scope.move(state, target.stop_gradient(), share)

    def newest[T: Tensor](self, state: State[T], /) -> T:
        """What an update starts from: the value of the last update in this computation, or the one the model has.

        So a layer that is used twice takes both batches into its running statistics."""
        return scope.newest(state)


@final
@dataclass(frozen=True, slots=True)
class Eval:
    """Evaluation: nothing is random and nothing is updated."""


type Mode = Train | Eval
