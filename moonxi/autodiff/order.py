"""The order in which a graph is walked."""

from typing import TYPE_CHECKING

from moonxi.traits import Tensor

if TYPE_CHECKING:
    from moonxi.autodiff.node import Node


def consumers_first[T: Tensor](result: "Node[T]") -> "list[Node[T]]":
    """Every node that the result was made from, each before its own operands; without recursion."""
    order: list[Node[T]] = []
    seen: set[Node[T]] = set()
    under_way: list[Node[T]] = []
    stack: list[Node[T] | None] = [result]  # None where the last node that is under way is done
    while stack:
        node = stack.pop()
        if node is None:
            order.append(under_way.pop())
        elif node not in seen:
            seen.add(node)
            if node.parents:
                under_way.append(node)
                stack.append(None)
                stack.extend([parent for parent, _ in node.parents])
            else:
                order.append(node)
    order.reverse()
    return order
