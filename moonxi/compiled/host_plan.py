"""Replay on the host: a function, written once for a graph, that works in memory that is planned once.

Where the tensor class has a kernel for an operation, it runs on the arrays; anything else is the method of the class.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from moonxi.compiled.finding import form, found
from moonxi.compiled.fusion import Fusion, Uses
from moonxi.compiled.graph import Array, Graph, Node, Operand, Spec
from moonxi.compiled.interpreter import set_apart
from moonxi.compiled.memory import Memory, Order, Piece, joined
from moonxi.compiled.optimising import Pass
from moonxi.compiled.packed_plan import PackedPlan
from moonxi.compiled.plan_text import FILE, blamed, told
from moonxi.compiled.results import taker
from moonxi.compiled.schedule import BLOCK, Group, grouped
from moonxi.dtypes import Floating
from moonxi.traits import Mask
from moonxi.traits.kernels import Kernel, Kind, WithKernels


class HostPlan:
    """A graph, ready for replay on tensors of one class with kernels."""

    def __init__(
        self, graph: Graph, backend: type[WithKernels], without: Collection[Pass], orders: dict[int, Order]
    ) -> None:
        self._graph = graph
        self._orders = orders
        self._backend = backend
        self._uses = Uses(graph)
        fusions = found(graph, self._uses, backend, self._is_elementwise, without)
        self._groups = grouped(graph, self._is_elementwise, "fusion" not in without, [fusion for fusion, _ in fusions])
        self._memory = Memory(reuse="memory_plan" not in without)
        self._pieces: dict[int, Piece] = {}
        self._roots: dict[int, frozenset[int]] = {}
        self._fixed: dict[int, NDArray[np.generic]] = {}
        self._results: set[int] = set()
        self._tensors: set[int] = set()
        self._globals: dict[str, object] = {"tensor": backend}
        self._lines: list[str] = ["def replay(inputs):"]
        self._node_at: dict[int, Node] = {}
        self._last = self._find_last_uses()
        packs = PackedPlan(graph, self._uses, orders, self._roots)
        self._routines = {id(fusion): routine for fusion, routine in fusions}
        self._programs = {
            id(group.fusion): packs.program(group.fusion.pack, self._routines[id(group.fusion)], backend)
            for group in self._groups
            if group.fusion is not None and group.fusion.pack is not None
        }
        self._placed = packs.placed
        self._memory.bytes += packs.bytes
        self._write()
        namespace = self._globals
        exec(compile("\n".join(self._lines), FILE, "exec"), namespace)
        self._replay = cast(Callable[[Sequence[object]], list[object]], namespace["replay"])

    @property
    def fusions(self) -> tuple[int, ...]:
        """The numbers of operations that are computed together."""
        return tuple(len(group.nodes) for group in self._groups if len(group.nodes) > 1)

    @property
    def together(self) -> dict[int, str]:
        """For the values of such a group: what it is called."""
        groups = [group for group in self._groups if len(group.nodes) > 1]
        return {
            number: f"{group.fusion.routine if group.fusion else 'block by block'} {place}"
            for place, group in enumerate(groups, 1)
            for node in group.nodes
            for number in node.results
        }

    def source(self) -> str:
        """The function that is called, as text for people: with the operation and your line for each kernel."""
        return told(self._lines, self._node_at, self._globals)

    @property
    def peak_bytes(self) -> int:
        """The memory for intermediate results."""
        return self._memory.bytes

    def run(self, inputs: Sequence[object]) -> list[object]:
        """The outputs. One call at a time: the memory is there once."""
        try:
            return self._replay(inputs)
        except Exception as error:
            node = blamed(error.__traceback__, self._node_at)
            if node is not None:
                error.add_note(f"in the compiled step: {node.operation} of {node.line}")
            raise

    # -- what is known before anything is written --------------------------------------------------------------

    def _kernel(self, node: Node) -> Kernel | None:
        if node.several or node.operation == "fold":
            return None
        kernel = self._backend.kernel(node.operation)
        if kernel is None:
            return None
        dtype = self._graph.specs[node.results[0]].dtype
        if kernel.kind is Kind.ELEMENTWISE and not (
            node.holders[0] is Mask or (dtype is not None and issubclass(dtype, Floating))
        ):
            return None  # such as a sum of class indices, for which NumPy has a type of its own
        return kernel

    def _is_elementwise(self, node: Node) -> bool:
        kernel = self._kernel(node)
        return kernel is not None and kernel.kind is Kind.ELEMENTWISE

    def _find_last_uses(self) -> dict[int, int]:
        """For each value with memory of its own: the group after which nobody needs it, through views either."""
        last: dict[int, int] = {}
        for place, group in enumerate(self._groups):
            for node in group.nodes:
                kernel = self._kernel(node)
                own = group.fusion is not None or (kernel is not None and kernel.kind is not Kind.VIEW)
                taken = frozenset[int]().union(*(self._roots.get(number, frozenset()) for number in node.inputs))
                for number in node.results:
                    # What a method gives may share memory with any of its operands.
                    self._roots[number] = frozenset({number}) if own else taken
                    last.update(dict.fromkeys(self._roots[number], place))
                last.update(dict.fromkeys(taken, place))
        for number in self._graph.outputs:
            last.update(dict.fromkeys(self._roots.get(number, ()), len(self._groups)))
        return last

    # -- writing ---------------------------------------------------------------------------------------------------

    def _line(self, text: str, node: Node | None = None) -> None:
        self._lines.append(f"    {text}")
        if node is not None:
            self._node_at[len(self._lines)] = node

    def _named(self, value: object, prefix: str) -> str:
        """A name in the function for something that is there before it runs."""
        name = f"{prefix}{len(self._globals)}"
        self._globals[name] = value
        return name

    def _write(self) -> None:
        graph = self._graph
        used = {number for node in graph.nodes for number in node.inputs}
        for place, number in enumerate(graph.inputs):
            if number in used:
                data = "" if graph.specs[number].dtype is None else ".data"
                self._line(f"v{number} = inputs[{place}]{data}")
        for number, constant in graph.constants.items():
            if graph.specs[number].dtype is None:
                self._globals[f"v{number}"] = constant
            else:
                self._fix(number, cast(WithKernels, constant).data)
        for place, group in enumerate(self._groups):
            if group.fusion is not None:
                self._write_fusion(group.fusion)
            elif len(group.nodes) == 1:
                self._write_node(group.nodes[0], place)
            else:
                self._write_chain(group, place)
            for number in [root for root, last in self._last.items() if last == place]:
                piece = self._pieces.pop(number, None)
                if piece is not None:
                    self._memory.give_back(piece)
        self._write_outputs()

    def _fix(self, number: int, array: NDArray[np.generic]) -> None:
        """The array of a value is known now."""
        self._fixed[number] = array
        self._globals[f"v{number}"] = array

    def _destination(self, number: int, reused: Piece | None = None) -> str:
        """Where the result of a kernel goes: memory of the caller's, or of the plan's."""
        spec = self._graph.specs[number]
        if number in self._placed:
            self._fix(number, self._placed[number])
        elif number in self._graph.outputs:
            self._results.add(number)
            self._line(f"v{number} = {self._named(taker(spec, self._orders.get(number)), 'take')}()")
        else:
            piece = reused or self._memory.take(spec, self._orders.get(number))
            self._pieces[number] = piece
            self._fix(number, piece.array)
        return f"v{number}"

    def _write_node(self, node: Node, place: int) -> None:
        kernel = self._kernel(node)
        if kernel is None:
            self._write_method(node)
        elif kernel.kind is Kind.VIEW:
            self._write_view(node, kernel)
        elif kernel.kind is Kind.INTO:
            out = self._destination(node.results[0])
            if not self._write_calls(node, kernel, out):
                arguments = [*self._arguments(node.arguments), *self._options(node), f"out={out}"]
                self._line(f"{self._named(kernel.call, 'kernel')}({', '.join(arguments)})", node)
        else:
            out = self._destination(node.results[0], self._dying(node, place))
            if not self._write_calls(node, kernel, out):
                self._line(self._elementwise(node, kernel, {}, out), node)

    def _write_calls(self, node: Node, kernel: Kernel, out: str) -> bool:
        """The calls that do the same as a kernel, if there are any."""
        numbers = [one.number for one in node.arguments if isinstance(one, Operand)]
        if kernel.direct is None or len(numbers) < len(node.inputs):  # some are within a tuple
            return False
        numbers += node.results
        given = {number: self._fixed.get(number, form(self._graph, number)) for number in numbers}
        arguments = [given[one.number] if isinstance(one, Operand) else one for one in node.arguments]
        calls = kernel.direct(*arguments, **dict(node.options), out=given[node.results[0]])
        names = {id(array): f"v{number}" for number, array in given.items()}

        def shown(one: object) -> str:
            return names.get(id(one)) or self._named(one, "memory" if isinstance(one, np.ndarray) else "setting")

        for function, taken, into in calls or ():
            texts = [*map(shown, taken), *([] if into is None else [f"out={shown(into)}"])]
            self._line(f"{self._named(function, 'kernel')}({', '.join(texts)})", node)
        return calls is not None

    def _dying(self, node: Node, place: int) -> Piece | None:
        """The memory of an operand that nobody else needs: an element is read before its place is written to."""
        result = node.results[0]
        spec = self._graph.specs[result]
        if not self._memory.reuse or result in self._graph.outputs or result in self._placed:
            return None
        for number in node.inputs:
            piece = self._pieces.get(number)
            if piece is None or self._last[number] != place or piece.spec != spec:
                continue
            if piece.order != self._orders.get(result):
                continue
            others = [other for other in node.inputs if other != number]
            if all(number not in self._roots.get(other, ()) for other in others):
                return self._pieces.pop(number)
        return None

    def _elementwise(self, node: Node, kernel: Kernel, blocks: dict[int, str], out: str) -> str:
        arguments = []
        for one in node.arguments:
            if isinstance(one, Operand):
                arguments.append(blocks.get(one.number, f"v{one.number}"))
            else:  # a number; an int is taken for a float, as the methods do
                number = float(cast(float, one))
                dtype = form(self._graph, node.inputs[0]).dtype
                # NumPy takes an array sooner than a float.
                known = np.asarray(number, dtype) if isinstance(kernel.call, np.ufunc) else number
                arguments.append(self._named(known, "number"))
        ordered = reversed(arguments) if kernel.swapped else arguments
        return f"{self._named(kernel.call, 'kernel')}({', '.join([*ordered, f'out={out}'])})"

    def _write_fusion(self, fusion: Fusion) -> None:
        if fusion.pack is not None:
            made = [number for number in fusion.results if number is not None]
            self._tensors.update(made)
            program = self._programs[id(fusion)]
            brought = program.settle([self._fixed.get(number) for number in fusion.operands])
            operands = ", ".join(f"v{fusion.operands[place]}" for place in brought)
            names = "".join(f"t{number}, " for number in made)
            self._line(f"{names}= {self._named(program, 'program')}({operands})", fusion.nodes[0])
            for number in made:
                if self._uses.users(number):
                    self._line(f"v{number} = t{number}.data")
            return
        results = ["None" if number is None else self._destination(number) for number in fusion.results]
        arguments = [f"v{number}" for number in fusion.operands]
        if fusion.routine == "sum_of_squares" and all(number in self._fixed for number in fusion.operands):
            flat = joined([self._fixed[number] for number in fusion.operands])
            if len(flat) < len(arguments):
                arguments = [self._named(one, "flat") for one in flat]
        routine = self._named(self._routines[id(fusion)], f"{fusion.routine}_")
        self._line(f"{routine}({', '.join(arguments)}, out=({', '.join(results)},))", fusion.nodes[0])

    def _write_view(self, node: Node, kernel: Kernel) -> None:
        number = node.results[0]
        source = node.arguments[0]
        if isinstance(source, Operand) and source.number in self._fixed:
            known = self._fixed[source.number]
            made = kernel.call(known, *node.arguments[1:], **dict(node.options))
            if isinstance(made, np.ndarray) and np.may_share_memory(made, known):
                self._fix(number, made)
                return
        arguments = [*self._arguments(node.arguments), *self._options(node)]
        self._line(f"v{number} = {self._named(kernel.call, 'kernel')}({', '.join(arguments)})", node)

    def _write_method(self, node: Node) -> None:
        """A call of the class's own method, on tensors that are views: a tensor makes its array read-only."""
        first, *others = self._arguments(node.arguments, tensors=True)
        call = f"{first}.{node.operation}({', '.join([*others, *self._options(node, tensors=True)])})"
        results = [f"v{number}" for number in node.results]
        self._line(f"{', '.join(results)}{',' if node.several else ''} = {call}", node)
        for number, holder in zip(node.results, node.holders, strict=True):
            if self._graph.specs[number].dtype is not None:
                self._line(f"v{number} = v{number}{'.carrier' if holder else ''}.data")

    def _arguments(self, arguments: Iterable[object], *, tensors: bool = False) -> list[str]:
        return [self._argument(one, tensors) for one in arguments]

    def _options(self, node: Node, *, tensors: bool = False) -> list[str]:
        return [f"{name}={self._argument(one, tensors)}" for name, one in node.options]

    def _argument(self, argument: object, tensors: bool) -> str:
        if isinstance(argument, Operand):
            name = f"v{argument.number}"
            if not tensors or self._graph.specs[argument.number].dtype is None:
                return name
            tensor = f"tensor({name}.view())"
            return tensor if argument.holder is None else f"{self._named(argument.holder, 'holder')}({tensor})"
        if isinstance(argument, tuple) and any(isinstance(one, Operand) for one in argument):
            return f"({''.join(self._argument(one, tensors) + ', ' for one in argument)})"
        if isinstance(argument, Array):
            return self._named(argument.data, "array")
        return self._named(argument, "setting")

    # -- chains ----------------------------------------------------------------------------------------------------

    def _write_chain(self, group: Group, place: int) -> None:
        """A loop over blocks of rows. What only the chain itself needs exists for one block at a time."""
        specs = self._graph.specs
        shape = specs[group.nodes[0].results[0]].shape
        rows = max(1, min(shape[0], BLOCK * shape[0] // max(1, int(np.prod(shape)))))
        outside = set(self._graph.outputs) | {
            number for other in self._groups if other is not group for number in other.inputs
        }
        kept = [number for node in group.nodes for number in node.results if number in outside]
        for number in kept:
            self._destination(number)
        blocks = [slice(start, min(start + rows, shape[0])) for start in range(0, shape[0], rows)]
        names: dict[int, str] = {}
        columns: list[tuple[str, list[object]]] = [("rows", list(blocks))]
        sliced: list[int] = []
        for number in [*group.inputs, *kept]:
            spec = specs[number]
            if len(spec.shape) < len(shape) or spec.shape[0] == 1:
                continue  # the same for all rows
            names[number] = f"b{number}"
            if number in self._fixed:
                columns.append((f"b{number}", [self._fixed[number][block] for block in blocks]))
            else:
                sliced.append(number)
        calls: list[tuple[str, Node]] = []
        last = {number: n for n, node in enumerate(group.nodes) for number in node.inputs}
        scratch = Memory(reuse=True)
        pieces: dict[int, Piece] = {}
        for n, node in enumerate(group.nodes):
            number = node.results[0]
            dying = [one for one in dict.fromkeys(node.inputs) if last[one] == n and one in pieces]
            for one in dying:
                scratch.give_back(pieces.pop(one))
            if number not in kept:
                spec = specs[number]
                piece = scratch.take(Spec((rows, *spec.shape[1:]), spec.dtype), self._orders.get(number))
                if number in last:
                    pieces[number] = piece
                else:
                    scratch.give_back(piece)
                names[number] = f"b{number}"
                columns.append((f"b{number}", [piece.array[: block.stop - block.start] for block in blocks]))
            kernel = cast(Kernel, self._kernel(node))  # that is how the chain was found
            calls.append((self._elementwise(node, kernel, names, names[number]), node))
        self._memory.bytes += scratch.bytes
        table = self._named(list(zip(*(column for _, column in columns), strict=True)), "blocks")
        self._line(f"for {', '.join(name for name, _ in columns)}, in {table}:")
        for number in sliced:
            self._line(f"    b{number} = v{number}[rows]")
        for text, node in calls:
            self._line(f"    {text}", node)

    # -- outputs -----------------------------------------------------------------------------------------------

    def _write_outputs(self) -> None:
        graph = self._graph
        apart = set(set_apart(graph))
        shown: list[str] = []
        for place, number in enumerate(graph.outputs):
            spec = graph.specs[number]
            if number in graph.inputs:
                source = f"inputs[{graph.inputs.index(number)}]"
                again = f"tensor({source}.data)" if place in apart else source
                shown.append(again)
            elif spec.dtype is None:
                shown.append(f"v{number}")
            elif number in self._tensors:
                shown.append(f"t{number}")
            elif number in self._results:
                shown.append(f"tensor(v{number})")
            else:
                # It may share memory with the plan's, or be a part of something larger.
                name = f"o{place}"
                self._line(f"{name} = {self._named(taker(spec, self._orders.get(number)), 'take')}()")
                self._line(f"{name}[...] = v{number}")
                shown.append(f"tensor({name})")
        self._line(f"return [{', '.join(shown)}]")
