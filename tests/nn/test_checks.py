"""Annotations of a forward are checked at run time, and the error says where, what was due and what came."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest
from beartype import beartype
from jaxtyping import Float, Float32, Float64, jaxtyped

import moonxi as mx
from moonxi import nn
from moonxi.errors import ModuleError, OperandError, ShapeError
from moonxi.losses import Logits
from tests.nn.models import CPU, Array, Mlp, line, numbers

type Rows[T: mx.Tensor] = Float[T, "rows 3"]
type Row = Float[Array, "3"]


@dataclass(frozen=True)
class Weighted[T: mx.Tensor](nn.Module[T]):
    """Two arguments that share a size, and one by keyword."""

    weight: Float[T, " columns"]

    def forward(
        self,
        x: Float[T, "batch {self.weight.shape[0]}"],
        y: Float[T, " batch"],
        /,
        *,
        shift: Float[T, " batch"] | None = None,
    ) -> Float[T, " batch"]:
        z = (x * self.weight).sum(-1) + y
        return z if shift is None else z + shift


WEIGHTED = Weighted(numbers(3))


@dataclass(frozen=True)
class Gives(nn.Layer):
    """Gives what it holds, whatever its annotation says."""

    result: Any

    def forward(self, x: Float[Array, "batch 3"]) -> Float[Array, "batch 3"]:
        result: Float[Array, "batch 3"] = self.result
        return result


def test_a_right_call_passes() -> None:
    assert WEIGHTED.forward(numbers(2, 3), numbers(2), shift=numbers(2)).shape == (2,)


@pytest.mark.parametrize(
    ("x", "y", "text"),
    [
        ((2, 4), (2,), r'argument x: expected Float\[T, "batch 3"\] where batch=2, got NpArray\[F64\] \(2, 4\)'),
        ((2,), (2,), r'argument x: expected Float\[T, "batch 3"\], got NpArray\[F64\] \(2,\)'),
        ((2, 3), (3,), r'argument y: expected Float\[T, "batch"\] where batch=2, got NpArray\[F64\] \(3,\)'),
        ((2, 3), (), r'argument y: expected Float\[T, "batch"\] where batch=2, got NpArray\[F64\] \(\)'),
        ((0, 3), (1,), r'argument y: expected Float\[T, "batch"\] where batch=0, got NpArray\[F64\] \(1,\)'),
    ],
)
def test_a_wrong_shape_is_refused_by_argument(x: tuple[int, ...], y: tuple[int, ...], text: str) -> None:
    for _ in range(2):
        with pytest.raises(ShapeError, match=rf"^Weighted\.forward: {text}"):
            WEIGHTED.forward(numbers(*x), numbers(*y))


def test_a_wrong_shape_by_keyword_is_refused_also_after_right_ones() -> None:
    x, y = numbers(2, 3), numbers(2)
    for _ in range(2):
        WEIGHTED.forward(x, y, shift=numbers(2))
        WEIGHTED.forward(x, y)
        text = r'^Weighted\.forward: argument shift: expected Float\[T, "batch"\] \| None where batch=2, got .* \(3,\)'
        with pytest.raises(ShapeError, match=text):
            WEIGHTED.forward(x, y, shift=numbers(3))


@pytest.mark.parametrize("levels", [0, 1, 2, 3])
def test_shapes_are_checked_at_every_level_of_differentiation(levels: int) -> None:
    model: Any = line(3, 4)
    right: Any = numbers(2, 3)
    wrong: Any = numbers(2, 5)
    for _ in range(levels):
        model, right, wrong = model.map(mx.variable), mx.variable(right), mx.variable(wrong)
    assert model.forward(right).shape == (2, 4)
    name = type(right).__name__
    text = rf'^Linear\.forward: argument x: expected Float\[T, "\*batch 3"\], got {name}\[F64\] \(2, 5\)'
    with pytest.raises(ShapeError, match=text):
        model.forward(wrong)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (np.zeros((2, 3)), r"ndarray \(2, 3\)"),
        (1.5, "float 1.5"),
        (None, "NoneType None"),
        ([1, 2], r"list \[1, 2\]"),
        (CPU.labels(np.zeros((2, 3), int)), r"Labels \(2, 3\)"),
    ],
    ids=["ndarray", "float", "None", "list", "labels"],
)
def test_what_is_no_tensor_is_an_operand_error(value: Any, name: str) -> None:
    text = rf'^Linear\.forward: argument x: expected Float\[T, "\*batch 3"\], got {name}'
    with pytest.raises(OperandError, match=text):
        line(3, 4).forward(value)


def test_a_wrong_mode_is_an_operand_error() -> None:
    wrong: Any = "eval"
    with pytest.raises(OperandError, match=r"^Linear\.forward: argument mode: expected Mode \| None, got str 'eval'"):
        line(3, 4).forward(numbers(2, 3), wrong)
    with pytest.raises(OperandError, match=r"^Dropout\.forward: argument mode: expected Mode, got str 'eval'"):
        nn.Dropout(0.5).forward(numbers(2, 3), wrong)


def test_a_missing_argument_is_pythons_own_error() -> None:
    wrong: Any = line(3, 4)
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        wrong.forward()


def test_an_element_type_that_is_named_is_checked() -> None:
    class Single(nn.Layer):
        def forward[T: mx.Tensor](self, x: Float32[T, "..."]) -> None:
            return None

    class Double(nn.Layer):
        def forward[T: mx.Tensor](self, x: Float64[T, "..."]) -> None:
            return None

    single, double = mx.numpy(), CPU
    Single().forward(single)
    Double().forward(double)
    with pytest.raises(OperandError, match=r'expected Float32\[T, "\.\.\."\], got NpArray\[F64\] \(\)'):
        Single().forward(double)
    with pytest.raises(OperandError, match=r'expected Float64\[T, "\.\.\."\], got NpArray\[F32\] \(\)'):
        Double().forward(single)


@pytest.mark.parametrize("shape", [(2, 4), (3, 3), (2,), (2, 3, 1)])
def test_a_result_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    shown = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    text = rf'^Gives\.forward: result: expected Float\[T, "batch 3"\], got NpArray\[F64\] \({shown}\)'
    for _ in range(2):
        with pytest.raises(ShapeError, match=text):
            Gives(numbers(*shape)).forward(numbers(2, 3))
    assert Gives(numbers(2, 3)).forward(numbers(2, 3)).shape == (2, 3)
    with pytest.raises(ShapeError, match=text):
        Gives(numbers(*shape)).forward(numbers(2, 3))


def test_a_result_of_another_class_is_refused() -> None:
    right = numbers(2, 3)
    Gives(right).forward(right)
    for wrong in (None, 1.0, right.to_host(), Logits(right), [right]):
        with pytest.raises(OperandError, match=r'^Gives\.forward: result: expected Float\[T, "batch 3"\], got '):
            Gives(wrong).forward(right)


def test_a_wrong_result_under_differentiation_is_refused() -> None:
    class Halves(nn.Layer):
        def forward[T: mx.Tensor](self, x: Float[T, "n"]) -> Float[T, "n"]:
            return x[: x.shape[0] // 2]  # type: ignore[tensor-shape]  # the error is what is tested

    levels: list[Any] = [numbers(4), mx.variable(numbers(4)), mx.variable(mx.variable(numbers(4)))]
    for x in levels:
        with pytest.raises(
            ShapeError, match=r'^Halves\.forward: result: expected Float\[T, "n"\], got \w+\[F64\] \(2,\)'
        ):
            Halves().forward(x)


def test_another_layer_of_the_class_with_another_width_is_checked_by_its_own() -> None:
    @dataclass(frozen=True)
    class Fixed[T: mx.MlpTensor](nn.Module[T]):
        weight: Float[T, "columns outputs"]

        def forward(self, x: Float[T, "batch columns"]) -> Float[T, "batch 4"]:
            return x @ self.weight

    right, wrong = Fixed(numbers(3, 4)), Fixed(numbers(3, 5))
    for _ in range(3):
        assert right.forward(numbers(2, 3)).shape == (2, 4)
        with pytest.raises(
            ShapeError, match=r'^Fixed\.forward: result: expected Float\[T, "batch 4"\], got .* \(2, 5\)'
        ):
            wrong.forward(numbers(2, 3))


def test_shapes_behind_an_alias_are_checked_with_their_braces() -> None:
    type Wide[T: mx.Tensor] = Float[T, "batch {self.width}"]

    @dataclass(frozen=True)
    class Aliased(nn.Layer):
        width: int

        def forward[T: mx.Tensor](self, x: Wide[T]) -> Rows[T]:
            return x[:, :3]

    for _ in range(2):
        assert Aliased(4).forward(numbers(2, 4)).shape == (2, 3)
        with pytest.raises(ShapeError, match=r"^Aliased\.forward: argument x: .*got NpArray\[F64\] \(2, 4\)"):
            Aliased(5).forward(numbers(2, 4))
        with pytest.raises(ShapeError, match=r"^Aliased\.forward: result: .*\(2, 2\)"):
            Aliased(2).forward(numbers(2, 2))


def test_shapes_within_containers_are_checked() -> None:
    class Joined(nn.Layer):
        def forward(self, xs: Sequence[Float[Array, "n"]], pair: tuple[Float[Array, "n"], Float[Array, "m"]]) -> None:
            return None

    x, y = numbers(2), numbers(3)
    for _ in range(2):
        Joined().forward([x], (x, y))
        Joined().forward((x, x), (x, x))
        with pytest.raises(MoonxiShape, match=r"^Joined\.forward: argument pair: "):
            Joined().forward([x], (y, y))
        with pytest.raises(MoonxiShape, match=r"^Joined\.forward: argument xs: "):
            Joined().forward([numbers(2, 2)], (x, y))


MoonxiShape = (ShapeError, OperandError)
"""A container with a wrong shape inside is the wrong value for its annotation."""


def test_annotations_of_values_are_checked_each_time() -> None:
    class Padded(nn.Layer):
        def forward[T: mx.Tensor](self, x: T, padding: Literal["same", "valid"], sizes: Mapping[str, int]) -> T:
            return x

    x, wrong = numbers(2), "full"
    for _ in range(3):
        Padded().forward(x, "same", {"a": 1})
        Padded().forward(x, "valid", {})
        with pytest.raises(OperandError, match=r"^Padded\.forward: argument padding: expected .*, got str 'full'"):
            Padded().forward(x, wrong, {})  # type: ignore[arg-type]
        with pytest.raises(OperandError, match=r"^Padded\.forward: argument sizes: "):
            Padded().forward(x, "same", {"a": "b"})  # type: ignore[dict-item]


def test_values_within_containers_are_checked_each_time() -> None:
    class Steps(nn.Layer):
        def forward[T: mx.Tensor](self, x: T, kinds: tuple[Literal["up", "down"], ...]) -> T:
            return x

    x, wrong = numbers(2), ("left",)
    for _ in range(3):
        Steps().forward(x, ("up",))
        Steps().forward(x, ("down",))
        with pytest.raises(OperandError, match=r"^Steps\.forward: argument kinds: expected .*, got tuple \('left',\)"):
            Steps().forward(x, wrong)  # type: ignore[arg-type]


def test_a_check_in_the_body_knows_the_sizes_of_the_arguments_each_time() -> None:
    @dataclass(frozen=True)
    class Asserts(nn.Layer):
        take: int

        def forward(self, x: Float[Array, "n m"]) -> None:
            shape: Any = Float[Array, "n m"]
            assert isinstance(x[: self.take], shape)

    for _ in range(2):
        Asserts(3).forward(numbers(3, 2))
        with pytest.raises(AssertionError):
            Asserts(2).forward(numbers(3, 2))


def test_what_a_function_of_ones_own_finds_within_a_forward_is_not_blamed_on_the_layer() -> None:
    @jaxtyped(typechecker=beartype)
    def halve(x: Float[Array, "7"]) -> Float[Array, "7"]:
        return x * 0.5

    class Calls(nn.Layer):
        def forward(self, x: Float[Array, "n"]) -> Array:
            return halve(x)  # type: ignore[tensor-shape]  # only right for 7, which is what is tested

    assert Calls().forward(numbers(7)).shape == (7,)
    with pytest.raises(Exception, match=r"parameters of .*halve") as caught:
        Calls().forward(numbers(6))
    assert type(caught.value).__name__ == "TypeCheckError"


def test_the_function_runs_once_in_a_call_also_where_its_result_is_wrong() -> None:
    runs: list[int] = []

    class Counted(nn.Layer):
        def forward(self, x: Float[Array, "n"], give: Logits[Array]) -> Float[Array, "n"]:
            runs.append(1)
            return give.value

    x = numbers(2)
    for expected, give in enumerate([x, numbers(3), x, numbers(2, 2), x], 1):
        try:
            Counted().forward(x, Logits(give))
        except ShapeError:
            assert give is not x
        assert len(runs) == expected


def test_text_annotations_are_refused_when_the_class_is_made() -> None:
    text = (
        r"^.*Quoted\.forward: the annotation of x is text, and its shape could not be checked; "
        r"write Float\[Array, '3'\] without quotes around it$"
    )
    with pytest.raises(ModuleError, match=text):

        class Quoted(nn.Layer):
            def forward(self, x: "Float[Array, '3']") -> None:
                return None


def test_the_future_import_is_refused_when_the_class_is_made() -> None:
    source = """
from __future__ import annotations
from moonxi import nn
class Future(nn.Layer):
    def forward(self, x: Float[Array, "3"]) -> Float[Array, "3"]:
        return x
"""
    text = (
        r"^Future\.forward: 'from __future__ import annotations' makes text of its annotations, and their shapes "
        r"could not be checked; remove that import$"
    )
    with pytest.raises(ModuleError, match=text):
        exec(compile(source, "future", "exec", dont_inherit=True), {"__name__": "future"})


def test_an_annotation_that_names_a_class_as_text_is_still_allowed() -> None:
    class Later(nn.Layer):
        def forward(self, other: "Later") -> "Row | None":
            return None

    for _ in range(2):
        assert Later().forward(Later()) is None


def test_a_forward_that_is_inherited_from_a_mixin_is_checked() -> None:
    class Doubles:
        def forward(self, x: Float[Array, "3"]) -> Float[Array, "3"]:
            return x * 2.0

    @dataclass(frozen=True)
    class Mixed(Doubles, nn.Layer):
        pass

    Mixed().forward(numbers(3))
    with pytest.raises(ShapeError, match=r"^Mixed\.forward: argument x: "):
        Mixed().forward(numbers(4))


def test_a_forward_that_calls_that_of_its_base_checks_both() -> None:
    class Base(nn.Layer):
        def forward(self, x: Float[Array, "n"]) -> Float[Array, "n"]:
            return x

    class Narrow(Base):
        def forward(self, x: Float[Array, "3"]) -> Float[Array, "n"]:  # type: ignore[tensor-shape]  # narrower on purpose
            return super().forward(x[None])

    with pytest.raises(ShapeError, match=r'^Narrow\.forward: argument x: expected Float\[T, "3"\]'):
        Narrow().forward(numbers(4))
    with pytest.raises(ShapeError, match=r'^Narrow\.forward: argument x: expected Float\[T, "n"\].* \(1, 3\)'):
        Narrow().forward(numbers(3))


def test_the_fields_of_a_module_must_fit_each_other() -> None:
    text = (
        r'^Linear: field bias: expected Float\[T, "outputs"\] \| None, got NpArray\[F64\] \(5,\): '
        r"sizes of one name must be the same in all fields$"
    )
    with pytest.raises(ShapeError, match=text):
        nn.Linear(numbers(3, 4), numbers(5))
    with pytest.raises(
        ShapeError, match=r'^Linear: field weight: expected Float\[T, "inputs outputs"\], got .* \(3,\)'
    ):
        nn.Linear(numbers(3), None)


def test_a_field_that_is_no_tensor_is_an_operand_error() -> None:
    wrong: Any = np.zeros((3, 4))
    text = (
        r'^Linear: field weight: expected Float\[T, "inputs outputs"\], got ndarray \(3, 4\); bring the array in with'
    )
    with pytest.raises(OperandError, match=text):
        nn.Linear(wrong, None)


def test_fields_in_containers_and_with_braces_are_checked() -> None:
    @dataclass(frozen=True)
    class Stack[T: mx.Tensor](nn.Module[T]):
        width: int
        rows: tuple[Float[T, "{self.width}"], ...]
        last: Float[T, "{self.width} 2"]

    assert Stack(3, (numbers(3), numbers(3)), numbers(3, 2)).width == 3
    with pytest.raises(
        ShapeError, match=r'^Stack: field last: expected Float\[T, "3 2"\], got NpArray\[F64\] \(4, 2\)'
    ):
        Stack(3, (numbers(3),), numbers(4, 2))
    with pytest.raises(OperandError, match=r"^Stack: field rows: "):
        Stack(3, (numbers(4),), numbers(3, 2))


def test_a_field_whose_shape_is_text_is_refused() -> None:
    @dataclass(frozen=True)
    class Quoted(nn.Module[Array]):
        weight: "Float[Array, '3']"

    with pytest.raises(ModuleError, match=r"^Quoted: the annotation of weight is text"):
        Quoted(numbers(3))


def test_models_may_be_given_to_a_forward_by_class() -> None:
    class Outer(nn.Layer):
        def forward(self, model: Mlp[Array], x: Array) -> Array:
            return model.forward(x, mx.Eval())

    model = Mlp(line(3, 4), line(4, 2))
    for _ in range(2):
        assert Outer().forward(model, numbers(5, 3)).shape == (5, 2)
        with pytest.raises(OperandError, match=r"^Outer\.forward: argument model: expected "):
            Outer().forward(line(3, 4), numbers(5, 3))  # type: ignore[arg-type]
