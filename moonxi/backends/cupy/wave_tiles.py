"""Tasks of waves over runs of an array, and over tiles of a product or of sums of columns."""

from typing import Final, NamedTuple

from moonxi.backends.cupy.wave_elements import THREADS, Arrays, Element, Written, finish, power
from moonxi.waves import Step, Task

_RUN: Final = 1024
"""Elements of a block of a flat task."""
_SIDES: Final = (4, 8, 16, 32, 64)
"""Rows and columns that a tile may have."""


def flat(kernel: Arrays, task: Task) -> Written:
    """A task over runs of elements."""
    element = Element(kernel, "f")
    _add_all(kernel, task, element)
    lines = [
        "#pragma unroll",
        f"for (u32 e = threadIdx.x; e < {_RUN}; e += LANES) {{",
        f"    u32 f = own * {_RUN} + e;",
        f"    if (f < {task.width}) {{",
        *(f"        {line}" for line in element.lines),
        "    }",
        "}",
    ]
    return finish(task, lines, -(-task.width // _RUN), element.scalars)


class _Head(NamedTuple):
    """What computes the parts of each element of a tile, in shared memory."""

    lines: list[str]
    down: int
    across: int
    parts: int
    pitch: int
    """From one part of an element to the next."""


def tiles(kernel: Arrays, task: Task) -> Written:
    """A task over tiles of a product of matrices, or of sums of columns."""
    element = Element(kernel, "f")
    head, *_ = task.steps
    rows, columns = task.rows, task.width
    made = _products(kernel, head, rows, columns) if head.operation == "matmul" else _sums(kernel, head, columns)
    element.known.add(head.result)
    _add_all(kernel, task, element)
    grid = -(-columns // made.across)
    lines = [
        f"u32 row = own / {grid} * {made.down}, column = own % {grid} * {made.across};",
        *made.lines,
        f"for (u32 e = threadIdx.x; e < {made.down * made.across}; e += LANES) {{",
        f"    u32 i = row + e / {made.across}, j = column + e % {made.across}, f = i * {columns} + j;",
        f"    if (i < {rows} && j < {columns}) {{",
        f"        A v{head.result} = rounded(of_parts<{made.parts}, {made.pitch}>(arena + e));",
        *(f"        {line}" for line in element.lines),
        "    }",
        "}",
    ]
    return finish(task, lines, -(-rows // made.down) * grid, element.scalars)


def _products(kernel: Arrays, head: Step, rows: int, columns: int) -> _Head:
    left, right = (term for term in head.terms if isinstance(term, int))
    inner = kernel.waves.values[left].shape[1]
    down, across = tile(rows, columns, inner, kernel.processors)
    parts = max(1, min(power(inner), THREADS * 16 // (down * across)))
    chunks = -(-inner * (down + across + 2) // kernel.numbers)
    depth = -(-inner // chunks)
    pitch = down * across + 1
    kernel.arena = max(kernel.arena, depth * (down + across + 2), parts * pitch)
    (a, b), (c, d) = kernel.strides(left), kernel.strides(right)
    x, y = kernel.pointer(left), kernel.pointer(right)
    lie = ", ".join("true" if step == 1 else "false" for step in (b, d))
    inside = "" if depth * chunks == inner else f" && k < {inner}"
    lines = [
        f"products<{down}, {across}, {inner}, {depth}, {parts}, {lie}>(",
        "    [&](u32 i, u32 k, A* to) {",
        f"        if (row + i < {rows}{inside}) bring({x} + (row + i) * {a} + k * {b}, to);",
        "        else *to = 0;",
        "    },",
        "    [&](u32 k, u32 j, A* to) {",
        f"        if (column + j < {columns}{inside}) bring({y} + k * {c} + (column + j) * {d}, to);",
        "        else *to = 0;",
        "    },",
        "    arena);",
    ]
    return _Head(lines, down, across, parts, pitch)


def _sums(kernel: Arrays, head: Step, columns: int) -> _Head:
    (x,) = (term for term in head.terms if isinstance(term, int))
    inner = kernel.waves.values[x].shape[0]
    across = min(32, power(columns))
    parts = min(power(inner), THREADS // across)
    kernel.arena = max(kernel.arena, across * parts)
    a, b = kernel.strides(x)
    element = f"load({kernel.pointer(x)}[k * {a} + (column + j) * {b}])"
    inside = f"column + j < {columns} ? {element} : (A)0"
    return _Head(
        [f"column_sums<{across}, {inner}, {parts}>([&](u32 k, u32 j) {{ return {inside}; }}, arena);"],
        1, across, parts, across,
    )  # fmt: skip


def _add_all(kernel: Arrays, task: Task, element: Element) -> None:
    """The element-wise steps, what goes to memory, and totals."""
    for step in task.steps:
        if step.operation not in ("matmul", "columns"):
            element.add(step)
    for x, total in task.totals:
        element.take(x, kernel.waves.values[x].shape)
        element.lines.append(f"total{total} += v{x};")
    element.lines += [kernel.stored(number, "f") for number in task.kept]


def tile(rows: int, columns: int, inner: int, processors: int) -> tuple[int, int]:
    """The rows and columns of a tile for which a product is estimated to take the least time."""

    def cost(sides: tuple[int, int]) -> float:
        down, across = sides
        count = -(-rows // down) * -(-columns // across)
        # In cycles: to begin and to bring parts together, to bring rows and columns, and to multiply.
        each = 600 + (down + across) * inner / 16 + down * across * inner / 64
        return each * -(-count // processors)

    return min(((down, across) for down in _SIDES for across in _SIDES if down * across <= 1024), key=cost)
