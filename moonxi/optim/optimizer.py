"""What all optimizers have in common: the state, clipping, the schedule, and how a model becomes the next."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from moonxi import shapes
from moonxi.errors import ModuleError, OptionError
from moonxi.optim.clipping import clip_by_global_norm
from moonxi.optim.schedules import Schedule
from moonxi.traits import Tensor


class Trainable[T: Tensor, M](Protocol):
    """A model of class ``M`` with parameters of class ``T``: every `Module` is one."""

    def named_parameters(self) -> dict[str, T]: ...
    def parameters(self) -> tuple[T, ...]: ...
    def with_parameters(self, new: Sequence[T], /) -> "Trainable[T, M]": ...
    def named_states(self) -> dict[str, T]: ...
    def with_states(self, new: Sequence[T], /) -> M: ...


@dataclass(frozen=True, eq=False)
class OptimizerState[T: Tensor, M]:
    """What an optimizer remembers of a model of class ``M`` between updates."""

    step: T
    """The number of updates made: a scalar."""
    names: tuple[str, ...]
    """The paths of the parameters."""
    slots: dict[str, tuple[T, ...]]
    """For each kind of memory, such as the velocity, one tensor for each parameter."""

    def _of(self, model: M, /) -> M:
        """Never called: it makes the class invariant in ``M``."""
        return model


@dataclass(frozen=True, kw_only=True)
class Optimizer(ABC):
    """Base of the optimizers: settings only. A subclass says what is remembered and how one tensor is updated."""

    lr: float | Schedule
    """The learning rate, or a schedule of it."""
    weight_decay: float = 0.0
    """This multiple of each parameter is added to its gradient (L2 regularisation)."""
    clip_norm: float | None = None
    """The gradients together are scaled down to this Euclidean norm, before anything else."""

    def __post_init__(self) -> None:
        name = type(self).__name__
        if isinstance(self.lr, (int, float)) and not self.lr >= 0.0:
            raise OptionError(f"{name}: lr={self.lr}: a learning rate is not negative")
        if not self.weight_decay >= 0.0:
            raise OptionError(f"{name}: weight_decay={self.weight_decay}: must not be negative")
        if self.clip_norm is not None and not self.clip_norm > 0.0:
            raise OptionError(f"{name}: clip_norm={self.clip_norm}: must be positive, or None for no clipping")

    @abstractmethod
    def slot_names(self) -> tuple[str, ...]:
        """The kinds of memory; each starts as zeros."""

    @abstractmethod
    def rule[T: Tensor](
        self, parameter: T, gradient: T, slots: tuple[T, ...], lr: T | float, step: T, /
    ) -> tuple[T, tuple[T, ...]]:
        """One parameter's next value and memory. ``step`` counts from 1."""

    def init[T: Tensor, M](self, model: Trainable[T, M], /) -> OptimizerState[T, M]:
        """The state before the first update. Raises `ModuleError` for a model without parameters."""
        named = model.named_parameters()
        if not named:
            raise ModuleError(f"{type(self).__name__}.init: {type(model).__name__} has no parameters to train")
        slots = {slot: tuple(p.zeros(p.shape) for p in named.values()) for slot in self.slot_names()}
        return OptimizerState(next(iter(named.values())).zeros(()), tuple(named), slots)

    def update[T: Tensor, M](
        self, model: Trainable[T, M], gradients: Trainable[T, M], state: OptimizerState[T, M], /
    ) -> tuple[M, OptimizerState[T, M]]:
        """The model and the state after one update; the state fields of the model are those of ``gradients``.

        Raises `ModuleError` if the gradients or the optimizer's state belong to another model or optimizer, and
        `ShapeError` if they do by their shapes alone."""
        named = model.named_parameters()
        slots = self.slot_names()
        if tuple(named) != state.names or state.slots.keys() != set(slots):
            raise ModuleError(
                f"{type(self).__name__}.update: the state belongs to another model or optimizer (it has "
                f"{len(state.names)} parameters and {', '.join(state.slots) or 'no memory'}): make one with "
                "optimizer.init(model)"
            )
        found, states, own_states = gradients.named_parameters(), gradients.named_states(), model.named_states()
        strange = (found.keys() ^ named.keys()) | (states.keys() ^ own_states.keys())
        if strange:
            raise ModuleError(
                f"{type(self).__name__}.update: the gradients are of another model: only one of the two has "
                f"{', '.join(sorted(strange))}"
            )
        for number, (path, parameter) in enumerate(named.items()):
            if parameter.shape != found[path].shape:
                shapes.equal(f"update ({path}: parameter and gradient)", parameter.shape, found[path].shape)
            for slot in slots:
                if parameter.shape != state.slots[slot][number].shape:
                    shapes.equal(
                        f"update ({path}: parameter and {slot})", parameter.shape, state.slots[slot][number].shape
                    )
        directions: Sequence[T] = [found[path] for path in named]
        if self.clip_norm is not None:
            directions = clip_by_global_norm(directions, self.clip_norm)
        lr = self.lr if isinstance(self.lr, (int, float)) else self.lr(state.step)
        step = state.step + 1.0
        parameters: list[T] = []
        memory: list[tuple[T, ...]] = []
        for number, (parameter, gradient) in enumerate(zip(named.values(), directions, strict=True)):
            if self.weight_decay:
                gradient = gradient + parameter * self.weight_decay
            own = tuple(state.slots[slot][number] for slot in slots)
            after, remembered = self.rule(parameter, gradient, own, lr, step)
            parameters.append(after)
            memory.append(remembered)
        kept = {slot: tuple(one[number] for one in memory) for number, slot in enumerate(slots)}
        # The gradients carry the state after the step, such as running statistics: see value_and_grad.
        new = model.with_parameters(parameters).with_states([states[path] for path in own_states])
        return new, OptimizerState(step, state.names, kept)
