"""NAdam."""

from dataclasses import dataclass
from typing import override

from moonxi import settings
from moonxi.optim.optimizer import RuleOptimizer, refuse_betas, with_l2
from moonxi.optim.updating import Memory
from moonxi.traits import Shape, Tensor


@dataclass(frozen=True, kw_only=True)
class NAdam(RuleOptimizer):
    """Adam with Nesterov's momentum (Dozat 2016, with a momentum that grows, as PyTorch).

    In step t the momentum is ``beta1 * (1 - 0.96**(t * momentum_decay) / 2)``. Weight decay is L2."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    momentum_decay: float = 4e-3

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_betas("NAdam", self.beta1, self.beta2, self.epsilon)
        settings.numbers("NAdam", settings.NOT_NEGATIVE, momentum_decay=self.momentum_decay)

    @override
    def slot_names(self) -> tuple[str, ...]:
        """Running means of the gradient and of its square; 1 less the product of all momenta so far, a scalar."""
        return ("first_moment", "second_moment", "momentum_used")

    @override
    def slot_shape(self, slot: str, shape: Shape, /) -> Shape:
        """The product of the momenta is a scalar; it is kept as its distance from 1, so that it starts as zero."""
        return () if slot == "momentum_used" else shape

    @override
    def rates[T: Tensor](self, lr: T | float, step: T, /) -> tuple[T | float, ...]:
        """The learning rate, this momentum and the next, and the correction of the second mean."""
        momentum, following = (
            self.beta1 * (1.0 - 0.5 * 0.96 ** (at * self.momentum_decay)) for at in (step, step + 1.0)
        )
        return lr, momentum, following, (1.0 - self.beta2**step).sqrt()

    @override
    def rule[T: Tensor](
        self, parameter: T, gradient: T, slots: Memory[T], rates: tuple[T | float, ...], decay: float, /
    ) -> tuple[T, Memory[T]]:
        """One step."""
        lr, momentum, following, correction = rates
        gradient = with_l2(gradient, parameter, decay)
        first = slots[0] * self.beta1 + gradient * (1.0 - self.beta1)
        second = slots[1] * self.beta2 + gradient.square() * (1.0 - self.beta2)
        used = slots[2] * momentum + (1.0 - momentum)
        used_next = used * following + (1.0 - following)
        along = gradient * ((1.0 - momentum) / used) + first * (following / used_next)
        return parameter - along / (second.sqrt() / correction + self.epsilon) * lr, (first, second, used)
