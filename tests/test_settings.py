"""Settings of the wrong kind, or outside of their range, are refused where they are given; NaN lies in no range."""

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import losses, metrics, nn, optim, settings
from moonxi.compiled.optimising import PASSES
from moonxi.data import Crop, Cutout, DataLoader, Flip, LabelledArrays, Normalize, Position
from moonxi.dims import symbol
from moonxi.errors import MoonxiError, OptionError
from moonxi.train import Checkpoints, EarlyStopping, Trainer

LIKE = mx.numpy()
KEY = mx.Key(0)
X = LIKE.ones((1, 2, 4, 4))
ROW = LIKE.ones((2, 3))
SCORES = losses.Logits(ROW)
CLASSES = LIKE.labels(np.array([0, 1]))
SAMPLES = LabelledArrays(LIKE, np.zeros((4, 1)), np.zeros(4, np.int64))
NAMES = ", ".join(PASSES)


def any_of(value: object) -> Any:
    """A value of which no checker knows the type."""
    return value


def line_loss[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Labelled[T], mode: mx.Mode) -> T:
    return losses.cross_entropy(losses.Logits(model.forward(batch.x)), batch.labels)


def trained(*, epochs: int, accumulate: int = 1, progress: bool = False) -> None:
    model = nn.Linear.init(1, 2, like=LIKE, key=KEY)
    trainer = Trainer(model, line_loss, optim.Sgd(lr=0.1), key=KEY)
    trainer.fit(DataLoader(SAMPLES, batch_size=2), epochs=epochs, accumulate=accumulate, progress=progress)


def doubled[T: mx.Tensor](x: T) -> T:
    return x * 2.0


REFUSED: dict[str, Callable[[], object]] = {
    # compiling
    f"compile: without='fusions': expected a tuple of names among {NAMES}": lambda: mx.compile(
        doubled, without=any_of(("fusion", "fusions"))
    ),
    f"compile: without='fusion': expected a tuple of names among {NAMES}": lambda: mx.compile(
        doubled, without=any_of("fusion")
    ),
    "compile: 3: expected a function, such as a training step or model.forward": lambda: mx.compile(any_of(3)),
    "repeat: n=2.0: expected a whole Python number": lambda: mx.repeat(any_of(doubled), any_of(2.0)),
    "repeat: n=0: must be at least 1": lambda: mx.repeat(any_of(doubled), 0),
    # layers
    "BatchNorm2d: eps=-1.0: must be finite and not negative": lambda: nn.BatchNorm2d.init(2, like=LIKE, eps=-1.0),
    "BatchNorm2d: eps=nan: must be finite and not negative": lambda: nn.BatchNorm2d.init(2, like=LIKE, eps=nan),
    "BatchNorm2d: momentum=nan: must lie between 0 and 1": lambda: nn.BatchNorm2d.init(2, like=LIKE, momentum=nan),
    "BatchNorm2d: momentum=-0.1: must lie between 0 and 1": lambda: nn.BatchNorm2d.init(2, like=LIKE, momentum=-0.1),
    "BatchNorm2d: momentum=None: expected a Python number": lambda: nn.BatchNorm2d.init(
        2, like=LIKE, momentum=any_of(None)
    ),
    "GroupNorm: eps=nan: must be finite and not negative": lambda: nn.GroupNorm.init(1, 2, like=LIKE, eps=nan),
    "GroupNorm: groups=1.0: expected a whole Python number": lambda: nn.GroupNorm.init(any_of(1.0), 2, like=LIKE),
    "LayerNorm: eps=-0.1: must be finite and not negative": lambda: nn.LayerNorm.init(2, like=LIKE, eps=-0.1),
    "RMSNorm: eps=inf: must be finite and not negative": lambda: nn.RMSNorm.init(2, like=LIKE, eps=inf),
    "Conv2d: kernel=0: must be at least 1": lambda: nn.Conv2d.init(2, 2, 0, like=LIKE, key=KEY),
    "Conv2d: stride=0: must be at least 1": lambda: nn.Conv2d.init(2, 2, 3, like=LIKE, key=KEY, stride=0),
    "Conv2d: stride=(1, -1): must be at least 1": lambda: nn.Conv2d.init(2, 2, 3, like=LIKE, key=KEY, stride=(1, -1)),
    "Conv2d: padding=-1: must be at least 0": lambda: nn.Conv2d.init(2, 2, 3, like=LIKE, key=KEY, padding=-1),
    "Conv2d: padding='valid': expected an integer, or a pair of them for rows and columns": lambda: nn.Conv2d.init(
        2, 2, 3, like=LIKE, key=KEY, padding=any_of("valid")
    ),
    "Conv2d: dilation=0: must be at least 1": lambda: nn.Conv2d.init(2, 2, 3, like=LIKE, key=KEY, dilation=0),
    "Conv2d: groups=0: must be at least 1": lambda: nn.Conv2d.init(2, 2, 3, like=LIKE, key=KEY, groups=0),
    "Conv2d: inputs=0: must be at least 1": lambda: nn.Conv2d.init(0, 2, 3, like=LIKE, key=KEY),
    "ConvTranspose2d: stride=True: expected an integer, or a pair of them for rows and columns": (
        lambda: nn.ConvTranspose2d.init(2, 2, 3, like=LIKE, key=KEY, stride=True)
    ),
    "ConvTranspose2d: output_padding=-1: must be at least 0": (
        lambda: nn.ConvTranspose2d.init(2, 2, 3, like=LIKE, key=KEY, output_padding=-1)
    ),
    "MaxPool2d: kernel=0: must be at least 1": lambda: nn.MaxPool2d(0),
    "MaxPool2d: stride=0: must be at least 1": lambda: nn.MaxPool2d(2, stride=0),
    "MaxPool2d: dilation=0: must be at least 1": lambda: nn.MaxPool2d(2, dilation=0),
    "AdaptiveAvgPool2d: size=0: must be at least 1": lambda: nn.AdaptiveAvgPool2d(0),
    "UpsampleNearest2d: scale=0: must be at least 1": lambda: nn.UpsampleNearest2d(0),
    "UpsampleBilinear2d: scale=(2, 0): must be at least 1": lambda: nn.UpsampleBilinear2d((2, 0)),
    "AvgPool2d: kernel=1.5: expected an integer, or a pair of them for rows and columns": (
        lambda: nn.AvgPool2d(any_of(1.5))
    ),
    "AvgPool2d: ceil_mode='no': expected True or False": lambda: nn.AvgPool2d(2, ceil_mode=any_of("no")),
    "Dropout: rate=1.5: must lie between 0 and 1": lambda: nn.Dropout(1.5),
    "Dropout: rate='0.5': expected a Python number": lambda: nn.Dropout(any_of("0.5")),
    "Dropout2d: rate=nan: must lie between 0 and 1": lambda: nn.Dropout2d(nan),
    "dropout: rate=-0.5: must lie between 0 and 1": lambda: nn.dropout(X, -0.5, KEY),
    "Elu: alpha=nan: must be finite": lambda: nn.Elu(nan),
    "leaky_relu: slope=inf: must be finite": lambda: nn.leaky_relu(X, slope=inf),
    "LeakyRelu: slope=nan: must be finite": lambda: nn.LeakyRelu(nan),
    'Gelu: form=\'exact\': must be "erf" or "tanh"': lambda: nn.Gelu(any_of("exact")),
    "Embedding: padding 1.0, 3 words: it must be the number of a row": (
        lambda: nn.Embedding.init(3, 2, like=LIKE, key=KEY, padding=any_of(1.0))
    ),
    # optimizers and schedules
    "Sgd: lr=True: expected a Python number or a schedule of the step": lambda: optim.Sgd(lr=True),
    "Sgd: lr=inf: must be finite and not negative": lambda: optim.Sgd(lr=inf),
    "Sgd: momentum=np.float32(0.5): expected a Python number": lambda: optim.Sgd(
        lr=0.1, momentum=any_of(np.float32(0.5))
    ),
    "Sgd: nesterov='yes': expected True or False": lambda: optim.Sgd(lr=0.1, momentum=0.9, nesterov=any_of("yes")),
    "AdamW: weight_decay=inf: must be finite and not negative": lambda: optim.AdamW(lr=0.1, weight_decay=inf),
    "Muon: steps=2.5: expected a whole Python number": lambda: optim.Muon(
        lr=0.1, rest=optim.Sgd(lr=0.1), steps=any_of(2.5)
    ),
    "Ema: decay=nan: must be at least 0 and less than 1": lambda: optim.Ema(decay=nan),
    "constant: lr=nan: must be finite and not negative": lambda: optim.constant(nan),
    "step_decay: lr=nan: must be finite and not negative": lambda: optim.step_decay(nan, optim.Steps(3)),
    "step_decay: factor=nan: must be finite and not negative": lambda: optim.step_decay(0.1, optim.Steps(3), nan),
    "step_decay: every=1.5: expected a whole Python number": lambda: optim.step_decay(0.1, optim.Steps(any_of(1.5))),
    "exponential: factor=nan: must be greater than 0 and at most 1": lambda: optim.exponential(
        0.1, nan, every=optim.Steps(1)
    ),
    "polynomial: power=nan: must be positive and finite": lambda: optim.polynomial(0.1, optim.Steps(3), nan),
    "cosine: lr=nan: must be finite and not negative": lambda: optim.cosine(nan, optim.Steps(3)),
    "warm_up: start=nan: must be finite and not negative": lambda: optim.warm_up(0.1, optim.Steps(3), nan),
    "one_cycle: rising=nan: must lie between 0 and 1": lambda: optim.one_cycle(0.1, optim.Steps(30), nan),
    "one_cycle: peak=nan: must be finite and not negative": lambda: optim.one_cycle(nan, optim.Steps(30)),
    "join: at=1.5: expected a whole Python number": lambda: optim.join((optim.constant(0.1),) * 2, any_of((1.5,))),
    "Plateau: lr=nan: must be finite and not negative": lambda: optim.Plateau(lr=nan),
    "Plateau: patience=2.0: expected a whole Python number": lambda: optim.Plateau(lr=0.1, patience=any_of(2.0)),
    "clip_by_global_norm: limit=nan: must be positive": lambda: optim.clip_by_global_norm([X], nan),
    "clip_by_value: limit=-1.0: must be positive": lambda: optim.clip_by_value([X], -1.0),
    # losses and metrics
    "hinge: margin=nan: must be finite": lambda: losses.hinge(ROW, ROW > 0.0, margin=nan),
    "multiclass_hinge: margin=inf: must be finite": lambda: losses.multiclass_hinge(SCORES, CLASSES, margin=inf),
    "triplet_margin: margin=nan: must be finite": lambda: losses.triplet_margin(ROW, ROW, ROW, margin=nan),
    "triplet_margin: swap=1: expected True or False": lambda: losses.triplet_margin(ROW, ROW, ROW, swap=any_of(1)),
    "cosine_similarity: eps=-1.0: must be finite and not negative": lambda: losses.cosine_similarity(
        ROW, ROW, eps=-1.0
    ),
    "cosine_embedding: margin=nan: must be finite": lambda: losses.cosine_embedding(
        ROW, ROW, ROW[:, 0] > 0.0, margin=nan
    ),
    "cross_entropy: ignore=1.5: expected a whole Python number": lambda: losses.cross_entropy(
        SCORES, CLASSES, ignore=any_of(1.5)
    ),
    "cross_entropy: smoothing=True: expected a Python number": lambda: losses.cross_entropy(
        SCORES, CLASSES, smoothing=True
    ),
    "huber: delta=nan: must be positive": lambda: losses.huber(ROW, ROW, delta=nan),
    "TopK: k=1.5: expected a whole Python number": lambda: metrics.TopK(any_of(1.5)),
    "TopK: k=True: expected a whole Python number": lambda: metrics.TopK(True),
    "ConfusionMatrix: classes=2.0: expected a whole Python number": lambda: metrics.ConfusionMatrix(any_of(2.0)),
    "Auroc: classes='2': expected a whole Python number": lambda: metrics.Auroc(any_of("2")),
    # training
    "EarlyStopping: patience=1.5: expected a whole Python number": lambda: EarlyStopping(patience=any_of(1.5)),
    "EarlyStopping: least=nan: must be finite and not negative": lambda: EarlyStopping(patience=1, least=nan),
    "Checkpoints: every=0: must be at least 1": lambda: Checkpoints("folder", every=0),
    "Checkpoints: keep_last=True: expected a whole Python number": lambda: Checkpoints("folder", keep_last=True),
    "Checkpoints: keep_best=-1: must be at least 0": lambda: Checkpoints("folder", keep_best=-1),
    "fit: epochs=1.5: expected a whole Python number": lambda: trained(epochs=any_of(1.5)),
    "fit: epochs=True: expected a whole Python number": lambda: trained(epochs=True),
    "fit: accumulate=0: must be at least 1": lambda: trained(epochs=1, accumulate=0),
    "fit: progress='no': expected True or False": lambda: trained(epochs=1, progress=any_of("no")),
    # tools
    "check_gradients: order=0: must be at least 1": lambda: mx.check_gradients(doubled, ROW, order=0),
    "check_gradients: step=-1.0: must be positive and finite": lambda: mx.check_gradients(doubled, ROW, step=-1.0),
    "check_gradients: tolerance=nan: must be positive and finite": (
        lambda: mx.check_gradients(doubled, ROW, tolerance=nan)
    ),
    "Profile: events=-1: must be at least 0": lambda: mx.Profile(events=-1),
    # keys and data
    "Key.split: count=-1: must be at least 0": lambda: KEY.split(-1),
    "Key.split: count=1.5: expected a whole Python number": lambda: KEY.split(any_of(1.5)),
    "Key.fold: 1.5: expected a whole Python number or a text": lambda: KEY.fold(any_of(1.5)),
    "Key(True, 0): each word is an integer from 0 to 2**64 - 1": lambda: mx.Key(True),
    "DataLoader: batch_size 0: a batch has a whole number of samples from 1": lambda: DataLoader(SAMPLES, batch_size=0),
    "DataLoader: batch_size True: a batch has a whole number of samples from 1": (
        lambda: DataLoader(SAMPLES, batch_size=True)
    ),
    "DataLoader: batch_size 2.0: a batch has a whole number of samples from 1": (
        lambda: DataLoader(SAMPLES, batch_size=any_of(2.0))
    ),
    "DataLoader: workers 1.5: 0 threads or more make batches ahead": (
        lambda: DataLoader(SAMPLES, batch_size=1, workers=any_of(1.5))
    ),
    "DataLoader: prefetch True: a worker is at least 1 batch ahead; see workers": (
        lambda: DataLoader(SAMPLES, batch_size=1, prefetch=True)
    ),
    "DataLoader: seed 0.5: a seed is an integer from 0 to 2**64 - 1": (
        lambda: DataLoader(SAMPLES, batch_size=1, seed=any_of(0.5))
    ),
    "DataLoader: drop_last='no': expected True or False": (
        lambda: DataLoader(SAMPLES, batch_size=1, drop_last=any_of("no"))
    ),
    "DataLoader: epoch 1.5: epochs count from 0": lambda: DataLoader(SAMPLES, batch_size=1).epoch(any_of(1.5)),
    "Position: epoch 0.5, batch 0: both count from 0": lambda: Position(any_of(0.5)),
    "split: 1.5 of 4 samples: there are not as many": lambda: SAMPLES.split(any_of(1.5)),
    "LabelledArrays: divisor=nan: must be positive and finite": (
        lambda: LabelledArrays(LIKE, np.zeros((4, 1)), np.zeros(4, np.int64), divisor=nan)
    ),
    "Crop: padding=1.5: expected a whole Python number": lambda: Crop(any_of(1.5)),
    "Crop: fill=nan: must be finite": lambda: Crop(1, fill=nan),
    "Cutout: size=True: expected a whole Python number": lambda: Cutout(True),
    "Flip: probability=None: expected a Python number": lambda: Flip(any_of(None)),
    "Normalize: mean=nan: must be finite": lambda: Normalize((nan,), (1.0,)),
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_setting_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(MoonxiError) as caught:
        REFUSED[text]()
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("within", "inside", "outside"),
    [
        (settings.ANY, (0.0, -1e308, 1), (inf, -inf, nan)),
        (settings.POSITIVE, (5e-324, 1e308, 1), (0.0, -0.0, -1.0, inf, nan)),
        (settings.POSITIVE_OR_INFINITE, (5e-324, inf), (0.0, -1.0, -inf, nan)),
        (settings.NOT_NEGATIVE, (0.0, -0.0, 1e308), (-5e-324, inf, nan)),
        (settings.UNIT, (0, 0.5, 1), (-5e-324, 1.0000000000000002, nan)),
        (settings.BELOW_ONE, (0.0, 0.9999999999999999), (1.0, -0.1, nan)),
    ],
)
def test_a_range_ends_where_it_says(
    within: settings.Range, inside: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    settings.numbers("f", within, **{f"at_{number}": value for number, value in enumerate(inside)})
    for value in outside:
        with pytest.raises(OptionError) as caught:
            settings.numbers("f", within, value=value)
        assert str(caught.value) == f"f: value={value}: {within.rule}"


def test_a_symbolic_size_is_refused_only_where_no_number_would_do() -> None:
    n = any_of(symbol("n"))
    settings.whole("f", 1, size=n)
    with pytest.raises(OptionError, match=r"^f: size=.*: must be at least 1$"):
        settings.whole("f", 1, size=-n)
