"""Powers of numbers, which typeshed calls Any: tensors that are scaled by them keep their class."""

from tests.mypy_plugin.checking import Project

PROGRAM = """
import moonxi as mx
from moonxi import F32, F64, NpArray


def scaled[T: mx.MlpTensor](q: T, k: T, heads: int, rate: float) -> T:
    scores = q @ k.transpose() * q.shape[-1] ** -0.5
    return scores * (q.shape[-1] / heads) ** -0.5 + 2 ** rate


def mixed(x: NpArray[F32], double: NpArray[F64]) -> NpArray[F32]:
    return x * x.shape[0] ** -0.5 + double  # here


def whole(n: int) -> int:
    return n**2 + 2**3
"""
WITHOUT = """
def scaled(n: int) -> float:
    return n ** -0.5
"""


def test_a_tensor_that_is_scaled_by_a_power_has_its_class(project: Project) -> None:
    project.write(program=PROGRAM, without=WITHOUT)
    lines = PROGRAM.lstrip().splitlines()
    [line] = [number for number, line in enumerate(lines, 1) if "# here" in line]
    # What mypy cannot compute is Any to it, of which it says so where that is returned.
    errors = [f"program.py:{line}: [{code}]" for code in ("no-any-return", "operator")]
    assert sorted(project.check().brief) == [*errors, "without.py:2: [no-any-return]"]
