"""Training of a part of a model: the other parameters are frozen."""

from collections.abc import Sequence
from dataclasses import dataclass

from moonxi.errors import OptionError
from moonxi.optim.predicate import Predicate
from moonxi.optim.updating import Trainable
from moonxi.traits import Tensor


@dataclass(frozen=True, eq=False)
class Unfrozen[T: Tensor, M]:
    """A model, or its gradients, for an optimizer that is not to see the parameters that ``frozen`` picks.

    ``optimizer.update(Unfrozen(model, frozen), Unfrozen(gradients, frozen), state)`` gives the whole model: frozen
    parameters stay the same objects, without decay, memory or a share in a norm to clip to. Raises `OptionError` if
    there is nothing to freeze, as a misspelt name would have it, or nothing left to train."""

    model: Trainable[T, M]
    frozen: Predicate

    def __post_init__(self) -> None:
        named, _ = self.model.named_tensors()
        left = len(self._trained(named))
        if left in (0, len(named)):
            what = "all" if left == 0 else "none"
            raise OptionError(
                f"frozen: {self.frozen} picks {what} of the {len(named)} parameters of {type(self.model).__name__}: "
                f"{', '.join([*named][:8])}{', ...' if len(named) > 8 else ''}"
            )

    def named_tensors(self) -> tuple[dict[str, T], dict[str, T]]:
        """The parameters that are trained, and the state."""
        named, states = self.model.named_tensors()
        return self._trained(named), states

    def with_tensors(self, parameters: Sequence[T], states: Sequence[T], /) -> M:
        """The whole model with other values of these."""
        named, _ = self.model.named_tensors()
        after = {**named, **dict(zip(self._trained(named), parameters, strict=True))}
        return self.model.with_tensors(list(after.values()), states)

    def _trained(self, named: dict[str, T]) -> dict[str, T]:
        return {path: one for path, one in named.items() if not self.frozen(path, one.shape)}
