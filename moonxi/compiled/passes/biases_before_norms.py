"""A bias before a batch norm: it is not added, and its gradient is not summed up.

A batch norm takes away the mean of each channel, and a bias with it. In exact arithmetic

- the result, the variance and all gradients of the norm are the same without the bias, and the mean is smaller by it;
- the gradient of the norm's operand has the sum zero over all that a channel's mean goes over. For that the mean has to
  be the one of this operand: then the deviations from it have the sum zero, which is all that the proof takes.

So a convolution whose result nothing but a batch norm sees computes without its bias, the bias is added to the means,
and the gradient of the bias is zeros. Eagerly it is what rounding leaves of the sum, some 1e-7 of what was added up; a
gradient that is not finite makes it NaN, and here it stays zero, and those of the weights are NaN as well. An optimizer
that divides by the size of gradients, as Adam does, makes steps from that noise eagerly, which change no result.
"""

from collections.abc import Sequence
from dataclasses import replace

from moonxi.compiled.fusion import Uses
from moonxi.compiled.graph import Graph, Node, Operand


def biases_before_norms(graph: Graph, /) -> Graph:
    """The graph with these in their place."""
    return _without_biases(_without_sums(graph))


def _without_sums(graph: Graph) -> Graph:
    """Zeros for sums of the gradients of operands."""
    uses = Uses(graph)
    return replace(graph, nodes=tuple(_zeros(graph, uses, node) or node for node in graph.nodes))


def _zeros(graph: Graph, uses: Uses, node: Node) -> Node | None:
    """What is put for a sum over all but the channels, or over everything, of such a gradient."""
    if node.operation != "sum":
        return None
    (number,) = node.inputs
    gradient = uses.maker(number, "batch_norm_grad")
    if gradient is None or gradient.results[0] != number or _norm_of(uses, gradient) is None:
        return None
    if not set(_axes(graph, node)) >= {0, *range(2, len(graph.specs[number].shape))}:
        return None
    shape = graph.specs[node.results[0]].shape
    return replace(node, operation="full", arguments=(node.arguments[0], shape, 0.0), options=())


def _axes(graph: Graph, node: Node) -> Sequence[int]:
    """The axes of a sum, counted from the front."""
    rank = len(graph.specs[node.inputs[0]].shape)
    given = node.arguments[1] if len(node.arguments) > 1 else None
    if isinstance(given, int):
        return (given % rank,)
    if isinstance(given, tuple):
        return tuple(axis % rank for axis in given if isinstance(axis, int))
    return range(rank)


def _norm_of(uses: Uses, gradient: Node) -> Node | None:
    """The batch norm that a gradient belongs to: that of the same operand, whose mean it is given."""
    x, _, _, mean, _ = gradient.inputs
    norm = uses.maker(mean, "batch_norm")
    return norm if norm is not None and norm.inputs[0] == x and norm.results[1] == mean else None


def _without_biases(graph: Graph) -> Graph:
    uses = Uses(graph)
    specs = dict(graph.specs)
    names: dict[int, int] = {}
    """For the mean of a norm that of its operand without the bias."""
    biases: dict[int, int] = {}
    bare: set[int] = set()
    for node in graph.nodes:
        norm = _only_norm(graph, uses, node)
        if norm is not None:
            mean = norm.results[1]
            names[mean] = max(specs) + 1
            specs[names[mean]] = specs[mean]
            biases[mean] = node.inputs[2]
            bare.add(id(node))
    nodes: list[Node] = []
    for node in graph.nodes:
        if id(node) in bare:
            nodes.append(replace(node, arguments=node.arguments[:2]))
        elif node.operation == "batch_norm_grad":
            nodes.append(node.renamed(names))
        elif node.operation == "batch_norm" and node.results[1] in names:
            y, mean, variance = node.results
            nodes.append(replace(node, results=(y, names[mean], variance)))
            moved = Operand(names[mean]), Operand(biases[mean])
            nodes.append(Node("__add__", moved, (), (mean,), (None,), False, node.line, node.backward))
        else:
            nodes.append(node)
    return replace(graph, nodes=tuple(nodes), specs=specs)


def _only_norm(graph: Graph, uses: Uses, node: Node) -> Node | None:
    """The batch norm that alone, with its gradients, sees the result of a convolution with a bias."""
    if node.operation != "conv2d" or len(node.inputs) != 3 or node.results[0] in graph.outputs:
        return None
    (result,) = node.results
    users = uses.users(result)
    norms = [user for user in users if user.operation == "batch_norm"]
    if len(norms) != 1 or any(user.inputs.count(result) != 1 or user.inputs[0] != result for user in users):
        return None
    for user in users:
        if user is not norms[0] and (user.operation != "batch_norm_grad" or _norm_of(uses, user) is not norms[0]):
            return None
    return norms[0]
