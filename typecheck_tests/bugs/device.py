"""Tensors that lie on two devices."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

import moonxi as mx
from moonxi import F32, F64, GpuTensor, Mask, NpArray, nn, optim
from moonxi.losses import Logits, cross_entropy

type Host = NpArray[F32]
type Device = GpuTensor[F32]


def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(Logits(model.forward(batch.x)), batch.labels)


def linear() -> nn.Linear[Host]:
    return nn.Linear.init(4, 3, like=mx.numpy(), key=mx.Key(0))


def samples() -> mx.Labelled[Host]:
    like = mx.numpy()
    return mx.Labelled(like.ones((2, 4)), like.labels(np.array([0, 2])))


def wrong_b001_matrix_made_in_the_model_on_the_host() -> None:
    """A model multiplies its activations, which are on the GPU, by a matrix that it makes itself, on the host.

    PyTorch notices: at run time
    """

    @dataclass(frozen=True)
    class Mixer[T: mx.MlpTensor](nn.Module[T]):
        out: nn.Linear[T]

        def forward(self, x: Float[T, "tokens width"]) -> Float[T, "tokens width"]:
            tokens = x.shape[0]
            mixing = mx.numpy().full((tokens, tokens), 1 / tokens)
            mixed = mixing @ x  # E: [operator]
            return self.out.forward(x + mixed)  # E: [operator]


def right_b001_matrix_made_in_the_model_on_the_host() -> None:
    @dataclass(frozen=True)
    class Mixer[T: mx.MlpTensor](nn.Module[T]):
        out: nn.Linear[T]

        def forward(self, x: Float[T, "tokens width"]) -> Float[T, "tokens width"]:
            tokens = x.shape[0]
            mixing = x.full((tokens, tokens), 1 / tokens)
            mixed = mixing @ x
            return self.out.forward(x + mixed)

    cpu = mx.numpy()
    mixer = Mixer(nn.Linear.init(3, 3, like=cpu, key=mx.Key(0)))
    assert mixer.forward(cpu.ones((5, 3))).shape == (5, 3)


def wrong_b002_layer_made_in_the_forward() -> None:
    """A layer is made within the forward: its weights are on the host beside inputs on the GPU, and new at each call.

    PyTorch notices: at run time
    """

    @dataclass(frozen=True)
    class Net[T: mx.MlpTensor](nn.Module[T]):
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch 8"]) -> Float[T, "batch 3"]:
            hidden = nn.Linear.init(8, 4, like=mx.numpy(), key=mx.Key(0))
            activations = hidden.forward(x).relu()  # E: [arg-type]
            return self.out.forward(activations)  # E: [arg-type]


def right_b002_layer_made_in_the_forward() -> None:
    @dataclass(frozen=True)
    class Net[T: mx.MlpTensor](nn.Module[T]):
        hidden: nn.Linear[T]
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch 8"]) -> Float[T, "batch 3"]:
            return self.out.forward(self.hidden.forward(x).relu())

    cpu = mx.numpy()
    first, second = mx.Key(0).split(2)
    net = Net(nn.Linear.init(8, 4, like=cpu, key=first), nn.Linear.init(4, 3, like=cpu, key=second))
    assert net.forward(cpu.ones((2, 8))).shape == (2, 3)
    assert len(net.parameters()) == 4


def wrong_b004_operand_still_on_the_host() -> None:
    """The GPU was chosen at the top of a notebook, and one operand was made on the host all the same.

    PyTorch notices: at run time
    """
    device = mx.gpu()
    weights = device.normal((4, 3), mx.Key(0))
    bias = device.zeros((3,))
    x = mx.numpy().from_host(np.ones((2, 4)))
    hidden = x @ weights  # E: [operator]
    print(hidden + bias)  # E: [operator]


def right_b004_operand_still_on_the_host() -> None:
    device = mx.numpy()  # or mx.gpu()
    weights = device.normal((4, 3), mx.Key(0))
    bias = device.zeros((3,))
    x = device.from_host(np.ones((2, 4)))
    hidden = x @ weights
    print(hidden + bias)


def wrong_b005_mask_on_the_host(logits: Logits[Device], batch: mx.Labelled[Device], valid: Mask[Host]) -> None:
    """Which pixels count was never moved to the GPU, where the scores and the labels are.

    PyTorch notices: at run time
    """
    each = cross_entropy(logits, batch.labels, reduction="none")
    print(each.where(valid, 0.0).mean().item())  # E: [arg-type]


def right_b005_mask_on_the_host() -> None:
    like = mx.numpy()
    logits, labels = Logits(like.ones((2, 3))), like.labels(np.array([0, 2]))
    valid = like.from_host(np.array([1.0, 0.0])) > 0.0
    each = cross_entropy(logits, labels, reduction="none")
    print(each.where(valid, 0.0).mean().item())


def wrong_b007_optimizer_made_before_the_move(batch: mx.Labelled[Device]) -> None:
    """The optimizer is made for the model on the host, and the model moved to the GPU afterwards.

    PyTorch notices: at run time
    """
    model, optimizer = linear(), optim.Adam(lr=1e-3)
    state = optimizer.init(model)
    device = mx.gpu()
    moved = model.map(lambda one: device.from_host(one.to_host()))
    _, gradients = nn.value_and_grad(loss, moved, batch, nn.Eval())
    after, _ = optimizer.update(moved, gradients, state)  # E: [tensor-mix] GpuTensor[F32] and NpArray[F32]
    # E: [misc] "T"  # E: [misc] "M"
    print(after.summary())


def right_b007_optimizer_made_before_the_move() -> None:
    model, optimizer = linear(), optim.Adam(lr=1e-3)
    device = mx.numpy(F64)
    moved = model.map(lambda one: device.from_host(one.to_host()))
    state = optimizer.init(moved)
    batch = mx.Labelled(device.ones((2, 4)), device.labels(np.array([0, 2])))
    _, gradients = nn.value_and_grad(loss, moved, batch, nn.Eval())
    after, _ = optimizer.update(moved, gradients, state)
    print(after.summary())


def wrong_b008_memory_of_adagrad_on_the_host(batch: mx.Labelled[Device]) -> None:
    """Adagrad has made its sums on the host when the model moves to the GPU; the step mixes the two.

    PyTorch notices: at run time
    """
    trainer = mx.Trainer(linear(), loss, optim.Adagrad(lr=0.01), key=mx.Key(0))
    device = mx.gpu()
    moved = trainer.model.map(lambda one: device.from_host(one.to_host()))
    _, gradients = nn.value_and_grad(loss, moved, batch, nn.Eval())
    adagrad = optim.Adagrad(lr=0.01)
    after, _ = adagrad.update(moved, gradients, trainer.state)  # E: [tensor-mix] GpuTensor[F32] and NpArray[F32]
    # E: [misc] "T"  # E: [misc] "M"
    print(after.summary())


def right_b008_memory_of_adagrad_on_the_host() -> None:
    device = mx.numpy()  # or mx.gpu()
    moved = linear().map(lambda one: device.from_host(one.to_host()))
    trainer = mx.Trainer(moved, loss, optim.Adagrad(lr=0.01), key=mx.Key(0))
    assert trainer.step(samples())["loss"] > 0.0
