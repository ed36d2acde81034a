"""Gradients that are left over from before. Here they are a value that a function gives: there is nothing to reset."""

import numpy as np

import moonxi as mx
from moonxi import F32, NpArray, nn, optim
from moonxi.data import DataLoader, LabelledArrays
from moonxi.losses import Logits, cross_entropy

type Host = NpArray[F32]


def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(Logits(model.forward(batch.x)), batch.labels)


def linear() -> nn.Linear[Host]:
    return nn.Linear.init(4, 3, like=mx.numpy(), key=mx.Key(0))


def batch(seed: int) -> mx.Labelled[Host]:
    like = mx.numpy()
    return mx.Labelled(like.normal((3, 4), mx.Key(seed)), like.labels(np.array([0, 2, 1])))


def same(one: nn.Linear[Host], other: nn.Linear[Host]) -> bool:
    return all(
        np.array_equal(x.to_host(), y.to_host()) for x, y in zip(one.parameters(), other.parameters(), strict=True)
    )


def impossible_b019_gradients_not_reset_in_a_step() -> None:
    """A training step of a few adapters leaves out the reset of gradients, which add up from step to step.

    PyTorch notices: never
    """
    model = linear()
    _, first = nn.value_and_grad(loss, model, batch(1), nn.Eval())
    nn.value_and_grad(loss, model, batch(2), nn.Eval())
    _, again = nn.value_and_grad(loss, model, batch(1), nn.Eval())
    assert same(first, again)


def impossible_b020_gradients_never_reset() -> None:
    """Two optimizers make their steps, and the gradients of neither are ever reset.

    PyTorch notices: never
    """
    model, sgd = linear(), optim.Sgd(lr=0.1)
    state = sgd.init(model)
    for seed in (1, 2):
        _, gradients = nn.value_and_grad(loss, model, batch(seed), nn.Eval())
        before, (model, state) = model, sgd.update(model, gradients, state)
        by_hand = before.weight - 0.1 * gradients.weight
        assert np.allclose(model.weight.to_host(), by_hand.to_host())


def impossible_b022_reset_outside_the_loop() -> None:
    """Gradients are reset once before the loop over the batches, and add up over the whole of the data.

    PyTorch notices: never
    """
    data = LabelledArrays(mx.numpy(), np.random.default_rng(0).normal(size=(6, 4)), np.arange(6) % 3)
    loader = DataLoader(data, batch_size=3)
    trainer = mx.Trainer(linear(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    trainer.fit(loader, epochs=1, progress=False)
    model, sgd = linear(), optim.Sgd(lr=0.1)
    state = sgd.init(model)
    for one in loader.epoch(0):
        _, of_this_batch = nn.value_and_grad(loss, model, one, nn.Eval())
        model, state = sgd.update(model, of_this_batch, state)
    assert same(trainer.model, model)


def impossible_b023_reset_within_the_accumulation() -> None:
    """Gradients are reset for each of the small batches that were to make a large one: only the last counts.

    PyTorch notices: never
    """
    whole = mx.Labelled(
        batch(1).x.concatenate(batch(2).x, axis=0), mx.numpy().labels(np.concatenate([[0, 2, 1], [0, 2, 1]]))
    )
    at_once = mx.Trainer(linear(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    at_once.step(whole)
    in_parts = mx.Trainer(linear(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    in_parts.step(batch(1), batch(2))
    pairs = zip(at_once.model.parameters(), in_parts.model.parameters(), strict=True)
    assert all(np.allclose(x.to_host(), y.to_host(), atol=1e-6) for x, y in pairs)


def impossible_b025_other_gradients_reset() -> None:
    """The gradients of the model are reset in place of those that the accumulating optimizer has gathered.

    PyTorch notices: never
    """
    model, sgd = linear(), optim.Sgd(lr=0.1)
    parts = ((nn.value_and_grad(loss, model, batch(seed), nn.Eval())[1], 3) for seed in (1, 2))
    accumulated = optim.mean_gradients(parts)
    each = [nn.value_and_grad(loss, model, batch(seed), nn.Eval())[1] for seed in (1, 2)]
    after, _ = sgd.update(model, accumulated, sgd.init(model))
    by_hand = model.weight - 0.1 * (each[0].weight + each[1].weight) / 2.0
    assert np.allclose(after.weight.to_host(), by_hand.to_host(), atol=1e-6)
