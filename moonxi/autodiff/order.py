"""The order in which a graph is walked."""

from typing import TYPE_CHECKING

from moonxi.traits import Tensor

if TYPE_CHECKING:
    from moonxi.autodiff.node import Node


def consumers_first[T: Tensor](result: "Node[T]") -> "list[Node[T]]":
    """Every node that the result was made from, each before its own operands; without recursion."""
    order: list[Node[T]] = []
    seen: set[int] = set()
    stack: list[tuple[Node[T], bool]] = [(result, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((parent, False) for parent, _ in node.parents or ())
    order.reverse()
    return order
