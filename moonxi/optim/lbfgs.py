"""L-BFGS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import override

from moonxi import settings
from moonxi.optim.optimizer import Optimizer, refuse_rate
from moonxi.optim.schedules import Schedule
from moonxi.optim.updating import Memory
from moonxi.traits import Shape, Tensor


@dataclass(frozen=True, kw_only=True)
class Lbfgs(Optimizer):
    """Quasi-Newton steps from the last ``history`` steps and changes of the gradient (Nocedal 1980; Nocedal and Wright
    2006, algorithm 7.4), for losses without noise: give it the whole data set as the batch.

    One update is one iteration with the step size ``lr``, without a line search, as PyTorch's with ``max_iter=1``: the
    first step is no longer than ``lr`` in the sum of its elements, and a pair whose product is not above 1e-10 is
    forgotten. All parameters together are one vector."""

    lr: float | Schedule = 1.0
    history: int = 10

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_rate("Lbfgs", self.lr, 0.0)
        settings.whole("Lbfgs", 1, history=self.history)

    @override
    def memory(self, path: str, shape: Shape, /) -> Mapping[str, Shape]:
        """The last steps and changes of the gradient, the oldest first; the last gradient and the last step."""
        return {
            "steps": (self.history, *shape),
            "changes": (self.history, *shape),
            "gradient": shape,
            "step": shape,
        }

    @override
    def advance[T: Tensor](
        self, parameters: Mapping[str, T], gradients: Sequence[T], memory: Sequence[Memory[T]], done: T, /
    ) -> tuple[list[T], list[Memory[T]]]:
        """One iteration."""
        sizes = tuple(prod(gradient.shape) for gradient in gradients)
        shapes = [gradient.shape for gradient in gradients]
        gradient = _joined([one.reshape((size,)) for one, size in zip(gradients, sizes, strict=True)], 0)
        old_steps, old_changes = (
            _joined([own[kind].reshape((self.history, size)) for own, size in zip(memory, sizes, strict=True)], 1)
            for kind in (0, 1)
        )
        before, last = (
            _joined([own[kind].reshape((size,)) for own, size in zip(memory, sizes, strict=True)], 0) for kind in (2, 3)
        )
        change = gradient - before
        fits = (change * last).sum() > 1e-10
        steps = old_steps[1:].concatenate(last[None], axis=0).where(fits, old_steps)
        changes = old_changes[1:].concatenate(change[None], axis=0).where(fits, old_changes)
        lr = self.lr if isinstance(self.lr, (int, float)) else self.lr(done)
        first = done.equal(0.0)
        size = (1.0 / gradient.abs().sum().maximum(1.0)).where(first, 1.0) * lr
        step = _direction(gradient, steps, changes) * size
        moved = [part.reshape(shape) for part, shape in zip(step.split(sizes, axis=0), shapes, strict=True)]
        after = [parameter + part for parameter, part in zip(parameters.values(), moved, strict=True)]
        kept_steps, kept_changes = (
            [
                part.reshape((self.history, *shape))
                for part, shape in zip(kept.split(sizes, axis=1), shapes, strict=True)
            ]
            for kept in (steps, changes)
        )
        return after, list(zip(kept_steps, kept_changes, gradients, moved, strict=True))


def _joined[T: Tensor](parts: Sequence[T], axis: int) -> T:
    return parts[0].concatenate(*parts[1:], axis=axis)


def _direction[T: Tensor](gradient: T, steps: T, changes: T) -> T:
    """Minus the gradient times the estimate of the inverse Hessian: the two loops of algorithm 7.4.

    A row of zeros in the history, not filled yet, has the weight 0 and changes nothing."""
    products = (steps * changes).sum(1)
    weights = (1.0 / products.where(products > 0.0, 1.0)).where(products > 0.0, 0.0)
    along = -gradient
    factors: list[T] = []
    count = steps.shape[0]
    for at in reversed(range(count)):
        factors.append((steps[at] * along).sum() * weights[at])
        along = along - changes[at] * factors[-1]
    squares = changes[-1].square().sum()
    along = along * (products[-1] / squares.where(products[-1] > 0.0, 1.0)).where(products[-1] > 0.0, 1.0)
    for at, factor in zip(range(count), reversed(factors), strict=True):
        along = along + steps[at] * (factor - (changes[at] * along).sum() * weights[at])
    return along
