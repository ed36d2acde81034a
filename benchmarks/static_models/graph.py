"""A network on graphs: messages along edges, attention over neighbours, and a class for each graph."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float, Int

import moonxi as mx
from moonxi import nn
from moonxi.losses import Logits, cross_entropy


@dataclass(frozen=True, eq=False)
class Graphs[T: mx.Tensor]:
    """A batch: what is known of the nodes, where they are, which are connected, and the class of each graph."""

    nodes: Float[T, "graphs nodes features"]
    places: Float[T, "graphs nodes 3"]
    edges: Float[T, "graphs nodes nodes"]
    kinds: Int[mx.Labels[T], "graphs"]

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Graphs[U]":
        """The same graphs in another interpreter."""
        return Graphs(f(self.nodes), f(self.places), f(self.edges), self.kinds.map(f))


def normalised[T: mx.Tensor](edges: Float[T, "graphs nodes nodes"]) -> Float[T, "graphs nodes nodes"]:
    """Each edge over the root of the numbers of edges at its ends (Kipf and Welling 2017)."""
    degrees: Float[T, "graphs nodes"] = edges.abs().sum(2) + 1.0
    roots = degrees.sqrt()
    return edges / roots[:, :, None] / roots[:, None, :]


def distances[T: mx.Tensor](places: Float[T, "graphs nodes space"]) -> Float[T, "graphs nodes nodes"]:
    """How far apart the nodes are, squared."""
    differences: Float[T, "graphs nodes nodes space"] = places[:, :, None, :] - places[:, None, :, :]
    return differences.square().sum(3)


@dataclass(frozen=True)
class Convolution[T: mx.MlpTensor](nn.Module[T]):
    """The mean of what the neighbours say, and what the node says itself."""

    neighbour: Float[T, "inputs outputs"]
    own: Float[T, "inputs outputs"]
    bias: Float[T, "outputs"]

    @classmethod
    def init(cls, inputs: int, outputs: int, /, *, like: T, key: mx.Key) -> "Convolution[T]":
        """Small random weights where ``like`` lives."""
        first, second = key.split(2)
        return cls(
            like.normal((inputs, outputs), first) * 0.1,
            like.normal((inputs, outputs), second) * 0.1,
            like.zeros((outputs,)),
        )

    def forward(
        self, x: Float[T, "graphs nodes inputs"], edges: Float[T, "graphs nodes nodes"]
    ) -> Float[T, "graphs nodes outputs"]:
        """New features for each node."""
        messages = edges @ (x @ self.neighbour)
        return messages + x @ self.own + self.bias


@dataclass(frozen=True)
class Attention[T: mx.MlpTensor](nn.Module[T]):
    """Neighbours weighted by scores of both ends (Velickovic et al. 2018) and by their distance."""

    project: nn.Linear[T]
    source: Float[T, "outputs"]
    target: Float[T, "outputs"]

    @classmethod
    def init(cls, inputs: int, outputs: int, /, *, like: T, key: mx.Key) -> "Attention[T]":
        """Small random weights where ``like`` lives."""
        project, source, target = key.split(3)
        return cls(
            nn.Linear.init(inputs, outputs, like=like, key=project),
            like.normal((outputs,), source) * 0.1,
            like.normal((outputs,), target) * 0.1,
        )

    def forward(
        self, x: Float[T, "graphs nodes {self.project.inputs}"], apart: Float[T, "graphs nodes nodes"]
    ) -> Float[T, "graphs nodes {self.project.outputs}"]:
        """New features for each node."""
        h = self.project.forward(x)
        source: Float[T, "graphs nodes"] = (h * self.source).sum(2)
        target: Float[T, "graphs nodes"] = mx.einsum("gnf,f->gn", h, self.target)
        scores = source.unsqueeze(2) + target.unsqueeze(1) - apart
        weights: Float[T, "graphs nodes nodes"] = nn.leaky_relu(scores).softmax(2)
        return mx.einsum("gnm,gmf->gnf", weights, h)


@dataclass(frozen=True)
class GraphNet[T: mx.MlpTensor](nn.Module[T]):
    """Two convolutions, attention, and the mean and largest of all nodes."""

    first: Convolution[T]
    second: Convolution[T]
    attention: Attention[T]
    out: nn.Linear[T]

    @classmethod
    def init(cls, features: int, kinds: int, /, *, like: T, key: mx.Key) -> "GraphNet[T]":
        """A network with random weights where ``like`` lives."""
        first, second, attention, out = key.split(4)
        return cls(
            Convolution.init(features, 32, like=like, key=first),
            Convolution.init(32, 24, like=like, key=second),
            Attention.init(24, 16, like=like, key=attention),
            nn.Linear.init(32, kinds, like=like, key=out),
        )

    def scores(
        self,
        nodes: Float[T, "graphs nodes features"],
        places: Float[T, "graphs nodes 3"],
        edges: Float[T, "graphs nodes nodes"],
    ) -> Float[T, "graphs {self.out.outputs}"]:
        """A number for each kind of graph."""
        edges = normalised(edges)
        h = self.first.forward(nodes, edges).relu()
        h = self.second.forward(h, edges).relu()
        h = self.attention.forward(h, distances(places))
        summary: Float[T, "graphs 32"] = h.mean(1).concatenate(h.max(1), axis=1)
        return self.out.forward(summary)

    def forward(
        self,
        nodes: Float[T, "graphs nodes features"],
        places: Float[T, "graphs nodes 3"],
        edges: Float[T, "graphs nodes nodes"],
    ) -> Logits[T]:
        """The same as logits."""
        return Logits(self.scores(nodes, places, edges))


def loss[T: mx.MlpTensor](model: GraphNet[T], batch: Graphs[T], mode: nn.Mode) -> T:
    """The cross-entropy of the kinds of graphs."""
    logits = model.forward(batch.nodes, batch.places, batch.edges)
    return cross_entropy(logits, batch.kinds)
