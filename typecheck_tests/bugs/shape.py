"""Sizes that do not fit, and axes of size 1 that go away by themselves."""

from dataclasses import dataclass

from jaxtyping import Float

import moonxi as mx
from moonxi import F32, NpArray, nn

type Host = NpArray[F32]


def wrong_b066_product_of_other_sizes[T: mx.MlpTensor](state: Float[T, "1 2"], weight: Float[T, "6 64"]) -> T:
    """The state has two numbers, and the weights of the policy are for six.

    PyTorch notices: at run time
    """
    return (state @ weight).relu()  # E: [tensor-shape] inner dimensions differ (2 and 6)


def right_b066_product_of_other_sizes() -> None:
    def hidden[T: mx.MlpTensor](state: Float[T, "1 2"], weight: Float[T, "2 64"]) -> Float[T, "1 64"]:
        return (state @ weight).relu()

    like = mx.numpy()
    assert hidden(like.ones((1, 2)), like.ones((2, 64))).shape == (1, 64)


def wrong_b067_branches_below_one_another() -> None:
    """The outputs of six branches are put below one another and not beside one another, before a layer for all six.

    PyTorch notices: at run time
    """

    @dataclass(frozen=True)
    class Branches[T: mx.MlpTensor](nn.Module[T]):
        branches: list[nn.Linear[T]]
        out: Float[T, "12 classes"]

        def forward(self, x: Float[T, "batch features"]) -> Float[T, "batch classes"]:
            first: Float[T, "batch 2"] = self.branches[0].forward(x)
            second: Float[T, "batch 2"] = self.branches[1].forward(x)
            joined = first.concatenate(second, first, second, first, second, axis=0)
            return joined @ self.out  # E: [tensor-shape] inner dimensions differ (2 and 12)


def right_b067_branches_below_one_another() -> None:
    @dataclass(frozen=True)
    class Branches[T: mx.MlpTensor](nn.Module[T]):
        branches: list[nn.Linear[T]]
        out: Float[T, "12 classes"]

        def forward(self, x: Float[T, "batch features"]) -> Float[T, "batch classes"]:
            first: Float[T, "batch 2"] = self.branches[0].forward(x)
            second: Float[T, "batch 2"] = self.branches[1].forward(x)
            joined = first.concatenate(second, first, second, first, second, axis=1)
            return joined @ self.out

    like = mx.numpy()
    branches = [nn.Linear.init(4, 2, like=like, key=key) for key in mx.Key(0).split(2)]
    assert Branches(branches, like.ones((12, 3))).forward(like.ones((5, 4))).shape == (5, 3)


def wrong_b069_layer_for_another_width(rows: Float[Host, "batch 35228"]) -> Host:
    """A layer for 30 features gets rows of 35,228.

    PyTorch notices: at run time
    """
    layer = nn.Linear.init(30, 10, like=mx.numpy(), key=mx.Key(0))
    return layer.forward(rows).relu()  # E: [tensor-shape] with self.inputs = 30


def right_b069_layer_for_another_width() -> None:
    def hidden(rows: Float[Host, "batch 35228"]) -> Float[Host, "batch 10"]:
        layer = nn.Linear.init(35228, 10, like=mx.numpy(), key=mx.Key(0))
        return layer.forward(rows).relu()

    assert hidden(mx.numpy().ones((1, 35228))).shape == (1, 10)


def wrong_b070_squeeze_of_every_axis[T: mx.MlpTensor](
    value: nn.Linear[T], states: Float[T, "batch features"]
) -> Float[T, " batch"]:
    """All axes of size 1 are dropped from a column; for a batch of one sample that is the batch as well.

    PyTorch notices: at run time, for a batch of one
    """
    return value.forward(states).squeeze()  # E: [call-arg]


def right_b070_squeeze_of_every_axis() -> None:
    def values[T: mx.MlpTensor](value: nn.Linear[T], states: Float[T, "batch features"]) -> Float[T, " batch"]:
        return value.forward(states).squeeze(1)

    like = mx.numpy()
    value = nn.Linear.init(4, 1, like=like, key=mx.Key(0))
    assert values(value, like.ones((3, 4))).shape == (3,)
    assert values(value, like.ones((1, 4))).shape == (1,)


def wrong_b072_squeeze_in_a_loss[T: mx.Tensor](
    scores: Float[T, "rows words"], target: Float[T, "rows 1"], mask: Float[T, " rows"]
) -> T:
    """A loss drops all axes of size 1 from what it gathers; with one row the axis of the rows goes too.

    PyTorch notices: at run time, for a batch of one
    """
    chosen = (scores * target).sum(1, keepdims=True).squeeze()  # E: [call-arg]
    return (-(chosen + 1e-20).log() * mask).sum()


def right_b072_squeeze_in_a_loss() -> None:
    def loss[T: mx.Tensor](
        scores: Float[T, "rows words"], target: Float[T, "rows 1"], mask: Float[T, " rows"]
    ) -> Float[T, ""]:
        chosen = (scores * target).sum(1, keepdims=True).squeeze(-1)
        return (-(chosen + 1e-20).log() * mask).sum()

    like = mx.numpy()
    assert loss(like.ones((1, 5)), like.ones((1, 1)), like.ones((1,))).shape == ()


def wrong_b073_squeeze_after_pooling() -> None:
    """Features are pooled to one pixel, and all axes of size 1 dropped: with them a batch of one image.

    PyTorch notices: at run time, for a batch of one
    """

    @dataclass(frozen=True)
    class Encoder[T: mx.ImageModelTensor](nn.Module[T]):
        convolution: nn.Conv2d[T]

        def forward(self, x: Float[T, "batch channels height width"]) -> Float[T, "batch features"]:
            pooled = self.convolution.forward(x).relu().adaptive_avg_pool2d(1)
            return pooled.squeeze()  # E: [call-arg]


def right_b073_squeeze_after_pooling() -> None:
    @dataclass(frozen=True)
    class Encoder[T: mx.ImageModelTensor](nn.Module[T]):
        convolution: nn.Conv2d[T]

        def forward(self, x: Float[T, "batch channels height width"]) -> Float[T, "batch features"]:
            pooled = self.convolution.forward(x).relu().adaptive_avg_pool2d(1)
            return pooled.squeeze((2, 3))

    like = mx.numpy()
    encoder = Encoder(nn.Conv2d.init(3, 5, 3, like=like, key=mx.Key(0)))
    assert encoder.forward(like.ones((1, 3, 8, 8))).shape == (1, 5)
