"""LAMB."""

from dataclasses import dataclass
from typing import override

from moonxi.optim.optimizer import RuleOptimizer, refuse_betas
from moonxi.optim.updating import Memory
from moonxi.traits import Tensor


@dataclass(frozen=True, kw_only=True)
class Lamb(RuleOptimizer):
    """Adam's direction, as long as the parameter itself, for large batches (You et al. 2020, algorithm 2).

    ``u = m / (sqrt(v) + epsilon) + weight_decay * p``, both means corrected; ``p = p - lr * |p| / |u| * u``. The
    paper's function of the norm is the identity; where one of the norms is 0 the quotient is 1."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_betas("Lamb", self.beta1, self.beta2, self.epsilon)

    @override
    def slot_names(self) -> tuple[str, ...]:
        """Running means of the gradient and of its square."""
        return ("first_moment", "second_moment")

    @override
    def rates[T: Tensor](self, lr: T | float, step: T, /) -> tuple[T | float, ...]:
        """The learning rate and the corrections of the two means."""
        return lr, 1.0 - self.beta1**step, (1.0 - self.beta2**step).sqrt()

    @override
    def rule[T: Tensor](
        self, parameter: T, gradient: T, slots: Memory[T], rates: tuple[T | float, ...], decay: float, /
    ) -> tuple[T, Memory[T]]:
        """One step."""
        lr, of_first, of_second = rates
        first = slots[0] * self.beta1 + gradient * (1.0 - self.beta1)
        second = slots[1] * self.beta2 + gradient.square() * (1.0 - self.beta2)
        along = first / of_first / (second.sqrt() / of_second + self.epsilon)
        if decay:
            along = along + parameter * decay
        own, length = parameter.square().sum().sqrt(), along.square().sum().sqrt()
        ratio = own / length.where(length > 0.0, 1.0)
        ratio = ratio.where((own > 0.0) & (length > 0.0), 1.0)
        return parameter - along * (ratio * lr), (first, second)
