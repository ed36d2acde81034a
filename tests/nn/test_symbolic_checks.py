"""Run-time checks of annotations when sizes are symbolic."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import Float, Int

import moonxi as mx
from moonxi import nn
from moonxi.dims import symbol, unknown
from moonxi.errors import MoonxiError, OperandError, ShapeError
from moonxi.losses import Logits
from moonxi.nn.symbolic_checks import misfitting
from moonxi.shape_tensor import ShapeTensor
from moonxi.shapes.specification import Names

n: Any = symbol("n", least=1)  # tensors say that their sizes are integers
h: Any = symbol("h", least=1)
w: Any = symbol("w", least=1)
like = ShapeTensor(())


@dataclass(frozen=True)
class Halved(nn.Layer):
    """Says that the height is halved."""

    step: int = 2

    def forward[T: mx.Tensor](
        self, x: Float[T, "batch 3 height width"], y: Float[T, "batch"] | None = None, /
    ) -> Float[T, "batch 3 height//2 width"]:
        return x[:, :, : (x.shape[2] // 2) * 2 : self.step]


@dataclass(frozen=True)
class Pair(nn.Layer):
    def forward[T: mx.Tensor](
        self, pair: tuple[Float[T, "a b"], Float[T, "b c"]], rest: list[Float[T, "c"]], /
    ) -> tuple[Float[T, "a"], Logits[T]]:
        return pair[0][:, 0], Logits(pair[1])


def test_names_are_bound_to_symbols() -> None:
    x = ShapeTensor((n, 3, h, w))
    assert Halved().forward(x).shape == (n, 3, h // 2, w)
    assert Halved().forward(x, ShapeTensor((n,))).shape == (n, 3, h // 2, w)
    first, second = Pair().forward((ShapeTensor((n, h)), ShapeTensor((h, 5))), [ShapeTensor((5,))])
    assert first.shape == (n,)
    assert second.shape == (h, 5)


def test_what_stands_in_braces_may_be_symbolic() -> None:
    width: Any = symbol("width", least=1)
    other: Any = unknown("u", least=1)
    layer = nn.Linear.init(width, 10, like=like, key=mx.Key(0))
    assert layer.forward(ShapeTensor((n, width))).shape == (n, 10)
    assert nn.Linear.init(other, 10, like=like, key=mx.Key(0)).forward(ShapeTensor((n, 7))).shape == (n, 10)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: Halved().forward(ShapeTensor((n, 4, h, w))),
            ShapeError,
            (
                'Halved.forward: argument x: expected Float[T, "batch 3 height width"] where batch=n, '
                "got ShapeTensor[F32] (n, 4, h, w)"
            ),
        ),
        (
            lambda: Halved().forward(ShapeTensor((n, 3, h, w)), ShapeTensor((h,))),
            ShapeError,
            (
                'Halved.forward: argument y: expected Float[T, "batch"] | None where batch=n, height=h, width=w, '
                "got ShapeTensor[F32] (h,)"
            ),
        ),
        (
            lambda: Halved(1).forward(ShapeTensor((n, 3, h, w))),
            ShapeError,
            (
                'Halved.forward: result: expected Float[T, "batch 3 height//2 width"] where batch=n, height=h, '
                "width=w, got ShapeTensor[F32] (n, 3, 2*(h//2), w)"
            ),
        ),
        (
            lambda: Halved().forward(3, ShapeTensor((n,))),  # type: ignore[type-var]
            OperandError,
            'Halved.forward: argument x: expected Float[T, "batch 3 height width"], got int 3',
        ),
        (
            lambda: nn.Linear.init(h, 10, like=like, key=mx.Key(0)).forward(ShapeTensor((n, n))),
            ShapeError,
            'Linear.forward: argument x: expected Float[T, "*batch h"], got ShapeTensor[F32] (n, n)',
        ),
        (
            lambda: nn.Linear(ShapeTensor((n, 10)), ShapeTensor((n,))),
            ShapeError,
            (
                'Linear: field bias: expected Float[T, "outputs"] | None, got ShapeTensor[F32] (n,): sizes of one name '
                "must be the same in all fields"
            ),
        ),
    ],
)
def test_a_misfit_is_refused_in_the_words_of_every_check(
    call: Callable[[], object], error: type[MoonxiError], text: str
) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == text


def test_other_annotations_are_checked_too() -> None:
    class Odd(nn.Layer):
        def forward(self, x: Any, size: int, /) -> Any:
            return x

    with pytest.raises(OperandError, match=r"^Odd.forward: argument size: expected int, got str 'two'"):
        Odd().forward(ShapeTensor((n,)), "two")  # type: ignore[arg-type]


def test_numbers_are_checked_as_before() -> None:
    with pytest.raises(ShapeError, match=r"^Halved.forward: argument x: expected "):
        Halved().forward(ShapeTensor((2, 4, 6, 6)))
    assert Halved().forward(ShapeTensor((2, 3, 6, 6))).shape == (2, 3, 3, 6)


host = mx.numpy()


@dataclass(frozen=True)
class Gated[T: mx.Tensor](nn.Module[T]):
    """Expressions of names that nothing has bound before."""

    weight: Float[T, "inputs 4*hidden"]
    bias: Float[T, "hidden"] | None

    def forward(
        self, x: Float[T, "batch 2*d"], both: Float[T, "a+b"] | None = None, one: Float[T, "a 2"] | None = None, /
    ) -> tuple[Float[Logits[T], "batch d"], Float[T, "b"] | None]:
        half = x.shape[1] // 2
        return Logits(x[:, :half]), None if both is None else both[3:]


def gated(*weight: int, bias: int | None = None) -> Gated[mx.NpArray[mx.F32]]:
    return Gated(host.zeros(weight), None if bias is None else host.zeros((bias,)))


def test_expressions_are_solved_for_the_names_in_fields_and_arguments() -> None:
    layer = gated(3, 8, bias=2)
    for _ in range(3):  # the second call is one that has passed before
        scores, rest = layer.forward(host.zeros((5, 6)))
        assert (scores.shape, rest) == ((5, 3), None)
    _, rest = layer.forward(host.zeros((5, 6)), host.zeros((7,)), host.zeros((3, 2)))
    assert rest is not None
    assert rest.shape == (4,)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: gated(3, 7),
            (
                'Gated: field weight: expected Float[T, "inputs 4*hidden"], got NpArray[F32] (3, 7): sizes of one name '
                "must be the same in all fields"
            ),
        ),
        (
            lambda: gated(3, 8, bias=3),
            (
                'Gated: field bias: expected Float[T, "hidden"] | None, got NpArray[F32] (3,): sizes of one name '
                "must be the same in all fields"
            ),
        ),
        (
            lambda: gated(3, 8).forward(host.zeros((5, 7))),
            'Gated.forward: argument x: expected Float[T, "batch 2*d"] where batch=5, got NpArray[F32] (5, 7)',
        ),
        (
            lambda: gated(3, 8).forward(host.zeros((5, 6)), host.zeros((2,)), host.zeros((4, 2))),
            (
                'Gated.forward: argument both: expected Float[T, "a+b"] | None where batch=5, d=3, a=4, '
                "got NpArray[F32] (2,)"
            ),
        ),
    ],
)
def test_an_expression_that_nothing_solves_is_a_misfit(call: Callable[[], object], text: str) -> None:
    with pytest.raises(ShapeError) as raised:
        call()
    assert str(raised.value) == text


def test_a_result_is_held_to_what_the_arguments_left_open() -> None:
    layer = gated(3, 8)
    x, both = host.zeros((5, 6)), host.zeros((7,))
    assert layer.forward(x, both)[0].shape == (5, 3)  # a is anything, such as 3
    with pytest.raises(MoonxiError, match=r"^Gated.forward: result: expected "):
        layer.forward(x, both, host.zeros((4, 2)))


def test_of_two_annotations_the_one_that_fits_in_the_end_is_taken() -> None:
    @dataclass(frozen=True)
    class Either(nn.Layer):
        def forward[T: mx.Tensor](self, x: Float[T, "a+b"] | Float[T, "c"], y: Float[T, "a b"], /) -> Float[T, "c"]:
            return x

    assert Either().forward(host.zeros((5,)), host.zeros((4, 4))).shape == (5,)


def test_what_only_jaxtyping_reads_is_left_to_it() -> None:
    @dataclass(frozen=True)
    class Odd(nn.Layer):
        def forward[T: mx.Tensor](self, x: Float[T, "n"], y: Float[T, "abs(n-9) 2*n"], /) -> Float[T, "n"]:
            return x

    assert Odd().forward(host.zeros((5,)), host.zeros((4, 10))).shape == (5,)
    with pytest.raises(ShapeError):
        Odd().forward(host.zeros((5,)), host.zeros((5, 10)))


type Nested = list[Nested] | int


def test_an_alias_may_have_itself_as_a_part() -> None:
    @dataclass(frozen=True)
    class Configured(nn.Layer):
        def forward[T: mx.Tensor](self, x: Float[T, "2*n"], settings: Nested, /) -> Float[T, "n"]:
            return x[::2]

    assert Configured().forward(host.zeros((4,)), [1, [2]]).shape == (2,)


def test_classes_and_element_types_are_checked_beside_expressions() -> None:
    @dataclass(frozen=True)
    class Mixed(nn.Layer):
        def forward[T: mx.Tensor](
            self, x: Float[np.ndarray, "2*n"], words: Int[mx.Labels[T], "n"], mode: nn.Mode, later: "Mixed | None", /
        ) -> Float[np.ndarray, "n"]:
            return x[::2]

    words = host.labels(np.arange(3))
    assert Mixed().forward(np.zeros(6), words, mx.Eval(), None).shape == (3,)
    with pytest.raises(OperandError, match="argument x: expected"):
        Mixed().forward(np.zeros(6, int), words, mx.Eval(), None)
    with pytest.raises(OperandError, match="argument words: expected"):
        Mixed().forward(np.zeros(6), host.zeros((3,)), mx.Eval(), None)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="result: expected"):
        type("Whole", (Mixed,), {"forward": _whole})().forward(np.zeros(6))


def _whole(self: object, x: Float[np.ndarray, "2*n"], /) -> Float[np.ndarray, "n"]:
    return x  # type: ignore[tensor-shape]  # on purpose


expressions = st.sampled_from(
    ("a", "b", "c", "2*a", "a+b", "a-1", "b*c", "2*c+1", "a//2", "b%3", "a*b+c", "max(a,b)", "3", "#b", "_")
)


@settings(max_examples=300)
@given(
    st.lists(st.lists(expressions, max_size=3).map(" ".join), min_size=1, max_size=4),
    st.fixed_dictionaries({name: st.integers(1, 6) for name in "abc"}),
)
def test_no_right_shape_is_refused_whatever_the_order(texts: list[str], values: dict[str, int]) -> None:
    def size(word: str) -> int:
        return int(eval("7" if word == "_" else word.strip("#"), {**values, "max": max}))

    claims: list[tuple[object, object]] = [
        (Float[np.ndarray, text], np.zeros([size(word) for word in text.split()])) for text in texts
    ]
    names = Names()
    assert misfitting(claims, names, {}) is None
    assert all(values[name] == found for name, found in names.sizes.items())


@given(st.integers(2, 9), st.integers(0, 9), st.integers(0, 100))
def test_a_linear_expression_fits_just_the_sizes_that_solve_it(slope: int, offset: int, given_size: int) -> None:
    names = Names()
    place = misfitting([(Float[np.ndarray, f"{slope}*d+{offset}"], np.zeros(given_size))], names, {})
    fits = given_size >= offset and (given_size - offset) % slope == 0
    assert (place is None) is fits
    assert names.sizes == ({"d": (given_size - offset) // slope} if fits else {})
