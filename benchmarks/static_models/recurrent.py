"""A tagger of words: an embedding, two recurrent layers of different kinds, and a linear layer."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float, Int

import moonxi as mx
from moonxi import nn
from moonxi.losses import Logits, cross_entropy


@dataclass(frozen=True, eq=False)
class Sentences[T: mx.Tensor]:
    """A batch: words, and the tag of each."""

    words: Int[mx.Labels[T], "batch time"]
    tags: Int[mx.Labels[T], "batch time"]

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Sentences[U]":
        """The same sentences in another interpreter."""
        return Sentences(self.words.map(f), self.tags.map(f))


@dataclass(frozen=True)
class Elman[T: mx.MlpTensor](nn.Module[T]):
    """``h = tanh(x W + h U + b)`` (Elman 1990), with the matrices at hand."""

    weight: Float[T, "inputs width"]
    state: Float[T, "width width"]
    bias: Float[T, "width"]

    @classmethod
    def init(cls, inputs: int, width: int, /, *, like: T, key: mx.Key) -> "Elman[T]":
        """Small random weights where ``like`` lives."""
        first, second = key.split(2)
        return cls(
            like.normal((inputs, width), first) * 0.1,
            like.normal((width, width), second) * 0.1,
            like.zeros((width,)),
        )

    def forward(self, x: Float[T, "batch time inputs"]) -> Float[T, "batch time width"]:
        """The state after each word, from a state of zeros."""
        width = self.state.shape[0]
        h = x.zeros((x.shape[0], width))
        states: list[T] = []
        for step in range(x.shape[1]):
            h = self.step(x[:, step], h)
            states.append(h)
        return states[0].stack(*states[1:], axis=1)

    def step(self, x: Float[T, "batch inputs"], h: Float[T, "batch width"]) -> Float[T, "batch width"]:
        """The next state."""
        return (x @ self.weight + h @ self.state + self.bias).tanh()


@dataclass(frozen=True)
class Gated[T: mx.MlpTensor](nn.Module[T]):
    """A gated recurrent unit (Cho et al. 2014); each linear layer serves both gates and the candidate."""

    from_input: nn.Linear[T]
    from_state: nn.Linear[T]

    @classmethod
    def init(cls, inputs: int, width: int, /, *, like: T, key: mx.Key) -> "Gated[T]":
        """Random weights where ``like`` lives."""
        first, second = key.split(2)
        return cls(
            nn.Linear.init(inputs, 3 * width, like=like, key=first),
            nn.Linear.init(width, 3 * width, like=like, key=second, bias=False),
        )

    def forward(
        self, x: Float[T, "batch time {self.from_input.inputs}"]
    ) -> Float[T, "batch time {self.from_state.inputs}"]:
        """The state after each word, from a state of zeros."""
        h = x.zeros((x.shape[0], self.from_state.inputs))
        states: list[T] = []
        for step in range(x.shape[1]):
            h = self.step(x[:, step], h)
            states.append(h)
        return states[0].stack(*states[1:], axis=1)

    def step(
        self, x: Float[T, "batch {self.from_input.inputs}"], h: Float[T, "batch {self.from_state.inputs}"]
    ) -> Float[T, "batch {self.from_state.inputs}"]:
        """The next state: between the old one and the candidate."""
        width = self.from_state.inputs
        reset_x, update_x, new_x = self.from_input.forward(x).split((width, width, width), axis=1)
        reset_h, update_h, new_h = self.from_state.forward(h).split((width, width, width), axis=1)
        reset = (reset_x + reset_h).sigmoid()
        update = (update_x + update_h).sigmoid()
        candidate = (new_x + reset * new_h).tanh()
        return update * h + (1.0 - update) * candidate


@dataclass(frozen=True)
class Tagger[T: mx.MlpTensor](nn.Module[T]):
    """Scores for the tag of each word."""

    words: nn.Embedding[T]
    first: Elman[T]
    second: Gated[T]
    norm: nn.LayerNorm[T]
    out: nn.Linear[T]

    @classmethod
    def init(cls, words: int, tags: int, /, *, like: T, key: mx.Key) -> "Tagger[T]":
        """A network with random weights where ``like`` lives."""
        table, first, second, out = key.split(4)
        return cls(
            nn.Embedding.init(words, 24, like=like, key=table),
            Elman.init(24, 32, like=like, key=first),
            Gated.init(32, 40, like=like, key=second),
            nn.LayerNorm.init(40, like=like),
            nn.Linear.init(40, tags, like=like, key=out),
        )

    def scores(self, words: Int[mx.Labels[T], "batch time"]) -> Float[T, "batch time {self.out.outputs}"]:
        """A number for each tag of each word."""
        embedded: Float[T, "batch time 24"] = self.words.forward(words)
        states = self.second.forward(self.first.forward(embedded))
        return self.out.forward(self.norm.forward(states))

    def forward(self, words: Int[mx.Labels[T], "batch time"]) -> Logits[T]:
        """The same as logits."""
        return Logits(self.scores(words))


def loss[T: mx.MlpTensor](model: Tagger[T], batch: Sentences[T], mode: nn.Mode) -> T:
    """The cross-entropy of the tags, and a little for sentences whose mean scores are far from 0."""
    scores = model.scores(batch.words)
    mean: Float[T, "batch tags"] = scores.mean(1)
    return cross_entropy(Logits(scores), batch.tags) + 0.01 * mean.square().sum(1).mean()
