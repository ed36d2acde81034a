"""Stochastic gradient descent."""

from dataclasses import dataclass
from typing import override

from moonxi import settings
from moonxi.errors import OptionError
from moonxi.optim.optimizer import RuleOptimizer, with_l2
from moonxi.optim.updating import Memory
from moonxi.traits import Tensor


@dataclass(frozen=True, kw_only=True)
class Sgd(RuleOptimizer):
    """Gradient descent with momentum, as PyTorch: ``v = momentum * v + g``; ``p = p - lr * v``.

    With ``nesterov`` the step is along ``g + momentum * v`` (Sutskever et al. 2013). Weight decay is L2."""

    momentum: float = 0.0
    nesterov: bool = False

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        settings.numbers("Sgd", settings.UNIT, momentum=self.momentum)
        settings.flags("Sgd", nesterov=self.nesterov)
        if self.nesterov and not self.momentum:
            raise OptionError("Sgd: nesterov=True, momentum=0: Nesterov's step needs momentum")

    @override
    def slot_names(self) -> tuple[str, ...]:
        """The velocity, if there is momentum."""
        return ("velocity",) if self.momentum else ()

    @override
    def rule[T: Tensor](
        self, parameter: T, gradient: T, slots: Memory[T], rates: tuple[T | float, ...], decay: float, /
    ) -> tuple[T, Memory[T]]:
        """One step down."""
        gradient = with_l2(gradient, parameter, decay)
        if not slots:
            return parameter - gradient * rates[0], ()
        velocity = slots[0] * self.momentum + gradient
        along = gradient + velocity * self.momentum if self.nesterov else velocity
        return parameter - along * rates[0], (velocity,)
