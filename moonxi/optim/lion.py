"""Lion."""

from dataclasses import dataclass
from typing import override

from moonxi import settings
from moonxi.optim.optimizer import RuleOptimizer, shrunk
from moonxi.optim.updating import Memory
from moonxi.traits import Tensor


@dataclass(frozen=True, kw_only=True)
class Lion(RuleOptimizer):
    """Steps of one size along the sign of a running mean (Chen et al. 2023, algorithm 2).

    ``p = p - lr * (sign(beta1 * m + (1 - beta1) * g) + weight_decay * p)``; then
    ``m = beta2 * m + (1 - beta2) * g``."""

    beta1: float = 0.9
    beta2: float = 0.99

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        settings.numbers("Lion", settings.BELOW_ONE, beta1=self.beta1, beta2=self.beta2)

    @override
    def slot_names(self) -> tuple[str, ...]:
        """The running mean of the gradient."""
        return ("momentum",)

    @override
    def rule[T: Tensor](
        self, parameter: T, gradient: T, slots: Memory[T], rates: tuple[T | float, ...], decay: float, /
    ) -> tuple[T, Memory[T]]:
        """One step."""
        along = (slots[0] * self.beta1 + gradient * (1.0 - self.beta1)).sign()
        momentum = slots[0] * self.beta2 + gradient * (1.0 - self.beta2)
        return shrunk(parameter, rates[0], decay) - along * rates[0], (momentum,)
