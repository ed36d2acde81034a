"""L-BFGS."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast, override

from moonxi import settings
from moonxi.errors import OptionError
from moonxi.optim.optimizer import Optimizer, refuse_rate
from moonxi.optim.schedules import Schedule
from moonxi.optim.updating import Memory, OptimizerState, Trainable, updated
from moonxi.optim.wolfe import Point, strong_wolfe
from moonxi.traits import Shape, Tensor


@dataclass(frozen=True, kw_only=True)
class Lbfgs(Optimizer):
    """Quasi-Newton steps from the last ``history`` steps and changes of the gradient (Nocedal 1980; Nocedal and Wright
    2006, algorithm 7.4), for losses without noise: give it the whole data set as the batch.

    One `update` is one iteration with the step size ``lr``, without a line search, as PyTorch's with ``max_iter=1``:
    the first step is no longer than ``lr`` in the sum of its elements, and a pair whose product is not above 1e-10 is
    forgotten. `search` is one iteration with a line search. All parameters together are one vector."""

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
        return self._advanced(parameters, gradients, memory, done, None)

    def search[T: Tensor, M](
        self,
        evaluate: Callable[[M], tuple[T, M]],
        model: Trainable[T, M],
        value: T,
        gradients: Trainable[T, M],
        state: OptimizerState[T, M],
        /,
        *,
        least: float = 1e-9,
        evaluations: int = 25,
    ) -> tuple[M, T, M, OptimizerState[T, M]]:
        """One iteration with a line search: the next model, the loss and its gradient there, and the next state.

        ``evaluate`` gives the loss of a model and its gradient, such as ``lambda model: mx.value_and_grad(loss, model,
        batch, mode)``; ``value`` and ``gradients`` are those of ``model``. The step, first tried as `update` has it, is
        one that meets the strong Wolfe conditions, or the best after so many ``evaluations``: PyTorch's
        ``line_search_fn="strong_wolfe"`` with ``max_iter=1``. The loss never becomes larger; where its slope along the
        step is flatter than ``least``, the model stays as it is. Losses are read as numbers, so a compiled step cannot
        have a search.

        Raises `OptionError` if the optimizer clips, which makes the gradient that of another loss, and as `update`."""
        if self.clip_norm is not None or self.clip_value is not None:
            raise OptionError("Lbfgs.search: clipping: a line search needs the gradient of the loss as it is")
        settings.numbers("Lbfgs.search", settings.NOT_NEGATIVE, least=least)
        settings.whole("Lbfgs.search", 1, evaluations=evaluations)
        _, states = model.named_tensors()

        def there(parameters: Sequence[T]) -> tuple[T, Trainable[T, M]]:
            loss, gradients = evaluate(model.with_tensors(parameters, list(states.values())))
            return loss, cast(Trainable[T, M], gradients)  # they are a model of the same class

        searching = _Searching(self, there, value, gradients, least, evaluations)
        after, state_after = updated(searching, model, gradients, state)
        return after, searching.value, cast(M, searching.gradients), state_after  # as above

    def _advanced[T: Tensor](
        self,
        parameters: Mapping[str, T],
        gradients: Sequence[T],
        memory: Sequence[Memory[T]],
        done: T,
        choose: Callable[[Sequence[T], float], float] | None,
    ) -> tuple[list[T], list[Memory[T]]]:
        """One iteration; ``choose`` makes of a direction and a first step the length of the step."""
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
        step = _direction(gradient, steps, changes)
        if choose is None:
            step = step * size
        moved = [part.reshape(shape) for part, shape in zip(step.split(sizes, axis=0), shapes, strict=True)]
        if choose is not None:
            length = choose(moved, size.item())
            moved = [part * length for part in moved]
        after = [parameter + part for parameter, part in zip(parameters.values(), moved, strict=True)]
        kept_steps, kept_changes = (
            [
                part.reshape((self.history, *shape))
                for part, shape in zip(kept.split(sizes, axis=1), shapes, strict=True)
            ]
            for kept in (steps, changes)
        )
        return after, list(zip(kept_steps, kept_changes, gradients, moved, strict=True))


class _Searching[T: Tensor, M]:
    """The arithmetic of one iteration with a line search, and what was found at its end."""

    clip_norm = None
    clip_value = None

    def __init__(
        self,
        lbfgs: Lbfgs,
        evaluate: Callable[[Sequence[T]], tuple[T, Trainable[T, M]]],
        value: T,
        gradients: Trainable[T, M],
        least: float,
        evaluations: int,
    ) -> None:
        self._lbfgs = lbfgs
        self._evaluate = evaluate
        self.value = value
        self.gradients = gradients
        self._least = least
        self._evaluations = evaluations

    def memory(self, path: str, shape: Shape, /) -> Mapping[str, Shape]:
        return self._lbfgs.memory(path, shape)

    def advance(
        self, parameters: Mapping[str, T], gradients: Sequence[T], memory: Sequence[Memory[T]], done: T, /
    ) -> tuple[list[T], list[Memory[T]]]:
        def choose(direction: Sequence[T], first: float) -> float:
            return self._found(list(parameters.values()), list(parameters), gradients, direction, first)

        return self._lbfgs._advanced(parameters, gradients, memory, done, choose)

    def _found(
        self, parameters: list[T], names: list[str], gradients: Sequence[T], direction: Sequence[T], first: float
    ) -> float:
        """The length of the step; the loss and its gradient there are noted."""

        def at(step: float) -> Point[tuple[T, Trainable[T, M]]]:
            moved = [one + part * step for one, part in zip(parameters, direction, strict=True)]
            value, there = self._evaluate(moved)
            found, _ = there.named_tensors()
            return Point(step, value.item(), _inner([found[name] for name in names], direction), (value, there))

        start = Point(0.0, self.value.item(), _inner(gradients, direction), (self.value, self.gradients))
        if start.slope > -self._least:
            return 0.0
        longest = max(part.abs().max().item() for part in direction if prod(part.shape))
        end = strong_wolfe(at, start, first, longest=longest, least=self._least, most=self._evaluations)
        self.value, self.gradients = end.there
        return end.step


def _inner[T: Tensor](gradients: Sequence[T], direction: Sequence[T]) -> float:
    return sum((one * part).sum().item() for one, part in zip(gradients, direction, strict=True))


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
