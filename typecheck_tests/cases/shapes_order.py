"""Shapes that fit and mean something else: an axis against itself, and a reshape that mixes axes up."""

from jaxtyping import Float

import moonxi as mx
from moonxi import F32, NpArray

type Host = NpArray[F32]


def ones(*shape: int) -> Host:
    return mx.numpy().ones(shape)


def wrong_column_and_vector[T: mx.Tensor](predicted: Float[T, "n 1"], target: Float[T, " n"]) -> T:
    return (predicted - target).square().mean()  # E: [tensor-broadcast] n with itself


def right_column_and_vector() -> None:
    def loss[T: mx.Tensor](predicted: Float[T, "n 1"], target: Float[T, " n"]) -> T:
        return (predicted.reshape(target.shape) - target).square().mean()

    assert loss(ones(3, 1), ones(3)).shape == ()


def wrong_mean_without_keepdims(x: Float[Host, "n n"]) -> Float[Host, "n n"]:
    column = x.sum(1, keepdims=True)
    return column * x.sum(0)  # E: [tensor-broadcast] multiply


def right_mean_without_keepdims() -> None:
    def outer(x: Float[Host, "n n"]) -> Float[Host, "n n"]:
        return x.sum(1, keepdims=True) * x.sum(0, keepdims=True)

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
