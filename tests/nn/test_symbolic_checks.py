"""Run-time checks of annotations when sizes are symbolic."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from jaxtyping import Float

import moonxi as mx
from moonxi import nn
from moonxi.dims import symbol, unknown
from moonxi.errors import MoonxiError, OperandError, ShapeError
from moonxi.losses import Logits
from moonxi.shape_tensor import ShapeTensor

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
