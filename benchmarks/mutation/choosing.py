"""Which mutants take part: drawn by a seed, the operators in turn, until enough of them are wrong."""

from collections.abc import Iterable, Iterator
from random import Random

from benchmarks.mutation.source import Mutant


def drawn(mutants: Iterable[Mutant], seed: int) -> Iterator[Mutant]:
    """All mutants in the order in which a seed draws them: one of each operator that has some left, and so on."""
    random = Random(seed)
    of: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        of.setdefault(mutant.operator, []).append(mutant)
    for ones in of.values():
        random.shuffle(ones)
    while of:
        for operator in [*of]:
            yield of[operator].pop()
            if not of[operator]:
                del of[operator]
