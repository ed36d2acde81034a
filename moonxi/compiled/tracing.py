"""From a step and its arguments to the graph of what it does."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import cast

from moonxi.compiled.building import builder
from moonxi.compiled.effects import without_effects
from moonxi.compiled.graph import Graph, Node, Spec
from moonxi.compiled.recorder import Recorder
from moonxi.compiled.structure import Structure, flattened, spec_of
from moonxi.compiled.traced import TracedKey, TracedTensor, traced_tensor
from moonxi.errors import CompileError
from moonxi.key import Key

type Arguments = tuple[tuple[object, ...], dict[str, object]]
"""Those by position and those by name."""


@dataclass(frozen=True, slots=True)
class Traced:
    """A step for arguments of one structure."""

    graph: Graph
    result: Structure
    """What stands around the outputs of the graph."""


def traced(
    step: Callable[..., object], arguments: Structure, leaves: Sequence[object], backend: type, watch: bool = False
) -> Traced:
    """The graph of the step for such arguments. Raises `CompileError` if it does something else the second time.

    With ``watch`` what it prints or writes is an error too: see `without_effects`."""
    first = _once(step, arguments, leaves, backend, watch)
    second = _once(step, arguments, leaves, backend)
    if first.result != second.result:
        raise CompileError(
            "compile: traced twice, the step gives results of two structures: it depends on something that changes, "
            "such as a counter or a random number of Python; pass that as an argument"
        )
    for one, other in zip(first.graph.nodes, second.graph.nodes, strict=False):
        if one.identity != other.identity:
            raise _unlike(one, other)
    longer = max(first.graph, second.graph, key=lambda graph: len(graph.nodes)).nodes
    if len(first.graph.nodes) != len(second.graph.nodes):
        raise _unlike(longer[min(len(first.graph.nodes), len(second.graph.nodes))], None)
    return first


def _unlike(one: Node, other: Node | None) -> CompileError:
    then = "nothing" if other is None else f"{other.operation} with other operands or numbers"
    if other is not None and other.operation != one.operation:
        then = other.operation
    return CompileError(
        f"compile: {one.operation} at {one.line}: traced twice, the step does {then} here the other time: it "
        "depends on something that changes, such as a counter or a random number of Python; pass that as an argument"
    )


def _once(
    step: Callable[..., object], arguments: Structure, leaves: Sequence[object], backend: type, watch: bool = False
) -> Traced:
    recorder = Recorder(backend, traced_tensor)
    stand_ins = [_stand_in(recorder, leaf) for leaf in leaves]
    positional, named = cast(Arguments, builder(arguments)(stand_ins))  # the structure is that of a call
    _, before = flattened((positional, named), "the arguments")
    with without_effects() if watch else nullcontext():
        result = step(*positional, **named)
    if recorder.refusal is not None:  # and the step has gone on all the same, in another way than it would eagerly
        raise recorder.refusal
    _, after = flattened((positional, named), "the arguments")
    if before != after:
        raise CompileError(
            "compile: the step changes one of its arguments, such as a list or a dict: a replay would not; return the "
            "new value as a result"
        )
    found, structure = flattened(result, "the result")
    return Traced(recorder.finished([_output(recorder, leaf) for leaf in found.leaves]), structure)


def _stand_in(recorder: Recorder, leaf: object) -> object:
    if isinstance(leaf, Key):
        return TracedKey(recorder, recorder.input(Spec()))
    spec = spec_of(leaf)
    return traced_tensor(recorder, recorder.input(spec), spec)


def _output(recorder: Recorder, leaf: object) -> int:
    if isinstance(leaf, TracedTensor | TracedKey) and leaf.recorder is recorder:
        return leaf.number
    raise CompileError(
        f"compile: the step returns a {type(leaf).__name__} that it has not computed from its arguments: a graph would "
        "return this very one at each call; compute it from an argument, such as x.full((), 1.0)"
    )
