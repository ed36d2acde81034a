"""A function of single elements as a formula, and the formula of many members at once."""

from collections.abc import Callable, Sequence

from moonxi.formulas import Formula, Kind, Step, Term
from moonxi.fusion.symbol import NotElementwise, Symbol, symbol
from moonxi.traits import Tensor


def formula_of(
    function: Callable[[list[Symbol], list[Symbol]], tuple[Sequence[Symbol], Sequence[Symbol]]],
    /,
    *,
    each: int,
    shared: int = 0,
) -> Formula | None:
    """The formula of a function of so many tensors of one shape and so many single elements.

    The function gives what is kept element by element, and what is summed. None if it does anything else than
    element-wise operations, or gives back an operand as it is."""
    steps: list[tuple[Symbol, Step]] = []
    operands = [symbol(number, steps) for number in range(each + shared)]
    try:
        results, sums = function(operands[:each], operands[each:])
    except NotElementwise:
        return None
    values: dict[Term, Term] = {-number: each + shared + number - 1 for number in range(1, len(steps) + 1)}

    def numbered(term: Term) -> Term:
        return values[term] if isinstance(term, int) and term < 0 else term

    kept, summed = ([numbered(one.term) for one in found] for found in (results, sums))
    numbers = [value for value in kept if isinstance(value, int) and value >= each + shared]
    totals = [value for value in summed if isinstance(value, int)]
    if len(numbers) != len(kept) or len(totals) != len(summed):
        return None
    written = tuple(Step(step.operation, tuple(map(numbered, step.terms))) for _, step in steps)
    kinds = (Kind.EACH,) * each + (Kind.ONE,) * shared
    return Formula(kinds, (False,) * len(kinds), written, tuple(numbers), tuple(totals))


def can_fuse(tensor: object, /) -> bool:
    """Whether a tensor's class computes formulas."""
    return hasattr(tensor, "fused")


def of_members[T: Tensor](formula: Formula | None, members: Sequence[Sequence[T]], /) -> list[T] | None:
    """Results and sums of the first member, then of the next; None if there is no formula or the class has none.

    The operands of a member that are no single element have one shape."""
    fused = getattr(members[0][0], "fused", None) if members else None
    if formula is None or fused is None:
        return None
    return list(fused(formula, *members))
