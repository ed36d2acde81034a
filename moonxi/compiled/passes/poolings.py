"""Max pooling into memory of the plan, and its gradient from the result that is still there.

Routine ``max_pool``: the result of ``max_pool2d``. Routine ``max_pool_gradient``: operands are images, gradient of the
result, and the result where it was computed.
"""

from moonxi.compiled.fusion import Fusion, Uses
from moonxi.compiled.graph import Graph


def poolings(graph: Graph, uses: Uses, /) -> list[Fusion]:
    """One for each ``max_pool2d`` and each ``max_pool2d_grad``."""
    fusions: list[Fusion] = []
    for node in graph.nodes:
        settings = ("kernel", node.arguments[-1]), *node.options
        if node.operation == "max_pool2d":
            fusions.append(Fusion("max_pool", (node,), node.inputs, node.results, settings))
        elif node.operation == "max_pool2d_grad":
            x, _ = node.inputs
            results = [
                one.results[0]
                for one in uses.users(x, "max_pool2d")
                if one.arguments[1:] == (node.arguments[-1],) and one.options == node.options
            ]
            fusions.append(Fusion("max_pool_gradient", (node,), (*node.inputs, *results[:1]), node.results, settings))
    return fusions
