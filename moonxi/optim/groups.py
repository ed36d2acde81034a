"""Parameters in groups, each with an optimizer of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import override

from moonxi.errors import OptionError
from moonxi.optim.optimizer import Optimizer
from moonxi.optim.predicate import Predicate
from moonxi.optim.updating import Memory, clipped
from moonxi.traits import Shape, Tensor


@dataclass(frozen=True)
class Group:
    """The parameters that ``where`` picks by path and shape, and the optimizer for them."""

    where: Predicate
    optimizer: Optimizer


@dataclass(frozen=True, kw_only=True)
class Grouped(Optimizer):
    """Each parameter is updated by the optimizer of the first group that picks it, or by ``rest``.

    The optimizers may be of one class with other settings, by ``dataclasses.replace``, or of several. Each clips the
    gradients of its own group, after this one has clipped all of them."""

    groups: tuple[Group, ...]
    rest: Optimizer

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.groups:
            raise OptionError("Grouped: no groups: give at least one Group, or use the rest alone")

    def _number(self, path: str, shape: Shape) -> int:
        """The group of a parameter: the number of groups for the rest."""
        for number, group in enumerate(self.groups):
            if group.where(path, shape):
                return number
        return len(self.groups)

    def optimizer_of(self, path: str, shape: Shape, /) -> Optimizer:
        """The optimizer of a parameter."""
        return (*(group.optimizer for group in self.groups), self.rest)[self._number(path, shape)]

    @override
    def memory(self, path: str, shape: Shape, /) -> Mapping[str, Shape]:
        """What the optimizer of the parameter's group remembers."""
        return self.optimizer_of(path, shape).memory(path, shape)

    @override
    def advance[T: Tensor](
        self, parameters: Mapping[str, T], gradients: Sequence[T], memory: Sequence[Memory[T]], done: T, /
    ) -> tuple[list[T], list[Memory[T]]]:
        """Each group by its optimizer."""
        members: dict[int, list[int]] = {}
        for at, (path, parameter) in enumerate(parameters.items()):
            members.setdefault(self._number(path, parameter.shape), []).append(at)
        paths, after, remembered = list(parameters), list(parameters.values()), list(memory)
        optimizers = (*(group.optimizer for group in self.groups), self.rest)
        for number, places in members.items():
            optimizer = optimizers[number]
            own = clipped(optimizer, [gradients[at] for at in places])
            new, kept = optimizer.advance(
                {paths[at]: after[at] for at in places}, own, [memory[at] for at in places], done
            )
            for at, one, memories in zip(places, new, kept, strict=True):
                after[at], remembered[at] = one, memories
        return after, remembered
