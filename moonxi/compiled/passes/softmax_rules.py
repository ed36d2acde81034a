"""Cross-entropy and its gradient with one exponential, and without sums over zeros.

- ``exp(x - log(s))`` is ``exp(x) / s``, which takes a division where ``exp(x)`` was computed before: so the softmax of
  the backward pass comes from the exponentials of the forward pass.
- The sum over the classes of ``x.put(labels, classes)`` is ``x``: each row has one element that is not zero.
"""

from dataclasses import replace

from moonxi.compiled.graph import Graph, Node, Operand


def softmax_rules(graph: Graph, /) -> Graph:
    """The graph with these in their place."""
    made_by: dict[int, Node] = {}
    exponentials: dict[int, int] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        new = _quotient(node, made_by, exponentials) or _sum_of_put(graph, node, made_by) or node
        if new.operation == "exp":
            exponentials.setdefault(new.inputs[0], new.results[0])
        made_by.update(dict.fromkeys(new.results, new))
        nodes.append(new)
    return replace(graph, nodes=tuple(nodes))


def _quotient(node: Node, made_by: dict[int, Node], exponentials: dict[int, int]) -> Node | None:
    """``exp(x) / s`` for ``exp(x - log(s))``, if ``exp(x)`` is there."""
    difference = made_by.get(node.inputs[0]) if node.operation == "exp" else None
    if difference is None or difference.operation != "__sub__" or len(difference.inputs) != 2:
        return None
    x, logarithm = difference.inputs
    maker = made_by.get(logarithm)
    if maker is None or maker.operation != "log" or x not in exponentials:
        return None
    return replace(node, operation="__truediv__", arguments=(Operand(exponentials[x]), Operand(maker.inputs[0])))


def _sum_of_put(graph: Graph, node: Node, made_by: dict[int, Node]) -> Node | None:
    """``x`` in the shape of the sum, for the sum of ``x.put(labels, classes)`` over the classes."""
    put = made_by.get(node.inputs[0]) if node.operation == "sum" and node.inputs else None
    if put is None or put.operation != "put" or len(node.arguments) != 2:
        return None
    axes = node.arguments[1]
    last = len(graph.specs[put.results[0]].shape) - 1
    if axes not in (-1, last, (-1,), (last,)):
        return None
    shape = graph.specs[node.results[0]].shape
    return replace(node, operation="reshape", arguments=(put.arguments[0], shape), options=())
