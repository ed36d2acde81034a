"""The sources of the kernels: files beside this one, completed with the types that a tensor's elements have."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from moonxi.dtypes import BF16, F16, F32, F64, I64, Bool, DType

FLOATING: tuple[type[DType], ...] = (F32, F64, F16, BF16)
_TYPES: dict[type[DType], tuple[str, str]] = {
    F32: ("float", "float"),
    F64: ("double", "double"),
    F16: ("f16", "float"),
    BF16: ("bf16", "float"),
    I64: ("i64", "i64"),
    Bool: ("u8", "u8"),
}
"""How an element lies in memory, and in what type it is computed."""
PARTS: dict[str, tuple[str, ...]] = {
    "moving": ("moving.cu",),
    "elementwise": ("functions.cuh", "elementwise.cu"),
    "reductions": ("folding.cuh", "reductions.cu"),
    "classes": ("faults.cuh", "classes.cu"),
    "random": ("random.cu",),
    "images": ("lanes.cuh", "images.cu"),
}
FORMULA = ("functions.cuh", "lanes.cuh", "formula.cuh")
"""What comes before a generated kernel."""
WAVES = ("faults.cuh", "functions.cuh", "waves.cuh")
"""What comes before the kernels of waves."""
NORMS = ("functions.cuh", "lanes.cuh", "statistics.cuh", "norms.cuh")
"""What comes before one with batch norms."""
EXACT = ("--std=c++17", "--fmad=false")
"""What the compiler is told where each operation is to be rounded for itself."""


def options(topic: str, /) -> tuple[str, ...]:
    """What the compiler is told; nothing here trades accuracy for speed."""
    return EXACT if topic == "elementwise" else ("--std=c++17",)


def source(topic: str, element: type[DType], /) -> str:
    """The complete source of a topic for one element type; it includes no header."""
    return begun(element, PARTS[topic])


def begun(element: type[DType], parts: tuple[str, ...], /) -> str:
    """The beginning of every source, with the types of an element type, and then these files."""
    memory, arithmetic = _TYPES[element]
    types = f"typedef {memory} T;\ntypedef {arithmetic} A;\n"
    return text("prelude.cuh") + types + "".join(text(part) for part in parts)


def every_source() -> Iterator[tuple[str, type[DType]]]:
    """Each topic with each element type that it is compiled for."""
    for topic in PARTS:
        for element in _TYPES if topic == "moving" else FLOATING:
            yield topic, element


@cache
def text(name: str, /) -> str:
    """One of the files."""
    return files(__package__).joinpath("kernels", name).read_text(encoding="utf-8")
