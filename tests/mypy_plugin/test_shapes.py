"""tensor-shape: what is said, what is not, and when."""

import pytest

from tests.mypy_plugin.checking import Project

HEAD = """
from dataclasses import dataclass
from math import prod

import moonxi as mx
from jaxtyping import Float, Int
from moonxi import F32, NpArray, nn

type Host = NpArray[F32]


"""
WRONG = """
def product[T: mx.MlpTensor](x: Float[T, "batch 784"], w: Float[T, "10 784"]) -> Float[T, "batch 10"]:
    return x @ wMARK
"""
IGNORE = "  # type: ignore[tensor-shape]"
SAID = (
    "program.py:12: [tensor-shape] matmul: (batch, 784) @ (10, 784): inner dimensions differ (784 and 10); "
    'x is annotated "batch 784", w is annotated "10 784"'
)


def program(body: str, mark: str = "") -> str:
    return HEAD + body.lstrip().replace("MARK", mark)


def test_the_error_tells_operation_shapes_rule_and_annotations(project: Project) -> None:
    project.write(program=program(WRONG))
    assert project.check().errors == [SAID]


@pytest.mark.slow
def test_a_run_that_remembers_nothing_says_the_same_as_one_that_remembers(project: Project) -> None:
    project.write(program=program(WRONG))
    assert project.check_cold().errors == project.check().errors == project.check().errors == [SAID]


def test_a_line_can_be_ignored_and_an_ignore_that_ignores_nothing_is_said(project: Project) -> None:
    project.configure("warn_unused_ignores = True")
    project.write(program=program(WRONG, IGNORE), right=program(WRONG, IGNORE).replace("@ w", "@ w.transpose()"))
    assert project.check().errors == ['right.py:12: [unused-ignore] Unused "type: ignore" comment']


@pytest.mark.parametrize("where", ["section", "file"])
def test_the_code_can_be_disabled(project: Project, where: str) -> None:
    text = program(WRONG)
    if where == "section":
        project.configure("[mypy-program]", "disable_error_code = tensor-shape")
    else:
        text = f'# mypy: disable-error-code="tensor-shape"\n{text.lstrip()}'
    project.write(program=text)
    assert project.check().errors == []


def test_a_changed_shape_is_seen_by_modules_that_import_it_and_are_remembered(project: Project) -> None:
    layers = program(
        """
@dataclass(frozen=True)
class Pair[T: mx.Tensor](nn.Module[T]):
    weight: Float[T, "3 4"]


def summed[T: mx.Tensor](x: Float[T, "n 4"]) -> Float[T, "n"]:
    return x.sum(1)


type Rows = Float[Host, "n 4"]


def rows(x: Rows) -> Rows:
    return x
"""
    )
    use = """
from layers import Pair, Rows, summed

import moonxi as mx
from moonxi import F32, NpArray


def run(pair: Pair[NpArray[F32]]) -> None:
    summed(pair.weight) + mx.numpy().ones((3,))


def first(x: Rows) -> Rows:
    return x * 2.0
"""
    project.write(layers=layers, use=use)
    assert project.check().errors == []
    project.write(layers=layers.replace('"n 4"', '"n 5"'))
    assert project.check().brief == ["use.py:8: [tensor-shape]"]
    project.write(layers=layers.replace('"3 4"', '"2 4"'))
    assert project.check().brief == ["use.py:8: [tensor-shape]"]
    project.write(layers=layers)
    assert project.check().errors == []


QUIET = {
    "a size that is compared first": """
def f[T: mx.Tensor](x: Float[T, "n d"], y: Float[T, "m d"]) -> T:
    if x.shape != y.shape:
        raise ValueError(x.shape)
    return x + y
""",
    "a size that an assertion fixes": """
def f[T: mx.Tensor](x: Float[T, "n d"]) -> Float[T, "n 3"]:
    assert x.shape[1] == 3
    return x
""",
    "sizes that rounding keeps apart": """
def f[T: mx.Tensor](x: Float[T, "batch width"], heads: int) -> Float[T, "batch width"]:
    halves = x.reshape((x.shape[0], 2, x.shape[1] // 2))
    parts = x.reshape((x.shape[0], heads, x.shape[1] // heads))
    return parts.reshape(x.shape) + halves.reshape(x.shape)
""",
    "axes that nothing counts": """
def f[T: mx.Tensor](x: Float[T, "*batch d"], y: Float[T, "... d"], z: Float[T, "*batch 1"]) -> Float[T, "*batch d"]:
    if len(x.shape) == 2:
        return x + x[:, :1]
    return x * z + y.sum() if len(y.shape) == 1 else x
""",
    "a size that may be one": """
def f[T: mx.Tensor](x: Float[T, "#n d"], y: Float[T, "n d"]) -> T:
    return x + y
""",
    "a size that differs from pass to pass": """
def f(x: Float[Host, "n d"], steps: int) -> Host:
    y = x.sum(0)
    for _ in range(steps):
        y = y.concatenate(y, axis=0)
    while steps > 0:
        y, steps = y[1:], steps - 1
    return y + y
""",
    "an integer of which two branches ask different things": """
def f(x: Float[Host, "6 4"], n: int, first: bool) -> Host:
    if first:
        y = x.reshape((n, 4))
    else:
        y = x.reshape((n, 8))
    return y
""",
    "shapes that are known in one branch only": """
def f(x: Float[Host, "6 4"], first: bool, other: Host) -> Float[Host, "2 3"]:
    y = x if first else other
    if not first:
        y = y.reshape((2, 3))
    return y
""",
    "a class whose dims a method does not speak of": """
@dataclass(frozen=True)
class Own[T: mx.MlpTensor](nn.Module[T]):
    weight: Float[T, "inputs outputs"]
    bias: Float[T, " outputs"] | None

    def forward(self, x: Float[T, "batch features"]) -> Float[T, "batch 10"]:
        y = x @ self.weight
        return y if self.bias is None else y + self.bias
""",
    "an error that is expected": """
def f(x: Float[Host, "n 3"]) -> Host:
    try:
        return x.reshape((-1, 2)) + x
    except mx.errors.ShapeError:
        return x
""",
    "an alternative that is no tensor": """
def f(x: Float[Host, "n d"] | None, y: Float[Host, "n"] | float) -> Host | None:
    return None if x is None else x * y if isinstance(y, float) else x.sum(1) + y
""",
    "a layer used for two batches": """
def f(layer: nn.Linear[Host], x: Float[Host, "a 3"], y: Float[Host, "b c 3"]) -> Host:
    layer.forward(x)
    return layer.forward(y).sum((0, 1))
""",
    "names shadowed by inner functions": """
def f(x: Float[Host, "n d"]) -> Host:
    def x_of(x: Float[Host, "d n"]) -> Float[Host, "d n"]:
        return x

    y = [x for x in (x.sum(0), x.sum(1))]
    return x_of(x.transpose()) + y[0].sum()
""",
    "a jagged product of what is not known": """
def f(x: Host, y: Float[Host, "n d"], k: int) -> Float[Host, "n d"]:
    a = x @ y
    b = y.reshape((-1, k)).reshape(y.shape)
    return b + a.mean() + y[:k].sum() + prod(y.shape)
""",
}


def test_what_cannot_be_proved_is_not_said(project: Project) -> None:
    project.write(**{f"quiet{number}": program(text) for number, text in enumerate(QUIET.values())})
    assert project.check().errors == []


BREAKING = """
from mypy.plugin import Plugin
from moonxi.mypy_plugin.shapes import PLACE


def fail(*arguments: object, **options: object) -> None:
    raise RuntimeError("broken for a test")


PLACE.NAME = fail


def plugin(version: str) -> type[Plugin]:
    return Plugin
"""


@pytest.mark.slow
@pytest.mark.parametrize(("place", "name"), [("check", "_errors"), ("statements", "evaluated"), ("objects", "read")])
def test_a_failure_inside_does_not_stop_mypy(project: Project, place: str, name: str) -> None:
    project.configure(plugins="plugin_breaking.py, moonxi.mypy_plugin", raises=False)
    breaking = BREAKING.replace("PLACE", place).replace("NAME", name)
    project.write(plugin_breaking=breaking, program=program(WRONG) + "\n\nnumber: int = 'text'\n")
    report = project.check()
    assert [error for error in report.brief if "tensor-shape" not in error] == ["program.py:15: [assignment]"]
    assert report.stderr == ""


COLUMN = """
def loss[T: mx.Tensor](x: Float[T, "n 1"], y: Float[T, "n"]) -> T:
    return (x - y).square()IGNORED
"""


def test_each_code_is_ignored_and_disabled_by_itself(project: Project) -> None:
    project.configure("warn_unused_ignores = True", "[mypy-off]", "disable_error_code = tensor-broadcast")
    ignored = COLUMN.replace("IGNORED", "  # type: ignore[tensor-broadcast]")
    other = COLUMN.replace("IGNORED", "  # type: ignore[tensor-shape]")
    project.write(ignored=program(ignored), off=program(COLUMN.replace("IGNORED", "")), other=program(other))
    assert sorted({error.partition("]")[0] for error in project.check().errors}) == [
        "other.py:12: [tensor-broadcast",
        "other.py:12: [unused-ignore",
    ]


UNTYPED = """
import moonxi as mx
from moonxi import nn


def main() -> None:
    table = mx.numpy().ones((3, 4))
    other = table.relu()
    other = other @ other


def model() -> None:
    layer = nn.Linear.init(3, 4, like=mx.numpy(), key=mx.Key(0))
    hidden = layer.forward(mx.numpy().ones((2, 4)))


square = mx.numpy().ones((3, 4)) @ mx.numpy().ones((3, 4))
print(square)
"""


def test_a_file_need_not_name_a_type(project: Project) -> None:
    project.write(program=UNTYPED)
    assert sorted(project.check().brief) == [f"program.py:{line}: [tensor-shape]" for line in (13, 16, 8)]
