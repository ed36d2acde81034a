"""Shapes through Python's own constructions: loops, comprehensions, functions within functions, module level."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

import moonxi as mx
from moonxi import F32, NpArray, nn
from moonxi.linalg import einsum
from moonxi.losses import Logits, cross_entropy

type Host = NpArray[F32]
type Rows[T: mx.Tensor] = Float[T, "rows 4"]
type Wide[T: mx.Tensor] = Rows[T]
Columns = Float[Host, "4 columns"]


def ones(*shape: int) -> Host:
    return mx.numpy().ones(shape)


TABLE = mx.numpy().ones((3, 4))
WEIGHT = mx.numpy().ones((4, 5))
WRONG = TABLE @ TABLE if __name__ == "no" else TABLE  # E: [tensor-shape] matmul: (3, 4) @ (3, 4)


def wrong_at_module_level() -> Host:
    return TABLE @ TABLE  # E: [tensor-shape] matmul: (3, 4) @ (3, 4)


def right_at_module_level() -> None:
    assert (TABLE @ WEIGHT).shape == (3, 5)


def wrong_loop_over_tensors(a: Float[Host, "n d"], b: Float[Host, "n k"]) -> Host:
    total = a
    for one in (a, b):
        total = total + one  # E: [tensor-shape] add: (n, d) and (n, k)
    return total


def right_loop_over_tensors() -> None:
    def total(a: Float[Host, "n d"], b: Float[Host, "n d"]) -> Float[Host, "n d"]:
        result = a
        for one in (a, b):
            result = result + one
        return result

    assert total(ones(2, 3), ones(2, 3)).shape == (2, 3)


def wrong_state_of_a_loop(x: Float[Host, "time batch d"], w: Float[Host, "d d"], steps: int) -> Host:
    h = x.mean(0)
    for _ in range(steps):
        h = (w @ h).tanh()  # E: [tensor-shape] matmul: (d, d) @ (batch, d)
    return h


def right_state_of_a_loop() -> None:
    def last(x: Float[Host, "time batch d"], w: Float[Host, "d d"], steps: int) -> Float[Host, "batch d"]:
        h = x.mean(0)
        for _ in range(steps):
            h = (h @ w).tanh()
        return h

    assert last(ones(2, 3, 4), ones(4, 4), 3).shape == (3, 4)


def wrong_result_of_a_loop(x: Float[Host, "batch d"], w: Float[Host, "d d"], steps: int) -> Float[Host, "d batch"]:
    h = x
    while steps > 0:
        h, steps = h @ w, steps - 1
    return h  # E: [tensor-shape] return: (batch, d)


def right_result_of_a_loop() -> None:
    def last(x: Float[Host, "batch d"], w: Float[Host, "d d"], steps: int) -> Float[Host, "d batch"]:
        h = x
        while steps > 0:
            h, steps = h @ w, steps - 1
        return h.transpose()

    assert last(ones(2, 3), ones(3, 3), 2).shape == (3, 2)


def wrong_loop_over_layers(x: Float[Host, "batch 8"]) -> Host:
    like, key = mx.numpy(), mx.Key(0)
    layers = [nn.Linear.init(8, 16, like=like, key=key), nn.Linear.init(8, 4, like=like, key=key)]
    for layer in layers:
        x = layer.forward(x).relu()  # E: [tensor-shape] argument 1 of "Linear.forward": (batch, 16)
    return x


def right_loop_over_layers() -> None:
    like, key = mx.numpy(), mx.Key(0)
    x, layers = ones(2, 8), [nn.Linear.init(8, 16, like=like, key=key), nn.Linear.init(16, 4, like=like, key=key)]
    for layer in layers:
        x = layer.forward(x).relu()
    assert x.shape == (2, 4)


def wrong_comprehension(xs: list[Float[Host, "n d"]], w: Float[Host, "n k"]) -> list[Host]:
    return [x @ w for x in xs]  # E: [tensor-shape] matmul: (n, d) @ (n, k)


def right_comprehension() -> None:
    def products(xs: list[Float[Host, "n d"]], w: Float[Host, "n k"]) -> list[Host]:
        return [x.transpose() @ w for x in xs]

    assert [one.shape for one in products([ones(2, 3)] * 2, ones(2, 5))] == [(3, 5)] * 2


def wrong_element_of_a_list(xs: list[Float[Host, "n d"]]) -> Float[Host, " d"]:
    return xs[0].sum(1)  # E: [tensor-shape] return: (n,): annotated "d"


def right_element_of_a_list() -> None:
    def first(xs: list[Float[Host, "n d"]]) -> Float[Host, " d"]:
        return xs[0].sum(0)

    assert first([ones(2, 3)]).shape == (3,)


def wrong_loop_over_pairs(xs: list[Float[Host, "n d"]], ys: list[Float[Host, "n k"]]) -> list[Host]:
    out = []
    for x, y in zip(xs, ys, strict=True):
        out.append(x @ y)  # E: [tensor-shape] matmul: (n, d) @ (n, k)
    return out


def right_loop_over_pairs() -> None:
    def products(xs: list[Float[Host, "n d"]], ys: list[Float[Host, "n k"]]) -> list[Host]:
        out = []
        for x, y in zip(xs, ys, strict=True):
            out.append(x.transpose() @ y)
        return out

    assert products([ones(2, 3)], [ones(2, 4)])[0].shape == (3, 4)


def wrong_lambda(x: Float[Host, "n d"]) -> Host:
    gram: Callable[[Host], Host] = lambda rows: rows @ rows  # noqa: E731
    return gram(x) + x.mean()  # E: [tensor-shape] matmul: (n, d) @ (n, d)


def right_lambda() -> None:
    x = ones(2, 3)
    gram: Callable[[Host], Host] = lambda rows: rows @ rows.transpose()  # noqa: E731
    assert gram(x).shape == (2, 2)


def product[T: mx.MlpTensor](left: T, right: T) -> T:
    scaled = left * 2.0
    return scaled @ right


def wrong_helper_without_shapes(x: Float[Host, "n d"], y: Float[Host, "n k"]) -> Host:
    return product(x, y)  # E: [tensor-shape] "product" (line


def right_helper_without_shapes() -> None:
    def cross(x: Float[Host, "n d"], y: Float[Host, "n k"]) -> Float[Host, "d k"]:
        return product(x.transpose(), y)

    assert cross(ones(2, 3), ones(2, 4)).shape == (3, 4)


def wrong_result_of_a_helper(x: Float[Host, "n d"], y: Float[Host, "d k"]) -> Float[Host, "k n"]:
    return product(x, y)  # E: [tensor-shape] return: (n, k)


def right_result_of_a_helper() -> None:
    def crossed(x: Float[Host, "n d"], y: Float[Host, "d k"]) -> Float[Host, "k n"]:
        return product(x, y).transpose()

    assert crossed(ones(2, 3), ones(3, 4)).shape == (4, 2)


def wrong_inner_function(x: Float[Host, "n d"], w: Float[Host, "k m"]) -> Host:
    def scores(rows: Float[Host, "n d"]) -> Host:
        return rows @ w  # E: [tensor-shape] matmul: (n, d) @ (k, m)

    return scores(x)


def right_inner_function() -> None:
    def outer(x: Float[Host, "n d"], w: Float[Host, "d m"]) -> Host:
        def scores(rows: Float[Host, "n d"]) -> Host:
            return rows @ w

        return scores(x)

    assert outer(ones(2, 3), ones(3, 4)).shape == (2, 4)


def wrong_generic_alias[T: mx.MlpTensor](x: Rows[T]) -> T:
    return x @ x  # E: [tensor-shape] matmul: (rows, 4) @ (rows, 4)


def right_generic_alias() -> None:
    def gram[T: mx.MlpTensor](x: Rows[T]) -> Float[T, "4 4"]:
        return x.transpose() @ x

    assert gram(ones(2, 4)).shape == (4, 4)


def wrong_alias_of_an_alias[T: mx.Tensor](x: Wide[T]) -> Float[T, " rows"]:
    return x.sum((0, 1))  # E: [tensor-shape] return: ()


def right_alias_of_an_alias() -> None:
    def sums[T: mx.Tensor](x: Wide[T]) -> Float[T, " rows"]:
        return x.sum(1)

    assert sums(ones(2, 4)).shape == (2,)


def wrong_old_alias(x: Columns) -> Host:
    return x.matmul(x)  # E: [tensor-shape] matmul: (4, columns) @ (4, columns)


def right_old_alias() -> None:
    def gram(x: Columns) -> Host:
        return x.transpose().matmul(x)

    assert gram(ones(4, 2)).shape == (2, 2)


@dataclass(frozen=True)
class Layer[T: mx.Tensor](nn.Module[T]):
    scale: Float[T, " d"]

    def forward(self, x: Float[T, "batch time d"]) -> Float[T, "batch time d"]:
        return x * self.scale


@dataclass(frozen=True)
class Narrow[T: mx.Tensor](Layer[T]):
    def forward(self, x: Float[T, "batch d"]) -> Float[T, "batch d"]:  # E: [tensor-shape] "forward" of "Layer" takes
        return x * self.scale


def wrong_override(layer: Layer[Host], x: Float[Host, "n d"]) -> Host:
    return layer.forward(x)  # E: [tensor-shape] argument "x" of "Layer.forward": (n, d)


def right_override() -> None:
    assert Layer(ones(3)).forward(ones(1, 2, 3)).shape == (1, 2, 3)


def wrong_optional(x: Float[Host, "n d"], bias: Float[Host, " n"] | None) -> Host:
    return x if bias is None else x + bias  # E: [tensor-shape] add: (n, d) and (n,)


def right_optional() -> None:
    def shifted(x: Float[Host, "n d"], bias: Float[Host, " d"] | None) -> Float[Host, "n d"]:
        return x if bias is None else x + bias

    assert shifted(ones(2, 3), ones(3)).shape == (2, 3)


def wrong_stacked_list(xs: tuple[Float[Host, "n d"], Float[Host, "n k"]]) -> Host:
    first, second = xs
    return first.stack(second, axis=0)  # E: [tensor-shape] stack


def right_stacked_list() -> None:
    def both(xs: tuple[Float[Host, "n d"], Float[Host, "n d"]]) -> Float[Host, "2 n d"]:
        first, second = xs
        return first.stack(second, axis=0)

    assert both((ones(2, 3), ones(2, 3))).shape == (2, 2, 3)


def wrong_einsum(q: Float[Host, "b t d"], k: Float[Host, "b s e"]) -> Host:
    return einsum("btd,bsd->bts", q, k)  # E: [tensor-shape] einsum


def right_einsum() -> None:
    def scores(q: Float[Host, "b t d"], k: Float[Host, "b s d"]) -> Float[Host, "b t s"]:
        return einsum("btd,bsd->bts", q, k)

    assert scores(ones(1, 2, 3), ones(1, 4, 3)).shape == (1, 2, 4)


def wrong_formula(x: Float[Host, "batch 2*c h"], y: Float[Host, "batch c h"]) -> Host:
    return x.reshape((x.shape[0], x.shape[1] // 2, 2 * x.shape[2])) + y  # E: [tensor-shape] add


def right_formula() -> None:
    def halves(x: Float[Host, "batch 2*c h"]) -> Float[Host, "batch c h"]:
        return x.reshape((x.shape[0], 2, x.shape[1] // 2, x.shape[2])).sum(1)

    assert halves(ones(2, 4, 6)).shape == (2, 2, 6)


def wrong_list_that_grows(x: Float[Host, "batch time d"]) -> Float[Host, "batch time d"]:
    rows: list[Host] = []
    for step in range(x.shape[1]):
        rows.append(x[:, step].tanh())
    return rows[0].stack(*rows[1:], axis=2)  # E: [tensor-shape] return: (batch, d, _)


def right_list_that_grows() -> None:
    def steps(x: Float[Host, "batch time d"]) -> Float[Host, "batch time d"]:
        rows: list[Host] = []
        for step in range(x.shape[1]):
            rows.append(x[:, step].tanh())
        return rows[0].stack(*rows[1:], axis=1)

    assert steps(ones(2, 3, 4)).shape == (2, 3, 4)


def wrong_size_that_is_not_there(x: Float[Host, "batch d"]) -> int:
    return x.shape[2]  # E: [tensor-shape] shape: (batch, d) has 2 axes, and no size number 2


def right_size_that_is_not_there() -> None:
    def width(x: Float[Host, "batch d"]) -> int:
        return x.shape[1]

    assert width(ones(2, 3)) == 3


def wrong_number_of_sizes(x: Float[Host, "batch d"]) -> Host:
    batch, time, d = x.shape  # E: [tensor-shape] shape: (batch, d) has not 3 sizes but 2
    return x.reshape((batch, time * d))


def right_number_of_sizes() -> None:
    def same(x: Float[Host, "batch time d"]) -> Float[Host, "batch time*d"]:
        batch, time, d = x.shape
        return x.reshape((batch, time * d))

    assert same(ones(2, 3, 4)).shape == (2, 12)


def wrong_array_of_numpy(x: Float[Host, "time d"], time: int) -> Host:
    places = x.from_host(np.arange(time, dtype=np.float32))
    return places[:, None] * places.cos()  # E: [tensor-broadcast] {time} with itself


def right_array_of_numpy() -> None:
    def products(x: Float[Host, "time d"], time: int) -> Float[Host, "{time} {time}"]:
        places = x.from_host(np.arange(time, dtype=np.float32))
        return places[:, None] * places.cos()

    assert products(ones(3, 4), 3).shape == (3, 3)


def wrong_first_and_others(x: Float[Host, "n d"], y: Float[Host, "d n"]) -> Host:
    first, *others = [x, y, x]
    return others[0] + first  # E: [tensor-shape] add: (d, n) and (n, d)


def right_first_and_others() -> None:
    def added(x: Float[Host, "n d"], y: Float[Host, "d n"]) -> Host:
        first, *others = [x, y, x]
        return others[-1] + first

    assert added(ones(2, 3), ones(3, 2)).shape == (2, 3)


def wrong_stack_of_others(xs: list[Float[Host, "n d"]], y: Float[Host, "d n"]) -> Host:
    first, *others = [x.relu() for x in xs]
    return first.stack(*others, axis=0).sum(0) + y  # E: [tensor-shape] add: (n, d) and (d, n)


def right_stack_of_others() -> None:
    def summed(xs: list[Float[Host, "n d"]], y: Float[Host, "n d"]) -> Host:
        first, *others = [x.relu() for x in xs]
        return first.stack(*others, axis=0).sum(0) + y

    assert summed([ones(2, 3), ones(2, 3)], ones(2, 3)).shape == (2, 3)


def wrong_scores_and_labels(x: Float[Host, "batch kinds"], labels: Int[mx.Labels[Host], " batch"]) -> Host:
    return cross_entropy(Logits(x.transpose()), labels)  # E: [tensor-shape] (kinds, batch), labels (batch,)


def right_scores_and_labels() -> None:
    def loss(x: Float[Host, "batch kinds"], labels: Int[mx.Labels[Host], " batch"]) -> Host:
        return cross_entropy(Logits(x), labels)

    assert loss(ones(2, 3), ones(2, 3).argmax(1)).shape == ()
