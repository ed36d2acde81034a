"""A compiled trainer: the numbers of the eager one, and where it cannot be compiled, the eager one itself."""

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import moonxi as mx
from examples import cifar10, linear, mnist, mnist_cnn
from moonxi import losses, nn, optim
from moonxi.data import DataLoader, Labelled, LabelledArrays
from moonxi.errors import CompileWarning, LabelError, NonFiniteError, ShapeError
from moonxi.nn.models import LeNet
from moonxi.train import Callback, Checkpoints, EpochRecord, Run

type Array = mx.NpArray[mx.F64]
type Batch = Labelled[Array]

CPU = mx.numpy(mx.F64)
STEPS = 50


def batches(shape: tuple[int, ...], classes: int, size: int) -> list[Batch]:
    generator = np.random.default_rng(0)
    return [
        Labelled(CPU.from_host(generator.normal(size=(size, *shape))), CPU.labels(generator.integers(0, classes, size)))
        for _ in range(4)
    ]


def check[M, B](make: "Callable[[bool], mx.Trainer[Array, M, B]]", data: list[B]) -> None:
    """Fifty steps have the same losses, eager and compiled, and so has an evaluation afterwards."""
    eager, compiled = make(False), make(True)
    for number in range(STEPS):
        batch = data[number % len(data)]
        assert compiled.step(batch) == pytest.approx(eager.step(batch), rel=1e-10, abs=1e-12)
    assert eager.compile_reports() == {}
    (report,) = compiled.compile_reports().values()
    assert [trace.replays for trace in report.traces] == [STEPS - 1]

    assert compiled.evaluate(Given(data)) == pytest.approx(eager.evaluate(Given(data)), rel=1e-10)
    assert list(compiled.compile_reports()) == ["update", "evaluate"]


@dataclass(frozen=True)
class Given[B]:
    """Batches that are there."""

    batches: list[B]

    def __len__(self) -> int:
        return len(self.batches)

    def epoch(self, epoch: int, /) -> Iterator[B]:
        return iter(self.batches)


OPTIMIZERS: dict[str, optim.Optimizer] = {
    "sgd": optim.Sgd(lr=0.01),
    "momentum": optim.Sgd(
        lr=optim.step_decay(0.01, every=optim.Steps(20)), momentum=0.9, weight_decay=1e-4, clip_norm=1.0
    ),
    "nesterov": optim.Sgd(lr=cifar10.OneCycle(peak=0.02, steps=STEPS), momentum=0.9, nesterov=True, clip_value=0.05),
    "adam": optim.Adam(
        lr=optim.join(
            (optim.warm_up(0.002, optim.Steps(10)), optim.cosine(0.002, optim.Steps(40))), at=(optim.Steps(10),)
        )
    ),
    "adamw": optim.AdamW(lr=0.002, weight_decay=0.01, decay_where=optim.weights, clip_norm=0.5),
    "nadam": optim.NAdam(lr=0.002),
    "rmsprop": optim.RmsProp(lr=0.001),
    "adagrad": optim.Adagrad(lr=0.01),
    "lion": optim.Lion(lr=1e-4),
    "lamb": optim.Lamb(lr=0.002),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_network_of_mnist_trains_compiled_to_the_same_losses(name: str) -> None:
    def make(compiled: bool) -> "mx.Trainer[Array, mnist.Mlp[Array], Batch]":
        model = mnist.Mlp.init(CPU, mx.Key(0))
        return mx.Trainer(model, mnist.loss, OPTIMIZERS[name], key=mx.Key(1), compile=compiled)

    check(make, batches((784,), 10, 8))


def test_the_network_of_mnist_trains_compiled_by_muon() -> None:
    def make(compiled: bool) -> "mx.Trainer[Array, mnist.Mlp[Array], Batch]":
        model = mnist.Mlp.init(CPU, mx.Key(0))
        return mx.Trainer(
            model, mnist.loss, optim.Muon(lr=0.01, rest=optim.AdamW(lr=0.001)), key=mx.Key(1), compile=compiled
        )

    check(make, batches((784,), 10, 8)[:1])


def test_the_straight_line_trains_compiled_to_the_same_losses() -> None:
    def make(compiled: bool) -> "mx.Trainer[Array, nn.Linear[Array], Sized]":
        model = nn.Linear.init(1, 1, like=CPU, key=mx.Key(0))
        return mx.Trainer(model, linear.loss, optim.Sgd(lr=0.1), key=mx.Key(1), compile=compiled)

    x = CPU.normal((64, 1), mx.Key(2))
    check(make, [Sized(x, x * 3.0 + 1.0)])


@dataclass(frozen=True, eq=False)
class Sized(linear.Points[Array]):
    """Points of which a trainer can count the samples."""

    @property
    def size(self) -> int:
        return self.x.shape[0]


def test_lenet_with_dropout_trains_compiled_to_the_same_losses() -> None:
    def make(compiled: bool) -> "mx.Trainer[Array, LeNet[Array], Batch]":
        model = LeNet.init(like=CPU, key=mx.Key(0))
        optimizer = optim.Sgd(lr=optim.step_decay(0.02, every=optim.Steps(10)), momentum=0.9, clip_norm=35.0)
        return mx.Trainer(model, mnist_cnn.loss, optimizer, key=mx.Key(1), compile=compiled)

    check(make, batches((1, 28, 28), 10, 4))


def test_a_residual_network_with_batch_statistics_trains_compiled_to_the_same_losses() -> None:
    def make(compiled: bool) -> "mx.Trainer[Array, cifar10.SmallResNet[Array], Batch]":
        model = cifar10.SmallResNet.init(like=CPU, key=mx.Key(0))
        return mx.Trainer(model, cifar10.loss, optim.AdamW(lr=0.001), key=mx.Key(1), compile=compiled)

    check(make, batches((3, 32, 32), 10, 2)[:2])


def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: Labelled[T], mode: nn.Mode) -> tuple[T, dict[str, T]]:
    logits = losses.Logits(model.forward(batch.x))
    right = logits.predicted().equal(batch.labels)
    return losses.cross_entropy(logits, batch.labels), {"accuracy": right.to_tensor(batch.x).mean()}


def trainer(*, compiled: bool = True) -> "mx.Trainer[Array, nn.Linear[Array], Batch]":
    model = nn.Linear.init(4, 3, like=CPU, key=mx.Key(1))
    return mx.Trainer(model, loss, optim.Sgd(lr=0.1, momentum=0.9), key=mx.Key(2), compile=compiled)


def weights(model: nn.Linear[Array]) -> bytes:
    return b"".join(parameter.to_host().tobytes() for parameter in model.parameters())


def close(one: nn.Linear[Array], other: nn.Linear[Array]) -> bool:
    """Whether two models are the same up to rounding."""
    pairs = zip(one.parameters(), other.parameters(), strict=True)
    return all(np.allclose(mine.to_host(), theirs.to_host(), rtol=1e-9, atol=1e-12) for mine, theirs in pairs)


def dataset() -> DataLoader[Batch]:
    generator = np.random.default_rng(0)
    return DataLoader(
        LabelledArrays(CPU, generator.normal(size=(50, 4)), generator.integers(0, 3, 50)), batch_size=8, seed=0
    )


class Models(Callback[nn.Linear[Array]]):
    """Keeps every third model, its bits, and what each step and epoch gave."""

    def __init__(self) -> None:
        self.kept: list[tuple[nn.Linear[Array], bytes]] = []
        self.values: list[dict[str, float]] = []
        self.records: list[tuple[dict[str, float], dict[str, float]]] = []

    def on_step(self, run: Run[nn.Linear[Array]], values: object, /) -> None:
        assert isinstance(values, dict)
        self.values.append(values)
        if run.steps % 3 == 0:
            self.kept.append((run.model, weights(run.model)))

    def on_epoch(self, run: Run[nn.Linear[Array]], record: EpochRecord, /) -> None:
        self.records.append((record.train, record.test))


def test_callbacks_see_what_they_see_eagerly_and_the_models_that_they_keep_stay() -> None:
    seen = []
    for compiled in (False, True):
        models = Models()
        trainer(compiled=compiled).fit(dataset(), epochs=4, test=dataset(), progress=False, callbacks=[models])
        assert all(weights(model) == before for model, before in models.kept)
        seen.append(models)
    eager, compiled_ones = seen
    for (mine, _), (theirs, _) in zip(compiled_ones.kept, eager.kept, strict=True):
        assert close(mine, theirs)
    for one, other in zip(compiled_ones.values, eager.values, strict=True):
        assert one == pytest.approx(other, rel=1e-10)
    for (train, test), (seen_in_training, seen_in_test) in zip(compiled_ones.records, eager.records, strict=True):
        assert train == pytest.approx(seen_in_training, rel=1e-10)
        assert test == pytest.approx(seen_in_test, rel=1e-10)


def test_an_update_from_several_batches_is_compiled_too() -> None:
    one, other = trainer(compiled=False), trainer()
    for each in (one, other):
        each.fit(dataset(), epochs=2, progress=False, accumulate=3)
    assert close(one.model, other.model)
    assert list(other.compile_reports()) == ["gradients", "advance", "update"]  # the last batch of an epoch is alone


def test_averaged_weights_and_frozen_parts_are_those_of_the_eager_run() -> None:
    def frozen(path: str, shape: tuple[int, ...]) -> bool:
        return path == "bias"

    found = []
    for compiled in (False, True):
        model = nn.Linear.init(4, 3, like=CPU, key=mx.Key(1))
        ema, optimizer = optim.Ema(decay=0.9, warm_up=True), optim.Adam(lr=0.01)
        one = mx.Trainer(model, loss, optimizer, key=mx.Key(2), ema=ema, frozen=frozen, compile=compiled)
        one.fit(dataset(), epochs=3, progress=False)
        assert one.model.bias is model.bias
        found.append((one.model, one.averaged, one.evaluate(dataset())))
    (model, averaged, values), (other, others, expected) = found
    assert close(model, other)
    assert close(averaged, others)
    assert values == pytest.approx(expected, rel=1e-10)


def test_a_resumed_compiled_run_ends_with_the_same_bits(tmp_path: Path) -> None:
    unbroken, first, second = trainer(), trainer(), trainer()
    unbroken.fit(dataset(), epochs=3, progress=False)
    first.fit(dataset(), epochs=1, progress=False, checkpoints=Checkpoints(tmp_path, every=2))
    second.fit(dataset(), epochs=3, progress=False, checkpoints=Checkpoints(tmp_path, every=2), resume=True)
    assert weights(second.model) == weights(unbroken.model)


@pytest.mark.parametrize("name", ["momentum", "lamb"])
def test_a_compiled_run_from_copies_of_model_and_state_has_the_same_bits(name: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    digits = LabelledArrays(CPU, generator.normal(size=(40, 784)), generator.integers(0, 10, 40))
    data = DataLoader(digits, batch_size=8, seed=0)

    def run(*epochs: int) -> bytes:
        bits = b""
        for until in epochs:
            one = mx.Trainer(mnist.Mlp.init(CPU, mx.Key(0)), mnist.loss, OPTIMIZERS[name], key=mx.Key(1), compile=True)
            checkpoints = Checkpoints(tmp_path / str(epochs))
            one.fit(data, epochs=until, progress=False, checkpoints=checkpoints, resume=True)
            bits = b"".join(parameter.to_host().tobytes() for parameter in one.model.parameters())
        return bits

    assert run(1, 2) == run(2)


def reads[T: mx.MlpTensor](model: nn.Linear[T], batch: Labelled[T], mode: nn.Mode) -> tuple[T, dict[str, T]]:
    value, kept = loss(model, batch, mode)
    return value * (2.0 if value.item() > 100.0 else 1.0), kept


def test_what_cannot_be_compiled_runs_eagerly_with_one_reason() -> None:
    model = nn.Linear.init(4, 3, like=CPU, key=mx.Key(1))
    fallen = mx.Trainer(model, reads, optim.Sgd(lr=0.1, momentum=0.9), key=mx.Key(2), compile=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fallen.fit(dataset(), epochs=2, test=dataset(), progress=False)
    (warning,) = caught
    assert warning.category is CompileWarning
    text = str(warning.message)
    start = "Trainer(compile=True): update cannot be compiled, training goes on eagerly: "
    assert text.startswith(start + "CompileError: to_host: TracedTensor")
    assert f"at {__file__}:{reads.__code__.co_firstlineno + 2} the step needs the elements" in text
    assert fallen.compile_reports() == {}

    eager = trainer(compiled=False)
    eager.fit(dataset(), epochs=2, test=dataset(), progress=False)
    assert weights(fallen.model) == weights(eager.model)


def scores[T: mx.MlpTensor](model: nn.Linear[T], batch: Labelled[T]) -> tuple[losses.Logits[T], mx.Labels[T]]:
    return losses.Logits(model.forward(batch.x)), batch.labels


def test_predictions_are_compiled_and_those_of_an_eager_trainer() -> None:
    one, other = trainer(compiled=False), trainer()
    pairs = []
    for _ in range(2):
        pairs = list(zip(one.predict(dataset(), scores), other.predict(dataset(), scores), strict=True))
        for (logits, labels), (others, same) in pairs:
            np.testing.assert_allclose(logits.value.to_host(), others.value.to_host(), rtol=1e-12)
            np.testing.assert_array_equal(labels.to_host(), same.to_host())
    assert [trace.replays for trace in other.compile_reports()["predict"].traces] == [2 * (len(pairs) - 1) - 1, 1]
    assert one.compile_reports() == {}


def test_predictions_that_cannot_be_compiled_are_eager_and_the_steps_stay_compiled() -> None:
    def to_host(model: nn.Linear[Array], batch: Labelled[Array]) -> np.ndarray:
        return model.forward(batch.x).to_host()

    one = trainer()
    one.fit(dataset(), epochs=1, progress=False)
    with pytest.warns(CompileWarning, match=r"predict cannot be compiled, it goes on eagerly: CompileError: to_host: "):
        arrays = list(one.predict(dataset(), to_host))
    assert sum(map(len, arrays)) == dataset().samples
    list(one.predict(dataset(), to_host))  # without another warning, which would be an error
    assert list(one.compile_reports()) == ["update"]


def test_a_function_that_is_written_anew_each_time_is_not_kept_for_ever() -> None:
    one = trainer()
    for _ in range(10):

        def forward(model: nn.Linear[Array], batch: Batch) -> Array:
            return model.forward(batch.x)

        (first, *_) = one.predict(dataset(), forward)
        assert first.shape == (8, 3)
    assert len(one._compute._forwards) == 4


def test_the_first_step_says_what_compiling_came_to_and_later_ones_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    one = trainer()
    one.fit(dataset(), epochs=2)
    one.fit(dataset(), epochs=1)
    first, *epochs = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"the step is compiled: \d+ operations, \d+ of them left, \d+\.\d s", first)
    assert [line.partition("  ")[0] for line in epochs] == ["epoch 1/2", "epoch 2/2", "epoch 3/3"]


def test_the_first_step_says_that_it_is_eager_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    model = nn.Linear.init(4, 3, like=CPU, key=mx.Key(1))
    fallen = mx.Trainer(model, reads, optim.Sgd(lr=0.1), key=mx.Key(2), compile=True)
    with pytest.warns(CompileWarning):
        fallen.fit(dataset(), epochs=1)
    first, *epochs = capsys.readouterr().out.splitlines()
    assert first.startswith("the step is not compiled and runs eagerly: CompileError: to_host: TracedTensor")
    assert len(epochs) == 1


def test_a_mistake_is_the_error_that_it_is_eagerly() -> None:
    compiled = trainer()
    with pytest.raises(ShapeError, match="expected Float"):
        compiled.step(Labelled(CPU.ones((8, 5)), CPU.labels(np.zeros(8, np.int64))))
    good = Labelled(CPU.ones((8, 4)), CPU.labels(np.zeros(8, np.int64)))
    compiled.step(good)
    with pytest.raises(LabelError, match=r"label 3 at \[7\] is not a class from 0 to 2"):
        compiled.step(Labelled(good.x, CPU.labels(np.array([0] * 7 + [3]))))
    compiled.step(good)
    assert compiled.steps == 2
    assert [trace.replays for trace in compiled.compile_reports()["update"].traces] == [2]


def test_a_loss_that_is_not_finite_is_told_as_it_is_eagerly() -> None:
    bad = Labelled(CPU.full((8, 4), float("nan")), CPU.labels(np.zeros(8, np.int64)))
    texts = []
    for compiled in (False, True):
        one = trainer(compiled=compiled)
        before = weights(one.model)
        with pytest.raises(NonFiniteError, match="step 0: the loss is nan: all parameters were finite") as caught:
            one.step(bad)
        assert weights(one.model) == before
        assert one.steps == 0
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
