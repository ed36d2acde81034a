"""From the gradient of a result to the gradients of all that it was made from."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from moonxi.autodiff.gradients import Gradients
from moonxi.autodiff.order import consumers_first
from moonxi.traits import Tensor
from moonxi.traits.passes import backward_pass

if TYPE_CHECKING:
    from moonxi.autodiff.node import Node


def propagated[T: Tensor](result: "Node[T]", seed: T, keep: "Iterable[Node[T]]") -> Gradients[T]:
    """The gradients of the variables and of ``keep``, given that of the result; the others are let go on the way."""
    kept = set(keep)
    found: dict[Node[T], T] = {result: seed}
    with backward_pass():
        for node in consumers_first(result):
            parents = node.parents
            if not parents:
                kept.add(node)
                continue
            gradient = found[node] if node in kept else found.pop(node)
            for parent, vjp in parents:
                contribution, before = vjp(gradient), found.get(parent)
                found[parent] = contribution if before is None else before + contribution
    return Gradients(found, kept)
