"""Kernels turned ahead for the gradients of images: see `moonxi.turned`. They wait for nothing but the weights."""

from collections.abc import Sequence
from dataclasses import replace

from moonxi.compiled.graph import Graph, Node, Operand, Spec


def with_turned(graph: Graph, /) -> Graph:
    """The graph with a node that turns the kernel before each gradient of images which may be a convolution again."""
    nodes: list[Node] = []
    specs = dict(graph.specs)
    for node in graph.nodes:
        dy, *others = node.arguments
        if node.operation != "conv2d_input_grad" or not _may_be_one(graph, node) or not isinstance(dy, Operand):
            nodes.append(node)
            continue
        weight, shape = others
        assert isinstance(weight, Operand), "a weight is a tensor"
        number = max(specs) + 1
        outputs, inputs, *taps = graph.specs[weight.number].shape
        specs[number] = Spec((inputs, outputs, *taps), graph.specs[weight.number].dtype)
        turned = weight, graph.specs[dy.number].shape, shape
        nodes.append(replace(node, operation="conv2d_turned", arguments=turned, results=(number,)))
        arguments = dy, weight, Operand(number), shape
        nodes.append(replace(node, operation="conv2d_input_grad_turned", arguments=arguments))
    return replace(graph, nodes=tuple(nodes), specs=specs)


def _may_be_one(graph: Graph, node: Node) -> bool:
    options = dict(node.options)
    stride = options.get("stride", 1)
    alone = all(one == 1 for one in (stride if isinstance(stride, Sequence) else (stride,)))
    return alone and options.get("groups", 1) == 1 and graph.specs[node.inputs[1]].shape[2:] != (1, 1)
