"""The exponential moving average of a model's weights."""

from dataclasses import dataclass
from typing import override

from moonxi import settings
from moonxi.errors import ModuleError
from moonxi.optim.updating import Trainable
from moonxi.traits import Tensor
from moonxi.traits.foreign import described, same_kind


@dataclass(frozen=True, eq=False)
class EmaState[T: Tensor, M]:
    """The averaged weights of a model of class ``M``."""

    step: T
    """The number of updates made: a scalar."""
    averages: dict[str, T]
    """The averages by the paths of the parameters."""

    @override
    def __repr__(self) -> str:
        return f"EmaState({len(self.averages)} parameters)"

    def _of(self, model: M, /) -> M:
        """Never called: it makes the class invariant in ``M``."""
        return model


@dataclass(frozen=True, kw_only=True)
class Ema:
    """``average = decay * average + (1 - decay) * weight`` after each update.

    It starts from the weights themselves. With ``warm_up`` the decay of the update t = 1, 2, ... is no more than
    ``(1 + t) / (10 + t)``, so that the first weights are soon forgotten (as TensorFlow's ``num_updates``)."""

    decay: float = 0.999
    warm_up: bool = False

    def __post_init__(self) -> None:
        settings.numbers("Ema", settings.BELOW_ONE, decay=self.decay)
        settings.flags("Ema", warm_up=self.warm_up)

    def init[T: Tensor, M](self, model: Trainable[T, M], /) -> EmaState[T, M]:
        """The state before the first update. Raises `ModuleError` for a model without parameters."""
        named, _ = model.named_tensors()
        if not named:
            raise ModuleError(f"Ema.init: {type(model).__name__} has no parameters to average")
        return EmaState(next(iter(named.values())).zeros(()), named)

    def update[T: Tensor, M](self, model: Trainable[T, M], state: EmaState[T, M], /) -> EmaState[T, M]:
        """The averages with the weights of the model after one more update of them.

        Raises `ModuleError` if the state is of another model."""
        named, _ = model.named_tensors()
        _check(f"Ema.update: {type(model).__name__}", named, state)
        step = state.step + 1.0
        if self.warm_up:
            decay = ((step + 1.0) / (step + 10.0)).minimum(self.decay)
            after = {path: state.averages[path] * decay + one * (1.0 - decay) for path, one in named.items()}
        else:
            after = {path: state.averages[path] * self.decay + one * (1.0 - self.decay) for path, one in named.items()}
        return EmaState(step, after)

    def averaged[T: Tensor, M](self, model: Trainable[T, M], state: EmaState[T, M], /) -> M:
        """The model with the averaged weights, for evaluation; its state, such as running statistics, is as it was.

        Raises `ModuleError` if the state is of another model."""
        named, states = model.named_tensors()
        _check(f"Ema.averaged: {type(model).__name__}", named, state)
        return model.with_tensors([state.averages[path] for path in named], list(states.values()))


def _check[T: Tensor, M](what: str, named: dict[str, T], state: EmaState[T, M]) -> None:
    other = state.averages
    differing = [
        path
        for path in {**named, **other}
        if path not in named or path not in other or named[path].shape != other[path].shape
    ]
    if differing:
        raise ModuleError(
            f"{what}: the state belongs to another model (it differs in {', '.join(differing)}): make one with "
            "ema.init(model)"
        )
    for path, one in named.items():
        if not same_kind(one, other[path]):
            raise ModuleError(
                f"{what}: the average of {path} is {described(other[path])}, the parameter {described(one)}: expected "
                "the same class and element type"
            )
