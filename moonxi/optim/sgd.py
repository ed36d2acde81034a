"""Stochastic gradient descent."""

from dataclasses import dataclass

from moonxi.errors import OptionError
from moonxi.optim.optimizer import Optimizer
from moonxi.traits import Tensor


@dataclass(frozen=True, kw_only=True)
class Sgd(Optimizer):
    """Gradient descent with momentum, as PyTorch: ``v = momentum * v + g``; ``p = p - lr * v``.

    With ``nesterov`` the step is along ``g + momentum * v`` (Sutskever et al. 2013)."""

    momentum: float = 0.0
    nesterov: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 <= self.momentum <= 1.0:
            raise OptionError(f"Sgd: momentum={self.momentum}: must lie between 0 and 1")
        if self.nesterov and not self.momentum:
            raise OptionError("Sgd: nesterov=True, momentum=0: Nesterov's step needs momentum")

    def slot_names(self) -> tuple[str, ...]:
        """The velocity, if there is momentum."""
        return ("velocity",) if self.momentum else ()

    def rule[T: Tensor](
        self, parameter: T, gradient: T, slots: tuple[T, ...], lr: T | float, step: T, /
    ) -> tuple[T, tuple[T, ...]]:
        """One step down."""
        if not slots:
            return parameter - gradient * lr, ()
        velocity = slots[0] * self.momentum + gradient
        along = gradient + velocity * self.momentum if self.nesterov else velocity
        return parameter - along * lr, (velocity,)
