"""A small transformer (Vaswani et al. 2017) that predicts the next token."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

import moonxi as mx
from moonxi import nn
from moonxi.losses import Logits, cross_entropy


@dataclass(frozen=True, eq=False)
class Texts[T: mx.Tensor]:
    """A batch: tokens, and the token after each."""

    tokens: Int[mx.Labels[T], "batch time"]
    following: Int[mx.Labels[T], "batch time"]

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Texts[U]":
        """The same texts in another interpreter."""
        return Texts(self.tokens.map(f), self.following.map(f))


def causal[T: mx.Tensor](like: T, time: int) -> Bool[mx.Mask[T], "{time} {time}"]:
    """Where a token may not look: at those after it."""
    places = like.from_host(np.arange(time, dtype=np.float32))
    return places[:, None] < places[None, :]


def attend[T: mx.MlpTensor](
    query: Float[T, "batch heads time depth"],
    key: Float[T, "batch heads source depth"],
    value: Float[T, "batch heads source width"],
    hidden: Bool[mx.Mask[T], "time source"],
) -> Float[T, "batch heads time width"]:
    """Values, weighted by how well the keys fit the queries."""
    scores: Float[T, "batch heads time source"] = query @ key.transpose() / query.shape[-1] ** 0.5
    return scores.masked_fill(hidden, -1e9).softmax(-1) @ value


@dataclass(frozen=True)
class Attention[T: mx.MlpTensor](nn.Module[T]):
    """Self-attention with several heads, of which each sees a part of the width."""

    query: nn.Linear[T]
    key: nn.Linear[T]
    value: nn.Linear[T]
    out: nn.Linear[T]
    heads: int

    @classmethod
    def init(cls, width: int, heads: int, /, *, like: T, key: mx.Key) -> "Attention[T]":
        """Random weights where ``like`` lives."""
        keys = key.split(4)
        return cls(
            nn.Linear.init(width, width, like=like, key=keys[0], bias=False),
            nn.Linear.init(width, width, like=like, key=keys[1], bias=False),
            nn.Linear.init(width, width, like=like, key=keys[2], bias=False),
            nn.Linear.init(width, width, like=like, key=keys[3]),
            heads,
        )

    def split(self, x: Float[T, "batch time width"]) -> Float[T, "batch {self.heads} time width//{self.heads}"]:
        """The width divided among the heads."""
        batch, time, width = x.shape
        parts: Float[T, "batch time {self.heads} width//{self.heads}"] = x.reshape(
            (batch, time, self.heads, width // self.heads)
        )
        return parts.permute((0, 2, 1, 3))

    def merge(self, x: Float[T, "batch heads time depth"]) -> Float[T, "batch time heads*depth"]:
        """The heads beside each other again."""
        batch, heads, time, depth = x.shape
        return x.permute((0, 2, 1, 3)).reshape((batch, time, heads * depth))

    def forward(
        self, x: Float[T, "batch time {self.query.inputs}"], hidden: Bool[mx.Mask[T], "time time"]
    ) -> Float[T, "batch time {self.out.outputs}"]:
        """Each token gets what it sees in the others."""
        query = self.split(self.query.forward(x))
        key = self.split(self.key.forward(x))
        value = self.split(self.value.forward(x))
        return self.out.forward(self.merge(attend(query, key, value, hidden)))


@dataclass(frozen=True)
class Block[T: mx.MlpTensor](nn.Module[T]):
    """Attention and two linear layers, each around a shortcut."""

    attention_norm: nn.LayerNorm[T]
    attention: Attention[T]
    wide_norm: nn.RMSNorm[T]
    wide: nn.Linear[T]
    narrow: nn.Linear[T]

    @classmethod
    def init(cls, width: int, heads: int, /, *, like: T, key: mx.Key) -> "Block[T]":
        """Random weights where ``like`` lives."""
        attention, wide, narrow = key.split(3)
        return cls(
            nn.LayerNorm.init(width, like=like),
            Attention.init(width, heads, like=like, key=attention),
            nn.RMSNorm.init(width, like=like),
            nn.Linear.init(width, 4 * width, like=like, key=wide),
            nn.Linear.init(4 * width, width, like=like, key=narrow),
        )

    def forward(
        self, x: Float[T, "batch time {self.wide.inputs}"], hidden: Bool[mx.Mask[T], "time time"]
    ) -> Float[T, "batch time {self.wide.inputs}"]:
        """Through both."""
        x = nn.residual(self.attention.forward(self.attention_norm.forward(x), hidden), x)
        between = nn.gelu(self.wide.forward(self.wide_norm.forward(x)))
        return nn.residual(self.narrow.forward(between), x)


@dataclass(frozen=True)
class Transformer[T: mx.MlpTensor](nn.Module[T]):
    """Tokens and their places as vectors, two blocks, and scores for the token that follows."""

    tokens: nn.Embedding[T]
    places: Float[T, "longest width"]
    first: Block[T]
    second: Block[T]
    norm: nn.LayerNorm[T]
    out: nn.Linear[T]

    @classmethod
    def init(cls, tokens: int, /, *, like: T, key: mx.Key, longest: int = 64) -> "Transformer[T]":
        """A network with random weights where ``like`` lives."""
        table, places, first, second, out = key.split(5)
        return cls(
            nn.Embedding.init(tokens, 48, like=like, key=table),
            like.normal((longest, 48), places) * 0.02,
            Block.init(48, 4, like=like, key=first),
            Block.init(48, 4, like=like, key=second),
            nn.LayerNorm.init(48, like=like),
            nn.Linear.init(48, tokens, like=like, key=out),
        )

    def embedded(self, tokens: Int[mx.Labels[T], "batch time"]) -> Float[T, "batch time 48"]:
        """Each token with its place."""
        time = tokens.shape[1]
        vectors = self.tokens.forward(tokens)
        return vectors + self.places[:time]

    def scores(self, tokens: Int[mx.Labels[T], "batch time"]) -> Float[T, "batch time {self.out.outputs}"]:
        """A number for each token that may follow."""
        x = self.embedded(tokens)
        hidden = causal(x, tokens.shape[1])
        x = self.first.forward(x, hidden)
        x = self.second.forward(x, hidden)
        return self.out.forward(self.norm.forward(x))

    def forward(self, tokens: Int[mx.Labels[T], "batch time"]) -> Logits[T]:
        """The same as logits."""
        return Logits(self.scores(tokens))


def loss[T: mx.MlpTensor](model: Transformer[T], batch: Texts[T], mode: nn.Mode) -> tuple[T, dict[str, T]]:
    """The cross-entropy of the token that follows, and beside it the largest score of each text, on average."""
    scores = model.scores(batch.tokens)
    peaks: Float[T, "batch"] = scores.max(2).mean(1)
    return cross_entropy(Logits(scores), batch.following), {"peak": peaks.mean()}
