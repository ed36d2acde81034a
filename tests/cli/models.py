"""Models of several kinds, all right: attention, recurrent, U-shaped, an auto-encoder, a layer of a graph."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from jaxtyping import Float

import moonxi as mx
from moonxi import nn
from moonxi.losses import Logits, cross_entropy, mse


@dataclass(frozen=True)
class Attention[T: mx.MlpTensor](nn.Module[T]):
    query: nn.Linear[T]
    key: nn.Linear[T]
    value: nn.Linear[T]
    out: nn.Linear[T]
    heads: int = 8

    @classmethod
    def init(cls, width: int, *, like: T, key: mx.Key, heads: int = 8) -> "Attention[T]":
        query, keys, value, out = (nn.Linear.init(width, width, like=like, key=one) for one in key.split(4))
        return cls(query, keys, value, out, heads)

    def split(self, x: Float[T, "batch seq width"]) -> Float[T, "batch heads seq per"]:
        batch, seq, width = x.shape
        return x.reshape((batch, seq, self.heads, width // self.heads)).permute((0, 2, 1, 3))

    def forward(self, x: Float[T, "batch seq width"], mode: nn.Mode | None = None) -> Float[T, "batch seq width"]:
        q, k, v = (self.split(one.forward(x)) for one in (self.query, self.key, self.value))
        scores = (q @ k.transpose()) * (1.0 / sqrt(q.shape[-1]))
        mixed = scores.softmax(-1) @ v
        return self.out.forward(mixed.permute((0, 2, 1, 3)).reshape(x.shape))


@dataclass(frozen=True)
class Block[T: mx.MlpTensor](nn.Module[T]):
    attention: Attention[T]
    up: nn.Linear[T]
    down: nn.Linear[T]

    @classmethod
    def init(cls, width: int, *, like: T, key: mx.Key) -> "Block[T]":
        a, b, c = key.split(3)
        return cls(
            Attention.init(width, like=like, key=a),
            nn.Linear.init(width, 4 * width, like=like, key=b),
            nn.Linear.init(4 * width, width, like=like, key=c),
        )

    def forward(self, x: Float[T, "batch seq width"], mode: nn.Mode) -> Float[T, "batch seq width"]:
        x = nn.residual(self.attention.forward(x), x)
        return x + nn.Dropout(0.1).forward(self.down.forward(self.up.forward(x).relu()), mode)


@dataclass(frozen=True)
class Transformer[T: mx.MlpTensor](nn.Module[T]):
    embedding: Float[T, "vocabulary width"]
    positions: Float[T, "context width"]
    blocks: tuple[Block[T], ...]
    head: nn.Linear[T]

    @classmethod
    def init(
        cls, *, like: T, key: mx.Key, vocabulary: int = 256, context: int = 64, width: int = 128
    ) -> "Transformer[T]":
        keys = key.split(5)
        return cls(
            like.normal((vocabulary, width), keys[0]),
            like.normal((context, width), keys[1]),
            tuple(Block.init(width, like=like, key=one) for one in keys[2:4]),
            nn.Linear.init(width, vocabulary, like=like, key=keys[4]),
        )

    def forward(self, x: Float[T, "batch seq vocabulary"], mode: nn.Mode) -> Logits[T]:
        h = x @ self.embedding + self.positions[: x.shape[1]]
        for block in self.blocks:
            h = block.forward(h, mode)
        return Logits(self.head.forward(h))


def language_loss[T: mx.MlpTensor](model: Transformer[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


@dataclass(frozen=True)
class Recurrent[T: mx.MlpTensor](nn.Module[T]):
    inner: nn.Linear[T]
    outer: nn.Linear[T]
    head: nn.Linear[T]

    @classmethod
    def init(cls, *, like: T, key: mx.Key, inputs: int = 12, width: int = 32, classes: int = 5) -> "Recurrent[T]":
        a, b, c = key.split(3)
        return cls(
            nn.Linear.init(width, width, like=like, key=a),
            nn.Linear.init(inputs, width, like=like, key=b),
            nn.Linear.init(width, classes, like=like, key=c),
        )

    def forward(self, x: Float[T, "batch time inputs"], mode: nn.Mode | None = None) -> Logits[T]:
        state = x.zeros((x.shape[0], self.inner.inputs))
        for step in range(x.shape[1]):
            state = (self.inner.forward(state) + self.outer.forward(x[:, step])).tanh()
        return Logits(self.head.forward(state))


def recurrent_loss[T: mx.MlpTensor](model: Recurrent[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(model.forward(batch.x), batch.labels)


@dataclass(frozen=True)
class Unet[T: mx.ImageModelTensor](nn.Module[T]):
    down: nn.Conv2d[T]
    middle: nn.Conv2d[T]
    up: nn.ConvTranspose2d[T]
    out: nn.Conv2d[T]

    @classmethod
    def init(cls, *, like: T, key: mx.Key, channels: int = 3) -> "Unet[T]":
        a, b, c, d = key.split(4)
        return cls(
            nn.Conv2d.init(channels, 16, 3, like=like, key=a, padding="same"),
            nn.Conv2d.init(16, 32, 3, like=like, key=b, padding=1),
            nn.ConvTranspose2d.init(32, 16, 2, like=like, key=c, stride=2),
            nn.Conv2d.init(16, channels, 1, like=like, key=d),
        )

    def forward(self, x: Float[T, "batch c h w"], mode: nn.Mode | None = None) -> Float[T, "batch c h w"]:
        a = self.down.forward(x).relu()
        b = self.middle.forward(a.max_pool2d(2)).relu()
        return self.out.forward(nn.residual(self.up.forward(b), a))


@dataclass(frozen=True)
class Pairs[T: mx.Tensor]:
    x: T
    y: T

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Pairs[U]":
        return Pairs(f(self.x), f(self.y))


def unet_loss[T: mx.ImageModelTensor](model: Unet[T], batch: Pairs[T], mode: nn.Mode) -> T:
    return mse(model.forward(batch.x), batch.y)


@dataclass(frozen=True)
class Autoencoder[T: mx.MlpTensor](nn.Module[T]):
    encoder: nn.Sequential[T]
    decoder: nn.Sequential[T]

    @classmethod
    def init(cls, *, like: T, key: mx.Key, width: int = 784, code: int = 32) -> "Autoencoder[T]":
        a, b, c, d = key.split(4)
        return cls(
            nn.Sequential(
                nn.Linear.init(width, 128, like=like, key=a), nn.Relu(), nn.Linear.init(128, code, like=like, key=b)
            ),
            nn.Sequential(
                nn.Linear.init(code, 128, like=like, key=c), nn.Relu(), nn.Linear.init(128, width, like=like, key=d)
            ),
        )

    def encode(self, x: Float[T, "batch width"], mode: nn.Mode) -> Float[T, "batch code"]:
        return self.encoder.forward(x, mode)

    def forward(self, x: Float[T, "batch width"], mode: nn.Mode) -> Float[T, "batch width"]:
        return self.decoder.forward(self.encode(x, mode), mode)


def reconstruction[T: mx.MlpTensor](model: Autoencoder[T], x: Float[T, "batch width"], mode: nn.Mode) -> T:
    return mse(model.forward(x, mode), x)


@dataclass(frozen=True)
class GraphLayer[T: mx.MlpTensor](nn.Module[T]):
    own: nn.Linear[T]
    others: nn.Linear[T]

    def forward(self, nodes: Float[T, "nodes features"], edges: Float[T, "nodes nodes"]) -> Float[T, "nodes out"]:
        degree = edges.sum(1, keepdims=True).maximum(1.0)
        return (self.own.forward(nodes) + self.others.forward(edges @ nodes / degree)).relu()


def halves[T: mx.Tensor](x: Float[T, "batch d"]) -> tuple[Float[T, "batch d//2"], Float[T, "batch d//2"]]:
    half = x.shape[1] // 2
    return x[:, :half], x[:, half : 2 * half]


def contrastive[T: mx.MlpTensor](a: Float[T, "batch d"], b: Float[T, "batch d"], temperature: float = 0.1) -> T:
    scores = (a @ b.transpose()) / temperature
    diagonal = a.labels(np.arange(a.shape[0]))
    return -scores.log_softmax(1).pick(diagonal).mean()


def grams[T: mx.MlpTensor](x: Float[T, "batch c h w"]) -> Float[T, "batch c c"]:
    batch, c, h, w = x.shape
    flat = x.reshape((batch, c, h * w))
    return flat @ flat.transpose() / (c * h * w)


def patches[T: mx.Tensor](x: Float[T, "batch c h w"], size: int = 4) -> Float[T, "batch c*{size}*{size} n"]:
    batch, c, h, w = x.shape
    y = x.reshape((batch, c, h // size, size, w // size, size)).permute((0, 1, 3, 5, 2, 4))
    return y.reshape((batch, c * size * size, -1))
