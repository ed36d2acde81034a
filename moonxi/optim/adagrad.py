"""Adagrad."""

from dataclasses import dataclass
from typing import override

from moonxi import settings
from moonxi.optim.optimizer import RuleOptimizer, with_l2
from moonxi.optim.updating import Memory
from moonxi.traits import Tensor


@dataclass(frozen=True, kw_only=True)
class Adagrad(RuleOptimizer):
    """Gradients over the root of the sum of all their squares so far (Duchi et al. 2011, figure 1; as PyTorch).

    The sum starts from ``initial``; epsilon is outside the root. Weight decay is L2."""

    initial: float = 0.0
    epsilon: float = 1e-10

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        settings.numbers("Adagrad", settings.NOT_NEGATIVE, initial=self.initial)
        settings.numbers("Adagrad", settings.POSITIVE, epsilon=self.epsilon)

    @override
    def slot_names(self) -> tuple[str, ...]:
        """The sum of the squares, less the initial value."""
        return ("sum_of_squares",)

    @override
    def rule[T: Tensor](
        self, parameter: T, gradient: T, slots: Memory[T], rates: tuple[T | float, ...], decay: float, /
    ) -> tuple[T, Memory[T]]:
        """One step."""
        gradient = with_l2(gradient, parameter, decay)
        total = slots[0] + gradient.square()
        started = total + self.initial if self.initial else total
        return parameter - gradient / (started.sqrt() + self.epsilon) * rates[0], (total,)
