"""The bases of the optimizers: `Optimizer`, and `RuleOptimizer` for those that update each parameter by itself."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import override

from moonxi import settings
from moonxi.errors import OptionError
from moonxi.formulas import Formula
from moonxi.fusion import Symbol, can_fuse, formula_of, of_members
from moonxi.optim.predicate import Predicate
from moonxi.optim.schedules import Schedule
from moonxi.optim.updating import Memory, OptimizerState, Trainable, started, updated
from moonxi.traits import Shape, Tensor


def refuse_clipping(name: str, clip_norm: float | None, clip_value: float | None, /) -> None:
    """Raises `OptionError` unless the limits are positive, or none."""
    if clip_norm is not None:
        settings.numbers(name, settings.POSITIVE_OR_INFINITE, clip_norm=clip_norm)
    if clip_value is not None:
        settings.numbers(name, settings.POSITIVE_OR_INFINITE, clip_value=clip_value)


def refuse_rate(name: str, lr: float | Schedule, weight_decay: float, /) -> None:
    """Raises `OptionError` for a learning rate or weight decay that is negative or not finite, or no number at all."""
    if not settings.is_number(lr) and not callable(lr):
        raise OptionError(f"{name}: lr={lr!r}: expected a Python number or a schedule of the step")
    if isinstance(lr, (int, float)):
        settings.numbers(name, settings.NOT_NEGATIVE, lr=lr)
    settings.numbers(name, settings.NOT_NEGATIVE, weight_decay=weight_decay)


def refuse_betas(name: str, beta1: float, beta2: float, epsilon: float, /) -> None:
    """Raises `OptionError` unless both weights of running means are in [0, 1) and epsilon is positive."""
    settings.numbers(name, settings.BELOW_ONE, beta1=beta1, beta2=beta2)
    settings.numbers(name, settings.POSITIVE, epsilon=epsilon)


@dataclass(frozen=True, kw_only=True)
class Optimizer(ABC):
    """Base of all optimizers: settings only. What is remembered stands in the state.

    A subclass says in `memory` what it remembers of a parameter, and in `advance` how all are updated."""

    clip_norm: float | None = None
    """The gradients together are scaled down to this Euclidean norm, before anything else."""
    clip_value: float | None = None
    """Each element of the gradients is brought between minus and plus this, before even that."""

    def __post_init__(self) -> None:
        refuse_clipping(type(self).__name__, self.clip_norm, self.clip_value)

    @abstractmethod
    def memory(self, path: str, shape: Shape, /) -> Mapping[str, Shape]:
        """The kinds of memory of one parameter, and their shapes; each starts as zeros."""

    @abstractmethod
    def advance[T: Tensor](
        self, parameters: Mapping[str, T], gradients: Sequence[T], memory: Sequence[Memory[T]], done: T, /
    ) -> tuple[list[T], list[Memory[T]]]:
        """The next values and memory of the parameters, which are in the order of the gradients.

        The gradients are clipped; ``done`` is the number of updates made before."""

    def init[T: Tensor, M](self, model: Trainable[T, M], /) -> OptimizerState[T, M]:
        """The state before the first update. Raises `ModuleError` for a model without parameters."""
        return started(self, model)

    def update[T: Tensor, M](
        self, model: Trainable[T, M], gradients: Trainable[T, M], state: OptimizerState[T, M], /
    ) -> tuple[M, OptimizerState[T, M]]:
        """The model and the state after one update; the state fields of the model are those of ``gradients``.

        Raises `ModuleError` if the gradients or the optimizer's state belong to another model or optimizer, and
        `ShapeError` if they do by their shapes alone."""
        return updated(self, model, gradients, state)


@dataclass(frozen=True, kw_only=True)
class RuleOptimizer(Optimizer):
    """Base of the optimizers that update one parameter without looking at the others, all by one `rule`."""

    lr: float | Schedule
    """The learning rate, or a schedule of it."""
    weight_decay: float = 0.0
    """How strongly parameters are drawn towards 0; each class says in what way."""
    decay_where: Predicate | None = None
    """The parameters that weight decay is for, such as `weights`; ``None`` is all."""

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_rate(type(self).__name__, self.lr, self.weight_decay)

    @abstractmethod
    def slot_names(self) -> tuple[str, ...]:
        """The kinds of memory; each starts as zeros."""

    def slot_shape(self, slot: str, shape: Shape, /) -> Shape:
        """The shape of a kind of memory of a parameter of ``shape``: the same, unless a subclass says otherwise."""
        return shape

    def rates[T: Tensor](self, lr: T | float, step: T, /) -> tuple[T | float, ...]:
        """The numbers that are the same for all parameters, worked out once an update. ``step`` counts from 1."""
        return (lr,)

    @abstractmethod
    def rule[T: Tensor](
        self, parameter: T, gradient: T, slots: Memory[T], rates: tuple[T | float, ...], decay: float, /
    ) -> tuple[T, Memory[T]]:
        """One parameter's next value and memory; ``decay`` is its weight decay, 0 where there is to be none."""

    @override
    def memory(self, path: str, shape: Shape, /) -> Mapping[str, Shape]:
        """One tensor of `slot_shape` for each of the `slot_names`."""
        found: dict[str, Shape] = {}
        for slot in self.slot_names():
            found[slot] = self.slot_shape(slot, shape)
        return found

    @override
    def advance[T: Tensor](
        self, parameters: Mapping[str, T], gradients: Sequence[T], memory: Sequence[Memory[T]], done: T, /
    ) -> tuple[list[T], list[Memory[T]]]:
        """The rule for each parameter, or for many at once where the tensor class computes formulas."""
        lr = self.lr if isinstance(self.lr, (int, float)) else self.lr(done)
        # Where nobody asks for the number of the step it is not computed.
        rates = (lr,) if type(self).rates is RuleOptimizer.rates else self.rates(lr, done + 1.0)
        members = list(zip(parameters.values(), gradients, memory, strict=True))
        places: dict[float, list[int]] = {}
        for place, (path, parameter) in enumerate(parameters.items()):
            decays = self.decay_where is None or self.decay_where(path, parameter.shape)
            places.setdefault(self.weight_decay if decays else 0.0, []).append(place)
        found: dict[int, tuple[T, Memory[T]]] = {}
        for decay, alike in places.items():
            if len(members) > 1 and can_fuse(done):
                found.update(self._at_once(alike, members, rates, decay))
            for place in alike:
                if place not in found:
                    found[place] = self.rule(*members[place], rates, decay)
        after, remembered = zip(*[found[place] for place in range(len(members))], strict=True)
        return list(after), list(remembered)

    def _at_once[T: Tensor](
        self,
        places: Sequence[int],
        members: Sequence[tuple[T, T, Memory[T]]],
        rates: tuple[T | float, ...],
        decay: float,
    ) -> Iterable[tuple[int, tuple[T, Memory[T]]]]:
        """The rule for those of the members at these places whose memory has the shape of their parameter, if it is
        element-wise."""
        shared = [rate for rate in rates if not isinstance(rate, (int, float))]
        able: list[int] = []
        operands: list[list[T]] = []
        for place in places:
            parameter, gradient, own = members[place]
            shape = parameter.shape
            for slot in own:
                if slot.shape != shape:
                    break
            else:
                able.append(place)
                operands.append([parameter, gradient, *own, *shared])
        if not able:
            return ()
        count = len(members[able[0]][2])
        numbers = tuple(rate if isinstance(rate, (int, float)) else None for rate in rates)
        try:
            formula = _formula(self, decay, numbers, count)
        except TypeError:  # a schedule or a predicate that cannot be a key
            formula = _formula.__wrapped__(self, decay, numbers, count)
        made = of_members(formula, operands)
        if made is None:
            return ()
        step = 1 + count
        memory = zip(*(made[n::step] for n in range(1, step)), strict=True) if count else [()] * len(able)
        return zip(able, zip(made[::step], memory, strict=True), strict=True)


@lru_cache(maxsize=256)
def _formula(optimizer: RuleOptimizer, decay: float, rates: tuple[float | None, ...], slots: int) -> Formula | None:
    """The rule of an optimizer with these rates, of which None stands for one on the device."""

    def rule(each: list[Symbol], ones: list[Symbol]) -> tuple[list[Symbol], list[Symbol]]:
        rest = iter(ones)
        given = tuple(next(rest) if rate is None else rate for rate in rates)
        new, kept = optimizer.rule(each[0], each[1], tuple(each[2:]), given, decay)
        return [new, *kept], []

    return formula_of(rule, each=2 + slots, shared=rates.count(None))


def with_l2[T: Tensor](gradient: T, parameter: T, decay: float, /) -> T:
    """The gradient of the loss plus ``decay / 2 * parameter**2`` (L2 regularisation)."""
    return gradient + parameter * decay if decay else gradient


def shrunk[T: Tensor](parameter: T, lr: T | float, decay: float, /) -> T:
    """Weight decay beside the gradient: ``(1 - lr * decay) * parameter`` (Loshchilov and Hutter 2019)."""
    return parameter * (1.0 - lr * decay) if decay else parameter
