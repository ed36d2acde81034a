"""Callbacks: when they are called, and those that moonxi has."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import override

import pytest

from moonxi import nn
from moonxi.data import DataLoader, Labelled
from moonxi.errors import DataError, OptionError
from moonxi.train import Callback, Checkpoints, CsvLog, EarlyStopping, EpochRecord, History, JsonLinesLog, Run
from tests.train.test_trainer import Array, Interrupted, dataset, new_model, new_trainer, weights


def loader() -> "DataLoader[Labelled[Array]]":
    return DataLoader(dataset(), batch_size=25, seed=0)


class Told(Callback[object]):
    """Remembers what it is told."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.calls: list[str] = []
        self.stop_at = stop_at

    @override
    def on_start(self, run: Run[object], /) -> None:
        self.calls.append(f"start {run.steps}")

    @override
    def on_step(self, run: Run[object], values: Mapping[str, float], /) -> None:
        assert values["loss"] > 0.0
        self.calls.append(f"step {run.steps}")
        if run.steps == self.stop_at:
            run.stop("enough")
            run.stop("too late to matter")

    @override
    def on_epoch(self, run: Run[object], record: EpochRecord, /) -> None:
        assert run.records[-1] is record
        self.calls.append(f"epoch {record.epoch}")

    @override
    def on_end(self, run: Run[object], history: History, /) -> None:
        self.calls.append(f"end {len(history.epochs)} {history.interrupted} {history.stopped}")


def test_callbacks_are_told_of_everything_in_order() -> None:
    told = Told()
    new_trainer().fit(loader(), epochs=2, progress=False, callbacks=[told])
    assert told.calls == [
        *("start 0", "step 1", "step 2", "epoch 0", "step 3", "step 4", "epoch 1", "end 2 False None"),
    ]


def test_a_callback_that_needs_one_method_writes_one() -> None:
    class Only(Callback[object]):
        pass

    new_trainer().fit(loader(), epochs=1, progress=False, callbacks=[Only(), Only()])


def test_a_run_can_be_stopped_within_an_epoch_and_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told, checkpoints = Told(stop_at=3), Checkpoints(tmp_path / "run")
    history = new_trainer().fit(loader(), epochs=5, callbacks=[told], checkpoints=checkpoints)
    assert told.calls[-2:] == ["step 3", "end 1 False enough"]
    assert history.stopped == "enough"
    assert capsys.readouterr().out.endswith("stopped after step 3: enough\n")
    resumed = new_trainer()
    resumed.fit(loader(), epochs=2, callbacks=[told], checkpoints=checkpoints, resume=True)
    assert resumed.steps == 4
    assert f"resumed from {tmp_path}/run/step-000000003.json: epoch 2, batch 1\n" in capsys.readouterr().out


def test_ctrl_c_is_an_end() -> None:
    told = Told()
    data = DataLoader(dataset(), batch_size=8)
    new_trainer().fit(Interrupted(data), epochs=5, progress=False, callbacks=[told])
    assert told.calls == ["start 0", "step 1", "step 2", "end 0 True None"]


# -- early stopping ----------------------------------------------------------------------------------------------


def stopped_after(losses: list[float], stopping: EarlyStopping) -> int | None:
    """How many epochs with these losses a run has."""
    history = History()
    run = Run(lambda: None, lambda: None, lambda: 0, history, {})
    for epoch, loss in enumerate(losses):
        record = EpochRecord(epoch, epoch, {"loss": 0.0}, {"loss": loss}, 1.0, 1)
        history.epochs.append(record)
        stopping.on_epoch(run, record)
        if run.stopped is not None:
            return epoch + 1
    return None


@pytest.mark.parametrize(
    ("losses", "options", "epochs"),
    [
        ([3, 2, 1, 0], {"patience": 1}, None),
        ([3, 2, 2, 1], {"patience": 1}, 3),
        ([3, 2, 2, 1], {"patience": 2}, None),
        ([1, 2, 3, 4, 5], {"patience": 3}, 4),
        ([1.0, 0.95, 0.91, 0.9], {"patience": 2, "least": 0.1}, 3),
        ([1, 2, 3], {"patience": 1, "higher_is_better": True}, None),
        ([float("nan"), float("nan"), 1], {"patience": 2}, 2),
        ([float("nan"), 1, 0], {"patience": 2}, None),
    ],
)
def test_a_run_stops_when_it_gets_no_better(losses: list[float], options: dict[str, float], epochs: int | None) -> None:
    stopping = EarlyStopping(
        patience=int(options["patience"]),
        least=options.get("least", 0.0),
        higher_is_better=bool(options.get("higher_is_better", False)),
    )
    assert stopped_after(losses, stopping) == epochs


def test_a_stopped_run_is_not_gone_on_with_by_resuming(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "run")

    def run() -> tuple[int, str | None]:
        trainer = new_trainer(lr=0.0)
        stopping = EarlyStopping("accuracy", patience=2, higher_is_better=True)
        history = trainer.fit(
            loader(), epochs=9, progress=False, callbacks=[stopping], checkpoints=checkpoints, resume=True
        )
        return trainer.steps, history.stopped

    assert run() == run() == (6, "accuracy was not better for 2 epochs")


def test_a_metric_that_is_not_there_is_named() -> None:
    with pytest.raises(OptionError, match=r"^EarlyStopping: no metric 'f1': there are loss, accuracy$"):
        new_trainer().fit(loader(), epochs=2, progress=False, callbacks=[EarlyStopping("f1", patience=1)])
    with pytest.raises(OptionError, match=r"^EarlyStopping: patience=0: must be at least 1$"):
        EarlyStopping(patience=0)
    with pytest.raises(OptionError, match=r"^EarlyStopping: least=-1\.0: must be finite and not negative$"):
        EarlyStopping(patience=1, least=-1.0)


# -- logs --------------------------------------------------------------------------------------------------------


def test_logs_have_a_line_for_each_epoch(tmp_path: Path) -> None:
    logs = [CsvLog(tmp_path / "log.csv"), JsonLinesLog(tmp_path / "log.jsonl")]
    history = new_trainer().fit(loader(), epochs=3, test=loader(), progress=False, callbacks=logs)
    with (tmp_path / "log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    objects = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    assert [{name: float(value) for name, value in row.items()} for row in rows] == objects
    assert [one["test_accuracy"] for one in objects] == [one.test["accuracy"] for one in history.epochs]
    assert [one["steps"] for one in objects] == [2, 4, 6]


def test_a_resumed_run_has_one_log(tmp_path: Path) -> None:
    for epochs in (1, 1, 3):
        logs = [CsvLog(tmp_path / "log.csv"), JsonLinesLog(tmp_path / "log.jsonl")]
        checkpoints = Checkpoints(tmp_path / "run")
        new_trainer().fit(loader(), epochs=epochs, progress=False, callbacks=logs, checkpoints=checkpoints, resume=True)
    lines = (tmp_path / "log.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["epoch", "1", "2", "3"]
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 3


def test_the_log_of_a_new_run_takes_the_place_of_the_old(tmp_path: Path) -> None:
    log = CsvLog(tmp_path / "log.csv")
    for _ in range(2):
        new_trainer().fit(loader(), epochs=2, progress=False, callbacks=[log])
        assert [line.split(",")[0] for line in log.path.read_text().splitlines()] == ["epoch", "1", "2"]


def test_numbers_that_are_not_finite_are_text_in_json() -> None:
    record = EpochRecord(0, 1, {"loss": float("nan")}, {"loss": float("-inf")}, 1.0, 10)
    line = JsonLinesLog("unused").lines([record], first=True)
    assert json.loads(line)["train_loss"] == "nan"
    assert json.loads(line)["test_loss"] == "-inf"


def test_a_log_that_cannot_be_written_is_refused_before_the_first_step(tmp_path: Path) -> None:
    trainer = new_trainer()
    with pytest.raises(DataError, match=r"^CsvLog: .*nowhere/log\.csv: cannot be written: No such file or directory$"):
        trainer.fit(loader(), epochs=1, progress=False, callbacks=[CsvLog(tmp_path / "nowhere" / "log.csv")])
    assert trainer.steps == 0


class FailsAtTheEnd(Callback[object]):
    @override
    def on_end(self, run: Run[object], history: History, /) -> None:
        raise DataError("there is no ink")


def test_a_callback_that_fails_at_the_end_costs_no_weights(tmp_path: Path) -> None:
    trainer = new_trainer()
    with pytest.raises(DataError, match="there is no ink"):
        trainer.fit(loader(), epochs=1, progress=False, save_to=tmp_path / "weights", callbacks=[FailsAtTheEnd()])
    assert weights(nn.load(new_model(), tmp_path / "weights")) == weights(trainer.model)
