"""Makes docs/operations.md: which tensor class does which operation itself, and which by others.

python -m tests.docs.operations_table
"""

import re
from pathlib import Path
from typing import Final

from typing_extensions import get_protocol_members

from moonxi.autodiff import ImageGrad
from moonxi.backends.cupy import GpuTensor
from moonxi.backends.numpy import NpArray
from moonxi.profiled import ImageProfiled
from moonxi.shape_tensor import ShapeTensor
from moonxi.traits import BlasTensor, ImageTensor, Labels, Mask, Tensor

PAGE: Final = Path(__file__).parents[2] / "docs" / "operations.md"
TRAITS: Final[tuple[type, ...]] = (Tensor, BlasTensor, ImageTensor)
INTERPRETERS: Final[dict[str, type]] = {
    "NpArray": NpArray,
    "GpuTensor": GpuTensor,
    "Grad": ImageGrad,
    "ShapeTensor": ShapeTensor,
    "Profiled": ImageProfiled,
}
HEAD: Final = """# Operations

Every member of the traits, and how each tensor class has it: *own*, written for that class, or *derived*, once for all
classes from other operations (`moonxi/traits/derived/`). Under differentiation an own operation has its own gradient;
that of a derived one follows from what it is derived from. `Grad` stands for its three classes, `Profiled` for its.

Written by `python -m tests.docs.operations_table`; a test fails when it is out of date.
"""
OPERATORS: Final = {
    "__add__": "x + y",
    "__radd__": "2.0 + x",
    "__sub__": "x - y",
    "__rsub__": "2.0 - x",
    "__mul__": "x * y",
    "__rmul__": "2.0 * x",
    "__truediv__": "x / y",
    "__rtruediv__": "2.0 / x",
    "__pow__": "x ** y",
    "__rpow__": "2.0 ** x",
    "__neg__": "-x",
    "__lt__": "x < y",
    "__le__": "x <= y",
    "__gt__": "x > y",
    "__ge__": "x >= y",
    "__matmul__": "x @ y",
}
HELD: Final = """## Labels and masks

`Labels[T]` are class indices, from `like.labels(array)` or `x.argmax(axis)`; a `Mask[T]` is yes or no, from comparisons
such as `x > 0`. They go along with a tensor and are not to be computed with. Both have these members, or one of them:

| operation | what | Labels | Mask |
|---|---|---|---|
"""
SHOWN: Final = ("__invert__", "__and__", "__or__", "__getitem__", "__iter__")
"""Operators of labels and masks; others are refused with advice."""
"""How those are written that have no other description."""


def how(interpreter: type, member: str) -> str:
    """Where the class that an interpreter has a member from stands: own, derived, or nowhere."""
    home = next((cls for cls in interpreter.__mro__ if member in vars(cls)), object)
    if getattr(vars(home).get(member), "__isabstractmethod__", False) or home is object or home in TRAITS:
        return "missing"
    return "derived" if home.__module__.startswith("moonxi.traits.derived") else "own"


def meaning(trait: type, member: str) -> str:
    """The first sentence of what the trait says of a member."""
    if member in OPERATORS:
        return f"`{OPERATORS[member]}`"
    text = re.sub(r"\s+", " ", (vars(trait)[member].__doc__ or "").strip())
    return re.split(r"(?<=\.)\s", text)[0].rstrip(".").replace("|", "\\|").replace("``", "`")


def held() -> str:
    """What labels and masks have."""
    members = dict.fromkeys(name for cls in (Labels, Mask) for name in vars(cls))
    rows = []
    for name in members:
        homes = [cls for cls in (Labels, Mask) if name in vars(cls)]
        if (name.startswith("_") and name not in SHOWN) or name == "carrier":
            continue
        has = " | ".join("yes" if cls in homes else "no" for cls in (Labels, Mask))
        rows.append(f"| `{name}` | {meaning(homes[0], name)} | {has} |\n")
    return HELD + "".join(rows)


def page() -> str:
    """The text of the page."""
    parts = [HEAD]
    for trait in TRAITS:
        members = [name for name in vars(trait) if name in get_protocol_members(trait)]
        rows = [
            f"| `{name}` | {meaning(trait, name)} | {' | '.join(how(one, name) for one in INTERPRETERS.values())} |"
            for name in members
        ]
        head = f"| operation | what | {' | '.join(INTERPRETERS)} |\n|---|---|{'---|' * len(INTERPRETERS)}"
        parts.append(f"## {trait.__name__}\n\n{head}\n" + "\n".join(rows) + "\n")
    return "\n".join([*parts, held()])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
