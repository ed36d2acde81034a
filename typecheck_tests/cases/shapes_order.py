"""Shapes that fit and mean something else: an axis against itself, and a reshape that mixes axes up."""

from dataclasses import dataclass

from jaxtyping import Float

import moonxi as mx
from moonxi import F32, NpArray, nn

type Host = NpArray[F32]


def ones(*shape: int) -> Host:
    return mx.numpy().ones(shape)


def wrong_column_and_vector[T: mx.Tensor](predicted: Float[T, "n 1"], target: Float[T, " n"]) -> T:
    return (predicted - target).square().mean()  # E: [tensor-broadcast] n with itself


def right_column_and_vector() -> None:
    def loss[T: mx.Tensor](predicted: Float[T, "n 1"], target: Float[T, " n"]) -> T:
        return (predicted.reshape(target.shape) - target).square().mean()

    assert loss(ones(3, 1), ones(3)).shape == ()


def wrong_mean_without_keepdims(x: Float[Host, "n n"]) -> Host:
    column = x.sum(1, keepdims=True)
    return (column * x.sum(0)).mean()  # E: [tensor-broadcast] multiply


def right_mean_without_keepdims() -> None:
    def outer(x: Float[Host, "n n"]) -> Float[Host, "n n"]:
        return x.sum(1, keepdims=True) * x.sum(0)

    assert outer(ones(2, 2)).shape == (2, 2)


def wrong_comparison_with_a_vector(scores: Float[Host, "batch 1"], least: Float[Host, " batch"]) -> mx.Mask[Host]:
    return scores > least  # E: [tensor-broadcast] batch with itself


def right_comparison_with_a_vector() -> None:
    def above(scores: Float[Host, "batch 1"], least: Float[Host, " batch"]) -> mx.Mask[Host]:
        return scores > least.unsqueeze(1)

    assert above(ones(2, 1), ones(2)).shape == (2, 1)


def wrong_maximum(x: Float[Host, "b c 1"], y: Float[Host, "b c"]) -> Host:
    return x.maximum(y.mean(1))  # E: [tensor-broadcast] maximum


def right_maximum() -> None:
    def pairs(x: Float[Host, "n d"]) -> Float[Host, "n n d"]:
        return x.unsqueeze(0) - x.unsqueeze(1)

    assert pairs(ones(2, 3)).shape == (2, 2, 3)


def wrong_heads_by_reshape[T: mx.Tensor](x: Float[T, "b t h d"]) -> Float[T, "b h t d"]:
    b, t, h, d = x.shape
    return x.reshape((b, h, t, d))  # E: [tensor-reshape] permute


def right_heads_by_reshape() -> None:
    def heads[T: mx.Tensor](x: Float[T, "b t h d"]) -> Float[T, "b h t d"]:
        return x.permute((0, 2, 1, 3))

    assert heads(ones(1, 2, 3, 4)).shape == (1, 3, 2, 4)


def wrong_rows_with_one_more[T: mx.Tensor](x: Float[T, "batch time heads"]) -> Float[T, "batch heads time+1"]:
    batch, time, heads = x.shape
    longer = x.zeros((batch, 1, heads)).concatenate(x, axis=1)
    return longer.reshape((batch, heads, time + 1))  # E: [tensor-reshape] (batch, time+1, heads)


def right_rows_with_one_more() -> None:
    def turned[T: mx.Tensor](x: Float[T, "batch time heads"]) -> Float[T, "batch heads time+1"]:
        batch, _, heads = x.shape
        return x.zeros((batch, 1, heads)).concatenate(x, axis=1).permute((0, 2, 1))

    assert turned(ones(1, 2, 3)).shape == (1, 3, 3)


def wrong_merge_of_heads[T: mx.Tensor](x: Float[T, "batch 8 time 64"]) -> Float[T, "batch time 512"]:
    return x.reshape((x.shape[0], x.shape[2], 512))  # E: [tensor-reshape] reshape: (batch, 8, time, 64)


def right_merge_of_heads() -> None:
    def merged[T: mx.Tensor](x: Float[T, "batch 8 time 64"]) -> Float[T, "batch time 512"]:
        return x.permute((0, 2, 1, 3)).reshape((x.shape[0], x.shape[2], 512))

    assert merged(ones(1, 8, 2, 64)).shape == (1, 2, 512)


def wrong_pixels_as_rows(image: Float[Host, "batch channels height width"]) -> Host:
    batch, channels, height, width = image.shape
    return image.reshape((batch * height * width, channels))  # E: [tensor-reshape] reshape


def right_pixels_as_rows() -> None:
    def rows(image: Float[Host, "batch channels height width"]) -> Float[Host, "batch*height*width channels"]:
        batch, channels, height, width = image.shape
        return image.permute((0, 2, 3, 1)).reshape((batch * height * width, channels))

    assert rows(ones(1, 2, 3, 4)).shape == (12, 2)


def wrong_transpose_by_reshape(x: Float[Host, "n d"]) -> Float[Host, "d n"]:
    return x.reshape((x.shape[1], -1))  # E: [tensor-reshape] (n, d) to (d, n)


def right_transpose_by_reshape() -> None:
    def turned(x: Float[Host, "n d"]) -> Float[Host, "d n"]:
        return x.transpose().reshape((x.shape[1], -1))

    assert turned(ones(2, 3)).shape == (3, 2)


@dataclass(frozen=True)
class Steps[T: mx.Tensor]:
    values: Float[T, "steps state"]
    returns: Float[T, " steps"]


def wrong_columns_of_fields[T: mx.Tensor](batch: Steps[T]) -> T:
    return (batch.values.sum(1, keepdims=True) - batch.returns).mean()  # E: [tensor-broadcast] (batch.steps, 1)


def right_columns_of_fields() -> None:
    def loss[T: mx.Tensor](batch: Steps[T]) -> T:
        return (batch.values.sum(1) - batch.returns).mean()

    assert loss(Steps(ones(3, 2), ones(3))).shape == ()


@dataclass(frozen=True)
class Critic[T: mx.MlpTensor](nn.Module[T]):
    head: nn.Linear[T]

    def forward(self, states: Float[T, "steps state"]) -> T:
        return self.head.forward(states)


def wrong_column_of_a_model[T: mx.MlpTensor](model: Critic[T], batch: Steps[T]) -> T:
    return (model.forward(batch.values) - batch.returns).mean()  # E: [tensor-broadcast] fit only if


def right_column_of_a_model() -> None:
    def loss[T: mx.MlpTensor](model: Critic[T], batch: Steps[T]) -> T:
        return (model.forward(batch.values).squeeze(1) - batch.returns).mean()

    assert loss(Critic(nn.Linear.init(2, 1, like=mx.numpy(), key=mx.Key(0))), Steps(ones(3, 2), ones(3))).shape == ()


def wrong_merge_of_some_heads[T: mx.Tensor](x: Float[T, "batch time dim"], heads: int) -> T:
    batch, time, dim = x.shape
    parts = x.reshape((batch, time, heads, dim // heads)).permute((0, 2, 1, 3))
    return parts.reshape((batch, time, dim))  # E: [tensor-reshape] (batch, {heads}, time, dim//{heads}) to


def right_merge_of_some_heads() -> None:
    def merged[T: mx.Tensor](x: Float[T, "batch time dim"], heads: int) -> T:
        batch, time, dim = x.shape
        parts = x.reshape((batch, time, heads, dim // heads)).permute((0, 2, 1, 3))
        return parts.permute((0, 2, 1, 3)).reshape((batch, time, dim))

    assert merged(ones(1, 3, 4), 2).shape == (1, 3, 4)


def wrong_patches_by_reshape[T: mx.Tensor](image: Float[T, "batch channels h w"], size: int) -> T:
    batch, channels, h, w = image.shape
    rows = (batch, (h // size) * (w // size), channels * size * size)
    return image.reshape(rows)  # E: [tensor-reshape] so that channels is not channels any more


def right_patches_by_reshape() -> None:
    def patches[T: mx.Tensor](image: Float[T, "batch channels h w"], size: int) -> T:
        batch, channels, h, w = image.shape
        parts = image.reshape((batch, channels, h // size, size, w // size, size)).permute((0, 2, 4, 1, 3, 5))
        return parts.reshape((batch, (h // size) * (w // size), channels * size * size))

    assert patches(ones(1, 3, 4, 4), 2).shape == (1, 4, 12)


def wrong_weights_over_the_queries[T: mx.MlpTensor](
    q: Float[T, "batch queries d"], k: Float[T, "batch keys d"], v: Float[T, "batch keys d"]
) -> T:
    weights = (q @ k.transpose()).softmax(1)
    return weights @ v  # E: [tensor-axis] adds up along the last axis, keys, and the softmax went over axis 1


def weights_of[T: mx.MlpTensor](q: Float[T, "n queries d"], k: Float[T, "n keys d"]) -> Float[T, "n queries keys"]:
    return (q @ k.transpose()).softmax(-2)


def wrong_weights_of_a_function[T: mx.MlpTensor](q: Float[T, "n queries d"], k: Float[T, "n keys d"]) -> T:
    return weights_of(q, k) @ k  # E: [tensor-axis] softmax(-1) makes weights that sum to 1 there


def right_weights_of_a_function() -> None:
    assert (weights_of(ones(1, 2, 3), ones(1, 4, 3)).transpose() @ ones(1, 2, 3)).shape == (1, 4, 3)


def right_weights_over_the_queries() -> None:
    def attended[T: mx.MlpTensor](q: Float[T, "batch queries d"], k: Float[T, "batch keys d"]) -> T:
        return (q @ k.transpose()).softmax(2) @ k

    assert attended(ones(1, 2, 3), ones(1, 4, 3)).shape == (1, 2, 3)


@dataclass(frozen=True)
class Positions[T: mx.Tensor](nn.Module[T]):
    table: Float[T, "longest dim"]

    def forward(self, x: Float[T, "time batch dim"]) -> Float[T, "time batch dim"]:
        return x + self.table[: x.shape[0]].unsqueeze(1)


def wrong_positions_of_samples(model: Positions[Host], x: Float[Host, "time batch dim"]) -> Host:
    return x + model.table[: x.shape[1]]  # E: [tensor-axis] as many rows as there are samples


def right_positions_of_samples() -> None:
    assert Positions(ones(5, 3)).forward(ones(4, 2, 3)).shape == (4, 2, 3)
