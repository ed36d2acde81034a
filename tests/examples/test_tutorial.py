import ast
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import tutorial
from examples.tutorial import (
    Array,
    Grad,
    Line,
    Points,
    Tensor,
    Text,
    constant,
    curvature,
    mean,
    value_and_grad,
    variable,
)
from tests.examples.program import EXAMPLES, run

TUTORIAL = EXAMPLES / "tutorial.py"
SOURCE = TUTORIAL.read_text()

numbers = st.floats(-10.0, 10.0)
points = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8).map(
    lambda pairs: Points(Array([x for x, _ in pairs]), Array([y for _, y in pairs]))
)
lines = st.builds(lambda w, b: Line(Array(w), Array(b)), numbers, numbers)


def edited(folder: Path, old: str, new: str) -> Path:
    """The tutorial with one passage replaced."""
    assert SOURCE.count(old) == 1
    path = folder / "tutorial.py"
    path.write_text(SOURCE.replace(old, new))
    return path


def test_the_line_is_found_in_200_epochs() -> None:
    ended = run(TUTORIAL)
    assert (ended.code, ended.err) == (0, [])
    assert ended.out[-1] == "w 3.00  b 1.00"
    assert [line.split()[1] for line in ended.out if line.startswith("epoch")] == ["50", "100", "150", "200"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("range(200)", "range(20)"),
        ("3.0 * x + 1.0", "3.0 * x + 1.01"),
        ("(other, lambda g: g * x))", "(other, lambda g: g))"),
        ("(self, lambda g: g.sum()))", "(self, lambda g: g.sum() * g.full((), 0.5)))"),
    ],
    ids=["too few epochs", "another line", "wrong derivative of *", "wrong derivative of broadcast_to"],
)
def test_a_tutorial_that_goes_wrong_fails(tmp_path: Path, old: str, new: str) -> None:
    ended = run(edited(tmp_path, old, new))
    assert ended.code == 1
    assert ended.err == ["expected w 3.00 and b 1.00, and the second derivative found by hand"]


def test_the_tutorial_needs_numpy_and_nothing_else() -> None:
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(SOURCE))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert imported - sys.stdlib_module_names == {"numpy"}


def test_the_names_and_places_that_the_tutorial_gives_are_those_of_moonxi() -> None:
    places = re.findall(r"moonxi/[a-z_/]+", SOURCE)
    assert len(places) >= 5
    assert [place for place in places if not (EXAMPLES.parent / place).exists()] == []


@given(lines, points)
def test_value_and_gradient_are_those_of_calculus(line: Line[Array], points: Points[Array]) -> None:
    value, slope = value_and_grad(line, points)
    error = line.w.data * points.x.data + line.b.data - points.y.data
    assert value.data == pytest.approx(np.mean(error**2))
    assert slope.w.data == pytest.approx(np.mean(2 * error * points.x.data), abs=1e-9)
    assert slope.b.data == pytest.approx(np.mean(2 * error), abs=1e-9)


@given(lines, points)
def test_the_second_derivative_is_that_of_calculus(line: Line[Array], points: Points[Array]) -> None:
    assert curvature(line, points).data == pytest.approx(np.mean(2 * points.x.data**2), abs=1e-9)


@given(lines, points)
def test_the_formulas_say_what_the_numbers_say(line: Line[Array], points: Points[Array]) -> None:
    shape = points.x.shape
    value, slope = value_and_grad(Line(Text("w"), Text("b")), Points(Text("x", shape), Text("y", shape)))
    names = {"w": line.w.data, "b": line.b.data, "x": points.x.data, "y": points.y.data, "sum": np.sum}
    expected, expected_slope = value_and_grad(line, points)
    # Formulas show six digits of a number such as 1/n.
    for formula, number in [(value, expected), (slope.w, expected_slope.w), (slope.b, expected_slope.b)]:
        assert eval(formula.text, {}, names) == pytest.approx(number.data, rel=1e-5, abs=1e-5)


def test_the_formula_of_the_loss_is_the_one_in_the_text_book() -> None:
    found = tutorial.loss(Line(Text("w"), Text("b")), Points(Text("x", (4,)), Text("y", (4,))))
    assert found == Text("sum(((x * w + b) - y) * ((x * w + b) - y)) * 0.25", ())


def test_a_step_is_a_function_of_any_interpreter() -> None:
    line, points = Line(Array(1.0), Array(2.0)), Points(Array([1.0, 2.0]), Array([0.0, 5.0]))
    value, stepped = tutorial.step(line, points, 0.1)
    lifted, under = tutorial.step(line.map(variable), points.map(constant), 0.1)
    assert lifted.value.data == value.data
    assert (under.w.value.data, under.b.value.data) == (stepped.w.data, stepped.b.data)
    _, formula = tutorial.step(Line(Text("w"), Text("b")), Points(Text("x", (2,)), Text("y", (2,))), 0.1)
    assert formula.w.text.startswith("(w - 0.1 * sum(")


@given(st.floats(-3.0, 3.0))
def test_derivatives_nest_to_any_depth(at: float) -> None:
    def derivative[T: Tensor](f: Callable[[Grad[T]], Grad[T]], x: T) -> T:
        v = variable(x)
        return f(v).backward()[v]

    def power[T: Tensor](x: T) -> T:
        return x * x * x * x

    third = derivative(lambda x: derivative(lambda x: derivative(power, x), x), Array(at))
    assert third.data == pytest.approx(24.0 * at, abs=1e-9)


def test_constants_record_nothing_and_get_no_gradient() -> None:
    x, k = variable(Array(2.0)), constant(Array(5.0))
    square = k * k
    assert square.parents is None
    product = x * square
    assert {tensor: gradient.data for tensor, gradient in product.backward().items()} == {product: 1.0, x: 25.0}


def test_a_tensor_used_twice_is_paid_twice() -> None:
    x = variable(Array(3.0))
    square = x * x
    gradients = (square * square - square).backward()
    assert gradients[x].data == pytest.approx(4 * 27.0 - 6.0)
    assert gradients[square].data == pytest.approx(17.0)


def test_a_long_chain_does_not_recurse() -> None:
    x = variable(Array(1.0))
    end, one = x, constant(Array(1.0))
    for _ in range(20 * sys.getrecursionlimit()):
        end = end + one
    assert end.backward()[x].data == 1.0


def test_arrays_of_unequal_shape_are_refused() -> None:
    three, number = Array([1.0, 2.0, 3.0]), Array(1.0)
    for operation in (Array.__add__, Array.__sub__, Array.__mul__):
        with pytest.raises(ValueError, match=r"^shapes \(3,\) and \(\) differ; repeat a number with broadcast_to$"):
            operation(three, number)
    assert (three + number.broadcast_to(three.shape)).data.tolist() == [2.0, 3.0, 4.0]


def test_only_a_single_number_has_a_gradient() -> None:
    x = variable(Array([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"^shape \(2,\) is not a single number; reduce it with sum or mean$"):
        (x * x).backward()
    assert mean(x * x).backward()[x].data.tolist() == [1.0, 2.0]


@pytest.mark.slow
def test_mypy_rejects_the_line_that_the_tutorial_says_it_rejects(tmp_path: Path) -> None:
    shown = re.search(r"\n#     (?P<line>variables\..*)\n#     mypy: (?P<error>.*)\n", SOURCE)
    assert shown is not None
    lifting = "    value = loss(variables, points.map(constant))\n"
    path = edited(tmp_path, lifting, f"    {shown['line']}\n{lifting}")
    number = path.read_text().splitlines().index(f"    {shown['line']}") + 1
    ended = run("-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}", path)
    assert ended.code == 1
    assert ended.out[:-1] == [f"{path}:{number}: error: {shown['error']}"]
