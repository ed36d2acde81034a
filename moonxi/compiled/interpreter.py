"""Replay of a graph node by node, on any tensor class: what every faster way is compared with."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from moonxi.compiled.graph import Array, Graph, Node, Operand, with_operands
from moonxi.recording import Notes
from moonxi.traits import Labels, Mask, Tensor


def _ignore(number: int, value: object) -> None:
    """Nobody looks."""


def interpreted(
    graph: Graph,
    inputs: Sequence[object],
    look: Callable[[int, object], None] = _ignore,
    /,
    *,
    notes: Notes | None = None,
    branches: Mapping[int, int] | None = None,
) -> list[object]:
    """The outputs for other inputs. Values are let go after their last use; ``look`` sees each result before.

    ``notes`` are told of the operations that compute outputs, and where ``branches`` says on which each node is to be
    done, by its first result, they do it."""
    values: dict[int, object] = {**graph.constants, **dict(zip(graph.inputs, inputs, strict=True))}
    last = last_uses(graph)
    marked: dict[int, int] = {}
    if notes is not None:
        notes.start(list(graph.constants.values()))
        marked = {number: place for place, number in enumerate(graph.outputs)}
    for place, node in enumerate(graph.nodes):
        if notes is not None:
            notes.mark([marked[number] for number in node.results if number in marked])
        try:
            if notes is None or branches is None:
                results = computed(node, values)
            else:
                results = _on_branch(node, values, notes, branches[node.results[0]])
        except Exception as error:
            error.add_note(f"in the compiled step: {node.operation} of {node.line}")
            raise
        if notes is not None:
            notes.mark(())
        values.update(zip(node.results, results, strict=True))
        for number, result in zip(node.results, results, strict=True):
            look(number, result)
        for number in last.get(place, ()):
            del values[number]
    if notes is not None:
        notes.join()
    apart = set(set_apart(graph))
    return [_apart(values[number]) if n in apart else values[number] for n, number in enumerate(graph.outputs)]


def _on_branch(node: Node, values: Mapping[int, object], notes: Notes, branch: int) -> list[object]:
    """The results of a node that is done on a branch, on the operands as they are seen there."""
    numbers = list(dict.fromkeys(node.inputs))

    def do(operands: Sequence[object]) -> list[object]:
        return computed(node, dict(zip(numbers, operands, strict=True)))

    return notes.work(branch, [values[number] for number in numbers], do)


def set_apart(graph: Graph) -> list[int]:
    """The places of outputs that need an object of their own: of constants, and of values that came out before.

    Eagerly they are other objects each time, and one object in two places would be a tie that a model does not have."""
    return [
        place
        for place, number in enumerate(graph.outputs)
        if graph.specs[number].dtype is not None and (number in graph.constants or number in graph.outputs[:place])
    ]


def _apart(tensor: object) -> object:
    made = cast(Tensor, tensor)  # keys need no object of their own
    return made.reshape(made.shape)


def last_uses(graph: Graph) -> dict[int, list[int]]:
    """For the place of a node: the results of nodes that nobody needs afterwards."""
    place_of: dict[int, int] = {}
    for place, node in enumerate(graph.nodes):
        place_of.update(dict.fromkeys(node.results, place))
        place_of.update({number: place for number in node.inputs if number in place_of})
    found: dict[int, list[int]] = {}
    for number, place in place_of.items():
        if number not in graph.outputs:
            found.setdefault(place, []).append(number)
    return found


def computed(node: Node, values: "dict[int, object]") -> list[object]:
    """The results of one node: tensors, or a key."""

    def value(operand: Operand) -> object:
        found = values[operand.number]
        return found if operand.holder is None else operand.holder(cast(Tensor, found))  # labels hold tensors

    (first, *arguments), options = with_operands((node.arguments, node.options), value)
    plain = [unwrapped(one) for one in arguments]
    method: Callable[..., object] = getattr(first, node.operation)
    result = method(*plain, **{name: unwrapped(one) for name, one in options})
    parts = result if node.several and isinstance(result, tuple) else (result,)
    return [one.carrier if isinstance(one, Labels | Mask) else one for one in parts]


def unwrapped(argument: object) -> object:
    """An argument as the operation takes it."""
    return argument.data if isinstance(argument, Array) else argument
