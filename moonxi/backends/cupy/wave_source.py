"""The source of the kernels of waves: one a wave, with the sizes and strides of its arrays as numbers in the text."""

from collections.abc import Sequence
from dataclasses import dataclass
from re import search
from typing import Final

from moonxi.backends.cupy import sources
from moonxi.backends.cupy.layouts import Strides
from moonxi.backends.cupy.wave_elements import Arrays, Element, Written
from moonxi.backends.cupy.wave_rows import whole_rows
from moonxi.backends.cupy.wave_tiles import flat, tiles
from moonxi.dtypes import DType
from moonxi.waves import Form, Holds, Step, Waves, addresses

_TYPES: Final = {Holds.NUMBERS: "T", Holds.MASK: "u8", Holds.LABELS: "i64"}
_WRITERS: Final = {Form.FLAT: flat, Form.TILES: tiles, Form.ROWS: whole_rows}


@dataclass(frozen=True, slots=True, eq=False)
class WaveSource:
    """Kernels ``wave0``, ``wave1`` and so on, each of which takes so many words."""

    text: str
    words: int
    blocks: tuple[int, ...]
    parts: tuple[int, ...]
    """How many sums of parts each leaves to the next."""


def wave_source(waves: Waves, strides: Sequence[Strides], element: type[DType], processors: int) -> WaveSource:
    """The kernels for operands that lie so. The words of a wave are its addresses, those of the fault and of sums."""
    words = max(len(addresses(waves, place)) for place in range(len(waves.waves))) + 3
    text, blocks, parts = [], [], []
    before = _Totals((), 0)
    for place in range(len(waves.waves)):
        kernel = _Kernel(waves, strides, element, processors, place, before)
        text.append(kernel.text)
        blocks.append(kernel.blocks)
        parts.append(kernel.totals.count)
        before = kernel.totals
    begun = sources.begun(element, sources.WAVES) + f"struct Words {{ u64 word[{words}]; }};\n"
    return WaveSource(begun + "".join(text), words, tuple(blocks), tuple(parts))


@dataclass(frozen=True, slots=True)
class _Totals:
    """Where the sums of parts of each total are: the total, the first place, how many."""

    places: tuple[tuple[int, int, int], ...]
    count: int


class _Kernel(Arrays):
    """The kernel of one wave."""

    def __init__(
        self, waves: Waves, strides: Sequence[Strides], element: type[DType], processors: int, place: int,
        before: _Totals,
    ) -> None:  # fmt: skip
        super().__init__(waves, strides, element, processors)
        self._wave, self._before, self._place = waves.waves[place], before, place
        self.scalars = {step.result for step in self._wave.scalars} | {total for total, _, _ in before.places}
        tasks = [_WRITERS[task.form](self, task) for task in self._wave.tasks]
        places, first = [], 0
        for task, written in zip(self._wave.tasks, tasks, strict=True):
            for _, total in task.totals:
                places.append((total, first, written.blocks))
                first += written.blocks
        self.totals = _Totals(tuple(places), first)
        self.text, self.blocks = self._whole(tasks)

    def _whole(self, tasks: Sequence[Written]) -> tuple[str, int]:
        """The text, and how many blocks it is for: those of the tasks, and one for scalars that no task needs."""
        steps = self._wave.scalars
        wanted = _leading_to(steps, {one for written in tasks for one in written.scalars})
        others = _leading_to(steps, set(self._wave.kept)) - wanted
        cases, begin, parts = [], 0, 0
        for task, written in zip(self._wave.tasks, tasks, strict=True):
            text = written.text.replace("@PARTS", str(parts))
            cases.append(
                f"if (block < {begin + written.blocks}) {{\n            u32 own = block - {begin};\n{text}        }}"
            )
            begin += written.blocks
            parts += written.blocks * len(task.totals)
        if others & {*self._wave.kept}:
            lines = self._scalar_lines(others, "others", "threadIdx.x == 0")
            cases.append("{\n" + "".join(f"            {line}\n" for line in lines) + "        }")
            begin += 1
        first = self._scalar_lines(wanted, "found", "blockIdx.x == 0 && threadIdx.x == 0")
        body = "".join(f"    {line}\n" for line in first)
        body += f"    for (u32 block = blockIdx.x; block < {begin}; block += gridDim.x) {{\n        "
        body += " else ".join(cases) + "\n        barrier();\n    }\n}\n"
        head = f"\nKERNEL wave{self._place}(IN_PLACE Words words) {{\n    __shared__ A arena[{self.arena}];\n"
        return head + "".join(f"    {line}\n" for line in self._pointers(body)) + body, begin

    def _pointers(self, body: str) -> list[str]:
        kept = {one for task in self._wave.tasks for one in task.kept}.union(self._wave.kept)
        lines = []
        found = addresses(self.waves, self._place)
        for word, number in enumerate(found):
            cls = _TYPES[self.waves.values[number].holds]
            const, name = ("", "y") if number in kept else ("const ", "x")
            lines.append(f"{const}{cls}* __restrict__ {name}{number} = ({const}{cls}*)words.word[{word}];")
        ends = {"fault": "Fault*", "parts": "A*", "before": "const A*"}
        return lines + [
            f"{cls} {name} = ({cls})words.word[{word}];"
            for word, (name, cls) in enumerate(ends.items(), len(found))
            if search(rf"\b{name}\b", body)
        ]

    def _scalar_lines(self, wanted: set[int], name: str, is_one: str) -> list[str]:
        """Totals and steps on single numbers, for every thread of a block; one of them puts them into memory."""
        totals = [one for one in self._before.places if one[0] in wanted]
        lines = []
        if totals:
            count = len(totals)
            self.arena = max(self.arena, 33 * count)
            starts, sizes = ([one[place] for one in totals] for place in (1, 2))
            lines += [
                f"__shared__ A {name}[{count}];",
                f"for (u32 item = threadIdx.x; item < {32 * count}; item += LANES) {{",
                f"    u32 n = item / 32, first = {_chosen(starts)}, size = {_chosen(sizes)};",
                "    A total = 0;",
                "    for (u32 i = item % 32; i < size; i += 32) total += before[first + i];",
                "    arena[n * 33 + item % 32] = total;",
                "}",
                "barrier();",
                f"for (u32 n = threadIdx.x; n < {count}; n += LANES) {name}[n] = of_parts<32, 1>(arena + n * 33);",
                "barrier();",
            ]
            lines += [f"A v{total} = rounded({name}[{n}]);" for n, (total, _, _) in enumerate(totals)]
        element = Element(self, "0")
        element.known |= self.scalars
        for step in self._wave.scalars:
            if step.result in wanted:
                element.add(step)
        kept = [number for number in self._wave.kept if number in wanted]
        return [*lines, *element.lines, *(f"if ({is_one}) {self.stored(number, '0')}" for number in kept)]


def _chosen(numbers: Sequence[int]) -> str:
    """The number of place ``n``."""
    return " : ".join([*(f"n == {n} ? {one}u" for n, one in enumerate(numbers[:-1])), f"{numbers[-1]}u"])


def _leading_to(steps: Sequence[Step], wanted: set[int]) -> set[int]:
    """What is wanted, and what that is computed from."""
    found = set(wanted)
    for step in reversed(steps):
        if step.result in found:
            found.update(term for term in step.terms if isinstance(term, int))
    return found
