"""Programs over packed memory, as a plan needs them: values that they take are computed right where they are packed."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from moonxi.compiled.fusion import Pack, Uses
from moonxi.compiled.graph import Graph
from moonxi.compiled.memory import Order
from moonxi.compiled.packs import Layout, Packed, PackedProgram
from moonxi.traits.kernels import Routine


class PackedPlan:
    """The packs of one graph; ``roots`` says for each value which ones have the memory that it lies in."""

    def __init__(self, graph: Graph, uses: Uses, orders: dict[int, Order], roots: Mapping[int, frozenset[int]]) -> None:
        self._graph = graph
        self._uses = uses
        self._orders = orders
        self._roots = roots
        self.placed: dict[int, NDArray[np.generic]] = {}
        """Where values with memory of their own are to be computed."""
        self.bytes = 0
        """Memory for intermediate results."""

    def program(self, pack: Pack, routine: Routine, tensor: Callable[..., object]) -> PackedProgram:
        """The program of a pack; ``tensor`` makes tensors of its results."""
        graph, first = self._graph, pack.results[0]
        # As what is computed in the step lies, such as gradients: results of one step are arguments of the next.
        like = next((slot for slot in pack.arrays if not any(number in graph.inputs for number in slot)), first)
        layout = Layout([graph.specs[number] for number in first], [self._orders.get(number) for number in like])
        for slot in pack.results:
            self._orders |= {number: order for number, order in zip(slot, layout.orders, strict=True) if order}
        sources: list[Packed | None] = []
        for numbers in pack.arrays:
            if all(number in graph.inputs for number in numbers):
                sources.append(None)
                continue
            source = layout.new()
            self.bytes += source.flat.nbytes
            sources.append(source)
            for number, view in zip(numbers, source.views, strict=True):
                self._place(number, view)
        return PackedProgram(routine, layout, sources, len(pack.results), tensor)

    def _place(self, number: int, view: NDArray[np.generic]) -> None:
        """Let a value be computed where it is packed, if it has memory of its own, or is such a value reshaped."""
        maker = self._uses.maker(number)
        if maker is None or number in self._graph.outputs:
            return
        if maker.operation == "reshape" and view.flags.c_contiguous:
            (source,) = maker.inputs
            order = self._orders.get(source)
            if order is None or order == tuple(range(len(order))):
                self._place(source, view.reshape(self._graph.specs[source].shape))
        elif self._roots[number] == frozenset({number}):
            self.placed.setdefault(number, view)
