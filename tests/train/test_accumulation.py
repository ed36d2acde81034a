"""Updates from several batches, and predictions."""

import numpy as np
import pytest

import moonxi as mx
from moonxi import metrics
from moonxi.data import DataLoader, Labelled
from moonxi.errors import NonFiniteError, OptionError
from moonxi.losses import Logits
from tests.train.resumed_run import loader as image_loader
from tests.train.resumed_run import new_trainer as new_image_trainer
from tests.train.test_trainer import Array, Model, dataset, new_trainer, weights


def test_an_update_from_parts_is_that_of_the_whole_batch_though_they_are_uneven() -> None:
    whole, parts = new_trainer(), new_trainer()
    for start in (0, 24):
        at_once = dataset()[start : start + 24].batch(np.arange(24))
        one, two = (dataset()[start : start + 24].batch(place) for place in (np.arange(17), np.arange(17, 24)))
        assert parts.step(one, two) == pytest.approx(whole.step(at_once), rel=1e-5)
    assert parts.steps == whole.steps == 2
    for ours, expected in zip(parts.model.parameters(), whole.model.parameters(), strict=True):
        np.testing.assert_allclose(ours.to_host(), expected.to_host(), rtol=1e-5, atol=1e-7)


def test_fit_updates_once_for_so_many_batches_and_for_the_rest_of_an_epoch() -> None:
    trainer = new_trainer()
    history = trainer.fit(DataLoader(dataset(), batch_size=8), epochs=2, accumulate=3, progress=False)
    assert [record.steps for record in history.epochs] == [3, 6]
    assert [record.samples for record in history.epochs] == [50, 50]


def test_running_statistics_go_on_from_batch_to_batch() -> None:
    together, apart = new_image_trainer(), new_image_trainer()
    one, two = (batch for batch, _ in zip(image_loader().epoch(0), range(2), strict=False))
    together.step(one, two)
    apart.step(one)
    before = apart.model.norm.mean.value.to_host()
    assert not np.array_equal(together.model.norm.mean.value.to_host(), before)
    # Both batches move the mean by a tenth of the way; the second sees the weights before the update.
    momentum = 0.1
    frozen = new_image_trainer()
    frozen.step(two)
    second = frozen.model.norm.mean.value.to_host() / momentum
    np.testing.assert_allclose(
        together.model.norm.mean.value.to_host(), before * (1 - momentum) + second * momentum, rtol=1e-4, atol=1e-6
    )


def test_a_part_that_is_not_finite_leaves_model_and_state_as_they_were() -> None:
    trainer = new_trainer()
    good = next(DataLoader(dataset(), batch_size=8).epoch(0))
    before = weights(trainer.model)
    bad = Labelled(mx.numpy().full((8, 4), float("nan")), good.labels)
    with pytest.raises(NonFiniteError, match=r"^step 0: the loss is nan"):
        trainer.step(good, bad)
    assert weights(trainer.model) == before
    assert trainer.steps == 0


def test_an_update_from_no_batch_is_refused() -> None:
    with pytest.raises(OptionError, match=r"^fit: accumulate=0: must be at least 1$"):
        new_trainer().fit(DataLoader(dataset(), batch_size=8), epochs=1, accumulate=0)


def scored(model: Model, batch: Labelled[Array]) -> tuple[Logits[Array], mx.Labels[Array]]:
    return Logits(model.forward(batch.x)), batch.labels


def test_predictions_come_in_order_and_give_the_metrics_that_evaluation_gives() -> None:
    trainer = new_trainer()
    data = DataLoader(dataset(), batch_size=8)
    trainer.fit(data, epochs=2, progress=False)
    accuracy, perplexity = metrics.Accuracy(), metrics.Perplexity()
    sizes = []
    for logits, labels in trainer.predict(data, scored):
        accuracy.add(logits, labels)
        perplexity.add(logits, labels)
        sizes.append(logits.shape[0])
    assert sizes == [8, 8, 8, 8, 8, 8, 2]
    evaluated = trainer.evaluate(data)
    assert accuracy.value() == pytest.approx(evaluated["accuracy"], rel=1e-6)
    assert perplexity.value() == pytest.approx(np.exp(evaluated["loss"]), rel=1e-6)
