"""Dropout and normalisation in the wrong mode. Here the mode is an argument: it cannot be left over from before."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import override

import numpy as np
from jaxtyping import Float

import moonxi as mx
from moonxi import F32, NpArray, nn, optim
from moonxi.data import DataLoader, LabelledArrays
from moonxi.losses import Logits, cross_entropy
from moonxi.train import Callback, EpochRecord, Run

type Host = NpArray[F32]


@dataclass(frozen=True)
class Classifier[T: mx.MlpTensor](nn.Module[T]):
    hidden: nn.Linear[T]
    dropout: nn.Dropout
    out: nn.Linear[T]

    def forward(self, x: Float[T, "batch 4"], mode: nn.Mode) -> Logits[T]:
        hidden = self.dropout.forward(self.hidden.forward(x).relu(), mode)
        return Logits(self.out.forward(hidden))


def loss[T: mx.MlpTensor](model: Classifier[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


def classifier() -> Classifier[Host]:
    first, second = mx.Key(0).split(2)
    cpu = mx.numpy()
    return Classifier(
        nn.Linear.init(4, 16, like=cpu, key=first), nn.Dropout(0.5), nn.Linear.init(16, 3, like=cpu, key=second)
    )


def loader() -> DataLoader[mx.Labelled[Host]]:
    return DataLoader(LabelledArrays(mx.numpy(), np.ones((6, 4)), np.arange(6) % 3), batch_size=3)


def trainer() -> mx.Trainer[Host, Classifier[Host], mx.Labelled[Host]]:
    return mx.Trainer(classifier(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))


def same(one: Classifier[Host], other: Classifier[Host]) -> bool:
    return all(
        np.array_equal(x.to_host(), y.to_host()) for x, y in zip(one.parameters(), other.parameters(), strict=True)
    )


def wrong_b026_dropout_at_inference(model: Classifier[Host], x: Float[Host, "batch 4"]) -> None:
    """A model answers with dropout still at work, as nobody has told it that this is no training.

    PyTorch notices: never
    """
    print(model.forward(x).predicted().to_host())  # E: [call-arg]


def right_b026_dropout_at_inference() -> None:
    x = mx.numpy().ones((2, 4))
    first, second = (classifier().forward(x, nn.Eval()) for _ in range(2))
    assert np.array_equal(first.value.to_host(), second.value.to_host())


def wrong_b027_batch_statistics_in_the_test() -> None:
    """The test stage of a network with batch normalisation takes its statistics from the batches of the test.

    PyTorch notices: never
    """

    @dataclass(frozen=True)
    class Net[T: mx.ImageModelTensor](nn.Module[T]):
        convolution: nn.Conv2d[T]
        norm: nn.BatchNorm2d[T]

        def forward(self, x: Float[T, "batch 3 height width"]) -> Logits[T]:
            features = self.norm.forward(self.convolution.forward(x))  # E: [call-arg]
            return Logits(features.relu().mean((2, 3)))


def right_b027_batch_statistics_in_the_test() -> None:
    @dataclass(frozen=True)
    class Net[T: mx.ImageModelTensor](nn.Module[T]):
        convolution: nn.Conv2d[T]
        norm: nn.BatchNorm2d[T]

        def forward(self, x: Float[T, "batch 3 height width"], mode: nn.Mode) -> Logits[T]:
            features = self.norm.forward(self.convolution.forward(x), mode)
            return Logits(features.relu().mean((2, 3)))

    cpu = mx.numpy()
    net = Net(nn.Conv2d.init(3, 5, 3, like=cpu, key=mx.Key(0)), nn.BatchNorm2d.init(5, like=cpu))
    one, two = cpu.normal((1, 3, 8, 8), mx.Key(1)), cpu.normal((1, 3, 8, 8), mx.Key(2))
    alone = net.forward(one, nn.Eval()).value.to_host()
    beside = net.forward(one.concatenate(two, axis=0), nn.Eval()).value.to_host()[:1]
    assert np.allclose(alone, beside, atol=1e-5)


def wrong_b029_script_that_only_evaluates(batches: Iterable[mx.Labelled[Host]]) -> None:
    """A script that loads weights and measures them never leaves the mode in which models begin.

    PyTorch notices: never
    """
    model = nn.load(classifier(), "weights.safetensors")
    right = total = 0.0
    for batch in batches:
        predicted = model.forward(batch.x).predicted()  # E: [call-arg]
        right += float((predicted.to_host() == batch.labels.to_host()).sum())
        total += batch.size
    print(right / total)


def right_b029_script_that_only_evaluates() -> None:
    model, right, total = classifier(), 0.0, 0.0
    for batch in loader().epoch(0):
        predicted = model.forward(batch.x, nn.Eval()).predicted()
        right += float((predicted.to_host() == batch.labels.to_host()).sum())
        total += batch.size
    print(right / total)


def wrong_b030_evaluation_not_undone(model: Classifier[Host], batches: DataLoader[mx.Labelled[Host]]) -> None:
    """Within the loop the model is set to evaluation, measured, and never set back: the rest trains without dropout.

    PyTorch notices: never
    """
    sgd = optim.Sgd(lr=0.1)
    state = sgd.init(model)
    mode = nn.Train(mx.Key(0))
    for step, batch in enumerate(batches.epoch(0)):
        _, gradients = nn.value_and_grad(loss, model, batch, mode)
        model, state = sgd.update(model, gradients, state)
        if step % 100 == 0:
            mode = nn.Eval()  # E: [assignment]
            print(loss(model, batch, mode).item())


def right_b030_evaluation_not_undone() -> None:
    model, sgd, key = classifier(), optim.Sgd(lr=0.1), mx.Key(0)
    state = sgd.init(model)
    for step, batch in enumerate(loader().epoch(0)):
        _, gradients = nn.value_and_grad(loss, model, batch, nn.Train(key.fold(step)))
        model, state = sgd.update(model, gradients, state)
        if step % 100 == 0:
            print(loss(model, batch, nn.Eval()).item())


def wrong_b032_validation_changes_the_model() -> None:
    """A function that validates within the epoch sets the mode of the model that it is lent, and leaves it so.

    PyTorch notices: never
    """

    @dataclass(frozen=True)
    class Modal[T: mx.MlpTensor](nn.Module[T]):
        inner: Classifier[T]
        mode: nn.Mode

    def validated(model: Modal[Host], batch: mx.Labelled[Host]) -> float:
        model.mode = nn.Eval()  # E: [misc] read-only
        return loss(model.inner, batch, model.mode).item()

    print(validated)


def right_b032_validation_changes_the_model() -> None:
    def validated(model: Classifier[Host], batch: mx.Labelled[Host]) -> float:
        return loss(model, batch, nn.Eval()).item()

    model, batch = classifier(), next(loader().epoch(0))
    assert validated(model, batch) == validated(model, batch)


def impossible_b033_evaluation_during_training() -> None:
    """An option that evaluates every so many steps leaves the model in evaluation for all that follow.

    PyTorch notices: never
    """

    class Evaluating(Callback[Classifier[Host]]):
        @override
        def on_epoch(self, run: Run[Classifier[Host]], record: EpochRecord, /) -> None:
            loss(run.model, next(loader().epoch(0)), nn.Eval())

    plain, watched = trainer(), trainer()
    plain.fit(loader(), epochs=2, progress=False)
    watched.fit(loader(), epochs=2, progress=False, callbacks=[Evaluating()])
    assert same(plain.model, watched.model)


def impossible_b035_trained_in_evaluation_from_the_second_epoch() -> None:
    """The test after each epoch switches to evaluation; from the second epoch on, so is the training.

    PyTorch notices: never
    """
    plain, tested = trainer(), trainer()
    plain.fit(loader(), epochs=3, progress=False)
    tested.fit(loader(), epochs=3, progress=False, test=loader())
    assert same(plain.model, tested.model)
    batch = next(loader().epoch(0))
    steps = [plain.step(batch)["loss"], plain.evaluate(loader())["loss"], plain.step(batch)["loss"]]
    assert len(set(steps)) == 3  # dropout is still at work


def wrong_b036_function_that_always_drops() -> None:
    """Dropout as a function is not told whether this is training, and drops in evaluation too.

    PyTorch notices: never
    """

    @dataclass(frozen=True)
    class Net[T: mx.MlpTensor](nn.Module[T]):
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch 4"], mode: nn.Mode) -> Logits[T]:
            return Logits(self.out.forward(nn.dropout(x, 0.5)))  # E: [call-arg]


def right_b036_function_that_always_drops() -> None:
    @dataclass(frozen=True)
    class Net[T: mx.MlpTensor](nn.Module[T]):
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch 4"], mode: nn.Mode) -> Logits[T]:
            kept = nn.dropout(x, 0.5, mode.key) if isinstance(mode, nn.Train) else x
            return Logits(self.out.forward(kept))

    cpu = mx.numpy()
    net, x = Net(nn.Linear.init(4, 3, like=cpu, key=mx.Key(0))), cpu.ones((2, 4))
    dropped, whole = net.forward(x, nn.Train(mx.Key(1))).value, net.forward(x, nn.Eval()).value
    assert not np.array_equal(dropped.to_host(), whole.to_host())


def wrong_b038_flag_of_ones_own() -> None:
    """A model has a flag of its own for training, which the test never clears.

    PyTorch notices: never
    """

    @dataclass(frozen=True)
    class Net[T: mx.MlpTensor](nn.Module[T]):
        dropout: nn.Dropout
        out: nn.Linear[T]
        is_training: bool = True

        def forward(self, x: Float[T, "batch 4"]) -> Logits[T]:
            return Logits(self.out.forward(self.dropout.forward(x, self.is_training)))  # E: [arg-type] "bool"


def right_b038_flag_of_ones_own() -> None:
    @dataclass(frozen=True)
    class Net[T: mx.MlpTensor](nn.Module[T]):
        dropout: nn.Dropout
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch 4"], mode: nn.Mode) -> Logits[T]:
            return Logits(self.out.forward(self.dropout.forward(x, mode)))

    cpu = mx.numpy()
    net = Net(nn.Dropout(0.5), nn.Linear.init(4, 3, like=cpu, key=mx.Key(0)))
    assert net.forward(cpu.ones((2, 4)), nn.Eval()).shape == (2, 3)
