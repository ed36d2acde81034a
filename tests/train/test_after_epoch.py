"""What is done after each epoch of a run."""

import pytest

from moonxi.data import DataLoader
from moonxi.train import EpochRecord
from tests.train.test_trainer import dataset, new_trainer


def test_each_epoch_gives_its_record_before_the_next_begins() -> None:
    trainer = new_trainer()
    data = DataLoader(dataset(), batch_size=8, seed=0)
    given: list[EpochRecord] = []
    steps: list[int] = []

    def after(record: EpochRecord) -> None:
        given.append(record)
        steps.append(trainer.steps)

    history = trainer.fit(data, epochs=3, test=data, progress=False, after_epoch=after)
    assert given == history.epochs
    assert steps == [record.steps for record in given] == [7, 14, 21]


def test_ctrl_c_after_an_epoch_ends_the_run_and_keeps_that_epoch() -> None:
    def interrupt(record: EpochRecord) -> None:
        if record.epoch == 1:
            raise KeyboardInterrupt

    trainer = new_trainer()
    data = DataLoader(dataset(), batch_size=8, seed=0)
    history = trainer.fit(data, epochs=9, progress=False, after_epoch=interrupt)
    assert history.interrupted
    assert [record.epoch for record in history.epochs] == [0, 1]
    assert [record.epoch for record in trainer.fit(data, epochs=1, progress=False).epochs] == [2]


def test_an_error_of_the_function_is_not_swallowed(capsys: pytest.CaptureFixture[str]) -> None:
    def full(record: EpochRecord) -> None:
        raise OSError("no space left")

    data = DataLoader(dataset(), batch_size=8, seed=0)
    with pytest.raises(OSError, match=r"^no space left$"):
        new_trainer().fit(data, epochs=2, after_epoch=full)
    assert capsys.readouterr().out.startswith("epoch 1/2")
