"""A graph as a picture: text in the language of Graphviz, and a file where Graphviz is installed."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from moonxi.compiled.graph import Graph, Node, shown_argument
from moonxi.errors import CompileError

_FORWARD, _BACKWARD, _CONSTANT = "#dbe9f6", "#f6e3db", "#eeeeee"


def dot(graph: Graph, /) -> str:
    """The graph in the language of Graphviz: a box for each operation, from above in the order of the replay.

    Each says its results, its settings and your line, those of the backward pass in another colour; what is computed
    together stands in a frame."""
    lines = ["digraph step {", '  node [shape=box, style="filled", fontname="monospace", fontsize=10];']
    for number in graph.inputs:
        lines.append(_box(number, [f"input {graph.described(number)}"], _FORWARD, "ellipse"))
    for number in graph.constants:
        lines.append(_box(number, [f"constant {graph.described(number)}"], _CONSTANT, "ellipse"))
    groups: dict[str, list[str]] = {}
    for place, node in enumerate(graph.nodes):
        box = _box(f"n{place}", _told(graph, node), _BACKWARD if node.backward else _FORWARD, "box")
        group = graph.together.get(node.results[0])
        if group is None:
            lines.append(box)
        else:
            groups.setdefault(group, []).append(f"  {box}")
    for place, (name, boxes) in enumerate(groups.items()):
        lines += [f"  subgraph cluster_{place} {{", f'    label="{name}";', *boxes, "  }"]
    lines += [f'  out{place} [label="result {place}", shape=ellipse];' for place, _ in enumerate(graph.outputs)]
    return "\n".join([*lines, *_edges(graph), "}\n"])


def draw(graph: Graph, path: str | os.PathLike[str], /) -> None:
    """Write the graph to a file: ``.dot`` is its text, any other ending a format of Graphviz, such as ``.svg``.

    Raises `CompileError` for another format than ``.dot`` where Graphviz is not installed or fails."""
    file = Path(path)
    if file.suffix in (".dot", ".gv"):
        file.write_text(dot(graph), encoding="utf-8")
        return
    program = shutil.which("dot")
    if program is None:
        raise CompileError(
            f"draw: {file}: the program dot of Graphviz is not installed: install it, or write the text, "
            f"{file.with_suffix('.dot')}"
        )
    command = [program, f"-T{file.suffix[1:]}", "-o", str(file)]
    done = subprocess.run(command, input=dot(graph), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(f"draw: {file}: dot failed: {done.stderr.strip()}")


def _told(graph: Graph, node: Node) -> list[str]:
    settings = [shown_argument(one) for one in node.arguments[1:]]
    settings += [f"{name}={shown_argument(one)}" for name, one in node.options]
    own = ", ".join(one for one in settings if not one.startswith("%"))
    file = Path(node.line.file).name
    return [
        f"{node.operation.strip('_')}{f' ({own})' if own else ''}",
        *(f"%{number} {graph.described(number)}" for number in node.results),
        f"{file}:{node.line.number}{' backward' if node.backward else ''}",
    ]


def _box(name: object, told: list[str], colour: str, shape: str) -> str:
    text = "\\n".join(one.replace("\\", "\\\\").replace('"', '\\"') for one in told)
    return f'  {name if isinstance(name, str) else f"v{name}"} [label="{text}", fillcolor="{colour}", shape={shape}];'


def _edges(graph: Graph) -> Iterator[str]:
    """From what makes a value to what takes it."""
    maker = {number: f"n{place}" for place, node in enumerate(graph.nodes) for number in node.results}
    for place, node in enumerate(graph.nodes):
        for number in dict.fromkeys(node.inputs):
            yield f"  {maker.get(number, f'v{number}')} -> n{place};"
    for place, number in enumerate(graph.outputs):
        yield f"  {maker.get(number, f'v{number}')} -> out{place};"
