"""The gradient of a large batch from the gradients of its parts."""

from collections.abc import Iterable
from typing import Protocol

from moonxi import settings, shapes
from moonxi.errors import ModuleError, OptionError
from moonxi.optim.updating import Trainable
from moonxi.traits import Tensor


class Part[T: Tensor, M](Trainable[T, M], Protocol):
    """Gradients of a model of class ``M``; ``with_state`` makes it invariant in ``M``, so that no two models fit."""

    def with_state(self, updates: M, /) -> M: ...


def mean_gradients[T: Tensor, M](parts: Iterable[tuple[Part[T, M], int]], /) -> M:
    """The mean of gradients, each with the number of its examples as its weight.

    Where the loss is the mean over the examples, that is the gradient of all the examples together, up to rounding. The
    parts are used one after the other, so with a generator only the sum and one gradient are in memory. The state
    fields are those of the last part. Raises `ModuleError` if the parts are of different models, `ShapeError` if they
    are by their shapes alone, and `OptionError` if there is none or one without examples."""
    total = 0
    sums: dict[str, T] = {}
    latest: Part[T, M] | None = None
    for gradients, examples in parts:
        settings.whole("mean_gradients", 1, examples=examples)
        named, _ = gradients.named_tensors()
        if latest is not None and named.keys() != sums.keys():
            raise ModuleError(
                "mean_gradients: the parts are of different models: only one of two has "
                f"{', '.join(sorted(named.keys() ^ sums.keys()))}"
            )
        for path, one in named.items():
            weighted = one * float(examples)
            if latest is not None and sums[path].shape != one.shape:
                shapes.equal(f"mean_gradients ({path})", sums[path].shape, one.shape)
            sums[path] = weighted if latest is None else sums[path] + weighted
        total += examples
        latest = gradients
    if latest is None:
        raise OptionError("mean_gradients: no parts: give the gradients of at least one, with its number of examples")
    named, states = latest.named_tensors()
    return latest.with_tensors([sums[path] / float(total) for path in named], list(states.values()))
