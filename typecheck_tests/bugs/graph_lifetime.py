"""Graphs that live too long, or not long enough. Here a graph is what its results hold, and a step gives none away."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

import moonxi as mx
from moonxi import F32, NpArray, nn, optim
from moonxi.losses import Logits, cross_entropy

type Host = NpArray[F32]
type Lifted = mx.ImageGrad[Host]


def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(Logits(model.forward(batch.x)), batch.labels)


def linear() -> nn.Linear[Host]:
    return nn.Linear.init(4, 3, like=mx.numpy(), key=mx.Key(0))


def batches() -> list[mx.Labelled[Host]]:
    like = mx.numpy()
    return [
        mx.Labelled(like.normal((3, 4), mx.Key(seed)), like.labels(np.array([0, 2, 1], np.int64))) for seed in range(2)
    ]


def wrong_b093_sum_of_losses_with_their_graphs(model: nn.Linear[Host], data: Iterable[mx.Labelled[Host]]) -> None:
    """The losses of an epoch are added up as tensors, which keeps the graph of each step alive.

    PyTorch notices: never, until memory is full
    """
    sgd = optim.Sgd(lr=0.1)
    state = sgd.init(model)
    total_loss = 0.0
    for batch in data:
        value, gradients = nn.value_and_grad(loss, model, batch, nn.Eval())
        model, state = sgd.update(model, gradients, state)
        total_loss += value  # E: [assignment]
    print(total_loss)


def right_b093_sum_of_losses_with_their_graphs() -> None:
    model, sgd = linear(), optim.Sgd(lr=0.1)
    state = sgd.init(model)
    total_loss = 0.0
    for batch in batches():
        value, gradients = nn.value_and_grad(loss, model, batch, nn.Eval())
        model, state = sgd.update(model, gradients, state)
        total_loss += value.item()
    print(total_loss)


def wrong_b094_metric_of_losses_with_their_graphs(model: nn.Linear[Host], data: Iterable[mx.Labelled[Host]]) -> None:
    """A metric averages the losses as the loss function has them, with their graphs.

    PyTorch notices: never, until memory is full
    """
    seen: list[Host] = []

    def observed(lifted: nn.Linear[Lifted], batch: mx.Labelled[Lifted], mode: nn.Mode) -> Lifted:
        value = loss(lifted, batch, mode)
        seen.append(value)  # E: [arg-type]
        return value

    for batch in data:
        _, gradients = nn.value_and_grad(observed, model, batch, nn.Eval())
        print(gradients.summary())
    print(sum(one.item() for one in seen) / len(seen))


def right_b094_metric_of_losses_with_their_graphs() -> None:
    seen: list[Host] = []
    for batch in batches():
        value, _ = nn.value_and_grad(loss, linear(), batch, nn.Eval())
        seen.append(value)
    print(sum(one.item() for one in seen) / len(seen))


@dataclass(frozen=True)
class Cell[T: mx.MlpTensor](nn.Module[T]):
    inputs: nn.Linear[T]
    hidden: nn.Linear[T]

    def forward(self, x: Float[T, "batch n"], state: Float[T, "batch n"]) -> Float[T, "batch n"]:
        return (self.inputs.forward(x) + self.hidden.forward(state)).tanh()


def cell() -> Cell[Host]:
    first, second = mx.Key(0).split(2)
    like = mx.numpy()
    return Cell(nn.Linear.init(4, 4, like=like, key=first), nn.Linear.init(4, 4, like=like, key=second))


def wrong_b096_hidden_state_with_its_graph(model: Cell[Host], sequence: Iterable[Host]) -> None:
    """The hidden state of a recurrent network is carried from batch to batch together with its graph.

    PyTorch notices: at run time, in the second backward pass
    """
    state = mx.numpy().zeros((3, 4))
    for x in sequence:
        lifted = model.map(mx.variable)
        state = lifted.forward(mx.constant(x), state)  # E: [arg-type]  # E: [assignment]
        print(state.square().mean().item())


def right_b096_hidden_state_with_its_graph() -> None:
    model, state = cell(), mx.numpy().zeros((3, 4))
    for batch in batches():
        lifted = model.map(mx.variable)
        new = lifted.forward(mx.constant(batch.x), mx.constant(state))
        gradients = new.square().mean().backward()
        state = new.value
        print(gradients.of(lifted.inputs.weight).shape)


def impossible_b097_two_backward_passes() -> None:
    """Two backward passes are made through one graph, which the first has thrown away.

    PyTorch notices: at run time, in the second backward pass
    """
    x = mx.variable(mx.numpy().from_host(np.array([1.0, -2.0])))
    y = x.square().sum()
    first, second = y.backward().of(x), y.backward().of(x)
    assert np.array_equal(first.to_host(), [2.0, -4.0])
    assert np.array_equal(second.to_host(), [2.0, -4.0])
