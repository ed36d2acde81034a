"""Which operation of a graph has a wrong gradient: each is checked alone, against what it computes.

When the inputs move along a direction, each node's value moves too, and its velocity is a central difference. For a
right vjp the inner product of any gradient with the velocity of the result equals the sum of the inner products of
the operands' gradients with the velocities of the operands: the vjp is the transpose of the derivative.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from moonxi import shapes
from moonxi.autodiff.node import Node
from moonxi.autodiff.order import consumers_first
from moonxi.autodiff.tensor import Grad
from moonxi.autodiff.together import Share
from moonxi.dtypes import HostArray
from moonxi.key import Key
from moonxi.traits import Tensor


def find[T: Tensor](
    f: Callable[..., Any],
    variable: Callable[[T], Grad[T]],
    inputs: Sequence[T],
    number: int,
    step: float,
    tolerance: float,
    key: Key,
) -> str:
    """A sentence about where the gradient of ``f`` for the input ``number`` goes wrong."""
    variables, nodes = _graph(f, variable, inputs)
    directions = [x.normal(x.shape, key.fold(n)) * step for n, x in enumerate(inputs)]
    _, above = _graph(f, variable, [x + d for x, d in zip(inputs, directions, strict=True)])
    _, below = _graph(f, variable, [x - d for x, d in zip(inputs, directions, strict=True)])
    if not [operation(n) for n in nodes] == [operation(n) for n in above] == [operation(n) for n in below]:
        return "the operations that it records change with the inputs, so no single one can be blamed"
    speeds: dict[int, HostArray] = {
        id(node): (_host(up.value) - _host(down.value)) / (2.0 * step)
        for node, up, down in zip(nodes, above, below, strict=True)
    }
    for position, node in enumerate(nodes):
        if node.parents and _is_wrong(node, speeds, step, tolerance, key.fold(position)):
            operands = " and ".join(shapes.show(parent.shape) for parent, _ in node.parents)
            return (
                f"{operation(node)} of {operands} is to blame: its gradient is wrong, or it has a kink here, or an "
                "operand that differentiation does not see (stop_gradient, .value)"
            )
    fed = dict.fromkeys(operation(n) for n in nodes for p, _ in n.parents or () if p is variables[number])
    if not fed:
        return "the argument goes into no operation that differentiation sees (stop_gradient, .value)"
    return f"no single operation is to blame; the argument goes into {' and '.join(fed)}"


def operation[T: Tensor](node: Node[T]) -> str:
    """The function that recorded the node, read off its vjps: ``Grad.exp``."""
    names = [_recorded_by(vjp) for _, vjp in node.parents or ()]
    telling = [name for name in names if name is not None]
    # Addition, and the left side of a subtraction, hand the gradient on without a function of their own.
    return telling[0] if telling else "Grad.__add__" if names else "variable"


def _recorded_by(vjp: object) -> str | None:
    while isinstance(vjp, partial):  # it undoes broadcasting after the vjp proper
        vjp = vjp.args[0]
    if isinstance(vjp, Share):
        return vjp.operation
    names: list[str] = getattr(vjp, "__qualname__", type(vjp).__qualname__).split(".<locals>.")
    if len(names) == 1:
        return None if names[0].startswith("_") else names[0]
    owner, _, method = names[-2].rpartition(".")
    # The parts of which `Grad` is made are nobody's concern.
    return f"Grad.{method}" if owner.startswith("Grad") else names[-2]


def _graph[T: Tensor](
    f: Callable[..., Any], variable: Callable[[T], Grad[T]], inputs: Sequence[T]
) -> tuple[Sequence[Node[T]], list[Node[T]]]:
    """The variables, and every node of the result, operands first."""
    variables = [variable(x) for x in inputs]
    result: Node[T] = f(*variables)
    return variables, consumers_first(result)[::-1]


def _is_wrong[T: Tensor](node: Node[T], speeds: dict[int, HostArray], step: float, tolerance: float, key: Key) -> bool:
    gradient = node.value.normal(node.shape, key)
    weights = _host(gradient)
    terms = weights * speeds[id(node)]
    difference = float(terms.sum())
    size = float(np.abs(terms).sum()) + float(np.abs(weights * _host(node.value)).sum()) * step
    for parent, vjp in node.parents or ():
        given = vjp(gradient)
        if given.shape != parent.shape:
            return True
        terms = _host(given) * speeds[id(parent)]
        difference -= float(terms.sum())
        size += float(np.abs(terms).sum())
    return not abs(difference) <= tolerance * size  # true of NaN as well


def _host[T: Tensor](x: T) -> HostArray:
    return np.asarray(x.to_host(), np.float64)
