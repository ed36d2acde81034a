"""`repeat`: many steps at one call, over data that are in memory."""

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import cast

from moonxi.compiled.building import builder
from moonxi.compiled.step import compile_as, compiled_of, run_on
from moonxi.compiled.structure import flattened, is_tensor
from moonxi.key import Key
from moonxi.settings import whole
from moonxi.shapes import fail, show
from moonxi.traits import Tensor


def repeat[M, S, B, *R](
    step: Callable[[M, S, B, Key], tuple[M, S, *R]], n: int, /
) -> Callable[[M, S, B, Key], tuple[M, S, *R]]:
    """A function like ``step`` that makes ``n`` steps, compiled: model and state go on from one to the next.

    Its data are those of all steps in one: of each tensor the first axis is cut into ``n`` parts of one size, in order,
    and scalars go to every step. Step ``k`` has the key ``key.fold(k)``. The other results, such as the loss, are those
    of the last step; what is to be added up over the steps belongs to the state. A step that is compiled already stays
    the same one, with its graphs: see `compile_report`. Raises `OptionError` unless ``n`` is positive, and `ShapeError`
    at the call for data that cannot be cut."""
    whole("repeat", 1, n=n)
    made = compiled_of(step)

    # A device that records takes many steps at one launch, once it has seen what goes on from step to step. Elsewhere
    # this is a loop: all that a replay costs besides the operations is a few microseconds.
    @wraps(step)
    def run(model: M, state: S, data: B, key: Key, /) -> tuple[M, S, *R]:
        found, structure = flattened(data, "the data")
        build = builder(structure)
        cut = [_cut(leaf, n) if is_tensor(leaf) else [leaf] * n for leaf in found.leaves]
        batches = [cast(B, build(leaves)) for leaves in zip(*cut, strict=True)]  # of the structure of the data
        keys = [key.fold(number) for number in range(n)]
        rest: tuple[*R] | None = None
        done = 0
        while done < n:
            first = model, state, batches[done], keys[done]
            # The device knows after two calls.
            result = (
                run_on(made, first, partial(_others, first, batches, keys, done), 2) if done < min(3, n - 1) else None
            )
            model, state, *others = made(*first) if result is None else cast(tuple[M, S, *R], result)  # of the step
            rest = cast(tuple[*R], tuple(others))
            done = done + 1 if result is None else n
        assert rest is not None, "n is positive"
        return (model, state, *rest)

    return compile_as(run, made)


def _others[B](
    first: tuple[object, ...], batches: Sequence[B], keys: Sequence[Key], done: int
) -> Sequence[tuple[object, ...]]:
    """The calls after the first."""
    return [(*first[:2], *one) for one in zip(batches[done + 1 :], keys[done + 1 :], strict=True)]


def _cut(leaf: object, n: int) -> Sequence[object]:
    """The parts of a tensor for each step."""
    tensor = cast(Tensor, leaf)  # the caller has asked
    if not tensor.shape:
        return [tensor] * n
    size, rest = divmod(tensor.shape[0], n)
    if rest or not size:
        fail(
            "repeat", f"{show(tensor.shape)}, n={n}", "the first axis of the data must be cut into n parts of one size"
        )
    return [tensor[number * size : (number + 1) * size] for number in range(n)]
