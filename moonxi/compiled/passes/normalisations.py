"""Batch norm with what stands around it: the sum of a residual block, `relu` and its mask, the gradient of a bias.

Each of these alone reads and writes all elements again; in blocks of rows they go through a cache together.

Routine ``batch_norm``: operands are those of the operation, and perhaps what is added to its result; results are that
of the last operation, means and variances. Routine ``batch_norm_gradient``: operands are images, weight, means,
variances, the gradient of the result, or two that are added, and with the option ``masked`` the result of `relu`;
results are the gradients of images, weight and bias, the gradient that came in after sum and mask, and the sums of the
first over all but the channels.
"""

from moonxi.compiled.fusion import Fusion, Uses
from moonxi.compiled.graph import Graph, Node


def normalisations(graph: Graph, uses: Uses, /) -> list[Fusion]:
    """One for each ``batch_norm`` and each ``batch_norm_grad``; what two could have is the first one's."""
    fusions: list[Fusion] = []
    taken: set[int] = set()
    for node in graph.nodes:
        if node.operation in ("batch_norm", "batch_norm_grad"):
            forward = node.operation == "batch_norm"
            fusion = _forward(graph, uses, node, taken) if forward else _backward(graph, uses, node, taken)
            fusions.append(fusion)
            taken.update(map(id, fusion.nodes))
    return fusions


def _forward(graph: Graph, uses: Uses, norm: Node, taken: set[int]) -> Fusion:
    nodes, operands, (y, mean, variance) = [norm], list(norm.inputs), norm.results
    follower = _only_user(uses, y)
    if follower is not None and follower.operation == "__add__" and id(follower) not in taken:
        others = [number for number in follower.inputs if number != y]
        if len(follower.inputs) == 2 and len(others) == 1 and graph.specs[others[0]] == graph.specs[y]:
            nodes.append(follower)
            operands += others
            (y,) = follower.results
            follower = _only_user(uses, y)
    if follower is not None and follower.operation == "relu" and id(follower) not in taken:
        nodes.append(follower)
        (y,) = follower.results
    results = y, uses.needed(mean, nodes), uses.needed(variance, nodes)
    options = (*norm.options, ("relu", nodes[-1].operation == "relu"))
    return Fusion("batch_norm", tuple(nodes), tuple(operands), results, options)


def _backward(graph: Graph, uses: Uses, norm: Node, taken: set[int]) -> Fusion:
    x, dy, weight, mean, variance = norm.inputs
    gradients: tuple[int, ...] = (dy,)
    nodes, mask = [norm], None
    masking = uses.maker(dy, "where")
    if masking is not None and _is_mask(masking) and id(masking) not in taken:
        gradient, chosen = masking.inputs
        compared = uses.maker(chosen, "__gt__")
        if compared is not None and compared.arguments[1] == 0.0 and graph.specs[gradient] == graph.specs[dy]:
            (mask,) = compared.inputs
            nodes, gradients = [masking, norm], (gradient,)
            if uses.needed(chosen, nodes) is None and id(compared) not in taken:
                nodes.insert(0, compared)
            added = uses.maker(gradient, "__add__")
            fits = added is not None and [graph.specs[number] for number in added.inputs] == [graph.specs[dy]] * 2
            if added is not None and fits and id(added) not in taken and uses.needed(gradient, nodes) is None:
                nodes.insert(0, added)
                gradients = added.inputs
    dx = norm.results[0]
    sums = None
    for node in uses.users(dx, "sum"):
        if sums is None and _over_all_but_channels(graph, node):
            nodes.append(node)
            (sums,) = node.results
    masked = None if mask is None else uses.needed(dy, nodes)
    operands = (x, weight, mean, variance, *gradients, *(() if mask is None else (mask,)))
    needed = [uses.needed(number, nodes) for number in norm.results]
    options = (*norm.options, ("masked", mask is not None))
    return Fusion("batch_norm_gradient", tuple(nodes), operands, (*needed, masked, sums), options)


def _is_mask(node: Node) -> bool:
    """Whether a `where` puts zeros in the place of some elements."""
    return node.arguments[-1] == 0.0 and len(node.inputs) == 2


def _only_user(uses: Uses, number: int) -> Node | None:
    """The node that takes a value, if it is the only one and the value is no output."""
    users = uses.users(number)
    return users[0] if len(users) == 1 and uses.needed(number, users) is None else None


def _over_all_but_channels(graph: Graph, node: Node) -> bool:
    rank = len(graph.specs[node.inputs[0]].shape)
    given = node.arguments[1] if len(node.arguments) > 1 else None
    return given == (0, *range(2, rank)) and not dict(node.options).get("keepdims")
