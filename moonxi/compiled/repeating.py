"""`repeat`: many steps at one call, over data that are in memory."""

from collections.abc import Callable
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
        leaves = found.leaves
        sizes = [_rows_of_a_step(leaf, n) if is_tensor(leaf) else 0 for leaf in leaves]
        rest: tuple[*R] | None = None
        done = 0
        while done < n:
            parts = [
                _rows(leaf, done * size, done * size + size) for leaf, size in zip(found.leaves, sizes, strict=True)
            ]
            batch = cast(B, build(parts))  # of the structure of the data
            result, count = None, n - done
            if count > 1 and done < 3:  # the device knows after two calls
                ahead = {
                    id(part): _rows(leaf, done * size, n * size)
                    for part, leaf, size in zip(parts, leaves, sizes, strict=True)
                    if size
                }
                call = (model, state, batch, key.fold(done))
                result = run_on(made, call, ahead, (count, n), partial(_key, key, done))
            if result is None:
                result, count = made(model, state, batch, key.fold(done)), 1
            model, state, *others = cast(tuple[M, S, *R], result)  # what the step gives
            rest = cast(tuple[*R], tuple(others))
            done += count
        assert rest is not None, "n is positive"
        return (model, state, *rest)

    return compile_as(run, made)


def _key(key: Key, done: int, number: int) -> Key:
    return key.fold(done + number)


def _rows(leaf: object, start: int, stop: int) -> object:
    """Some rows of a tensor; what is not cut as it is."""
    return cast(Tensor, leaf)[start:stop] if stop else leaf  # the caller has asked


def _rows_of_a_step(leaf: object, n: int) -> int:
    """How many rows of a tensor each step takes; 0 for a scalar, which goes to every step."""
    tensor = cast(Tensor, leaf)  # the caller has asked
    if not tensor.shape:
        return 0
    size, rest = divmod(tensor.shape[0], n)
    if rest or not size:
        fail(
            "repeat", f"{show(tensor.shape)}, n={n}", "the first axis of the data must be cut into n parts of one size"
        )
    return size
