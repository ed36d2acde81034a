"""Layers that nobody trains because they are in a list. Here a model is looked into wherever its layers are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

import moonxi as mx
from moonxi import F32, NpArray, nn, optim
from moonxi.losses import Logits, cross_entropy

type Host = NpArray[F32]


def linears(*sizes: int) -> list[nn.Linear[Host]]:
    keys = mx.Key(0).split(len(sizes) - 1)
    like = mx.numpy()
    return [
        nn.Linear.init(inputs, outputs, like=like, key=key)
        for inputs, outputs, key in zip(sizes, sizes[1:], keys, strict=False)
    ]


def batch() -> mx.Labelled[Host]:
    like = mx.numpy()
    return mx.Labelled(like.normal((3, 4), mx.Key(5)), like.labels(np.array([0, 2, 1])))


def changed(before: Sequence[Host], after: Sequence[Host]) -> list[bool]:
    return [not np.array_equal(x.to_host(), y.to_host()) for x, y in zip(before, after, strict=True)]


@dataclass(frozen=True)
class Listed[T: mx.MlpTensor](nn.Module[T]):
    layers: list[nn.Linear[T]]

    def forward(self, x: Float[T, "batch features"]) -> Logits[T]:
        for layer in self.layers[:-1]:
            x = layer.forward(x).tanh()
        return Logits(self.layers[-1].forward(x))


def loss_of_listed[T: mx.MlpTensor](model: Listed[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(model.forward(batch.x), batch.labels)


def impossible_b088_layers_in_a_list() -> None:
    """Layers are in a list of Python, so that the optimizer has no parameters and the layers no mode.

    PyTorch notices: never
    """

    @dataclass(frozen=True)
    class Net[T: mx.MlpTensor](nn.Module[T]):
        layers: list[nn.Linear[T]]
        dropouts: list[nn.Dropout]
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch 4"], mode: nn.Mode) -> Logits[T]:
            for layer, dropout in zip(self.layers, self.dropouts, strict=True):
                x = dropout.forward(layer.forward(x).tanh(), mode)
            return Logits(self.out.forward(x))

    def loss[T: mx.MlpTensor](model: Net[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
        return cross_entropy(model.forward(batch.x, mode), batch.labels)

    *layers, out = linears(4, 4, 4, 3)
    net, adam = Net(layers, [nn.Dropout(0.5), nn.Dropout(0.5)], out), optim.Adam(lr=0.1)
    assert [*net.named_parameters()][:4] == ["layers[0].weight", "layers[0].bias", "layers[1].weight", "layers[1].bias"]
    first, second = (nn.value_and_grad(loss, net, batch(), nn.Train(mx.Key(step)))[0] for step in (0, 1))
    assert first.item() != second.item()
    _, gradients = nn.value_and_grad(loss, net, batch(), nn.Eval())
    after, _ = adam.update(net, gradients, adam.init(net))
    assert all(changed(net.parameters(), after.parameters()))


def impossible_b089_layers_in_lists_of_lists() -> None:
    """Layers are in lists within lists, and none of them is among the parameters.

    PyTorch notices: never
    """

    @dataclass(frozen=True)
    class Heads[T: mx.MlpTensor](nn.Module[T]):
        heads: list[list[nn.Linear[T]]]

        def forward(self, x: Float[T, "batch 4"]) -> list[T]:
            found = []
            for head in self.heads:
                y = x
                for layer in head:
                    y = layer.forward(y).tanh()
                found.append(y)
            return found

    heads = Heads([linears(4, 4, 2), linears(4, 3)])
    assert len(heads.parameters()) == 6
    assert "heads[0][1].weight" in heads.named_parameters()
    assert [y.shape for y in heads.forward(batch().x)] == [(3, 2), (3, 3)]


def impossible_b091_branches_of_a_merging_layer() -> None:
    """A layer that merges several branches keeps them in a list of its own, and they are not trained.

    PyTorch notices: never
    """

    @dataclass(frozen=True)
    class Merge[T: mx.MlpTensor](nn.Module[T]):
        branches: Sequence[nn.Linear[T]]

        def forward(self, x: Float[T, "batch 4"], mode: nn.Mode) -> Float[T, "batch merged"]:
            first, *others = (one.forward(x) for one in self.branches)
            return first.concatenate(*others, axis=1)

    def loss[T: mx.MlpTensor](model: nn.Sequential[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
        return cross_entropy(Logits(model.forward(batch.x, mode)), batch.labels)

    net = nn.Sequential[Host](Merge([*linears(4, 2), *linears(4, 5)]), nn.Tanh(), *linears(7, 3))
    sgd = optim.Sgd(lr=0.1)
    _, gradients = nn.value_and_grad(loss, net, batch(), nn.Eval())
    after, _ = sgd.update(net, gradients, sgd.init(net))
    assert changed(net.parameters(), after.parameters()) == [True] * 6


def impossible_b092_list_of_a_perceptron() -> None:
    """The layers of a perceptron are made in a loop and kept in a list, which the framework does not know.

    PyTorch notices: never
    """
    net, sgd = Listed(linears(4, 8, 8, 3)), optim.Sgd(lr=0.1)
    _, gradients = nn.value_and_grad(loss_of_listed, net, batch(), nn.Eval())
    after, _ = sgd.update(net, gradients, sgd.init(net))
    assert changed(net.parameters(), after.parameters()) == [True] * 6
