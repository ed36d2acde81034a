"""What compiling a step came to, for people to read."""

from dataclasses import dataclass
from typing import override

from moonxi.compiled.graph import Graph


@dataclass(frozen=True, slots=True)
class TraceReport:
    """One graph of a step: for arguments of one structure, with one set of shapes and settings."""

    because: str
    """Why it was traced: what differs from the call that was traced before."""
    nodes_traced: int
    nodes_left: int
    """After the passes."""
    fusions: tuple[int, ...]
    """For each group of operations that is computed block by block, how many they are."""
    peak_bytes: int
    """Memory that is planned for intermediate results; 0 where the backend takes it as it goes."""
    result_bytes: int
    """Memory for the results of one call, such as the next model; it is used again once nobody holds them."""
    seconds: float
    """For tracing, twice, and for the passes."""
    replays: int
    traced: Graph
    """As the step was recorded; it can be printed, and drawn by `moonxi.compiled.draw`."""
    graph: Graph
    """After the passes, with what the plan does."""
    plan: str
    """The function that replays the graph, as text for people; empty where there is none."""

    @override
    def __str__(self) -> str:
        fused = f"{len(self.fusions)} fusions of {sum(self.fusions)} operations" if self.fusions else "no fusions"
        memory = f"{self.peak_bytes:,} bytes planned and {self.result_bytes:,} for results"
        return (
            f"{self.because}: {self.nodes_traced} operations traced, {self.nodes_left} left, {fused}, {memory}, "
            f"{self.seconds:.3f} s, {self.replays} replays"
        )


@dataclass(frozen=True, slots=True)
class CompileReport:
    """Every graph of a step, in the order in which they were traced."""

    traces: tuple[TraceReport, ...]

    @override
    def __str__(self) -> str:
        return "\n".join(f"trace {number}: {one}" for number, one in enumerate(self.traces, 1)) or "not traced yet"
