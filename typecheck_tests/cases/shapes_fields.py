"""Sizes behind layers in the fields of a model: what annotations say of them, and what the call that makes it says."""

from dataclasses import dataclass

from jaxtyping import Float

import moonxi as mx
from moonxi import F32, NpArray, nn

type Host = NpArray[F32]

LIKE = mx.numpy()


@dataclass(frozen=True)
class Same[T: mx.ImageModelTensor](nn.Module[T]):
    """A convolution that keeps the size of the image."""

    conv: nn.Conv2d[T]

    def forward(
        self, x: Float[T, "batch {self.conv.inputs} height width"]
    ) -> Float[T, "batch {self.conv.outputs} height width"]:
        return self.conv.forward(x)


def same(channels: int) -> Same[Host]:
    return Same(nn.Conv2d.init(channels, channels, 3, like=LIKE, key=mx.Key(channels), padding=1))


def wrong_pooling_left_out() -> None:
    def run[T: mx.ImageModelTensor](
        first: Same[T], second: Same[T], x: Float[T, "batch {first.conv.inputs} height width"]
    ) -> Float[T, "batch {second.conv.outputs} height//4 width//4"]:
        return second.forward(first.forward(x).max_pool2d(2))  # E: [tensor-shape] height//2, width//2

    run(same(2), same(2), LIKE.ones((1, 2, 8, 8)))


def right_pooling_left_out() -> None:
    def run[T: mx.ImageModelTensor](
        first: Same[T], second: Same[T], x: Float[T, "batch {first.conv.inputs} height width"]
    ) -> Float[T, "batch {second.conv.outputs} height//4 width//4"]:
        return second.forward(first.forward(x).max_pool2d(2)).max_pool2d(2)

    assert run(same(2), same(2), LIKE.ones((1, 2, 8, 8))).shape == (1, 2, 2, 2)


@dataclass(frozen=True)
class Crossed[T: mx.ImageModelTensor](nn.Module[T]):
    """What is made of an image beside the image, with the width in place of the height."""

    narrow: nn.Conv2d[T]
    out: nn.Conv2d[T]

    def forward(self, x: Float[T, "batch {self.narrow.inputs} height width"]) -> T:
        large = self.narrow.forward(x.max_pool2d(2).upsample_nearest2d((x.shape[3], x.shape[3])))
        return self.out.forward(large.concatenate(x, axis=1))


@dataclass(frozen=True)
class Beside[T: mx.ImageModelTensor](nn.Module[T]):
    """What is made of an image beside the image."""

    narrow: nn.Conv2d[T]
    out: nn.Conv2d[T]

    def forward(self, x: Float[T, "batch {self.narrow.inputs} height width"]) -> T:
        large = self.narrow.forward(x.max_pool2d(2).upsample_nearest2d((x.shape[2], x.shape[3])))
        return self.out.forward(large.concatenate(x, axis=1))


def wrong_side_of_an_image() -> None:
    narrow = nn.Conv2d.init(3, 2, 1, like=LIKE, key=mx.Key(0))
    Crossed(narrow, nn.Conv2d.init(5, 1, 1, like=LIKE, key=mx.Key(1)))  # E: [tensor-shape] (batch, 2, width, width)


def right_side_of_an_image() -> None:
    narrow = nn.Conv2d.init(3, 2, 1, like=LIKE, key=mx.Key(0))
    model = Beside(narrow, nn.Conv2d.init(5, 1, 1, like=LIKE, key=mx.Key(1)))
    assert model.forward(LIKE.ones((1, 3, 4, 6))).shape == (1, 1, 4, 6)


@dataclass(frozen=True)
class Hidden[T: mx.MlpTensor](nn.Module[T]):
    first: nn.Linear[T]
    second: nn.Linear[T]

    @classmethod
    def wrong(cls, *, like: T, key: mx.Key, width: int = 32) -> "Hidden[T]":
        first, second = key.split(2)
        return cls(  # E: [tensor-shape] works for width = 64 only, and its default is 32
            nn.Linear.init(6, width, like=like, key=first), nn.Linear.init(64, 3, like=like, key=second)
        )

    @classmethod
    def right(cls, *, like: T, key: mx.Key, width: int = 32) -> "Hidden[T]":
        first, second = key.split(2)
        return cls(nn.Linear.init(6, width, like=like, key=first), nn.Linear.init(width, 3, like=like, key=second))

    def forward(self, x: Float[T, "batch 6"]) -> Float[T, "batch 3"]:
        return self.second.forward(self.first.forward(x).relu())


def wrong_result_of_hidden(model: Hidden[Host]) -> Float[Host, "rows 4"]:
    return model.forward(LIKE.ones((5, 6)))  # E: [tensor-shape] (5, 3): annotated "rows 4"


def right_result_of_hidden() -> None:
    assert Hidden.right(like=LIKE, key=mx.Key(0)).forward(LIKE.ones((5, 6))).shape == (5, 3)


def wrong_line_after_a_scaled_field(norm: nn.RMSNorm[Host], x: Float[Host, "batch 5"]) -> Host:
    scaled = norm.weight * LIKE.full((), 0.5)
    return scaled + x @ x  # E: [tensor-shape] (batch, 5) @ (batch, 5)


def right_line_after_a_scaled_field() -> None:
    norm, x = nn.RMSNorm.init(5, like=LIKE), LIKE.ones((2, 5))
    assert (norm.weight * LIKE.full((), 0.5) + x).shape == (2, 5)
