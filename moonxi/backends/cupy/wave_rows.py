"""Tasks over whole rows: a block keeps its rows in shared memory from step to step.

Steps that go element by element over rows of one width are one loop, and the threads meet between loops.
"""

from math import prod
from typing import Final

from moonxi.backends.cupy.device import LABEL_OPERATIONS
from moonxi.backends.cupy.wave_elements import THREADS, Arrays, Element, Written, finish, power
from moonxi.waves import Step, Task, rows_of_a_block

_WHOLE: Final = frozenset({"matmul", "log_softmax", "softmax", "sum", "max"})
"""What begins another loop: something is computed for whole rows before."""
_DEEP: Final = 8
"""Places along the inner axis for a thread of a product, about."""


class _Loop:
    """Lines for each element of rows of one width, and what comes before them."""

    def __init__(self, head: list[str], width: int, element: Element) -> None:
        self.head, self.width, self.element = head, width, element
        self.defined: set[int] = set()


def whole_rows(kernel: Arrays, task: Task) -> Written:
    """The task, whose blocks have a few rows each."""
    return _Rows(kernel, task).written()


class _Rows:
    def __init__(self, kernel: Arrays, task: Task) -> None:
        self._kernel, self._task = kernel, task
        self._values = kernel.waves.values
        self._many = rows_of_a_block(task.rows)
        self._loops: list[_Loop] = []
        self._shared: dict[int, str] = {}
        """What is read of values of earlier loops."""
        self._widths: dict[int, int] = {}
        self._places: dict[int, int] = {}
        """Where each value lies in the arena that another loop needs."""
        self._parts = 0
        """Numbers that products and sums need."""
        self._more = -1
        """For values that are no steps."""

    def written(self) -> Written:
        task = self._task
        for step in task.steps:
            if step.operation in _WHOLE:
                self._whole(step)
            elif step.operation == "pick":
                self._pick(step)
            else:
                self._element_wise(step)
        self._totals()
        blocks = -(-task.rows // self._many)
        scalars: set[int] = set()
        lines = [f"u32 top = own * {self._many};"]
        size = self._parts
        body = []
        for loop in self._loops:
            scalars |= loop.element.scalars
            body += loop.head
            stores = [self._store(number) for number in sorted(loop.defined & self._places.keys())]
            keeps = [self._kernel.stored(number, "f") for number in task.kept if number in loop.defined]
            inside = [*loop.element.lines, *stores, *keeps]
            place = f", f = top * {loop.width} + e" if any(map(_uses_place, inside)) else ""
            body += [
                f"for (u32 e = threadIdx.x; e < {self._many * loop.width}; e += LANES) {{",
                f"    u32 r = e / {loop.width}{place};",
                f"    if (top + r < {task.rows}) {{",
                *(f"        {line}" for line in inside),
                "    }",
                "}",
                "barrier();",
            ]
        for number in self._places:
            name = f"s{number}" if number >= 0 else f"t{-number}"
            lines.append(f"A* {name} = arena + {size};")
            size += self._many * self._widths[number]
        self._kernel.arena = max(self._kernel.arena, size)
        return finish(task, [*lines, *body], blocks, scalars)

    # -- loops -----------------------------------------------------------------------------------------------------

    def _width(self, number: int) -> int:
        return prod(self._values[number].shape) // self._task.rows

    def _begun(self, width: int, head: list[str] | None = None) -> _Loop:
        loop = _Loop(head or [], width, Element(self._kernel, "f", self._read_at(width)))
        self._loops.append(loop)
        return loop

    def _read_at(self, width: int) -> dict[int, str]:
        """How each value of the loops until now is read in a loop of rows so wide."""
        return {
            number: f"s{number}[{'e' if own == width else 'r'}]" for number, own in self._widths.items() if number >= 0
        }

    def _define(self, loop: _Loop, number: int) -> None:
        loop.defined.add(number)
        self._widths[number] = loop.width
        if number >= 0:
            loop.element.known.add(number)

    def _need(self, number: int) -> None:
        """Have a value in shared memory."""
        self._places.setdefault(number, 0)

    def _store(self, number: int) -> str:
        if number < 0:
            return f"t{-number}[e] = u{-number};"
        return f"s{number}[e] = v{number};"

    def _element_wise(self, step: Step) -> None:
        width = self._width(step.result)
        loop = self._loops[-1] if self._loops and self._loops[-1].width == width else self._begun(width)
        loop.element.add(step)
        self._define(loop, step.result)
        for number in loop.element.from_shared:
            self._need(number)

    # -- whole rows ------------------------------------------------------------------------------------------------

    def _rows_in_shared(self, number: int) -> str:
        """The rows of a value, which a loop before has left, or brings."""
        if number not in self._widths:
            loop = self._begun(self._width(number))
            loop.element.take(number, self._values[number].shape)
            self._define(loop, number)
        self._need(number)
        return f"s{number}"

    def _whole(self, step: Step) -> None:
        x = step.terms[0]
        assert isinstance(x, int)
        rows = self._rows_in_shared(x)
        if step.operation == "matmul":
            self._product(step, rows)
        elif step.operation in ("sum", "max"):
            name, loop = self._reduced(
                rows, self._width(x), f"{rows}[r * {self._width(x)} + j]", step.operation == "max"
            )
            loop.element.lines.append(f"A v{step.result} = rounded({name});")
            self._define(loop, step.result)
        else:
            self._softmax(step, rows, self._width(x))

    def _product(self, step: Step, rows: str) -> None:
        kernel, right = self._kernel, step.terms[1]
        assert isinstance(right, int)
        inner, columns = self._values[right].shape
        elements = self._many * columns
        a, b = kernel.strides(right)
        parts = max(1, min(power(-(-inner // 2)), max(THREADS // elements, power(-(-inner // _DEEP)) if b != 1 else 1)))
        while parts > 1 and parts * (elements + 1) > 3 * kernel.numbers // 8:
            parts //= 2
        self._parts = max(self._parts, parts * (elements + 1))
        call = (
            f"row_products<{self._many}, {inner}, {columns}, {parts}, {'true' if b == 1 else 'false'}>({rows}, "
            f"[&](u32 k, u32 j) {{ return load({kernel.pointer(right)}[k * {a} + j * {b}]); }}, arena);"
        )
        loop = self._begun(columns, [call])
        loop.element.lines.append(f"A v{step.result} = rounded(of_parts<{parts}, {elements + 1}>(arena + e));")
        self._define(loop, step.result)

    def _reduced(self, rows: str, width: int, part: str, largest: bool) -> tuple[str, _Loop]:
        """What a row comes to, in a loop of one element a row."""
        parts = min(32, power(width))
        self._parts = max(self._parts, self._many * parts)
        of = f"{parts}, {'true' if largest else 'false'}"
        call = f"row_parts<{self._many}, {width}, {of}>([&](u32 r, u32 j) {{ return {part}; }}, arena);"
        number = self._more
        self._more -= 1
        loop = self._begun(1, [call])
        name = f"u{-number}"
        loop.element.lines.append(f"A {name} = of_row<{of}>(arena + r * {parts});")
        self._define(loop, number)
        return name, loop

    def _softmax(self, step: Step, rows: str, width: int) -> None:
        of_row = f"{rows}[r * {width} + j]"
        largest, _ = self._reduced(rows, width, of_row, True)
        top = int(largest[1:])
        total, _ = self._reduced(rows, width, f"exp({of_row} - t{top}[r])", False)
        bottom = int(total[1:])
        for number in (-top, -bottom):
            self._need(number)
        loop = self._begun(width)
        shifted = f"{rows}[e] - t{top}[r]"
        value = (
            f"{shifted} - log(t{bottom}[r])" if step.operation == "log_softmax" else f"exp({shifted}) / t{bottom}[r]"
        )
        loop.element.lines.append(f"A v{step.result} = rounded({value});")
        self._define(loop, step.result)

    def _pick(self, step: Step) -> None:
        x, labels = step.terms
        assert isinstance(x, int)
        assert isinstance(labels, int)
        rows, width = self._rows_in_shared(x), self._width(x)
        loop = self._loops[-1]
        if loop.width != 1 or x in loop.defined:
            loop = self._begun(1)
        loop.element.take(labels, self._values[labels].shape)
        ok = f"is_class(v{labels}, {width}, f, {LABEL_OPERATIONS.index('pick')}, fault)"
        loop.element.lines.append(f"A v{step.result} = {ok} ? {rows}[r * {width} + v{labels}] : (A)NAN;")
        self._define(loop, step.result)

    def _totals(self) -> None:
        for x, total in self._task.totals:
            loop = next((loop for loop in self._loops if x in loop.defined), None)
            if loop is None:
                loop = self._begun(self._width(x))
                loop.element.take(x, self._values[x].shape)
            loop.element.lines.append(f"total{total} += v{x};")


def _uses_place(line: str) -> bool:
    return any(sign in line for sign in ("[f]", "(f)", "(f ", "[f ", " f,"))
