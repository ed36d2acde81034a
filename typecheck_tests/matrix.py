"""Every operation of the traits with every wrong pair of tensor classes, in each place that takes a tensor.

The operations come from the traits themselves, so the matrix grows with them. For each one there is a call with a wrong
operand in each place, the same through a function generic in the tensor class, which only moonxi's plugin rejects, and
the right calls with the classes of their results.
"""

from collections.abc import Iterator
from pathlib import Path

from operations import KINDS, Operation, all_operations, grad_of, has

from moonxi import GpuTensor, ImageProfiled, NpArray

_GRAD, _DEVICE_GRAD = grad_of(NpArray), grad_of(GpuTensor)
_GRAD2 = grad_of(_GRAD)
# For each name the class as it is written, and as it is at run time.
_CLASSES: dict[str, tuple[str, type]] = {
    "host": ("NpArray[F32]", NpArray),
    "host64": ("NpArray[F64]", NpArray),
    "device": ("GpuTensor[F32]", GpuTensor),
    "device16": ("GpuTensor[BF16]", GpuTensor),
    "grad": (f"{_GRAD.__name__}[NpArray[F32]]", _GRAD),
    "grad2": (f"{_GRAD2.__name__}[{_GRAD.__name__}[NpArray[F32]]]", _GRAD2),
    "profiled": ("ImageProfiled[NpArray[F32]]", ImageProfiled),
    "device_grad": (f"{_DEVICE_GRAD.__name__}[GpuTensor[F32]]", _DEVICE_GRAD),
}
_MEETINGS = [
    ("host", "device"),
    ("host", "host64"),
    ("device", "device16"),
    ("grad", "host"),
    ("grad2", "grad"),
    ("grad", "device_grad"),
    ("profiled", "host"),
]
_HEAD = """from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from moonxi import autodiff, traits
from moonxi.autodiff import {grads}
from moonxi.backends.cupy import GpuTensor
from moonxi.backends.numpy import NpArray
from moonxi.dtypes import BF16, F32, F64
from moonxi.key import Key
from moonxi.profiled import ImageProfiled
from moonxi.traits import Labels, Mask
"""
_PREFIXES = dict(zip(KINDS, ("", "mask_", "labels_"), strict=True))


def write(folder: Path) -> list[Path]:
    """Write the files of the matrix; their paths."""
    operations = all_operations()
    files = {
        "matrix_methods": _methods(operations),
        "matrix_generic": _generic(operations),
        "matrix_right": _right(operations),
    }
    head = _HEAD.format(grads=", ".join(sorted({one.__name__ for one in (_GRAD, _GRAD2, _DEVICE_GRAD)})))
    for name, lines in files.items():
        (folder / f"{name}.py").write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    return [folder / f"{name}.py" for name in files]


def _parameters(prefix: str, cls: str) -> str:
    return ", ".join(f"{_PREFIXES[kind]}{prefix}: {kind.format(cls)}" for kind in KINDS)


def _argument(operand: str, prefix: str) -> str:
    return f"{_PREFIXES[operand]}{prefix}" if operand in KINDS else operand


def _wrong_pairs() -> Iterator[tuple[str, str]]:
    for one, other in _MEETINGS:
        yield from ((one, other), (other, one))


def _methods(operations: list[Operation]) -> Iterator[str]:
    """Methods and operators with a wrong operand in each place."""
    for right, wrong in _wrong_pairs():
        (a, cls), (b, _) = _CLASSES[right], _CLASSES[wrong]
        yield f"\ndef {right}_with_{wrong}({_parameters('a', a)}, {_parameters('b', b)}) -> None:"
        for one in (one for one in operations if has(cls, one)):
            for place in one.places:
                arguments = [_argument(operand, "b" if i == place else "a") for i, operand in enumerate(one.operands)]
                code = "operator" if one.name.startswith("__") else "arg-type"
                yield f"    {one.call('a', arguments)}  # E: [{code}]"


def _generic(operations: list[Operation]) -> Iterator[str]:
    """The same through functions that are generic in the tensor class."""
    combining = [one for one in operations if one.places]
    for one in combining:
        parameters = "".join(f", y{i}: {one.operands[i].format('T')}" for i in one.places)
        arguments = [f"y{i}" if i in one.places else operand for i, operand in enumerate(one.operands)]
        yield f"\ndef {_function(one)}[T: traits.{one.trait}](x: T{parameters}) -> {one.result.format(*'TTTTTT')}:"
        yield f"    return {one.call('x', arguments)}"
    for right, wrong in _wrong_pairs():
        (a, a_class), (b, b_class) = _CLASSES[right], _CLASSES[wrong]
        yield f"\ndef {right}_with_{wrong}({_parameters('a', a)}, {_parameters('b', b)}) -> None:"
        for one in (one for one in combining if has(a_class, one) and has(b_class, one)):
            # A mask or labels pin the class: mypy then finds the contradiction itself, but cannot say what it is.
            alone = any(one.operands[i] != KINDS[0] for i in one.places)
            marks = ("  # E: [misc] Cannot infer" if alone else "") + f"  # E: [tensor-mix] {a}"
            for place in one.places:
                operands = [_argument(one.operands[i], "b" if i == place else "a") for i in one.places]
                yield f"    {_function(one)}(a, {', '.join(operands)}){marks}"


def _function(one: Operation) -> str:
    return f"generic_{one.name.replace('__', 'operator_')}".rstrip("_")


def _right(operations: list[Operation]) -> Iterator[str]:
    """Every operation on every class, with the class of its result."""
    for name, (written, cls) in _CLASSES.items():
        others = "array: NDArray[np.float32], integers: NDArray[np.int64]"
        yield f"\ndef of_{name}({_parameters('a', written)}, {others}) -> None:"
        for one in (one for one in operations if has(cls, one)):
            call = one.call("a", [_argument(operand, "a") for operand in one.operands])
            result = one.result.format(*[written] * 6)
            yield f"    assert_type({call}, {result})" if result != one.result else f"    {call}"
