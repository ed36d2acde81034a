"""A loss scale that adapts itself, for passes in F16."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from moonxi import settings
from moonxi.errors import ModuleError, OptionError
from moonxi.optim.updating import MlpOptimizer, OptimizerState, Trainable
from moonxi.traits import Mask, MlpTensor

_SLOT = "loss scale"
_UP = settings.Range("must be greater than 1", 1.0, without_least=True, without_most=True)
_DOWN = settings.Range("must be greater than 0 and less than 1", 0.0, 1.0, without_least=True, without_most=True)


@dataclass(frozen=True, kw_only=True)
class LossScaled:
    """An optimizer for gradients of a loss that is scaled, by a factor that goes up and down by itself.

    An update whose gradients are not all finite changes nothing but the factor, which is multiplied by ``backoff``.
    After ``every`` updates in a row with finite ones it is multiplied by ``growth`` (Micikevicius et al. 2018, section
    3.2, as in PyTorch's GradScaler). It stays within ``smallest`` and ``largest``; the largest is no more than 65504,
    the largest number of F16. All of it is computed where the model lives: nobody waits for a result.

    A `Trainer` with such an optimizer scales its loss. In a step of your own::

        value, gradients = mx.value_and_grad(loss, low, batch, mode, scale=optimizer.scale(state).cast(mx.F16))
        model, state = optimizer.update(model, gradients.map(lambda x: x.cast(mx.F32)), state)
    """

    optimizer: MlpOptimizer
    """The rule for updates from finite gradients."""
    initial: float = 2.0**15
    growth: float = 2.0
    backoff: float = 0.5
    every: int = 2000
    smallest: float = 1.0
    largest: float = 2.0**15

    def __post_init__(self) -> None:
        settings.numbers(
            "LossScaled", settings.POSITIVE, initial=self.initial, smallest=self.smallest, largest=self.largest
        )
        settings.numbers("LossScaled", _UP, growth=self.growth)
        settings.numbers("LossScaled", _DOWN, backoff=self.backoff)
        settings.whole("LossScaled", 1, every=self.every)
        if not self.smallest <= self.initial <= self.largest <= 65504.0:
            raise OptionError(
                f"LossScaled: smallest={self.smallest}, initial={self.initial}, largest={self.largest}: must rise, up "
                "to 65504, the largest number of F16"
            )

    def init[T: MlpTensor, M](self, model: Trainable[T, M], /) -> OptimizerState[T, M]:
        """The state before the first update. Raises `ModuleError` for a model without parameters."""
        state = self.optimizer.init(model)
        return self._with(state, state.step.full((), self.initial), state.step.zeros(()))

    def scale[T: MlpTensor, M](self, state: OptimizerState[T, M], /) -> T:
        """The factor for the next loss: a scalar. Raises `ModuleError` for the state of another optimizer."""
        return self._factors(state)[0]

    def update[T: MlpTensor, M](
        self, model: Trainable[T, M], gradients: Trainable[T, M], state: OptimizerState[T, M], /
    ) -> tuple[M, OptimizerState[T, M]]:
        """The model and the state after one update, or as they were, but for the factor.

        The gradients are those of the loss itself, divided again by the factor, as `value_and_grad` gives them. A model
        that is not updated keeps its state fields too. Raises as the optimizer does."""
        scale, good = self._factors(state)
        named, _ = gradients.named_tensors()
        wrong = [one.zeros(()).where(one.abs() < inf, 1.0).sum() for one in named.values()]  # NaN is less than nothing
        finite = sum(wrong, start=scale.zeros(())).equal(0.0)
        rest = {slot: tensors for slot, tensors in state.slots.items() if slot != _SLOT}
        inner: OptimizerState[T, M] = OptimizerState(state.step, state.names, rest)
        after, new = self.optimizer.update(_Unless(model, finite), _Finite(gradients, finite), inner)
        kept = {
            slot: tuple(one.where(finite, old) for one, old in zip(new.slots[slot], rest[slot], strict=True))
            for slot in rest
        }
        chosen: OptimizerState[T, M] = OptimizerState(new.step.where(finite, state.step), state.names, kept)
        counted = good + 1.0
        grows = counted >= float(self.every)
        larger = (scale * self.growth).minimum(self.largest).where(grows, scale)
        smaller = (scale * self.backoff).maximum(self.smallest)
        counted = (counted * 0.0).where(grows, counted).where(finite, good * 0.0)
        return after, self._with(chosen, larger.where(finite, smaller), counted)

    def _with[T: MlpTensor, M](self, state: OptimizerState[T, M], scale: T, good: T) -> OptimizerState[T, M]:
        return OptimizerState(state.step, state.names, {**state.slots, _SLOT: (scale, good)})

    def _factors[T: MlpTensor, M](self, state: OptimizerState[T, M]) -> tuple[T, T]:
        """The factor, and the updates with finite gradients since it last changed."""
        found = state.slots.get(_SLOT, ())
        if len(found) != 2:
            raise ModuleError(
                "LossScaled: the state is of an optimizer without a loss scale: make one with optimizer.init(model)"
            )
        return found[0], found[1]


@dataclass(frozen=True, eq=False)
class _Unless[T: MlpTensor, M]:
    """A model whose next values are its own unless a mask is."""

    model: Trainable[T, M]
    finite: Mask[T]

    def named_tensors(self) -> tuple[dict[str, T], dict[str, T]]:
        return self.model.named_tensors()

    def with_tensors(self, parameters: Sequence[T], states: Sequence[T], /) -> M:
        before, states_before = self.model.named_tensors()
        chosen = [one.where(self.finite, old) for one, old in zip(parameters, before.values(), strict=True)]
        kept = [one.where(self.finite, old) for one, old in zip(states, states_before.values(), strict=True)]
        return self.model.with_tensors(chosen, kept)


@dataclass(frozen=True, eq=False)
class _Finite[T: MlpTensor, M]:
    """Gradients, or zeros unless a mask is: what is computed from them is not used then."""

    gradients: Trainable[T, M]
    finite: Mask[T]

    def named_tensors(self) -> tuple[dict[str, T], dict[str, T]]:
        named, states = self.gradients.named_tensors()
        return {path: one.where(self.finite, 0.0) for path, one in named.items()}, states

    def with_tensors(self, parameters: Sequence[T], states: Sequence[T], /) -> M:
        return self.gradients.with_tensors(parameters, states)
