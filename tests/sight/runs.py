"""A short run to look at, whose numbers do not depend on the machine's speed."""

import numpy as np

from moonxi import metrics
from moonxi.data import DataLoader
from moonxi.losses import Logits
from moonxi.sight import Sample, classified
from moonxi.train import EpochRecord
from tests.train.test_trainer import CPU, Array, Model, dataset

RECORDS = [
    EpochRecord(
        epoch, 7 * (epoch + 1), {"loss": 2.0 / (epoch + 1)}, {"loss": 2.5 / (epoch + 1), "accuracy": 0.5}, 1.5, 50
    )
    for epoch in range(3)
]
LOADER = DataLoader(dataset(), batch_size=8, seed=0)
NAMES = ("<cat>", "dog & co", "fish")


def samples(model: Model) -> list[Sample]:
    batch = next(LOADER.epoch(0))
    return classified(Logits(model.forward(batch.x)), batch.labels, batch.x.reshape((8, 2, 2)), names=NAMES)


def counts(model: Model) -> metrics.ConfusionMatrix:
    matrix = metrics.ConfusionMatrix(3)
    for batch in LOADER.epoch(0):
        matrix.add(Logits(model.forward(batch.x)), batch.labels)
    return matrix


def matrix(classes: int) -> metrics.ConfusionMatrix:
    """One sample of each class right, and one of each taken for class 0."""
    found = metrics.ConfusionMatrix(classes)
    each = np.arange(classes)
    found.add(CPU.labels(np.concatenate([each, each * 0])), CPU.labels(np.concatenate([each, each])))
    return found


def scores(*rows: tuple[float, ...]) -> Logits[Array]:
    return Logits(CPU.from_host(np.array(rows)))
