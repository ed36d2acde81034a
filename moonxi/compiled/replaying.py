"""How a graph is replayed: by a plan over memory of its own, by the recording of a device, or node by node."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import cast

from moonxi.compiled.device_plan import DevicePlan
from moonxi.compiled.graph import Graph
from moonxi.compiled.host_plan import HostPlan
from moonxi.compiled.interpreter import interpreted
from moonxi.compiled.memory import Order, order_of
from moonxi.compiled.optimising import Pass
from moonxi.compiled.passes.constant_folding import FROM_ARRAYS, constant_folding
from moonxi.compiled.runs import Ahead
from moonxi.compiled.structure import is_tensor, spec_of
from moonxi.dtypes import DType
from moonxi.recording import WithRecording
from moonxi.traits.kernels import WithKernels


@dataclass(frozen=True, slots=True)
class Replay:
    """A graph that can be run."""

    run: Callable[[Sequence[object]], Sequence[object]]
    """From the inputs to the outputs; one call at a time."""
    goes_on: Callable[[int], bool] = lambda going: False
    """Whether several runs can be done at once, of each of which so many of the first inputs are the first outputs of
    the one before."""
    run_on: Callable[[Sequence[object], Ahead], Sequence[object]] = lambda inputs, ahead: ()
    """The outputs of the last of these runs, from the inputs of the first."""
    fusions: tuple[int, ...] = ()
    memory: Callable[[], int] = lambda: 0
    layouts: Mapping[int, Order] = field(default_factory=dict)
    together: Mapping[int, str] = field(default_factory=dict)
    source: Callable[[], str] = str
    """The function that replays, as text."""

    @property
    def peak_bytes(self) -> int:
        """The memory that is planned or recorded until now."""
        return self.memory()


def first_replay(
    graph: Graph, backend: type, inputs: Sequence[object], without: Collection[Pass], /
) -> tuple[Replay, Sequence[object]]:
    """The best way there is for the backend, and its outputs for the inputs of the first call.

    Where a plan is made, the graph is computed node by node before, which shows how each array lies in memory, such as
    channels last: the plan keeps to that. The outputs are those of the plan, so that they do not depend on which call
    was the first."""
    if hasattr(backend, "recording"):
        like = next(one for one, number in zip(inputs, graph.inputs, strict=True) if graph.specs[number].dtype)
        recording = cast(WithRecording, like)
        with nullcontext() if "tuned_plans" in without else recording.tuning():  # so that nothing is prepared twice
            outputs = interpreted(graph, inputs)
        # What a recording does again and again reads no memory of the host.
        graph = constant_folding(
            graph, {spec_of(one).dtype or DType: one for one in inputs if is_tensor(one)}, FROM_ARRAYS
        )
        recorded = DevicePlan(graph, recording, outputs, without)
        return Replay(
            recorded.run, recorded.goes_on, recorded.run_on, recorded.fusions, lambda: recorded.bytes
        ), outputs
    if not hasattr(backend, "kernel"):
        return Replay(lambda inputs: interpreted(graph, inputs)), interpreted(graph, inputs)
    orders: dict[int, Order] = {}

    for number, one in [*zip(graph.inputs, inputs, strict=True), *graph.constants.items()]:
        if graph.specs[number].dtype is not None:
            orders[number] = order_of(cast(WithKernels, one).data)

    def look(number: int, value: object) -> None:
        if graph.specs[number].dtype is not None:
            orders[number] = order_of(cast(WithKernels, value).data)

    interpreted(graph, inputs, look)
    plan = HostPlan(graph, backend, without, orders)
    replay = Replay(
        plan.run,
        fusions=plan.fusions,
        memory=lambda: plan.peak_bytes,
        layouts=orders,
        together=plan.together,
        source=plan.source,
    )
    return replay, plan.run(inputs)
