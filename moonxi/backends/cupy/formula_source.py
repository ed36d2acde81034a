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


def source(formula: Formula, element: type[DType], lanes: int) -> str:
    """The complete source, with the kernel ``formula``, whose threads take ``lanes`` elements at a time, 1 or VECTOR of
    kernels/lanes.cuh; it includes no header."""
    *before, after = sources.FORMULA
    text = sources.begun(element, tuple(before)) + f"const int LANES = {lanes};\n"
    return text + sources.text(after) + kernel(formula)


def kernel(formula: Formula) -> str:
    """The kernel alone: it begins with where everything lies, and goes on with one line for each operation."""
    count = len(formula.kinds)
    axes = 1 + count + len(formula.results) + len(formula.sums)
    members: list[str] = []
    places: list[str] = []
    reads: list[str] = []
    within: list[str] = []
    writes: list[str] = []
    for number, (kind, is_mask) in enumerate(zip(formula.kinds, formula.masks, strict=True)):
        memory, arithmetic = ("u8", "bool") if is_mask else ("T", "A")
        members.append(f"const {memory}* x{number};")
        places.append(f"x{number} = (const {memory}*)own[{1 + number}];")
        if kind is Kind.EACH:
            reads.append(f"{arithmetic} here{number}[N];")
            reads.append(f"take(x{number} + i, here{number});")
            within.append(f"{arithmetic} v{number} = here{number}[n];")
        elif kind is Kind.ONE:
            members.append(f"{arithmetic} v{number};")
            places.append(f"v{number} = load(x{number}[0]){' != 0' if is_mask else ''};")
        else:
            place = f"x{number}[along(i + n, own + {axes})]"
            within.append(f"{arithmetic} v{number} = load({place}){' != 0' if is_mask else ''};")
            axes += 3
    within += [assignment(step, count + number) for number, step in enumerate(formula.steps)]
    for number, value in enumerate(formula.results):
        memory, arithmetic = ("u8", "bool") if formula.is_mask(value) else ("T", "A")
        members.append(f"{memory}* y{number};")
        places.append(f"y{number} = ({memory}*)own[{1 + count + number}];")
        reads.append(f"{arithmetic} there{number}[N];")
        within.append(f"there{number}[n] = v{value};")
        writes.append(f"put(y{number} + i, there{number});")
    after = []
    for number, value in enumerate(formula.sums):
        members.append(f"A total{number};")
        places.append(f"total{number} = 0;")
        within.append(f"total{number} += v{value};")
        place = f"(A*)own[{1 + count + len(formula.results) + number}] + chunk"
        after.append(f"add_up(member.total{number}, {place});")
    parts = [members, places, reads, within, writes, after]
    indents = [4, 8, 8, 12, 8, 8]
    lines = ["".join(f"{' ' * deep}{line}\n" for line in part) for part, deep in zip(parts, indents, strict=True)]
    names = ("members", "places", "reads", "within", "writes", "after")
    return _TEXT.format(width=width(formula), **dict(zip(names, lines, strict=True)))


class Operation(Protocol):
    """A step: what is computed of what."""

    @property
    def operation(self) -> str: ...
    @property
    def terms(self) -> tuple[Term, ...]: ...


_TEXT: Final = """
struct Member {{
    const u64* own;
{members}
    DEVICE Member(const u64* own) : own(own) {{
{places}    }}
    template <int N> DEVICE void at(u64 i) {{
{reads}        for (int n = 0; n < N; n++) {{
{within}        }}
{writes}    }}
}};

KERNEL formula(IN_PLACE Pack pack) {{
    u64 members = pack.word[0], chunks = pack.word[1], share = (chunks + gridDim.x - 1) / gridDim.x;
    u64 chunk = blockIdx.x * share, last = min(chunk + share, chunks), number = member_of(pack, chunk);
    for (; chunk < last; chunk++) {{
        while (number + 1 < members && pack.word[3 + number] <= chunk) number++;
        const u64* own = pack.word + 2 + members + number * {width};
        u64 begin = (chunk - pack.word[2 + number]) * CHUNK, end = min(begin + CHUNK, own[0]);
        u64 i = begin + threadIdx.x * LANES, step = blockDim.x * LANES;
        Member member(own);
        for (; i + step + LANES <= end; i += 2 * step) {{
            member.at<LANES>(i);
            member.at<LANES>(i + step);
        }}
        for (; i < end; i += step) {{
            if (i + LANES <= end) member.at<LANES>(i);
            else for (u64 rest = i; rest < end; rest++) member.at<1>(rest);
        }}
{after}    }}
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
