"""Operations on tensors whose annotated shapes do not fit."""

from math import prod

import numpy as np
from jaxtyping import Float, Int

import moonxi as mx
from moonxi import F32, NpArray
from moonxi.losses import Logits, cross_entropy, mse

type Host = NpArray[F32]


def ones(*shape: int) -> Host:
    return mx.numpy().ones(shape)


def wrong_inner_dimensions[T: mx.MlpTensor](x: Float[T, "batch 784"], w: Float[T, "10 784"]) -> T:
    return x @ w  # E: [tensor-shape] inner dimensions differ (784 and 10); x is annotated "batch 784"


def right_inner_dimensions() -> None:
    def product[T: mx.MlpTensor](x: Float[T, "batch 784"], w: Float[T, "10 784"]) -> Float[T, "batch 10"]:
        return x @ w.transpose()

    assert product(ones(2, 784), ones(10, 784)).shape == (2, 10)


def wrong_result(x: Float[Host, "batch d"], w: Float[Host, "d out"]) -> Float[Host, "out batch"]:
    return x @ w  # E: [tensor-shape] return: (batch, out): annotated "out batch"


def right_result() -> None:
    def product(x: Float[Host, "batch d"], w: Float[Host, "d out"]) -> Float[Host, "batch out"]:
        return x @ w

    assert product(ones(2, 3), ones(3, 4)).shape == (2, 4)


def wrong_product_by_method[T: mx.MlpTensor](rows: Float[T, "n k"]) -> T:
    return rows.transpose().matmul(rows.transpose())  # E: [tensor-shape] matmul: (k, n) @ (k, n)


def right_product_by_method() -> None:
    def gram[T: mx.MlpTensor](rows: Float[T, "n k"]) -> Float[T, "k k"]:
        return rows.transpose().matmul(rows)

    assert gram(ones(2, 3)).shape == (3, 3)


def wrong_batched_product[T: mx.MlpTensor](q: Float[T, "batch heads n d"], k: Float[T, "batch heads m d"]) -> T:
    return (q @ k).softmax(-1)  # E: [tensor-shape] inner dimensions differ (d and m)


def right_batched_product() -> None:
    def scores[T: mx.MlpTensor](
        q: Float[T, "batch heads n d"], k: Float[T, "batch heads m d"]
    ) -> Float[T, "batch heads n m"]:
        return (q @ k.transpose()).softmax(-1)

    assert scores(ones(1, 2, 3, 4), ones(1, 2, 5, 4)).shape == (1, 2, 3, 5)


def wrong_broadcast[T: mx.Tensor](x: Float[T, "batch features"], bias: Float[T, " batch"]) -> T:
    return x + bias  # E: [tensor-shape] axis -1 has sizes features and batch


def right_broadcast() -> None:
    def shifted[T: mx.Tensor](x: Float[T, "batch features"], bias: Float[T, " batch"]) -> Float[T, "batch features"]:
        return x + bias.unsqueeze(1)

    assert shifted(ones(2, 3), ones(2)).shape == (2, 3)


def wrong_operator_in_place(total: Float[Host, "n d"], x: Float[Host, "n k"]) -> Host:
    total *= x  # E: [tensor-shape] multiply: (n, d) and (n, k)
    return total


def right_operator_in_place() -> None:
    def scaled(total: Float[Host, "n d"], x: Float[Host, "n k"]) -> Float[Host, "n d"]:
        total *= x.mean(1, keepdims=True)
        return total

    assert scaled(ones(2, 3), ones(2, 4)).shape == (2, 3)


def wrong_comparison[T: mx.Tensor](x: Float[T, "n 3"], limit: Float[T, "n 4"]) -> mx.Mask[T]:
    return x.exp() < limit  # E: [tensor-shape] less: (n, 3) and (n, 4)


def right_comparison() -> None:
    def below[T: mx.Tensor](x: Float[T, "n 3"], limit: Float[T, "n 4"]) -> mx.Mask[T]:
        return x.exp() < limit[:, :3]

    assert below(ones(2, 3), ones(2, 4)).shape == (2, 3)


def wrong_reduced_axis[T: mx.Tensor](x: Float[T, "batch features"]) -> Float[T, " batch"]:
    return x.sum(0)  # E: [tensor-shape] return: (features,): annotated "batch"


def right_reduced_axis() -> None:
    def sums[T: mx.Tensor](x: Float[T, "batch features"]) -> Float[T, " batch"]:
        return x.sum(1)

    assert sums(ones(2, 3)).shape == (2,)


def wrong_forgotten_keepdims[T: mx.Tensor](x: Float[T, "n d"]) -> T:
    norm = x.square().sum(-1)
    return x / norm  # E: [tensor-shape] divide: (n, d) and (n,)


def right_forgotten_keepdims() -> None:
    def unit[T: mx.Tensor](x: Float[T, "n d"]) -> Float[T, "n d"]:
        norm = x.square().sum(-1, keepdims=True)
        return x / norm

    assert unit(ones(2, 3)).shape == (2, 3)


def wrong_absent_axis[T: mx.Tensor](x: Float[T, "rows columns"]) -> T:
    return x.max(2)  # E: [tensor-shape] max: (rows, columns), axis 2: axes run from -2 to 1


def right_absent_axis() -> None:
    def largest[T: mx.Tensor](x: Float[T, "rows columns"]) -> Float[T, " rows"]:
        return x.max(-1)

    assert largest(ones(2, 3)).shape == (2,)


def wrong_reshape(x: Float[Host, "batch 3 32 32"]) -> Host:
    return x.reshape((x.shape[0], 3 * 32))  # E: [tensor-shape] 3072*batch elements cannot become 96*batch


def right_reshape() -> None:
    def flat(x: Float[Host, "batch 3 32 32"]) -> Float[Host, "batch 3072"]:
        return x.reshape((x.shape[0], prod(x.shape[1:])))

    assert flat(ones(2, 3, 32, 32)).shape == (2, 3072)


def wrong_reshape_with_a_free_size[T: mx.Tensor](x: Float[T, "batch 10"]) -> T:
    return x.reshape((x.shape[0], 4, -1))  # E: [tensor-shape] 10*batch elements cannot be split into rows of 4*batch


def right_reshape_with_a_free_size() -> None:
    def split[T: mx.Tensor](x: Float[T, "batch 10"]) -> Float[T, "batch 5 2"]:
        return x.reshape((x.shape[0], 5, -1))

    assert split(ones(3, 10)).shape == (3, 5, 2)


def wrong_permute[T: mx.Tensor](image: Float[T, "height width channels"]) -> Float[T, "channels height width"]:
    return image.permute((2, 1, 0))  # E: [tensor-shape] return: (channels, width, height)


def right_permute() -> None:
    def first[T: mx.Tensor](image: Float[T, "height width channels"]) -> Float[T, "channels height width"]:
        return image.permute((2, 0, 1))

    assert first(ones(4, 5, 3)).shape == (3, 4, 5)


def wrong_permute_of_too_few[T: mx.Tensor](x: Float[T, "batch time d"]) -> T:
    return x.permute((1, 0))  # E: [tensor-shape] permute: (batch, time, d), axes (1, 0)


def right_permute_of_too_few() -> None:
    def time_first[T: mx.Tensor](x: Float[T, "batch time d"]) -> Float[T, "time batch d"]:
        return x.permute((1, 0, 2))

    assert time_first(ones(2, 3, 4)).shape == (3, 2, 4)


def wrong_concatenate[T: mx.Tensor](x: Float[T, "n 3"], y: Float[T, "n 4"]) -> T:
    return x.concatenate(y, axis=0)  # E: [tensor-shape] concatenate


def right_concatenate() -> None:
    def beside[T: mx.Tensor](x: Float[T, "n 3"], y: Float[T, "n 4"]) -> Float[T, "n 7"]:
        return x.concatenate(y, axis=1)

    assert beside(ones(2, 3), ones(2, 4)).shape == (2, 7)


def wrong_stack[T: mx.Tensor](first: Float[T, "n d"], second: Float[T, "n d"]) -> Float[T, "n d 2"]:
    return first.stack(second, axis=1)  # E: [tensor-shape] return: (n, 2, d): annotated "n d 2"


def right_stack() -> None:
    def stacked[T: mx.Tensor](first: Float[T, "n d"], second: Float[T, "n d"]) -> Float[T, "n d 2"]:
        return first.stack(second, axis=-1)

    assert stacked(ones(4, 3), ones(4, 3)).shape == (4, 3, 2)


def wrong_split[T: mx.Tensor](x: Float[T, "batch 12"]) -> T:
    left, right = x.split((4, 4), axis=1)  # E: [tensor-shape] split
    return left + right


def right_split() -> None:
    def folded[T: mx.Tensor](x: Float[T, "batch 12"]) -> Float[T, "batch 6"]:
        left, right = x.split((6, 6), axis=1)
        return left + right

    assert folded(ones(2, 12)).shape == (2, 6)


def wrong_taken[T: mx.Tensor](table: Float[T, "words d"], chosen: Int[mx.Labels[T], " n"]) -> Float[T, "n d"]:
    return table.take(chosen, 1)  # E: [tensor-shape] return: (words, n): annotated "n d"


def right_taken() -> None:
    def rows[T: mx.Tensor](table: Float[T, "words d"], chosen: Int[mx.Labels[T], " n"]) -> Float[T, "n d"]:
        return table.take(chosen, 0)

    assert rows(ones(5, 3), ones(2, 5).argmax(1)).shape == (2, 3)


def wrong_squeeze[T: mx.Tensor](x: Float[T, "batch 1 d"]) -> Float[T, "batch d"]:
    return x.squeeze(2)  # E: [tensor-shape] squeeze: (batch, 1, d), axes (2,): axis 2 has size d, not 1


def right_squeeze() -> None:
    def without[T: mx.Tensor](x: Float[T, "batch 1 d"]) -> Float[T, "batch d"]:
        return x.squeeze(1)

    assert without(ones(2, 1, 3)).shape == (2, 3)


def wrong_unsqueeze[T: mx.Tensor](weights: Float[T, " n"], x: Float[T, "n d"]) -> T:
    return (weights.unsqueeze(0) * x).mean()  # E: [tensor-shape] multiply: (1, n) and (n, d)


def right_unsqueeze() -> None:
    def weighted[T: mx.Tensor](weights: Float[T, " n"], x: Float[T, "n d"]) -> Float[T, ""]:
        return (weights.unsqueeze(-1) * x).mean()

    assert weighted(ones(2), ones(2, 3)).shape == ()


def wrong_slice[T: mx.Tensor](x: Float[T, "batch 10"], y: Float[T, "batch 4"]) -> T:
    return x[:, 5:] - y  # E: [tensor-shape] subtract: (batch, 5) and (batch, 4)


def right_slice() -> None:
    def difference[T: mx.Tensor](x: Float[T, "batch 10"], y: Float[T, "batch 4"]) -> Float[T, "batch 4"]:
        return x[:, 6:] - y

    assert difference(ones(2, 10), ones(2, 4)).shape == (2, 4)


def wrong_index_outside[T: mx.Tensor](x: Float[T, "batch 3"]) -> T:
    return x[:, 3]  # E: [tensor-shape] index 3 is outside axis 1 of size 3


def right_index_outside() -> None:
    def last[T: mx.Tensor](x: Float[T, "batch 3"]) -> Float[T, " batch"]:
        return x[:, -1]

    assert last(ones(2, 3)).shape == (2,)


def wrong_picked[T: mx.Tensor](scores: Float[T, "batch classes"], labels: Int[mx.Labels[T], " classes"]) -> T:
    return scores.log_softmax(1).pick(labels)  # E: [tensor-shape] pick: (batch, classes), labels (classes,)


def right_picked() -> None:
    def chosen[T: mx.Tensor](
        scores: Float[T, "batch classes"], labels: Int[mx.Labels[T], " batch"]
    ) -> Float[T, " batch"]:
        return scores.log_softmax(1).pick(labels)

    assert chosen(ones(2, 3), ones(2, 3).argmax(1)).shape == (2,)


def wrong_labels_cut_shorter(
    w: Float[Host, "784 10"], x: Float[Host, "batch 784"], labels: Int[mx.Labels[Host], " batch"]
) -> Host:
    logits = Logits(x[:32] @ w)
    return cross_entropy(logits, labels[:16])  # E: [tensor-shape] labels (min(batch,16),)


def right_labels_cut_shorter() -> None:
    def loss(
        w: Float[Host, "784 10"], x: Float[Host, "batch 784"], labels: Int[mx.Labels[Host], " batch"]
    ) -> Float[Host, ""]:
        alike = cross_entropy(Logits(x[:32] @ w), labels[:32])
        return alike + cross_entropy(Logits(x[:32] @ w), labels[32:])  # of 64 samples these are as many

    assert loss(ones(784, 10), ones(64, 784), mx.numpy().labels(np.arange(64) % 10)).shape == ()


def wrong_labels_not_cut(
    w: Float[Host, "784 10"], x: Float[Host, "batch 784"], labels: Int[mx.Labels[Host], " batch"]
) -> Host:
    logits = Logits(x[-32:] @ w)
    return cross_entropy(logits, labels)  # E: [tensor-shape] labels (batch,)


def right_labels_not_cut() -> None:
    def loss(
        w: Float[Host, "784 10"], x: Float[Host, "batch 784"], labels: Int[mx.Labels[Host], " batch"]
    ) -> Float[Host, ""]:
        return cross_entropy(Logits(x[-32:] @ w), labels[-32:])

    assert loss(ones(784, 10), ones(64, 784), mx.numpy().labels(np.arange(64) % 10)).shape == ()


def wrong_target_cut_shorter(x: Float[Host, " n"], y: Float[Host, " n"]) -> Host:
    return mse(x[:32], y[:16])  # E: [tensor-shape] and (min(n,16),)


def right_target_cut_shorter() -> None:
    def fitted(curve: Float[Host, "512"], other: Float[Host, "256"], y: Float[Host, " time"]) -> Float[Host, ""]:
        (time,) = y.shape
        return mse(curve[:time], y) + mse(curve[:time] + other[:time], y)

    assert fitted(ones(512), ones(256), ones(7)).shape == ()
