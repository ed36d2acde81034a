"""`checkpoint`: memory for time, by computing a part of a function once more in the backward pass."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, overload

from moonxi.autodiff.applying import applied, pulled
from moonxi.autodiff.node import Node
from moonxi.autodiff.order import consumers_first
from moonxi.autodiff.surroundings import begun
from moonxi.autodiff.tensor import Grad
from moonxi.autodiff.together import Share, Together
from moonxi.traits import Tensor


@overload
def checkpoint[T: Tensor](f: Callable[[T], T], x: T, /) -> T: ...
@overload
def checkpoint[T: Tensor](f: Callable[[T, T], T], x: T, y: T, /) -> T: ...
@overload
def checkpoint[T: Tensor](f: Callable[[T, T, T], T], x: T, y: T, z: T, /) -> T: ...
@overload
def checkpoint[**P, T: Tensor](f: Callable[P, T], /, *arguments: P.args, **options: P.kwargs) -> T: ...
def checkpoint(f: Any, /, *arguments: Any, **options: Any) -> object:  # the overloads are the signature
    """``f(*arguments)``, of which only the arguments and the result are kept: the rest is computed again when needed.

    Costs one more call of ``f`` in each backward pass. Gradients are those of ``f``, also for variables that it holds,
    such as the parameters of the layer whose ``forward`` it is; in a model, random numbers are the same again. ``f``
    must give the same each time it is called. Tensors that it holds should be variables or constants: for a result
    that it holds, ``backward(keep=...)`` leaves out the share that goes through ``f``.

    Plain tensors are computed with as if this were not here. Raises `GradientError` if ``f`` of tensors under
    differentiation gives something else."""
    inputs = [one for one in arguments if isinstance(one, Grad)]
    return _part(partial(_call, f, arguments, options), inputs) if inputs else f(*arguments, **options)


def _call(f: Callable[..., object], arguments: Sequence[object], options: dict[str, object], *inputs: object) -> object:
    """The call with its tensors under differentiation replaced by others."""
    rest = iter(inputs)
    return f(*(next(rest) if isinstance(one, Grad) else one for one in arguments), **options)


def _part[T: Tensor](f: Callable[..., object], inputs: Sequence[Grad[T]]) -> Grad[T]:
    """The result with the arguments for parents, and what ``f`` holds; its own graph goes away."""
    surroundings = begun()
    alone = [_alone(one) for one in inputs]
    result = applied("checkpoint", f, *alone)
    if result.parents is None:
        return result
    own = set(map(id, alone))
    held = [one for one in consumers_first(result) if one.parents == () and id(one) not in own]
    taking_part: list[Node[T]] = [*(one for one in inputs if one.parents is not None), *held]
    values = [(type(one), one.value, one.parents is None) for one in inputs]

    def gradients(g: T) -> tuple[T, ...]:
        with ExitStack() as stack:
            for again in surroundings:
                stack.enter_context(again())
            anew = [kind(value, None if constant else ()) for kind, value, constant in values]
            recomputed = applied("checkpoint", f, *anew)
        return pulled(recomputed, g, *(one for one in anew if one.parents is not None), *held)

    together = Together(gradients)
    parents = tuple((one, Share("checkpoint", together, number)) for number, one in enumerate(taking_part))
    return type(result)(result.value, parents)


def _alone[T: Tensor](x: Grad[T]) -> Grad[T]:
    """The same tensor without what it came from."""
    return type(x)(x.value, None if x.parents is None else ())
