"""The sources of kernels that compute batch norms together with a formula; what they share is kernels/norms.cuh."""

from moonxi.backends.cupy import sources
from moonxi.backends.cupy.formula_source import assignment
from moonxi.dtypes import DType
from moonxi.formulas import Formula, Kind
from moonxi.norms import NormGradients, Norms


def source(norms: Norms | NormGradients, element: type[DType], lanes: int, *, alone: bool) -> str:
    """The complete source, whose threads take ``lanes`` channels at a time; it includes no header.

    Its kernels are ``together``, or ``measure``, ``finish`` and ``apply``, which do the same one after the other."""
    before, after = sources.NORMS[:2], sources.NORMS[2:]
    text = sources.begun(element, before) + f"const int LANES = {lanes};\n" + "".join(map(sources.text, after))
    return text + kernels(norms, alone=alone)


def kernels(norms: Norms | NormGradients, *, alone: bool) -> str:
    """What is generated: where everything lies, the formula line by line, and the names of the kernels."""
    formula, forward = norms.formula, isinstance(norms, Norms)
    given = len(norms.eps) if forward else 0
    members = [f"{'Norm' if forward else 'NormGradient'} norm[NORMS];", "u64 rows, channels, splits;"]
    others: list[str] = []
    reads: list[str] = []
    within: list[str] = []
    before: list[str] = []
    after: list[str] = []
    for number, (kind, is_mask) in enumerate(zip(formula.kinds, formula.masks, strict=True)):
        memory, arithmetic = ("u8", "bool") if is_mask else ("T", "A")
        if number < given:
            within.append(f"A v{number} = norms[{number}][n];")
            continue
        members.append(f"const {memory}* x{number};")
        if kind is Kind.EACH:
            others.append(f"Words<{memory}, LANES> x{number};")
            reads.append(f"others.x{number}.read(x{number} + i);")
            before += [f"{arithmetic} here{number}[LANES];", f"unpack(others.x{number}, here{number});"]
            within.append(f"{arithmetic} v{number} = here{number}[n];")
            continue
        place = "0" if kind is Kind.ONE else f"along(i + n, axis{number})"
        within.append(f"{arithmetic} v{number} = load(x{number}[{place}]){' != 0' if is_mask else ''};")
    members += [f"u64 axis{number}[3];" for number in axes_of(formula, given)]
    within += [assignment(step, len(formula.kinds) + number) for number, step in enumerate(formula.steps)]
    for number, value in enumerate(formula.results):
        memory, arithmetic = ("u8", "bool") if formula.is_mask(value) else ("T", "A")
        members.append(f"{memory}* y{number};")
        before.append(f"{arithmetic} there{number}[LANES];")
        within.append(f"there{number}[n] = v{value};")
        after.append(f"{'' if forward else 'if (KEEP) '}put(y{number} + i, there{number});")
    if isinstance(norms, Norms):
        head = "DEVICE void formula(u64 i, const Others& others, const A (&norms)[NORMS][LANES]) const {"
        template, name = "", "normalise"
    else:
        head = "DEVICE void formula(u64 i, const Others& others, A (&gradient)[LANES]) const {"
        template, name = "    template <bool KEEP>\n", "gradients"
        within.append(f"gradient[n] = v{norms.gradient};")
    bounds = "BESIDE_OTHERS " if alone and len(norms.eps) == 1 else ""
    return _TEXT.format(
        norms=len(norms.eps), members="\n    ".join(members), template=template, head=head,
        others="".join(f"{line} " for line in others), reads="".join(f"        {line}\n" for line in reads),
        before="".join(f"        {line}\n" for line in before), within="\n            ".join(within),
        after="".join(f"        {line}\n" for line in after),
        kernels="\n".join(
            f"KERNEL {bounds}{phase}(IN_PLACE Work own) {{ {name}<{phase.upper()}>(own); }}"
            for phase in (("together",) if alone else ("measure", "finish", "apply"))
        ),
    )  # fmt: skip


def axes_of(formula: Formula, given: int) -> list[int]:
    """The operands that go along one axis, but for the first."""
    return [number for number, kind in enumerate(formula.kinds) if kind is Kind.AXIS and number >= given]


_TEXT = """
struct Work {{
    static const int NORMS = {norms};
    {members}

    struct Others {{ {others}}};
    DEVICE void read(u64 i, Others& others) const {{
{reads}    }}
{template}    {head}
{before}        for (int n = 0; n < LANES; n++) {{
            {within}
        }}
{after}    }}
}};

{kernels}
"""
