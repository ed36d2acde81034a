"""Predictions and targets of shapes that broadcast to what nobody meant."""

from dataclasses import dataclass

from jaxtyping import Float

import moonxi as mx
from moonxi import F32, NpArray, nn
from moonxi.losses import BinaryLogits, binary_cross_entropy, mse, smooth_l1

type Host = NpArray[F32]


@dataclass(frozen=True)
class Regression[T: mx.MlpTensor](nn.Module[T]):
    hidden: nn.Linear[T]
    out: nn.Linear[T]

    def forward(self, x: Float[T, "batch 4"]) -> Float[T, "batch 1"]:
        return self.out.forward(self.hidden.forward(x).relu())


def regression() -> Regression[Host]:
    first, second = mx.Key(0).split(2)
    cpu = mx.numpy()
    return Regression(nn.Linear.init(4, 8, like=cpu, key=first), nn.Linear.init(8, 1, like=cpu, key=second))


def wrong_b010_column_against_a_vector[T: mx.MlpTensor](
    model: Regression[T], x: Float[T, "batch 4"], y: Float[T, " batch"]
) -> T:
    """A column of predictions less a row of targets is a matrix of all their differences: the optimum is the mean.

    PyTorch notices: warns since 1.1, never before
    """
    return mse(model.forward(x), y)  # E: [tensor-shape] the shapes must be equal


def right_b010_column_against_a_vector() -> None:
    def loss[T: mx.MlpTensor](model: Regression[T], x: Float[T, "batch 4"], y: Float[T, " batch"]) -> T:
        return mse(model.forward(x).squeeze(1), y)

    cpu = mx.numpy()
    assert loss(regression(), cpu.ones((3, 4)), cpu.ones((3,))).shape == ()


def wrong_b011_another_value_by_the_shape(prediction: Float[Host, "n 1"], target: Float[Host, " n"]) -> None:
    """The same numbers give one loss as a column and a column, and another as a column and a vector.

    PyTorch notices: warns
    """
    column = mse(prediction, target.unsqueeze(1)).item()
    vector = mse(prediction, target).item()  # E: [tensor-shape] the shapes must be equal
    print(column, vector)


def right_b011_another_value_by_the_shape() -> None:
    def compared(prediction: Float[Host, "n 1"], target: Float[Host, " n"]) -> None:
        column = mse(prediction, target.unsqueeze(1)).item()
        vector = mse(prediction.squeeze(1), target).item()
        assert column == vector

    compared(mx.numpy().ones((3, 1)), mx.numpy().zeros((3,)))


def wrong_b013_yes_or_no_as_a_column[T: mx.MlpTensor](
    model: Regression[T], x: Float[T, "batch 4"], answers: Float[T, " batch"]
) -> T:
    """A column of logits and a vector of answers are averaged over all pairs of both.

    PyTorch notices: never in the version of the report
    """
    return binary_cross_entropy(BinaryLogits(model.forward(x)), answers)  # E: [tensor-shape] the shapes must be equal


def right_b013_yes_or_no_as_a_column() -> None:
    def loss[T: mx.MlpTensor](model: Regression[T], x: Float[T, "batch 4"], answers: Float[T, " batch"]) -> T:
        return binary_cross_entropy(BinaryLogits(model.forward(x)[:, 0]), answers)

    cpu = mx.numpy()
    assert loss(regression(), cpu.ones((3, 4)), cpu.ones((3,))).shape == ()


def wrong_b014_one_prediction_for_a_batch[T: mx.MlpTensor](
    controls: nn.Linear[T], state: Float[T, "1 6"], wanted: Float[T, "8 18"]
) -> T:
    """The prediction for a single state is held against the targets of eight.

    PyTorch notices: warns
    """
    out: Float[T, "1 18"] = controls.forward(state).tanh()
    return mse(out, wanted)  # E: [tensor-shape] the shapes must be equal


def right_b014_one_prediction_for_a_batch() -> None:
    def loss[T: mx.MlpTensor](controls: nn.Linear[T], states: Float[T, "8 6"], wanted: Float[T, "8 18"]) -> T:
        out: Float[T, "8 18"] = controls.forward(states).tanh()
        return mse(out, wanted)

    cpu = mx.numpy()
    assert loss(nn.Linear.init(6, 18, like=cpu, key=mx.Key(0)), cpu.ones((8, 6)), cpu.ones((8, 18))).shape == ()


def wrong_b016_depth_without_its_channel[T: mx.ImageModelTensor](
    decoder: nn.Conv2d[T], features: Float[T, "2 64 256 256"], depth: Float[T, "2 256 256"]
) -> T:
    """A depth map with a channel meets one without: the batch of the one broadcasts over the other's.

    PyTorch notices: warns
    """
    predicted: Float[T, "2 1 256 256"] = decoder.forward(features)
    return smooth_l1(predicted, depth)  # E: [tensor-shape] the shapes must be equal


def right_b016_depth_without_its_channel() -> None:
    def loss[T: mx.ImageModelTensor](
        decoder: nn.Conv2d[T], features: Float[T, "2 8 16 16"], depth: Float[T, "2 16 16"]
    ) -> T:
        predicted: Float[T, "2 1 16 16"] = decoder.forward(features)
        return smooth_l1(predicted, depth.unsqueeze(1))

    cpu = mx.numpy()
    decoder = nn.Conv2d.init(8, 1, 3, padding=1, like=cpu, key=mx.Key(0))
    assert loss(decoder, cpu.ones((2, 8, 16, 16)), cpu.ones((2, 16, 16))).shape == ()


def wrong_b017_entropy_of_each_action[T: mx.MlpTensor](
    value: Float[T, "64 1"], reward: Float[T, "64 1"], log_probs: Float[T, "64 4"]
) -> T:
    """The target of a critic keeps one column for each dimension of the action: their sum was left out.

    PyTorch notices: warns
    """
    target = reward - 0.2 * log_probs
    return mse(value, target)  # E: [tensor-shape] the shapes must be equal


def right_b017_entropy_of_each_action() -> None:
    def loss[T: mx.MlpTensor](value: Float[T, "64 1"], reward: Float[T, "64 1"], log_probs: Float[T, "64 4"]) -> T:
        target = reward - 0.2 * log_probs.sum(1, keepdims=True)
        return mse(value, target)

    cpu = mx.numpy()
    assert loss(cpu.ones((64, 1)), cpu.ones((64, 1)), cpu.ones((64, 4))).shape == ()
