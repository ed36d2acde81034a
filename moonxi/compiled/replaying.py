"""How a graph is replayed: by the plan of a backend that has kernels for memory of the plan's, or node by node."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from moonxi.compiled.graph import Graph
from moonxi.compiled.interpreter import interpreted
from moonxi.compiled.optimising import Pass


@dataclass(frozen=True, slots=True)
class Replay:
    """A graph that can be run."""

    run: Callable[[Sequence[object]], Sequence[object]]
    """From the inputs to the outputs; one call at a time."""
    fusions: tuple[int, ...] = ()
    peak_bytes: int = 0


def replay_of(graph: Graph, backend: type, without: Collection[Pass], /) -> Replay:
    """The best way there is for the backend."""

    def run(inputs: Sequence[object]) -> Sequence[object]:
        return interpreted(graph, inputs)

    return Replay(run)
