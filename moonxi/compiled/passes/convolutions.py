"""Convolutions into memory of the plan; the gradients of images and weight, which share much, together.

Routine ``convolution``: operands are images, weight and perhaps a bias; its result is that of ``conv2d``. Routine
``convolution_gradients``: operands are images, the gradient of the result, and the weight, the first or the last of
which may be the gradient again where nobody needs what they are for; results are the gradients of images and weight.
"""

from moonxi.compiled.fusion import Fusion, Uses
from moonxi.compiled.graph import Graph, Node


def convolutions(graph: Graph, uses: Uses, /) -> list[Fusion]:
    """One for each ``conv2d``, and one for each pair of gradients, or for one that is alone."""
    fusions: list[Fusion] = []
    paired: set[int] = set()
    for node in graph.nodes:
        if node.operation == "conv2d":
            fusions.append(Fusion("convolution", (node,), node.inputs, node.results, node.options))
        elif node.operation == "conv2d_input_grad":
            dy, weight = node.inputs
            partner = _partner(graph, uses, node, paired)
            if partner is None:
                fusions.append(
                    Fusion("convolution_gradients", (node,), (dy, dy, weight), (node.results[0], None), node.options)
                )
            else:
                paired.add(id(partner))
                results = node.results[0], partner.results[0]
                operands = partner.inputs[0], dy, weight
                fusions.append(Fusion("convolution_gradients", (node, partner), operands, results, node.options))
    for node in graph.nodes:
        if node.operation == "conv2d_weight_grad" and id(node) not in paired:
            x, dy = node.inputs
            fusions.append(Fusion("convolution_gradients", (node,), (x, dy, dy), (None, node.results[0]), node.options))
    return fusions


def _partner(graph: Graph, uses: Uses, node: Node, paired: set[int]) -> Node | None:
    """The gradient of the weight of the same convolution."""
    dy, weight = node.inputs
    shape = graph.specs[node.results[0]].shape
    for other in uses.users(dy, "conv2d_weight_grad"):
        same = other.options == node.options and other.inputs[1] == dy and id(other) not in paired
        if not same or graph.specs[other.inputs[0]].shape != shape:
            continue
        if graph.specs[other.results[0]].shape == graph.specs[weight].shape:
            return other
    return None
