"""Adam and AdamW."""

from dataclasses import dataclass
from typing import override

from moonxi.optim.optimizer import RuleOptimizer, refuse_betas, shrunk, with_l2
from moonxi.optim.updating import Memory
from moonxi.traits import Tensor


@dataclass(frozen=True, kw_only=True)
class Adam(RuleOptimizer):
    """Steps of adaptive size (Kingma and Ba 2015, algorithm 1; epsilon outside the root, as PyTorch).

    Weight decay is L2, which the adaptive size distorts: see `AdamW`."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_betas(type(self).__name__, self.beta1, self.beta2, self.epsilon)

    @override
    def slot_names(self) -> tuple[str, ...]:
        """Running means of the gradient and of its square."""
        return ("first_moment", "second_moment")

    @override
    def rates[T: Tensor](self, lr: T | float, step: T, /) -> tuple[T | float, ...]:
        """The learning rate, the same with the first mean's bias towards zero corrected, and the other's correction."""
        return lr, lr / (1.0 - self.beta1**step), (1.0 - self.beta2**step).sqrt()

    @override
    def rule[T: Tensor](
        self, parameter: T, gradient: T, slots: Memory[T], rates: tuple[T | float, ...], decay: float, /
    ) -> tuple[T, Memory[T]]:
        """One step, with the bias of the means towards zero corrected."""
        return self._step(parameter, with_l2(gradient, parameter, decay), slots, rates)

    def _step[T: Tensor](
        self, parameter: T, gradient: T, slots: Memory[T], rates: tuple[T | float, ...], /
    ) -> tuple[T, Memory[T]]:
        _, size, correction = rates
        first = slots[0] * self.beta1 + gradient * (1.0 - self.beta1)
        second = slots[1] * self.beta2 + gradient.square() * (1.0 - self.beta2)
        root = second.sqrt() / correction + self.epsilon
        return parameter - first / root * size, (first, second)


@dataclass(frozen=True, kw_only=True)
class AdamW(Adam):
    """`Adam` with weight decay beside the gradient (Loshchilov and Hutter 2019, algorithm 2, as PyTorch):

    ``p = (1 - lr * weight_decay) * p``, then Adam's step."""

    weight_decay: float = 0.01

    @override
    def rule[T: Tensor](
        self, parameter: T, gradient: T, slots: Memory[T], rates: tuple[T | float, ...], decay: float, /
    ) -> tuple[T, Memory[T]]:
        """The parameter shrunk, and one step of Adam."""
        return self._step(shrunk(parameter, rates[0], decay), gradient, slots, rates)
