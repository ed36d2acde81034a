"""How a model becomes the next: the part of an update that does not depend on the optimizer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, override

from moonxi import shapes
from moonxi.errors import ModuleError
from moonxi.optim.clipping import clip_by_global_norm, clip_by_value
from moonxi.traits import MlpTensor, Shape, Tensor

type Memory[T] = tuple[T, ...]
"""What is remembered of one parameter, in the order of the kinds of memory."""


class Trainable[T: Tensor, M](Protocol):
    """A model of class ``M`` with parameters of class ``T``: every `Module` is one."""

    def named_tensors(self) -> tuple[dict[str, T], dict[str, T]]: ...
    def with_tensors(self, parameters: Sequence[T], states: Sequence[T], /) -> M: ...


@dataclass(frozen=True, eq=False)
class OptimizerState[T: Tensor, M]:
    """What an optimizer remembers of a model of class ``M`` between updates."""

    step: T
    """The number of updates made: a scalar."""
    names: tuple[str, ...]
    """The paths of the parameters."""
    slots: dict[str, tuple[T, ...]]
    """For each kind of memory, such as the velocity, one tensor for each parameter that has it."""

    @override
    def __repr__(self) -> str:
        kept = ", ".join(f"{slot} of {len(tensors)}" for slot, tensors in self.slots.items())
        return f"OptimizerState({len(self.names)} parameters{': ' if kept else ''}{kept})"

    def _of(self, model: M, /) -> M:
        """Never called: it makes the class invariant in ``M``."""
        return model


class MlpOptimizer(Protocol):
    """An optimizer of models whose tensors have products of matrices: every `Optimizer`, and `Muon`."""

    def init[T: MlpTensor, M](self, model: Trainable[T, M], /) -> OptimizerState[T, M]: ...
    def update[T: MlpTensor, M](
        self, model: Trainable[T, M], gradients: Trainable[T, M], state: OptimizerState[T, M], /
    ) -> tuple[M, OptimizerState[T, M]]: ...


class Remembering(Protocol):
    """What remembers something of each parameter."""

    @override
    def __hash__(self) -> int: ...
    def memory(self, path: str, shape: Shape, /) -> Mapping[str, Shape]: ...


class Method[T: Tensor](Remembering, Protocol):
    """The arithmetic of an optimizer, which knows parameters and no model."""

    @property
    def clip_norm(self) -> float | None: ...
    @property
    def clip_value(self) -> float | None: ...
    def advance(
        self, parameters: Mapping[str, T], gradients: Sequence[T], memory: Sequence[Memory[T]], done: T, /
    ) -> tuple[list[T], list[Memory[T]]]: ...


def clipped[T: Tensor](method: Method[T], gradients: Sequence[T], /) -> Sequence[T]:
    """The gradients, each element clipped first and then all together."""
    if method.clip_value is not None:
        gradients = clip_by_value(gradients, method.clip_value)
    if method.clip_norm is not None:
        gradients = clip_by_global_norm(gradients, method.clip_norm)
    return gradients


def started[T: Tensor, M](method: Method[T], model: Trainable[T, M], /) -> OptimizerState[T, M]:
    """The state before the first update: zeros."""
    named, _ = model.named_tensors()
    if not named:
        raise ModuleError(f"{type(method).__name__}.init: {type(model).__name__} has no parameters to train")
    slots: dict[str, list[T]] = {}
    for path, parameter in named.items():
        for kind, shape in method.memory(path, parameter.shape).items():
            slots.setdefault(kind, []).append(parameter.zeros(shape))
    return OptimizerState(
        next(iter(named.values())).zeros(()), tuple(named), {kind: tuple(slot) for kind, slot in slots.items()}
    )


def updated[T: Tensor, M](
    method: Method[T], model: Trainable[T, M], gradients: Trainable[T, M], state: OptimizerState[T, M], /
) -> tuple[M, OptimizerState[T, M]]:
    """The model and the state after one update; the state fields of the model are those of ``gradients``.

    Raises `ModuleError` if the gradients or the optimizer's state belong to another model or optimizer, and
    `ShapeError` if they do by their shapes alone."""
    name = type(method).__name__
    named, own_states = model.named_tensors()
    sizes = [parameter.shape for parameter in named.values()]
    try:
        kinds = _kinds(method, tuple(named), tuple(sizes))
    except TypeError:  # a method with settings that cannot be a key
        kinds = _kinds.__wrapped__(method, tuple(named), tuple(sizes))
    memory = _memory_of(name, named, kinds, state)
    found, states = gradients.named_tensors()
    if found.keys() != named.keys() or states.keys() != own_states.keys():
        strange = (found.keys() ^ named.keys()) | (states.keys() ^ own_states.keys())
        raise ModuleError(
            f"{name}.update: the gradients are of another model: only one of the two has {', '.join(sorted(strange))}"
        )
    ordered = [found[path] for path in named]
    _expect_shapes("parameter and gradient", named, sizes, ordered)
    if [tensor.shape for own in memory for tensor in own] != [shape for kind in kinds for shape in kind.values()]:
        for path, kind, own in zip(named, kinds, memory, strict=True):
            for (slot, shape), tensor in zip(kind.items(), own, strict=True):
                shapes.equal(f"update ({path}: parameter and {slot})", shape, tensor.shape)
    after, remembered = method.advance(named, clipped(method, ordered), memory, state.step)
    _expect_shapes("parameter before and after", named, sizes, after)
    slots: dict[str, list[T]] = {slot: [] for slot in state.slots}
    for kind, own in zip(kinds, remembered, strict=True):
        for slot, tensor in zip(kind, own, strict=True):
            slots[slot].append(tensor)
    # The gradients carry the state after the step, such as running statistics: see value_and_grad.
    model_after = model.with_tensors(after, [states[path] for path in own_states])
    kept = {slot: tuple(tensors) for slot, tensors in slots.items()}
    return model_after, OptimizerState(state.step + 1.0, state.names, kept)


@lru_cache(maxsize=64)
def _kinds(method: Remembering, paths: tuple[str, ...], sizes: tuple[Shape, ...]) -> list[Mapping[str, Shape]]:
    """What a method remembers of each parameter."""
    return [method.memory(path, shape) for path, shape in zip(paths, sizes, strict=True)]


def _expect_shapes[T: Tensor](what: str, named: Mapping[str, T], sizes: Sequence[Shape], tensors: Sequence[T]) -> None:
    """Raise `ShapeError` unless the tensors have these shapes."""
    if [tensor.shape for tensor in tensors] != sizes:
        for path, shape, tensor in zip(named, sizes, tensors, strict=True):
            shapes.equal(f"update ({path}: {what})", shape, tensor.shape)


def _memory_of[T: Tensor, M](
    name: str, named: Mapping[str, T], kinds: Sequence[Mapping[str, Shape]], state: OptimizerState[T, M]
) -> list[Memory[T]]:
    """What the state holds of each parameter. Raises `ModuleError` unless that is what the optimizer remembers."""
    expected: dict[str, int] = {}
    for kind in kinds:
        for slot in kind:
            expected[slot] = expected.get(slot, 0) + 1
    if tuple(named) != state.names or expected != {slot: len(tensors) for slot, tensors in state.slots.items()}:
        raise ModuleError(
            f"{name}.update: the state belongs to another model or optimizer (it has {len(state.names)} parameters and "
            f"{', '.join(state.slots) or 'no memory'}): make one with optimizer.init(model)"
        )
    rest = {slot: iter(tensors) for slot, tensors in state.slots.items()}
    return [tuple([next(rest[slot]) for slot in kind]) for kind in kinds]
