"""The right operation along the wrong axis, or elements in the wrong order."""

from dataclasses import dataclass

from jaxtyping import Float

import moonxi as mx
from moonxi import F32, NpArray, nn
from moonxi.losses import Logits

type Host = NpArray[F32]


def wrong_b055_softmax_over_the_batch() -> None:
    """The softmax at the end of a classifier goes over the batch, and the classes of a sample do not sum to 1.

    PyTorch notices: never
    """

    @dataclass(frozen=True)
    class Classifier[T: mx.MlpTensor](nn.Module[T]):
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch features"]) -> Float[T, "batch classes"]:
            scores = self.out.forward(x)
            return scores.softmax(0)  # E: [tensor-axis] axis 0: over batch


def right_b055_softmax_over_the_batch() -> None:
    @dataclass(frozen=True)
    class Classifier[T: mx.MlpTensor](nn.Module[T]):
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch features"]) -> Float[T, "batch classes"]:
            scores = self.out.forward(x)
            return scores.softmax(1)

    like = mx.numpy()
    y = Classifier(nn.Linear.init(4, 3, like=like, key=mx.Key(0))).forward(like.ones((2, 4)))
    assert abs(y[0].sum().item() - 1.0) < 1e-6


def wrong_b056_log_softmax_over_the_batch[T: mx.Tensor](logits: Float[T, "batch 120"]) -> Float[T, "batch 120"]:
    """Of 128 rows of 120 logits, the softmax is taken over the 128.

    PyTorch notices: never
    """
    return logits.log_softmax(0)  # E: [tensor-axis] axis 0: over batch


def right_b056_log_softmax_over_the_batch() -> None:
    logits = Logits(mx.numpy().ones((128, 120)))
    assert abs(logits.log_probs().probs().value[0].sum().item() - 1.0) < 1e-4


def wrong_b058_softmax_over_the_batch_of_options[T: mx.Tensor](
    scores: Float[T, "batch options"],
) -> Float[T, "batch options"]:
    """Each of several options has a score in each sample; the softmax goes over the samples.

    PyTorch notices: never
    """
    return scores.softmax(0) * scores  # E: [tensor-axis] axis 0: over batch


def right_b058_softmax_over_the_batch_of_options() -> None:
    def weighted[T: mx.Tensor](scores: Float[T, "batch options"]) -> Float[T, "batch options"]:
        return scores.softmax(1) * scores

    assert weighted(mx.numpy().ones((2, 5))).shape == (2, 5)


def wrong_b059_softmax_over_the_pixels[T: mx.Tensor](
    scores: Float[T, "batch classes pixels"],
) -> Float[T, "batch classes pixels"]:
    """Scores of classes in each pixel go through a softmax over the pixels.

    PyTorch notices: never
    """
    return scores.softmax(2)  # E: [tensor-axis] axis 2: over pixels, and not over classes


def right_b059_softmax_over_the_pixels() -> None:
    def probabilities[T: mx.Tensor](scores: Float[T, "batch classes pixels"]) -> Float[T, "batch classes pixels"]:
        return scores.softmax(1)

    assert probabilities(mx.numpy().ones((2, 3, 4)))[0, :, 0].shape == (3,)


@dataclass(frozen=True)
class Recurrent[T: mx.MlpTensor](nn.Module[T]):
    """A recurrent network that takes the time as its first axis."""

    inputs: nn.Linear[T]
    hidden: nn.Linear[T]

    def forward(self, x: Float[T, "time batch n"], state: Float[T, "batch n"]) -> Float[T, "batch n"]:
        for step in range(x.shape[0]):
            state = (self.inputs.forward(x[step]) + self.hidden.forward(state)).tanh()
        return state


def recurrent() -> Recurrent[Host]:
    first, second = mx.Key(0).split(2)
    like = mx.numpy()
    return Recurrent(nn.Linear.init(4, 4, like=like, key=first), nn.Linear.init(4, 4, like=like, key=second))


def wrong_b061_batch_in_the_place_of_the_time[T: mx.MlpTensor](
    network: Recurrent[T], x: Float[T, "batch time n"]
) -> Float[T, "batch n"]:
    """A recurrent network that goes along the first axis gets batches whose first axis is the batch.

    PyTorch notices: never
    """
    return network.forward(x, x.zeros((x.shape[0], x.shape[2])))  # E: [tensor-shape] return: (time, n)
    # E: [tensor-shape] argument "state" of "Recurrent.forward"


def right_b061_batch_in_the_place_of_the_time() -> None:
    def last[T: mx.MlpTensor](network: Recurrent[T], x: Float[T, "batch time n"]) -> Float[T, "batch n"]:
        return network.forward(x.permute((1, 0, 2)), x.zeros((x.shape[0], x.shape[2])))

    assert last(recurrent(), mx.numpy().ones((2, 5, 4))).shape == (2, 4)


def wrong_b062_last_step_of_another_axis() -> None:
    """The last step is taken along the second axis of the output of a network whose first axis is the time.

    PyTorch notices: never
    """

    @dataclass(frozen=True)
    class Reader[T: mx.MlpTensor](nn.Module[T]):
        network: Recurrent[T]
        out: nn.Linear[T]

        def forward(self, x: Float[T, "time batch n"], state: Float[T, "batch n"]) -> Float[T, "batch classes"]:
            steps: Float[T, "time batch n"] = x + self.network.forward(x, state)
            return self.out.forward(steps[:, -1])  # E: [tensor-shape] return: (time


def right_b062_last_step_of_another_axis() -> None:
    @dataclass(frozen=True)
    class Reader[T: mx.MlpTensor](nn.Module[T]):
        network: Recurrent[T]
        out: nn.Linear[T]

        def forward(self, x: Float[T, "time batch n"], state: Float[T, "batch n"]) -> Float[T, "batch classes"]:
            steps: Float[T, "time batch n"] = x + self.network.forward(x, state)
            return self.out.forward(steps[-1])

    like = mx.numpy()
    reader = Reader(recurrent(), nn.Linear.init(4, 3, like=like, key=mx.Key(2)))
    assert reader.forward(like.ones((5, 2, 4)), like.zeros((2, 4))).shape == (2, 3)


def wrong_b064_heads_merged_without_a_permute[T: mx.MlpTensor](
    weights: Float[T, "batch heads time time"], values: Float[T, "batch heads time d"]
) -> Float[T, "batch time heads*d"]:
    """What several heads of attention give is made one by a reshape, without bringing the heads beside their width.

    PyTorch notices: never
    """
    attended = weights @ values
    batch, heads, time, d = attended.shape
    return attended.reshape((batch, time, heads * d))  # E: [tensor-reshape] time is not time any more


def right_b064_heads_merged_without_a_permute() -> None:
    def merged[T: mx.MlpTensor](
        weights: Float[T, "batch heads time time"], values: Float[T, "batch heads time d"]
    ) -> Float[T, "batch time heads*d"]:
        attended = weights @ values
        batch, heads, time, d = attended.shape
        return attended.permute((0, 2, 1, 3)).reshape((batch, time, heads * d))

    like = mx.numpy()
    assert merged(like.ones((1, 2, 3, 3)), like.ones((1, 2, 3, 4))).shape == (1, 3, 8)


def wrong_b065_reshape_in_place_of_a_transpose[T: mx.Tensor](
    image: Float[T, "batch channels height width"],
) -> Float[T, "batch height width channels"]:
    """Channels are brought to the end by a reshape, which leaves all numbers where they are.

    PyTorch notices: never
    """
    batch, channels, height, width = image.shape
    return image.reshape((batch, height, width, channels))  # E: [tensor-reshape] permute the axes first


def right_b065_reshape_in_place_of_a_transpose() -> None:
    def channels_last[T: mx.Tensor](
        image: Float[T, "batch channels height width"],
    ) -> Float[T, "batch height width channels"]:
        return image.permute((0, 2, 3, 1))

    assert channels_last(mx.numpy().ones((1, 2, 3, 4))).shape == (1, 3, 4, 2)
