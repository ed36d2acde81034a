"""Images and layers of which the annotated shapes do not meet."""

from dataclasses import dataclass

from jaxtyping import Float

import moonxi as mx
from moonxi import F32, NpArray, nn

type Host = NpArray[F32]
type Batch = Float[Host, "batch 784"]
type Images[T: mx.Tensor] = Float[T, "batch 3 height width"]


def ones(*shape: int) -> Host:
    return mx.numpy().ones(shape)


def wrong_channels_of_conv2d[T: mx.ImageModelTensor](x: Images[T], w: Float[T, "8 1 3 3"]) -> T:
    return x.conv2d(w, padding=1)  # E: [tensor-shape] conv2d


def right_channels_of_conv2d() -> None:
    def filtered[T: mx.ImageModelTensor](x: Images[T], w: Float[T, "8 3 3 3"]) -> Float[T, "batch 8 height width"]:
        return x.conv2d(w, padding=1)

    assert filtered(ones(1, 3, 5, 6), ones(8, 3, 3, 3)).shape == (1, 8, 5, 6)


def wrong_size_after_conv2d[T: mx.ImageModelTensor](
    x: Float[T, "n 3 28 28"], w: Float[T, "8 3 5 5"]
) -> Float[T, "n 8 28 28"]:
    return x.conv2d(w)  # E: [tensor-shape] return: (n, 8, 24, 24)


def right_size_after_conv2d() -> None:
    def filtered[T: mx.ImageModelTensor](x: Float[T, "n 3 28 28"], w: Float[T, "8 3 5 5"]) -> Float[T, "n 8 28 28"]:
        return x.conv2d(w, padding=2)

    assert filtered(ones(1, 3, 28, 28), ones(8, 3, 5, 5)).shape == (1, 8, 28, 28)


def wrong_flattened_after_pooling[T: mx.ImageModelTensor](
    x: Float[T, "batch 16 8 8"], w: Float[T, "1024 10"]
) -> Float[T, "batch 10"]:
    pooled = x.max_pool2d(2)
    rows = pooled.reshape((pooled.shape[0], -1))
    return rows @ w  # E: [tensor-shape] matmul: (batch, 256) @ (1024, 10)


def right_flattened_after_pooling() -> None:
    def scores[T: mx.ImageModelTensor](x: Float[T, "batch 16 8 8"], w: Float[T, "256 10"]) -> Float[T, "batch 10"]:
        pooled = x.max_pool2d(2)
        rows = pooled.reshape((pooled.shape[0], -1))
        return rows @ w

    assert scores(ones(2, 16, 8, 8), ones(256, 10)).shape == (2, 10)


def wrong_global_pooling[T: mx.ImageModelTensor](x: Images[T]) -> Float[T, "batch 3"]:
    return x.mean(3)  # E: [tensor-shape] return: (batch, 3, height): annotated "batch 3"


def right_global_pooling() -> None:
    def pooled[T: mx.ImageModelTensor](x: Images[T]) -> Float[T, "batch 3"]:
        return x.mean((2, 3))

    assert pooled(ones(2, 3, 4, 5)).shape == (2, 3)


def weighted[T: mx.MlpTensor](x: Float[T, "n d"], y: Float[T, " d"], scale: float = 1.0) -> Float[T, "d"]:
    return x.mean(0) * y * scale


def wrong_argument(x: Float[Host, "n d"], per_row: Float[Host, " n"]) -> Host:
    return weighted(x, per_row, scale=2.0)  # E: [tensor-shape] argument "y" of "weighted": (n,): annotated "d"


def right_argument() -> None:
    def scaled(x: Float[Host, "n d"], per_row: Float[Host, " n"]) -> Float[Host, " n"]:
        return weighted(x.transpose(), y=per_row)

    assert scaled(ones(2, 3), ones(2)).shape == (2,)


def wrong_rank_of_an_argument(x: Batch) -> Host:
    return weighted(x.sum(), x.sum(0))  # E: [tensor-shape] argument "x" of "weighted": (): annotated "n d"


def right_rank_of_an_argument() -> None:
    def scaled(x: Batch) -> Float[Host, "784"]:
        return weighted(x, x.sum(0))

    assert scaled(ones(2, 784)).shape == (784,)


def wrong_result_of_a_call(x: Float[Host, "7 5"], y: Float[Host, "5"]) -> Host:
    return weighted(x, y) + x.sum(1)  # E: [tensor-shape] add: (5,) and (7,)


def right_result_of_a_call() -> None:
    def total(x: Float[Host, "7 5"], y: Float[Host, "5"]) -> Float[Host, "5"]:
        return weighted(x, y) + x.sum(0)

    assert total(ones(7, 5), ones(5)).shape == (5,)


def wrong_local_annotation(x: Float[Host, "batch d"]) -> Host:
    means: Float[Host, "1 batch"] = x.mean(0, keepdims=True)  # E: [tensor-shape] assignment: (1, d)
    return means


def right_local_annotation() -> None:
    def normalised(x: Float[Host, "batch d"]) -> Host:
        means: Float[Host, "1 d"] = x.mean(0, keepdims=True)
        return x - means

    assert normalised(ones(2, 3)).shape == (2, 3)


def wrong_branch(x: Float[Host, "batch d"], residual: bool) -> Float[Host, "batch 1"]:
    y = x.mean(1, keepdims=True)
    if residual:
        y = y @ x  # E: [tensor-shape] matmul: (batch, 1) @ (batch, d)
    return y


def right_branch() -> None:
    def summed(x: Float[Host, "batch d"], residual: bool) -> Float[Host, "batch 1"]:
        y = x.mean(1, keepdims=True)
        if residual:
            y = x @ (x.transpose() @ y)
        return y

    assert summed(ones(2, 3), True).shape == (2, 1)


def wrong_pair(x: Float[Host, "n d"]) -> tuple[Float[Host, " n"], Float[Host, " d"]]:
    return x.sum(0), x.sum(1)  # E: [tensor-shape] return: (d,): annotated "n"


def right_pair() -> None:
    def margins(x: Float[Host, "n d"]) -> tuple[Float[Host, " n"], Float[Host, " d"]]:
        return x.sum(1), x.sum(0)

    assert [one.shape for one in margins(ones(2, 3))] == [(2,), (3,)]


def wrong_two_layers() -> None:
    like = mx.numpy()
    hidden = nn.Linear.init(784, 128, like=like, key=mx.Key(0))
    out = nn.Linear.init(64, 10, like=like, key=mx.Key(1))
    out.forward(hidden.forward(like.zeros((1, 784))))  # E: [tensor-shape] argument 1 of "Linear.forward": (1, 128)


def right_two_layers() -> None:
    like = mx.numpy()
    hidden = nn.Linear.init(784, 128, like=like, key=mx.Key(0))
    out = nn.Linear.init(128, 10, like=like, key=mx.Key(1))
    assert out.forward(hidden.forward(like.zeros((1, 784)))).shape == (1, 10)


def wrong_channels_of_a_layer(x: Float[Host, "batch 1 28 28"]) -> None:
    conv = nn.Conv2d.init(3, 8, 3, like=mx.numpy(), key=mx.Key(0))
    conv.forward(x.relu())  # E: [tensor-shape] argument 1 of "Conv2d.forward": (batch, 1, 28, 28)


def right_channels_of_a_layer() -> None:
    conv = nn.Conv2d.init(1, 8, 3, like=mx.numpy(), key=mx.Key(0))
    assert conv.forward(ones(2, 1, 28, 28)).shape == (2, 8, 26, 26)


def wrong_bias_of_a_layer(weight: Float[Host, "4 3"]) -> nn.Linear[Host]:
    return nn.Linear(weight, weight.sum(1))  # E: [tensor-shape] argument "bias" of "Linear": (4,): annotated "outputs"


def right_bias_of_a_layer() -> None:
    weight = ones(4, 3)
    assert nn.Linear(weight, weight.sum(0)).forward(ones(2, 4)).shape == (2, 3)


@dataclass(frozen=True)
class WrongTwice[T: mx.MlpTensor](nn.Module[T]):
    layer: nn.Linear[T]

    def forward(self, x: Float[T, "batch 784"]) -> Float[T, "batch 10"]:
        h = self.layer.forward(x)
        first: Float[T, "batch 10"] = h
        return self.layer.forward(first)  # E: [tensor-shape] argument 1 of "Linear.forward": (batch, 10)


@dataclass(frozen=True)
class Scaled[T: mx.MlpTensor](nn.Module[T]):
    weight: Float[T, "inputs outputs"]
    scale: Float[T, " outputs"]

    def forward(self, x: Float[T, "batch inputs"]) -> Float[T, "batch outputs"]:
        return (x @ self.weight) * self.scale

    def wrong_transposed(self, x: Float[T, "batch inputs"]) -> Float[T, "batch outputs"]:
        return x @ self.weight.transpose()  # E: [tensor-shape] inner dimensions differ (inputs and outputs)

    def wrong_scaled_first(self, x: Float[T, "batch inputs"]) -> Float[T, "batch outputs"]:
        return (x * self.scale) @ self.weight  # E: [tensor-shape] multiply: (batch, inputs) and (outputs,)


@dataclass(frozen=True)
class Hidden[T: mx.MlpTensor](nn.Module[T]):
    first: Float[T, "inputs hidden"]
    bias: Float[T, " hidden"]
    second: Float[T, "hidden outputs"]

    def forward(self, x: Float[T, "batch inputs"]) -> Float[T, "batch outputs"]:
        return (x @ self.first + self.bias).relu() @ self.second

    def wrong_second(self, x: Float[T, "batch inputs"]) -> T:
        y = x @ self.first
        return y @ self.second.transpose()  # E: [tensor-shape] inner dimensions differ (self.hidden and self.outputs)

    def wrong_bias(self, x: Float[T, "batch inputs"]) -> T:
        return (x + self.bias) @ self.first  # E: [tensor-shape] add: (batch, inputs) and (self.hidden,)


def wrong_number_of_poolings(x: Float[Host, "batch c h w"]) -> Float[Host, "batch c h//2 w//2"]:
    return x.max_pool2d(2).max_pool2d(2)  # E: [tensor-shape] return: (batch, c, h//4, w//4)


def right_number_of_poolings() -> None:
    def pooled(x: Float[Host, "batch c h w"]) -> Float[Host, "batch c h//4 w//4"]:
        return x.max_pool2d(2).max_pool2d(2)

    assert pooled(ones(1, 2, 8, 8)).shape == (1, 2, 2, 2)


def wrong_fields(x: Float[Host, "batch inputs"], model: Scaled[Host]) -> Float[Host, "2 3"]:
    return model.forward(x).sum(0)  # E: [tensor-shape] return


def right_fields() -> None:
    model = Scaled(ones(3, 4), ones(4))
    assert model.forward(ones(2, 3)).shape == (2, 4)


def wrong_pixels_by_reshape(x: Float[Host, "batch 4*c h w"]) -> Float[Host, "batch c 2*h 2*w"]:
    batch, channels, h, w = x.shape
    parts = x.reshape((batch, channels // 4, 2, 2, h, w)).permute((0, 1, 4, 2, 5, 3))
    return parts.reshape((batch, channels // 2, h * 2, w * 2))  # E: [tensor-shape] elements cannot become


def right_pixels_by_reshape() -> None:
    def larger(x: Float[Host, "batch 4*c h w"]) -> Float[Host, "batch c 2*h 2*w"]:
        batch, channels, h, w = x.shape
        parts = x.reshape((batch, channels // 4, 2, 2, h, w)).permute((0, 1, 4, 2, 5, 3))
        return parts.reshape((batch, channels // 4, h * 2, w * 2))

    assert larger(ones(1, 8, 3, 3)).shape == (1, 2, 6, 6)


def wrong_transposed_convolution(
    x: Float[Host, "batch 2*c h w"], kernel: Float[Host, "2*c c 3 3"]
) -> Float[Host, "batch c 2*h 2*w"]:
    return x.conv_transpose2d(kernel, stride=2)  # E: [tensor-shape] return: (batch, c, 2*h+1, 2*w+1)


def right_transposed_convolution() -> None:
    def up(x: Float[Host, "batch 2*c h w"], kernel: Float[Host, "2*c c 2 2"]) -> Float[Host, "batch c 2*h 2*w"]:
        return x.conv_transpose2d(kernel, stride=2)

    assert up(ones(1, 4, 3, 3), ones(4, 2, 2, 2)).shape == (1, 2, 6, 6)


def wrong_patches(x: Float[Host, "batch c p*16 q*16"]) -> Float[Host, "batch p*q c*256"]:
    batch, c, h, w = x.shape
    parts = x.reshape((batch, c, h // 16, 16, w // 16, 16)).permute((0, 2, 4, 1, 3, 5))
    return parts.reshape((batch, -1, c * 16))  # E: [tensor-shape] return: (batch, 16*p*q, 16*c)


def right_patches() -> None:
    def patches(x: Float[Host, "batch c p*16 q*16"]) -> Float[Host, "batch p*q c*256"]:
        batch, c, h, w = x.shape
        parts = x.reshape((batch, c, h // 16, 16, w // 16, 16)).permute((0, 2, 4, 1, 3, 5))
        return parts.reshape((batch, -1, c * 256))

    assert patches(ones(1, 3, 32, 32)).shape == (1, 4, 768)


def wrong_halves_of_channels(x: Float[Host, "batch c h w"]) -> Float[Host, "batch 2*c h//2 w//2"]:
    small = x.max_pool2d(2)
    return small.concatenate(small, axis=0)  # E: [tensor-shape] return: (2*batch, c, h//2, w//2)


def right_halves_of_channels() -> None:
    def both(x: Float[Host, "batch c h w"]) -> Float[Host, "batch 2*c h//2 w//2"]:
        small = x.max_pool2d(2)
        return small.concatenate(small, axis=1)

    assert both(ones(1, 2, 4, 4)).shape == (1, 4, 2, 2)
