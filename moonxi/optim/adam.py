"""Adam."""

from dataclasses import dataclass

from moonxi.errors import OptionError
from moonxi.optim.optimizer import Optimizer
from moonxi.traits import Tensor


@dataclass(frozen=True, kw_only=True)
class Adam(Optimizer):
    """Steps of adaptive size (Kingma and Ba 2015, algorithm 1; epsilon outside the root, as PyTorch)."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0.0 <= self.beta1 < 1.0 and 0.0 <= self.beta2 < 1.0):
            raise OptionError(f"Adam: beta1={self.beta1}, beta2={self.beta2}: both must be at least 0 and less than 1")
        if not self.epsilon > 0.0:
            raise OptionError(f"Adam: epsilon={self.epsilon}: must be positive")

    def slot_names(self) -> tuple[str, ...]:
        """Running means of the gradient and of its square."""
        return ("first_moment", "second_moment")

    def rule[T: Tensor](
        self, parameter: T, gradient: T, slots: tuple[T, ...], lr: T | float, step: T, /
    ) -> tuple[T, tuple[T, ...]]:
        """One step, with the bias of the means towards zero corrected."""
        first = slots[0] * self.beta1 + gradient * (1.0 - self.beta1)
        second = slots[1] * self.beta2 + gradient.square() * (1.0 - self.beta2)
        size = lr / (1.0 - self.beta1**step)
        root = second.sqrt() / (1.0 - self.beta2**step).sqrt() + self.epsilon
        return parameter - first / root * size, (first, second)
