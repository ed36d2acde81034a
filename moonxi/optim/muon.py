"""Muon."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from moonxi import settings
from moonxi.errors import OptionError
from moonxi.optim.optimizer import Optimizer, refuse_clipping, refuse_rate, shrunk
from moonxi.optim.predicate import Predicate, matrices
from moonxi.optim.schedules import Schedule
from moonxi.optim.updating import Memory, OptimizerState, Trainable, clipped, started, updated
from moonxi.traits import MlpTensor, Shape


@dataclass(frozen=True, kw_only=True)
class Muon:
    """Momentum made orthogonal, for weights that are matrices (Jordan et al. 2024); the others are left to ``rest``.

    ``m = momentum * m + (1 - momentum) * g``; the step is ``lr * size`` along the orthogonal matrix nearest to ``m``,
    or with ``nesterov`` to ``(1 - momentum) * g + momentum * m``, by `orthogonalized`. Before it the weight is shrunk
    by ``lr * weight_decay``. For a weight of ``(inputs, outputs)`` the ``size`` is ``sqrt(max(1, outputs / inputs))``,
    or with ``adjust="match_rms_adamw"`` ``0.2 * sqrt(max(inputs, outputs))`` (Liu et al. 2025, equation 4): both as
    PyTorch, whose weights are the other way round.

    It needs products of matrices, so it is no `Optimizer`, which works for all tensors, but is used like one."""

    lr: float | Schedule
    rest: Optimizer
    """For the parameters that are no matrices: the authors use `AdamW`, also for embeddings and the last layer."""
    where: Predicate = matrices
    """The weights that are made orthogonal; each must have two axes."""
    momentum: float = 0.95
    nesterov: bool = True
    weight_decay: float = 0.1
    steps: int = 5
    adjust: Literal["original", "match_rms_adamw"] = "original"
    clip_norm: float | None = None
    clip_value: float | None = None

    def __post_init__(self) -> None:
        refuse_clipping("Muon", self.clip_norm, self.clip_value)
        refuse_rate("Muon", self.lr, self.weight_decay)
        settings.numbers("Muon", settings.BELOW_ONE, momentum=self.momentum)
        settings.whole("Muon", 1, steps=self.steps)
        settings.flags("Muon", nesterov=self.nesterov)
        if self.adjust not in ("original", "match_rms_adamw"):
            raise OptionError(f"Muon: adjust={self.adjust!r}: must be 'original' or 'match_rms_adamw'")

    def init[T: MlpTensor, M](self, model: Trainable[T, M], /) -> OptimizerState[T, M]:
        """The state before the first update. Raises `ModuleError` for a model without parameters."""
        return started(self, model)

    def update[T: MlpTensor, M](
        self, model: Trainable[T, M], gradients: Trainable[T, M], state: OptimizerState[T, M], /
    ) -> tuple[M, OptimizerState[T, M]]:
        """The model and the state after one update, as `Optimizer.update`."""
        return updated(self, model, gradients, state)

    def memory(self, path: str, shape: Shape, /) -> Mapping[str, Shape]:
        """The running mean of the gradient of a matrix; of the others what ``rest`` remembers.

        Raises `OptionError` if ``where`` picks a parameter that has not two axes."""
        if not self.where(path, shape):
            return self.rest.memory(path, shape)
        if len(shape) != 2:
            raise OptionError(
                f"Muon: {path} has {len(shape)} axes: only matrices can be made orthogonal; leave it to the rest, with "
                "where=optim.matrices"
            )
        return {"muon_momentum": shape}

    def advance[T: MlpTensor](
        self, parameters: Mapping[str, T], gradients: Sequence[T], memory: Sequence[Memory[T]], done: T, /
    ) -> tuple[list[T], list[Memory[T]]]:
        """One step for the matrices, and one of ``rest`` for the others."""
        lr = self.lr if isinstance(self.lr, (int, float)) else self.lr(done)
        after = list(parameters.values())
        remembered = list(memory)
        others: list[int] = []
        for number, ((path, parameter), gradient) in enumerate(zip(parameters.items(), gradients, strict=True)):
            if not self.where(path, parameter.shape):
                others.append(number)
                continue
            mean = memory[number][0] * self.momentum + gradient * (1.0 - self.momentum)
            along = gradient * (1.0 - self.momentum) + mean * self.momentum if self.nesterov else mean
            step = orthogonalized(along, steps=self.steps) * (lr * self._size(parameter.shape))
            after[number] = shrunk(parameter, lr, self.weight_decay) - step
            remembered[number] = (mean,)
        if others:
            paths = list(parameters)
            left = {paths[number]: after[number] for number in others}
            own = clipped(self.rest, [gradients[number] for number in others])
            new, kept = self.rest.advance(left, own, [memory[number] for number in others], done)
            for number, one, memories in zip(others, new, kept, strict=True):
                after[number], remembered[number] = one, memories
        return after, remembered

    def _size(self, shape: Shape) -> float:
        inputs, outputs = shape
        if self.adjust == "original":
            return sqrt(max(1.0, outputs / inputs)) if inputs else 1.0
        return 0.2 * sqrt(max(inputs, outputs))


def orthogonalized[T: MlpTensor](matrix: T, /, *, steps: int = 5) -> T:
    """A matrix with the same singular vectors, whose singular values are drawn from (0, 1] to about 1.

    Newton and Schulz's iteration by the polynomial ``3.4445 x - 4.775 x**3 + 2.0315 x**5`` of the singular values
    (Jordan et al. 2024), in the element type of the matrix; PyTorch's rounds to bfloat16 there. After 5 steps, singular
    values above a hundredth of the norm have become 0.68 to 1.14."""
    rows, columns = matrix.shape
    norm = matrix.square().sum().sqrt().maximum(1e-7)
    x = (matrix.transpose() if rows > columns else matrix) / norm
    for _ in range(steps):
        gram = x @ x.transpose()
        x = x * 3.4445 + (gram * -4.775 + gram @ gram * 2.0315) @ x
    return x.transpose() if rows > columns else x
