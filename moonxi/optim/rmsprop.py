"""RMSprop."""

from dataclasses import dataclass
from typing import override

from moonxi import settings
from moonxi.optim.optimizer import RuleOptimizer, with_l2
from moonxi.optim.updating import Memory
from moonxi.traits import Tensor


@dataclass(frozen=True, kw_only=True)
class RmsProp(RuleOptimizer):
    """Gradients over the root of the running mean of their squares (Hinton 2012, lecture 6e; as PyTorch).

    With ``centred`` over the root of the running variance (Graves 2013, equations 38 to 45); with ``momentum`` the
    quotients are gathered in a velocity. Epsilon is outside the root. Weight decay is L2."""

    alpha: float = 0.99
    epsilon: float = 1e-8
    momentum: float = 0.0
    centred: bool = False

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        settings.numbers("RmsProp", settings.BELOW_ONE, alpha=self.alpha)
        settings.numbers("RmsProp", settings.POSITIVE, epsilon=self.epsilon)
        settings.numbers("RmsProp", settings.UNIT, momentum=self.momentum)
        settings.flags("RmsProp", centred=self.centred)

    @override
    def slot_names(self) -> tuple[str, ...]:
        """The running mean of the square, that of the gradient if centred, and the velocity if there is momentum."""
        return (
            "mean_square",
            *(("mean_gradient",) if self.centred else ()),
            *(("velocity",) if self.momentum else ()),
        )

    @override
    def rule[T: Tensor](
        self, parameter: T, gradient: T, slots: Memory[T], rates: tuple[T | float, ...], decay: float, /
    ) -> tuple[T, Memory[T]]:
        """One step."""
        gradient = with_l2(gradient, parameter, decay)
        mean_square = slots[0] * self.alpha + gradient.square() * (1.0 - self.alpha)
        kept: Memory[T] = (mean_square,)
        spread = mean_square
        if self.centred:
            mean = slots[1] * self.alpha + gradient * (1.0 - self.alpha)
            spread = (mean_square - mean.square()).maximum(0.0)  # rounding can make it negative, and the root NaN
            kept = (mean_square, mean)
        along = gradient / (spread.sqrt() + self.epsilon)
        if not self.momentum:
            return parameter - along * rates[0], kept
        velocity = slots[-1] * self.momentum + along
        return parameter - velocity * rates[0], (*kept, velocity)
