"""The function of a plan as text for people, and which operation an error in it comes from."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

import numpy as np

from moonxi.compiled.graph import Node

FILE: Final = "<compiled step>"
"""The file of such a function, as tracebacks name it."""


def told(lines: Sequence[str], node_at: Mapping[int, Node], names: Mapping[str, object]) -> str:
    """The lines, with numbers in place of their names and, for each kernel, the operation and your line.

    ``node_at`` has the operations by the numbers of their lines, from 1 on."""

    def shown(name: re.Match[str]) -> str:
        value = names[name[0]]
        return str(value) if isinstance(value, np.ndarray) else repr(value)

    def line(text: str, node: Node | None) -> str:
        told = re.sub(r"\b(?:number|setting)\d+\b", shown, text)
        if node is None:
            return re.sub(r"\btake\d+\b", "take", told)
        told = re.sub(r"\bkernel\d+\b", node.operation.strip("_"), told)
        told = re.sub(r"\bprogram\d+\b", "program", told)
        return f"{told}  # {Path(node.line.file).name}:{node.line.number}"

    return "\n".join(line(text, node_at.get(place)) for place, text in enumerate(lines, 1))


def blamed(trace: TracebackType | None, node_at: Mapping[int, Node]) -> Node | None:
    """The operation in whose line an error came up."""
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            return node_at.get(trace.tb_lineno)
        trace = trace.tb_next
    return None
