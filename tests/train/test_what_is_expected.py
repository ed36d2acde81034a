"""What a trainer is given by mistake, and what it says: what was expected, what came, and what to do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader
from moonxi.errors import OperandError, OptionError
from moonxi.train import Callback, Checkpoints, CsvLog, Trainer
from tests.train.test_trainer import CPU, dataset, loss, new_model, new_trainer

FREE: Any = new_trainer()  # its methods take anything as far as mypy is concerned
NEW: Any = Trainer
LOADER = DataLoader(dataset(), batch_size=8, seed=0)
BATCH = next(LOADER.epoch(0))
A_BATCH = (
    r"expected a batch: Labelled\(x, labels\), Paired\(x, y\), or a dataclass of tensors of yours with map and size"
)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            dataset(),
            r"a LabelledArrays: .* a data set becomes batches by one: DataLoader\(data, batch_size=64, seed=0\)$",
        ),
        (BATCH, r"a Labelled: .* a single batch is for step: trainer\.step\(Labelled\(\.\.\.\)\)$"),
        ([BATCH], r"a list of 1: .* it has a length and gives the batches of an epoch: len\(data\), data\.epoch\(0\)$"),
        (LOADER.epoch(0), r"a generator: .* an iterator is used up after one epoch: give the loader itself, not "),
        (DataLoader, r"the class DataLoader: expected a loader of batches; "),
    ],
    ids=["data set", "batch", "list", "iterator", "class"],
)
def test_what_is_no_loader_is_refused_with_what_makes_one_of_it(data: Any, said: str) -> None:
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("fit", lambda: FREE.fit(data, epochs=1)),
        ("fit: test", lambda: FREE.fit(LOADER, test=data, epochs=1)),
        ("evaluate", lambda: FREE.evaluate(data)),
        ("predict", lambda: FREE.predict(data, len)),
    ]
    for where, call in calls:
        with pytest.raises(OperandError, match=rf"^{where}: {said}"):
            call()
    assert FREE.steps == 0


class Loader:
    """Two batches of whatever kind."""

    def __init__(self, batch: object) -> None:
        self.batch = batch

    def __len__(self) -> int:
        return 2

    def epoch(self, epoch: int, /) -> Any:
        return iter([self.batch, self.batch])


@pytest.mark.parametrize(
    ("batch", "what"),
    [
        ((BATCH.x, BATCH.labels), "a tuple of 2"),
        ({"x": BATCH.x, "labels": BATCH.labels}, "a dict of 2"),
        (BATCH.x, r"NpArray\[F32\] \(8, 4\)"),
        (BATCH.x.to_host(), r"ndarray \(8, 4\)"),
        (None, "None"),
    ],
    ids=["tuple", "dict", "tensor", "array", "None"],
)
def test_what_is_no_batch_is_refused(batch: Any, what: str) -> None:
    differentiate: Any = mx.value_and_grad
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("step", lambda: FREE.step(batch)),
        ("step", lambda: FREE.fit(Loader(batch), epochs=1, progress=False)),
        ("evaluate", lambda: FREE.evaluate(Loader(batch))),
        ("value_and_grad", lambda: differentiate(loss, new_model(), batch, mx.Eval())),
    ]
    for where, call in calls:
        with pytest.raises(OperandError, match=rf"^{where}: {what}: {A_BATCH}$"):
            call()


def test_a_list_of_batches_and_a_batch_that_is_not_counted_are_refused() -> None:
    class Uncounted:
        def map(self, f: object) -> object:
            return self

    with pytest.raises(OperandError, match=r"^step: a list of 2: .* one by one: step\(\*batches\)$"):
        FREE.step([BATCH, BATCH])
    with pytest.raises(OperandError, match=r"^step: a Uncounted: expected a batch with a size, the number of its samp"):
        FREE.step(Uncounted())


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"key": 0}, OperandError, r"key: 0: expected a key: key=mx\.Key\(0\)"),
        ({"ema": 0.99}, OperandError, r"ema: 0\.99: expected the rule of an average: ema=optim\.Ema\(decay=0\.999\)"),
        ({"frozen": "bias"}, OperandError, r"frozen: 'bias': .* optim\.within\(model, model\.stem\) or optim\.named\("),
        ({"compile": "yes"}, OptionError, r"compile='yes': expected True or False"),
    ],
    ids=["key", "ema", "frozen", "compile"],
)
def test_settings_of_another_kind_are_refused(settings: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=rf"^Trainer: {said}"):
        NEW(new_model(), loss, optim.Sgd(lr=0.1), **{"key": mx.Key(0), **settings})


def test_what_is_no_model_or_optimizer_is_refused() -> None:
    with pytest.raises(
        OperandError, match=r"^Trainer: the class Linear: expected a model, a Module such as nn\.Linear"
    ):
        NEW(nn.Linear, loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    with pytest.raises(
        OperandError, match=r"^Trainer: a CsvLog: expected an optimizer: such as optim\.Adam\(lr=1e-3\)"
    ):
        NEW(new_model(), loss, CsvLog("log.csv"), key=mx.Key(0))
    with pytest.raises(OperandError, match=r"^Trainer: the class Sgd: expected an optimizer: Sgd\(\.\.\.\)$"):
        NEW(new_model(), loss, optim.Sgd, key=mx.Key(0))


def on_epoch(record: object) -> None:
    """A function in the place of a callback."""


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"callbacks": CsvLog("log.csv")}, r"callbacks: a CsvLog: expected a list of callbacks: callbacks=\[\.\.\.\]"),
        ({"callbacks": [Callback]}, r"callbacks\[0\]: the class Callback: expected a callback: Callback\(\.\.\.\)"),
        ({"callbacks": [on_epoch]}, r"callbacks\[0\]: the function on_epoch: .* an epoch's record is after_epoch="),
        ({"checkpoints": "run"}, r"checkpoints: 'run': expected checkpoints=Checkpoints\('run'\)"),
        ({"after_epoch": "print"}, r"after_epoch: 'print': expected a function of an EpochRecord"),
    ],
    ids=range(5),
)
def test_what_is_around_the_steps_is_looked_at_before_the_first(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(OperandError, match=rf"^fit: {said}$"):
        FREE.fit(LOADER, epochs=1, progress=False, **settings)
    assert FREE.steps == 0


def test_a_metric_that_there_is_not_is_said_after_the_first_epoch(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"^Checkpoints: no metric 'acc': there are loss, accuracy$"):
        new_trainer().fit(LOADER, epochs=2, progress=False, checkpoints=Checkpoints(tmp_path / "run", metric="acc"))
    none_kept = Checkpoints(tmp_path / "other", metric="acc", keep_best=0)
    new_trainer().fit(LOADER, epochs=1, progress=False, checkpoints=none_kept)


FORWARDS: list[tuple[Any, str]] = [
    (nn.Dropout(0.5), "Dropout"),
    (nn.Sequential(new_model(), nn.Relu()), "Sequential"),
]


@pytest.mark.parametrize(("layer", "name"), FORWARDS, ids=[name for _, name in FORWARDS])
def test_a_mode_that_is_forgotten_or_none_is_told_what_one_is(layer: Any, name: str) -> None:
    x = CPU.ones((2, 4))
    missing = (
        rf"^{name}\.forward: missing .*'mode': expected {name}\.forward\(x, mode\); a mode is mx\.Train\(key\) or "
    )
    with pytest.raises(OperandError, match=missing):
        layer.forward(x)
    with pytest.raises(
        OperandError, match=r"argument mode: expected Mode, got str 'train'; a mode is mx\.Train\(key\) "
    ):
        layer.forward(x, "train")
    with pytest.raises(OperandError, match=rf"^{name}\.forward: too many positional arguments: expected {name}\.forw"):
        layer.forward(x, mx.Eval(), 3)


def test_a_type_error_within_a_forward_stays_as_it_is() -> None:
    def wrong(x: Any) -> Any:
        return x + len(3)  # type: ignore[arg-type] # on purpose

    with pytest.raises(TypeError, match=r"^object of type 'int' has no len\(\)$"):
        nn.Lambda(wrong).forward(CPU.ones((2,)))


PARTS: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda model: (), OptionError, r"no part: name at least one of this Sequential's"),
    (lambda model: (model.layers[1],), OptionError, r"part 0, a Relu, has no parameter of this Sequential"),
    (lambda model: ("layers",), OperandError, r"part 0, 'layers': expected a layer of the model, .* named\('stem'\)"),
    (lambda model: (model.layers[0].weight,), OperandError, r"part 0, NpArray\[F32\] \(4, 3\): expected a layer"),
    (lambda model: (nn.Linear,), OperandError, r"part 0, the class Linear: expected a layer"),
]


@pytest.mark.parametrize(("parts", "error", "said"), PARTS, ids=range(len(PARTS)))
def test_parts_to_freeze_are_layers_with_parameters(
    parts: Callable[[Any], Any], error: type[Exception], said: str
) -> None:
    within: Any = optim.within
    model = nn.Sequential(new_model(), nn.Relu(), nn.Linear.init(3, 3, like=CPU, key=mx.Key(3)))
    with pytest.raises(error, match=rf"^within: {said}"):
        within(model, *parts(model))


def test_a_layer_of_a_sequential_is_frozen() -> None:
    model = nn.Sequential(new_model(), nn.Relu(), nn.Linear.init(3, 3, like=CPU, key=mx.Key(3)))
    frozen = optim.within(model, model.layers[0])
    assert frozen.paths == ("layers[0].weight", "layers[0].bias")
