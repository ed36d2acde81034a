"""Shapes in annotations, and names for types: right programs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

from jaxtyping import Bool, Float, Int, Shaped

import moonxi as mx
from moonxi import F32, NpArray, ShapeTensor, Tensor, nn
from moonxi.losses import Logits

type Host = NpArray[F32]
type Matrix[T: Tensor] = Float[T, "rows columns"]
type Pair[T: Tensor] = tuple[T, T]
type Table[T: Tensor] = dict[str, Matrix[T]]
type Step[T: Tensor] = Callable[[Matrix[T], Pair[T]], T]
Vector: TypeAlias = Float[NpArray[F32], "n"]  # noqa: UP040 - the older way is meant
Trait: TypeAlias = Tensor  # noqa: UP040

LIKE: Final = mx.numpy()


def product[T: mx.MlpTensor](x: Float[T, "rows inner"], y: Float[T, "inner columns"]) -> Matrix[T]:
    return x.matmul(y)


def totals[T: Trait](x: Shaped[T, "*batch n"], y: Float[T, "*batch n"] | None = None) -> Float[T, "*batch"]:
    return (x if y is None else x + y).sum(-1)


def annotated[T: Tensor](x: Annotated[T, "of any shape"], y: Annotated[Float[T, "n"], "a vector"]) -> T:
    return x + y


def spread[T: Tensor](
    x: Float[T, "b"], classes: int, *rest: Float[T, "b"], **more: Float[T, "b"]
) -> tuple[Float[T, "b"], list[Float[T, "b"]]]:
    return x * float(classes), [*rest, *more.values()]


def length(x: Vector, y: Vector) -> float:
    return (x * y).sum().item()


def stepped[T: Tensor](step: Step[T], table: Table[T], pair: Pair[T]) -> list[T]:
    return [step(x, pair) for x in table.values()]


def chosen[T: Tensor](x: Float[T, "b n"], on: Bool[mx.Mask[T], "b n"], labels: Int[mx.Labels[T], "b"]) -> T:
    return on.select(x, 0.0).pick(labels)


@dataclass(frozen=True)
class Scaled[T: mx.MlpTensor](nn.Module[T]):
    weight: Float[T, "inputs outputs"]
    scale: Float[T, "outputs"] | None
    parts: dict[str, Float[T, "outputs"]]

    def forward(self, x: Float[T, "batch inputs"], /) -> Logits[T]:
        y: Float[T, "batch outputs"] = x.matmul(self.weight)
        return Logits(y if self.scale is None else y * self.scale)


def inside[T: mx.MlpTensor](x: Matrix[T], y: Float[T, "columns rows"]) -> Float[T, "rows rows"]:
    local: Matrix[T] = product(x, y)
    return product(local, local) + totals(local, local).sum()


def main() -> None:
    host, shape = LIKE.ones((2, 2)), ShapeTensor((2, 2))
    seen: list[object] = [product(host, host), product(shape, shape), totals(host), totals(shape, shape)]
    seen += [annotated(host, host[0]), spread(host[0], 3, host[1], a=host[0]), length(host[0], host[1])]
    seen += [stepped(lambda x, pair: x + pair[0], {"a": host}, (host, host)), inside(host, host), inside(shape, shape)]
    seen += [chosen(host, host > 0.5, host.argmax(1))]
    model = Scaled(host, host[0], {"a": host[0]})
    seen += [model.forward(host).value, model.map(mx.variable).forward(mx.constant(host)).value]
    assert seen
