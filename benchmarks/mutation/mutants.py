"""All mutants of a file."""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping

from benchmarks.mutation import model_operators, tensor_operators
from benchmarks.mutation.source import Mutant, Source
from benchmarks.mutation.tensor_operators import Change

OPERATORS: Mapping[str, Callable[[Source], Iterator[Change]]] = {
    "axes of a permutation": tensor_operators.swapped_axes,
    "transposed factor": tensor_operators.transposed,
    "factors exchanged": tensor_operators.swapped_operands,
    "reduced axis": tensor_operators.reduced_axis,
    "axis kept or not": tensor_operators.kept_axis,
    "axis dropped": tensor_operators.dropped_axis,
    "axis added": tensor_operators.added_axis,
    "order in a shape": tensor_operators.reordered_shape,
    "size in a shape": tensor_operators.resized_shape,
    "axis of joining": tensor_operators.joined_axis,
    "index": tensor_operators.moved_index,
    "size of a layer": model_operators.resized_layer,
    "inputs and outputs": model_operators.swapped_sizes,
    "kernel, stride, padding": model_operators.changed_window,
    "order of layers": model_operators.swapped_layers,
    "layer left out": model_operators.dropped_layer,
    "wrong variable": model_operators.wrong_variable,
    "annotation": model_operators.changed_annotation,
    "target of a loss": model_operators.misfitting_target,
}


def mutants(source: Source, executed: Collection[str]) -> Iterator[Mutant]:
    """Each change in a function that is executed, and in the annotations of fields; each text once."""
    seen = {source.text}
    for operator, changes in OPERATORS.items():
        for node, new in changes(source):
            if not _counts(source, node, executed):
                continue
            old = source.code(node)
            text = source.replaced((source.span(node), new))
            if text in seen or not _compiles(text):
                continue
            seen.add(text)
            yield Mutant(source.path, operator, node.lineno, f"{_short(old)} -> {_short(new)}", text)


def _counts(source: Source, node: ast.AST, executed: Collection[str]) -> bool:
    name = source.names(node)
    if name:
        return name in executed
    return any(isinstance(one, ast.ClassDef) for one in source.around(node))


def _compiles(text: str) -> bool:
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _short(code: str) -> str:
    return " ".join(code.split())
