"""The source of a kernel that computes a formula, each operation rounded as if it had been one of its own."""

from typing import Final, Protocol

from moonxi.backends.cupy import sources
from moonxi.dtypes import DType
from moonxi.formulas import COMPARISONS, Formula, Kind, Term

_FUNCTIONS: Final = {
    "__add__": "add", "__sub__": "subtract", "__mul__": "multiply", "__truediv__": "divide", "__pow__": "power",
    "__neg__": "negative", "__lt__": "less", "__le__": "less_equal", "__gt__": "greater", "__ge__": "greater_equal",
    "equal": "equal", "maximum": "maximum", "exp": "exponential", "log": "logarithm", "expm1": "exponential_less_one",
    "log1p": "logarithm_of_one_more", "sin": "sine", "cos": "cosine", "erf": "error_function",
    "tanh": "hyperbolic_tangent", "sqrt": "square_root", "floor": "round_down", "square": "squared",
    "relu": "rectified",
}  # fmt: skip
"""The functions of kernels/functions.cuh."""
_NUMBERS: Final = {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}


def width(formula: Formula) -> int:
    """The words of a member: its count, addresses of operands, results and parts of sums, and three for each axis."""
    addresses = len(formula.kinds) + len(formula.results) + len(formula.sums)
    return 1 + addresses + 3 * formula.kinds.count(Kind.AXIS)


def source(formula: Formula, element: type[DType]) -> str:
    """The complete source, with the kernel ``formula``; it includes no header."""
    return sources.begun(element, sources.FORMULA) + kernel(formula)


def kernel(formula: Formula) -> str:
    """The kernel alone: it begins with where everything lies, and goes on with one line for each operation."""
    before: list[str] = []
    within: list[str] = []
    count = len(formula.kinds)
    axes = 1 + count + len(formula.results) + len(formula.sums)
    for number, (kind, is_mask) in enumerate(zip(formula.kinds, formula.masks, strict=True)):
        memory, arithmetic = ("u8", "bool") if is_mask else ("T", "A")
        before.append(f"const {memory}* x{number} = (const {memory}*)own[{1 + number}];")
        place = {Kind.EACH: "i", Kind.ONE: "0", Kind.AXIS: f"along(i, own + {axes})"}[kind]
        axes += 3 * (kind is Kind.AXIS)
        line = f"{arithmetic} v{number} = " + (f"x{number}[{place}] != 0;" if is_mask else f"load(x{number}[{place}]);")
        (before if kind is Kind.ONE else within).append(line)
    within += [assignment(step, count + number) for number, step in enumerate(formula.steps)]
    for number, value in enumerate(formula.results):
        memory = "u8" if formula.is_mask(value) else "T"
        before.append(f"{memory}* y{number} = ({memory}*)own[{1 + count + number}];")
        within.append(f"y{number}[i] = v{value};" if memory == "u8" else f"keep(v{value}, y{number}[i]);")
    after = []
    for number, value in enumerate(formula.sums):
        before.append(f"A total{number} = 0;")
        within.append(f"total{number} += v{value};")
        after.append(f"add_up(total{number}, (A*)own[{1 + count + len(formula.results) + number}] + chunk);")
    return _TEXT.format(
        width=width(formula), before="\n        ".join(before), within="\n            ".join(within),
        after="".join(f"\n        {line}" for line in after),
    )  # fmt: skip


class Operation(Protocol):
    """A step: what is computed of what."""

    @property
    def operation(self) -> str: ...
    @property
    def terms(self) -> tuple[Term, ...]: ...


_TEXT: Final = """
KERNEL formula(IN_PLACE Pack pack) {{
    u64 members = pack.word[0], chunks = pack.word[1], member = 0;
    for (u64 chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {{
        while (member + 1 < members && pack.word[3 + member] <= chunk) member++;
        const u64* own = pack.word + 2 + members + member * {width};
        u64 begin = (chunk - pack.word[2 + member]) * CHUNK, end = min(begin + CHUNK, own[0]);
        {before}
        for (u64 i = begin + threadIdx.x; i < end; i += blockDim.x) {{
            {within}
        }}{after}
    }}
}}
"""


def assignment(step: Operation, number: int) -> str:
    """A line that computes the result of a step, ``v`` and its number, from those of its terms."""
    terms = [_term(one) for one in step.terms]
    if step.operation == "where":
        chosen, mask, other = terms
        return f"A v{number} = {mask} ? {chosen} : {other};"
    call = f"{_FUNCTIONS[step.operation]}_of({', '.join(terms)})"
    return f"bool v{number} = {call};" if step.operation in COMPARISONS else f"A v{number} = rounded({call});"


def _term(term: Term) -> str:
    return f"v{term}" if isinstance(term, int) else f"(A)({_NUMBERS.get(term, term)})"
