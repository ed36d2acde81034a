"""Models and layers whose widths do not meet: found where they are put together, before any tensor is there."""

from dataclasses import dataclass

from jaxtyping import Float

import moonxi as mx
from moonxi import F32, NpArray, nn

type Host = NpArray[F32]

LIKE = mx.numpy()
KEY = mx.Key(0)


def ones(*shape: int) -> Host:
    return LIKE.ones(shape)


def linear(inputs: int, outputs: int) -> nn.Linear[Host]:
    return nn.Linear.init(inputs, outputs, like=LIKE, key=KEY)


@dataclass(frozen=True)
class Pair[T: mx.MlpTensor](nn.Module[T]):
    hidden: nn.Linear[T]
    out: nn.Linear[T]

    @classmethod
    def init(cls, inputs: int, outputs: int, *, like: T, key: mx.Key) -> "Pair[T]":
        first, second = key.split(2)
        return cls(
            nn.Linear.init(inputs, 32, like=like, key=first),
            nn.Linear.init(32, outputs, like=like, key=second),
        )

    def forward(self, x: Float[T, "batch features"], mode: nn.Mode | None = None, /) -> Float[T, "batch classes"]:
        return self.out.forward(self.hidden.forward(x).relu())


def wrong_sequential() -> None:
    nn.Sequential(linear(784, 128), nn.Relu(), linear(64, 10))  # E: [tensor-shape] "Sequential"


def right_sequential() -> None:
    model = nn.Sequential(linear(784, 128), nn.Relu(), linear(128, 10))
    assert model.forward(ones(2, 784), nn.Eval()).shape == (2, 10)


def wrong_sequential_of_images() -> None:
    conv = nn.Conv2d.init(1, 8, 3, like=LIKE, key=KEY, padding=1)
    nn.Sequential(  # E: [tensor-shape] layer 4
        conv,
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear.init(7, 10, like=LIKE, key=mx.Key(1)),
    )


def right_sequential_of_images() -> None:
    conv = nn.Conv2d.init(1, 8, 3, like=LIKE, key=KEY, padding=1)
    model = nn.Sequential(conv, nn.MaxPool2d(2), nn.Flatten(), linear(8 * 14 * 14, 10))
    assert model.forward(ones(2, 1, 28, 28), nn.Eval()).shape == (2, 10)


def wrong_order_of_layers() -> None:
    conv = nn.Conv2d.init(3, 8, 3, like=LIKE, key=KEY)
    nn.Sequential(conv, nn.GlobalAvgPool2d(), nn.MaxPool2d(2))  # E: [tensor-shape] layer 3


def right_order_of_layers() -> None:
    conv = nn.Conv2d.init(3, 8, 3, like=LIKE, key=KEY)
    model = nn.Sequential(conv, nn.MaxPool2d(2), nn.GlobalAvgPool2d())
    assert model.forward(ones(2, 3, 8, 8), nn.Eval()).shape == (2, 8)


def wrong_norm_in_sequential() -> None:
    norm = nn.LayerNorm.init(32, like=LIKE)
    nn.Sequential(linear(16, 64), norm, linear(64, 4))  # E: [tensor-shape] layer 2


def right_norm_in_sequential() -> None:
    norm = nn.LayerNorm.init(64, like=LIKE)
    assert nn.Sequential(linear(16, 64), norm, linear(64, 4)).forward(ones(2, 16), nn.Eval()).shape == (2, 4)


def wrong_input_of_sequential(x: Float[Host, "batch 100"]) -> Host:
    model = nn.Sequential(linear(784, 128), nn.Relu(), linear(128, 10))
    return model.forward(x, nn.Eval())  # E: [tensor-shape] (batch, 100)


def right_input_of_sequential() -> None:
    def scores(x: Float[Host, "batch 784"]) -> Float[Host, "batch 10"]:
        model = nn.Sequential(linear(784, 128), nn.Relu(), linear(128, 10))
        return model.forward(x, nn.Eval())

    assert scores(ones(2, 784)).shape == (2, 10)


def wrong_nested_sequential() -> None:
    first = nn.Sequential(linear(8, 16), nn.Tanh())
    nn.Sequential(first, nn.Sequential(nn.Relu(), linear(8, 4)))  # E: [tensor-shape] layer 2


def right_nested_sequential() -> None:
    first = nn.Sequential(linear(8, 16), nn.Tanh())
    model = nn.Sequential(first, nn.Sequential(nn.Relu(), linear(16, 4)))
    assert model.forward(ones(2, 8), nn.Eval()).shape == (2, 4)


def wrong_constructor() -> None:
    Pair(linear(784, 128), linear(64, 10))  # E: [tensor-shape] "Pair"


def right_constructor() -> None:
    assert Pair(linear(784, 128), linear(128, 10)).forward(ones(2, 784)).shape == (2, 10)


def wrong_input_of_a_model() -> None:
    model = Pair.init(784, 10, like=LIKE, key=KEY)
    model.forward(ones(2, 100))  # E: [tensor-shape] (2, 100)


def right_input_of_a_model() -> None:
    model = Pair.init(784, 10, like=LIKE, key=KEY)
    assert model.forward(ones(2, 784)).shape == (2, 10)


@dataclass(frozen=True)
class Narrowed[T: mx.MlpTensor](nn.Module[T]):
    """Its layers do not meet in `init`."""

    first: nn.Linear[T]
    second: nn.Linear[T]

    @classmethod
    def init(cls, width: int, *, like: T, key: mx.Key) -> "Narrowed[T]":
        return cls(  # E: [tensor-shape] "Narrowed"
            nn.Linear.init(784, width, like=like, key=key.fold(1)),
            nn.Linear.init(2 * width, 10, like=like, key=key.fold(2)),
        )

    def forward(self, x: Float[T, "batch 784"], mode: nn.Mode | None = None, /) -> Float[T, "batch 10"]:
        h = self.first.forward(x)
        return self.second.forward(h.tanh())


def wrong_layers_in_init() -> None:
    def build() -> None:
        nn.Sequential(linear(4, 8), linear(9, 2))  # E: [tensor-shape] layer 2

    build()


def right_layers_in_init() -> None:
    assert Pair.init(6, 3, like=LIKE, key=KEY).forward(ones(2, 6)).shape == (2, 3)


@dataclass(frozen=True)
class Stack[T: mx.MlpTensor](nn.Module[T]):
    layers: tuple[nn.Linear[T], ...]
    head: nn.Linear[T]

    def forward(self, x: Float[T, "batch features"], mode: nn.Mode | None = None, /) -> T:
        for layer in self.layers:
            x = layer.forward(x).relu()
        return self.head.forward(x)


def wrong_layers_in_a_tuple() -> None:
    Stack((linear(8, 16), linear(12, 4)), linear(4, 2))  # E: [tensor-shape] "Stack"


def right_layers_in_a_tuple() -> None:
    assert Stack((linear(8, 16), linear(16, 4)), linear(4, 2)).forward(ones(2, 8)).shape == (2, 2)


@dataclass(frozen=True)
class Tied[T: mx.MlpTensor](nn.Module[T]):
    """Two fields of which the annotations share a name."""

    encode: Float[T, "inputs hidden"]
    decode: Float[T, "hidden inputs"]

    def forward(self, x: Float[T, "batch inputs"], mode: nn.Mode | None = None, /) -> Float[T, "batch inputs"]:
        return (x @ self.encode).relu() @ self.decode


def wrong_shared_size_of_two_fields() -> None:
    Tied(ones(6, 3), ones(4, 6))  # E: [tensor-shape] "decode"


def right_shared_size_of_two_fields() -> None:
    assert Tied(ones(6, 3), ones(3, 6)).forward(ones(2, 6)).shape == (2, 6)


@dataclass(frozen=True)
class Images[T: mx.ImageModelTensor](nn.Module[T]):
    conv: nn.Conv2d[T]
    norm: nn.BatchNorm2d[T]
    head: nn.Linear[T]

    def forward(self, x: Float[T, "batch 3 32 32"], mode: nn.Mode) -> Float[T, "batch 10"]:
        h = self.norm.forward(self.conv.forward(x), mode).relu().max_pool2d(2)
        return self.head.forward(h.reshape((h.shape[0], -1)))


def wrong_flattened_size() -> None:
    Images(  # E: [tensor-shape] "Images"
        nn.Conv2d.init(3, 8, 3, like=LIKE, key=KEY),
        nn.BatchNorm2d.init(8, like=LIKE),
        linear(8 * 16 * 16, 10),
    )


def right_flattened_size() -> None:
    model = Images(
        nn.Conv2d.init(3, 8, 3, like=LIKE, key=KEY, padding=1),
        nn.BatchNorm2d.init(8, like=LIKE),
        linear(8 * 16 * 16, 10),
    )
    assert model.forward(ones(2, 3, 32, 32), nn.Eval()).shape == (2, 10)


def wrong_channels_of_a_norm() -> None:
    conv = nn.Conv2d.init(3, 8, 3, like=LIKE, key=KEY, padding=1)
    Images(conv, nn.BatchNorm2d.init(16, like=LIKE), linear(2048, 10))  # E: [tensor-shape] "Images"


def right_channels_of_a_norm() -> None:
    conv = nn.Conv2d.init(3, 4, 3, like=LIKE, key=KEY, padding=1)
    model = Images(conv, nn.BatchNorm2d.init(4, like=LIKE), linear(1024, 10))
    assert model.forward(ones(1, 3, 32, 32), nn.Eval()).shape == (1, 10)


@dataclass(frozen=True)
class Fixed[T: mx.MlpTensor](nn.Module[T]):
    """It works for one width only, although `init` takes any."""

    first: nn.Linear[T]
    second: nn.Linear[T]

    @classmethod
    def init(cls, width: int, *, like: T, key: mx.Key) -> "Fixed[T]":
        first, second = key.split(2)
        hidden = nn.Linear.init(6, width, like=like, key=first)
        return cls(hidden, nn.Linear.init(12, 3, like=like, key=second))  # E: [tensor-shape] works for width = 12 only

    def forward(self, x: Float[T, "batch 6"], mode: nn.Mode | None = None, /) -> Float[T, "batch 3"]:
        return self.second.forward(self.first.forward(x))


@dataclass(frozen=True)
class Heads[T: mx.MlpTensor](nn.Module[T]):
    """A size of the layer and a size that comes with each call are two."""

    heads: int

    def wrong(self, x: Float[T, "batch time d"]) -> Float[T, "batch {self.heads} time d//{self.heads}"]:
        batch, time, d = x.shape
        parts = x.reshape((batch, time, self.heads, d // self.heads))
        return parts.permute((0, 1, 2, 3))  # E: [tensor-shape] return: (batch, time, {self.heads}, d//{self.heads})

    def forward(self, x: Float[T, "batch time d"]) -> Float[T, "batch {self.heads} time d//{self.heads}"]:
        batch, time, d = x.shape
        return x.reshape((batch, time, self.heads, d // self.heads)).permute((0, 2, 1, 3))


def wrong_order_of_axes_of_heads(heads: Heads[Host], x: Float[Host, "batch d"]) -> Host:
    return heads.forward(x)  # E: [tensor-shape] argument "x" of "Heads.forward": (batch, d)


def right_order_of_axes_of_heads() -> None:
    assert Heads[Host](2).forward(ones(1, 3, 4)).shape == (1, 2, 3, 2)
