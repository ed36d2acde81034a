"""Operations on small tensors as tasks and waves: what `moonxi.waves` describes, from nodes of a graph.

An operation joins the task that has its operands where each element or row of its result needs nothing from other
blocks, and otherwise begins a task in the wave after those. What is element-wise on operands alone is computed in each
task that needs it.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Final

from moonxi.compiled.graph import Node, Operand, Spec
from moonxi.dtypes import F64, I64, Bool, DType
from moonxi.formulas import SWAPPED, Term
from moonxi.waves import BUDGET, Form, Holds, Shape, Step, Task, Value, Wave, Waves, rows_of_a_block

_OF_ARRAYS: Final = frozenset({"matmul", "columns", "log_softmax", "softmax", "pick", "sum", "max"})
"""Steps that take their operands from memory, or as rows."""
RIGHT: Final = 1 << 14
"""Elements of the right matrix up to which each block of whole rows reads all of it."""


class _Growing:
    """A task to which steps are added."""

    def __init__(self, wave: int, form: Form, rows: int, width: int, budget: int, *, may_grow: bool = True) -> None:
        self._budget = budget
        self.wave, self.form, self.rows, self.width = wave, form, rows, width
        self.may_grow = may_grow
        """Whether whole rows may become what it is about."""
        self.steps: list[Step] = []
        self.own: dict[int, int] = {}
        """The values computed here, and how many elements each has."""
        self.totals: list[tuple[int, int]] = []

    def can_have(self, rows: int, elements: int) -> bool:
        """Whether it can be, or become, one of so many whole rows, with more elements in them."""
        fits = self.width % rows == 0 if self.form is Form.FLAT else self.rows == rows
        if not (self.may_grow and fits):
            return False
        return rows_of_a_block(rows) * (sum(self.own.values()) + elements) <= self._budget * rows

    def grow(self, rows: int) -> None:
        """Be about whole rows."""
        self.form, self.rows = Form.ROWS, rows


class Planner:
    """The tasks of nodes that are added in order; values have the numbers of the graph until it is finished."""

    def __init__(self, specs: Mapping[int, Spec], dtype: type[DType]) -> None:
        self._specs = specs
        self._budget = BUDGET // 2 if dtype is F64 else BUDGET
        self._views: dict[int, tuple[int, tuple[int, ...] | None]] = {}
        self._tasks: list[_Growing] = []
        self._task_of: dict[int, _Growing] = {}
        self._scalars: dict[int, list[Step]] = {}
        self._ready_scalars: dict[int, int] = {}
        self._floating: dict[int, Step] = {}
        """Element-wise steps on operands, which each task computes for itself."""

    def add(self, node: Node) -> None:
        """Put the next node, one that `moonxi.compiled.small` lets pass, into a task."""
        result = node.results[0]
        if node.operation == "permute":
            self._views[result] = node.inputs[0], tuple(node.arguments[1])  # type: ignore[arg-type]  # axes
        elif node.operation == "reshape":
            self._views[result] = node.inputs[0], None
        elif node.operation in ("sum", "max"):
            self._reduction(node)
        elif node.operation in ("matmul", "log_softmax", "softmax", "pick"):
            self._of_rows(node.operation, node.inputs, result)
        else:
            terms = tuple(_term(one) for one in node.arguments if not isinstance(one, int) or node.operation != "put")
            if node.operation in SWAPPED:
                terms = terms[::-1]
            self._element_wise(Step(SWAPPED.get(node.operation, node.operation), terms, result))

    # -- where values are ------------------------------------------------------------------------------------------

    def _shape(self, value: int) -> Shape:
        return self._specs[value].shape

    def _count(self, value: int) -> int:
        return prod(self._shape(value))

    def _plain(self, value: int) -> int:
        """The value of which this one has the elements in the same order."""
        while value in self._views and self._views[value][1] is None:
            value = self._views[value][0]
        return value

    def _root(self, value: int) -> int:
        while value in self._views:
            value = self._views[value][0]
        return value

    def _ready(self, value: int) -> int:
        """The wave at whose beginning the value is there, or can be computed."""
        value = self._root(value)
        if value in self._task_of:
            return self._task_of[value].wave + 1
        if value in self._floating:
            return max((self._ready(one) for one in self._floating[value].terms if isinstance(one, int)), default=0)
        return self._ready_scalars.get(value, 0)

    def _in_memory(self, value: int) -> int:
        """The same for a value in memory: what floats is computed by a task of its own."""
        root = self._root(value)
        if root in self._floating:
            task = self._begun(self._ready(root), Form.FLAT, 1, self._count(root))
            self._put(task, self._floating.pop(root))
        return self._there(value)

    def _there(self, value: int) -> int:
        """The same for a value in memory, unless it floats: a single number is there one wave later."""
        return self._ready(value) + (self._root(value) in self._ready_scalars)

    def _number(self, term: Term) -> Term:
        """A value, or what it is a view of if that is a single number."""
        root = self._root(term) if isinstance(term, int) else term
        return root if root in self._ready_scalars else term

    def _begun(self, wave: int, form: Form, rows: int, width: int, *, may_grow: bool = True) -> _Growing:
        task = _Growing(wave, form, rows, width, self._budget, may_grow=may_grow)
        self._tasks.append(task)
        return task

    # -- steps -----------------------------------------------------------------------------------------------------

    def _put(self, task: _Growing, step: Step) -> None:
        """Add a step, with what floats before it."""
        terms: list[Term] = []
        whole = step.operation in _OF_ARRAYS
        for term in step.terms if whole else map(self._number, step.terms):
            if isinstance(term, int):
                plain = self._plain(term)
                if plain in self._floating and plain not in task.own:
                    self._put(task, self._floating[plain])
                term = plain if plain in task.own else term
            terms.append(term)
        task.steps.append(Step(step.operation, tuple(terms), step.result))
        task.own[step.result] = self._count(step.result)
        if step.result not in self._floating:
            self._task_of[step.result] = task

    def _element_wise(self, step: Step) -> None:
        taken = [term for term in step.terms if isinstance(term, int)]
        count = self._count(step.result)
        for one in taken:  # what floats is computed at the same place, or not with this step
            root = self._root(one)
            if root in self._floating and (root != self._plain(one) or self._count(root) != count):
                self._in_memory(one)
        if count == 1:
            for one in taken:
                self._in_memory(one)
            wave = max(map(self._ready, taken), default=0)
            terms = tuple(map(self._number, step.terms))
            self._scalars.setdefault(wave, []).append(Step(step.operation, terms, step.result))
            self._ready_scalars[step.result] = wave
            return
        tasks = [task for one in taken if (task := self._task_of.get(self._root(one))) is not None]
        if not tasks:
            self._floating[step.result] = step
            return
        task = max(tasks, key=lambda task: task.wave)
        if not self._joins(task, step):
            task = self._begun(max(map(self._ready, taken)), Form.FLAT, 1, count)
        self._put(task, step)

    def _joins(self, task: _Growing, step: Step) -> bool:
        """Whether a step element by element can be one of a task, which then is about rows if it needs that."""
        taken = [term for term in step.terms if isinstance(term, int)]
        shape = self._shape(step.result)
        count, along = prod(shape), 0
        for one in taken:
            plain = self._plain(one)
            if plain not in task.own:
                if self._ready(one) > task.wave:
                    return False
            elif task.own[plain] != count:
                along = task.own[plain]
                own = (*self._shape(one), 1) if step.operation == "put" else self._shape(one)
                if not _is_along_rows(own, shape):
                    return False
        if not along:
            whole = next((task.own[plain] for one in taken if (plain := self._plain(one)) in task.own), count)
            return whole == count and (task.form is not Form.ROWS or task.can_have(task.rows, count))
        if not task.can_have(along, count):
            return False
        task.grow(along)
        return True

    def _of_rows(self, operation: str, taken: Sequence[int], result: int) -> None:
        """A product, or what needs whole rows of its first operand."""
        first, *others = taken
        rows, count = prod(self._shape(first)[:-1]), self._count(result)
        is_product = operation == "matmul"
        fits = not is_product or self._count(others[0]) <= RIGHT
        for one in others:
            if self._root(one) in self._floating:
                self._in_memory(one)
        plain = self._plain(first)
        task = self._task_of.get(plain)
        can_join = (
            task is not None
            and fits
            and task.can_have(rows, count + 2 * rows)
            and all(self._there(one) <= task.wave for one in others)
        )
        if task is None or not can_join:
            if is_product or self._root(first) != plain:
                self._in_memory(first)
            wave = max(map(self._there, taken))
            if is_product:
                needed = rows_of_a_block(rows) * (count + self._count(first))
                may_grow = fits and needed <= self._budget * rows
                task = self._begun(wave, Form.TILES, rows, self._shape(result)[-1], may_grow=may_grow)
            else:
                task = self._begun(wave, Form.ROWS, rows, 1)
        else:
            task.grow(rows)
        self._put(task, Step(operation, tuple(taken), result))

    def _reduction(self, node: Node) -> None:
        x, result = node.inputs[0], node.results[0]
        if self._count(result) == 1 and node.operation == "sum":
            self._total(x, result)
        elif kept_axes(node, len(self._shape(x))) == (0,):
            self._of_rows(node.operation, (x,), result)
        else:
            task = self._begun(self._in_memory(x), Form.TILES, 1, self._count(result), may_grow=False)
            self._put(task, Step("columns", (x,), result))

    def _total(self, x: int, result: int) -> None:
        plain = self._plain(x)
        task = self._task_of.get(plain)
        if task is None:
            root = self._root(x)
            if root in self._floating and root != plain:
                self._in_memory(x)
            task = self._begun(self._ready(x), Form.FLAT, 1, self._count(x))
            if plain in self._floating:
                self._put(task, self._floating[plain])
            else:
                plain = root if root in self._ready_scalars else x
        task.totals.append((plain, result))
        self._ready_scalars[result] = task.wave + 1

    # -- the end ---------------------------------------------------------------------------------------------------

    def finished(self, operands: Sequence[int], needed: Sequence[int]) -> Waves:
        """The waves; ``needed`` are values, no views, that are given back in this order."""
        for value in needed:
            self._in_memory(value)
        kept = self._taken_from_memory().union(needed)
        numbers: dict[int, int] = {}
        values: list[Value] = []

        def number(value: int) -> int:
            if value not in numbers:
                base, axes = self._views.get(value, (None, None))
                seen = None if base is None else number(base)
                numbers[value] = len(values)
                values.append(Value(self._shape(value), _holds(self._specs[value]), seen, axes))
            return numbers[value]

        def renamed(step: Step) -> Step:
            terms = tuple(number(term) if isinstance(term, int) else term for term in step.terms)
            return Step(step.operation, terms, number(step.result))

        for one in operands:
            number(one)
        last = max([task.wave + bool(task.totals) for task in self._tasks] + list(self._scalars), default=-1)
        waves = []
        for wave in range(last + 1):
            tasks = [
                Task(
                    task.form, task.rows, task.width, tuple(map(renamed, task.steps)),
                    tuple(number(one) for one in task.own if one in kept and self._task_of.get(one) is task),
                    tuple((number(x), number(total)) for x, total in task.totals),
                )
                for task in self._tasks if task.wave == wave
            ]  # fmt: skip
            scalars = tuple(map(renamed, self._scalars.get(wave, ())))
            ready = [one for one, when in self._ready_scalars.items() if when == wave and one in kept]
            waves.append(Wave(scalars, tuple(tasks), tuple(map(number, ready))))
        return Waves(tuple(values), len(operands), tuple(waves), tuple(map(number, needed)))

    def _taken_from_memory(self) -> set[int]:
        """What other tasks take than the one that computes it, and later waves than that of a scalar."""
        found: set[int] = set()
        for task in self._tasks:
            taken = [term for step in task.steps for term in step.terms if isinstance(term, int)]
            taken += [one for one, _ in task.totals]
            roots = {self._root(one) for one in taken if one not in task.own}
            found.update(one for one in roots if self._ready_scalars.get(one) != task.wave)
        for wave, steps in self._scalars.items():
            roots = {self._root(one) for step in steps for one in step.terms if isinstance(one, int)}
            found.update(one for one in roots if self._ready_scalars.get(one) != wave)
        return found


def kept_axes(node: Node, rank: int) -> tuple[int, ...]:
    """The axes that a sum or a largest keeps."""
    axes = node.arguments[1] if len(node.arguments) > 1 else dict(node.options).get("axes")
    some = (axes,) if isinstance(axes, int) else axes
    gone = [axis % rank for axis in some] if isinstance(some, tuple) else range(rank)
    return tuple(axis for axis in range(rank) if axis not in gone)


def _is_along_rows(own: Shape, shape: Shape) -> bool:
    """Whether a shape is that of the first axes of another, with axes of size 1 after them."""
    padded = (1,) * (len(shape) - len(own)) + own
    split = max((n + 1 for n, size in enumerate(padded) if size != 1), default=0)
    return padded[:split] == shape[:split]


def _term(argument: object) -> Term:
    if isinstance(argument, Operand):
        return argument.number
    assert isinstance(argument, int | float)
    return float(argument).hex()


def _holds(spec: Spec) -> Holds:
    return Holds.MASK if spec.dtype is Bool else Holds.LABELS if spec.dtype is I64 else Holds.NUMBERS
