"""Checkpoints: which are kept, and what a run goes on from."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader, Labelled
from moonxi.errors import CheckpointError, OptionError
from moonxi.losses import Logits, cross_entropy
from moonxi.train import Checkpoint, Checkpoints, Trainer
from moonxi.train.place import Place
from tests.train.test_trainer import Array, Model, dataset, loss, new_model, new_trainer, weights


def loader(**options: Any) -> "DataLoader[Labelled[Array]]":
    return DataLoader(dataset(), batch_size=8, seed=0, **options)


def trained(checkpoints: Checkpoints, epochs: int = 2) -> "Trainer[Array, Model, Labelled[Array]]":
    trainer = new_trainer()
    trainer.fit(loader(), epochs=epochs, progress=False, checkpoints=checkpoints)
    return trainer


def steps(checkpoints: Checkpoints) -> list[int]:
    return [one.step for one in checkpoints.all()]


def names(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()}


def last(checkpoints: Checkpoints) -> Checkpoint:
    found = checkpoints.last()
    assert found is not None
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


# -- what is kept ------------------------------------------------------------------------------------------------


def test_the_last_and_the_best_are_kept_and_nothing_else(folder: Path) -> None:
    checkpoints = Checkpoints(folder, every=3, keep_last=2, keep_best=1, metric="loss")
    trainer = trained(checkpoints, epochs=4)
    assert steps(checkpoints) == [27, 28]  # the loss falls, so that the last is the best
    assert len(names(folder)) == 4
    assert weights(last(checkpoints).model(new_model())) == weights(trainer.model)


def test_the_best_by_a_metric_stays_however_old_it_is(folder: Path) -> None:
    checkpoints = Checkpoints(folder, keep_last=1, keep_best=2, metric="accuracy", higher_is_better=True)
    trainer = new_trainer()
    for step, accuracy in enumerate([0.1, 0.9, float("nan"), 0.8, 0.2]):
        place = Place(epoch=step, steps=step)
        checkpoints.save(trainer.model, trainer.state, place=place, settings={}, metrics={"accuracy": accuracy})
    assert steps(checkpoints) == [1, 3, 4]
    best = checkpoints.best()
    assert best is not None
    assert (best.step, best.metrics) == (1, {"accuracy": 0.9})


def test_a_checkpoint_within_an_epoch_is_none_of_the_best(folder: Path) -> None:
    checkpoints = Checkpoints(folder, every=2, keep_last=9)
    trained(checkpoints, epochs=1)
    assert steps(checkpoints) == [2, 4, 6, 7]
    assert [sorted(one.metrics) for one in checkpoints.all()] == [[], [], [], ["accuracy", "loss"]]
    best = checkpoints.best()
    assert best is not None
    assert best.step == 7


def test_what_a_killed_process_left_is_removed_and_other_files_are_not(folder: Path) -> None:
    folder.mkdir()
    for name in (".moonxi-part-1-00", "step-000000001-00ff.safetensors", "notes.txt", "step-1.txt"):
        (folder / name).touch()
    trained(Checkpoints(folder), epochs=1)
    assert {"notes.txt", "step-1.txt", "step-000000007.json"} < names(folder)
    assert len(names(folder)) == 4


# -- going on ----------------------------------------------------------------------------------------------------


def test_a_run_in_parts_is_the_run_at_once_and_has_the_same_history(folder: Path) -> None:
    at_once = new_trainer()
    whole = at_once.fit(loader(), epochs=3, progress=False)
    trained(Checkpoints(folder), epochs=1)
    resumed = new_trainer()
    history = resumed.fit(loader(), epochs=3, progress=False, checkpoints=Checkpoints(folder), resume=True)
    assert weights(resumed.model) == weights(at_once.model)
    assert [(one.epoch, one.steps, one.train) for one in history.epochs] == [
        (one.epoch, one.steps, one.train) for one in whole.epochs
    ]
    again = resumed.fit(loader(), epochs=3, progress=False, checkpoints=Checkpoints(folder), resume=True)
    assert len(again.epochs) == 3
    assert resumed.steps == 21


def test_a_run_ended_by_ctrl_c_goes_on_within_the_epoch(folder: Path) -> None:
    class Interrupting:
        def __len__(self) -> int:
            return len(loader())

        def epoch(self, epoch: int, /) -> Any:
            for number, batch in enumerate(loader().epoch(epoch)):
                if (epoch, number) == (1, 3) and not resumed:
                    raise KeyboardInterrupt
                yield batch

    resumed = False
    checkpoints = Checkpoints(folder)
    assert new_trainer().fit(Interrupting(), epochs=3, progress=False, checkpoints=checkpoints).interrupted
    place = last(checkpoints).manifest.place
    assert (place.epoch, place.batch, place.steps) == (1, 3, 10)
    resumed = True
    trainer, unbroken = new_trainer(), new_trainer()
    trainer.fit(Interrupting(), epochs=3, progress=False, checkpoints=checkpoints, resume=True)
    unbroken.fit(loader(), epochs=3, progress=False)
    assert weights(trainer.model) == weights(unbroken.model)


def test_more_workers_make_no_other_run(folder: Path) -> None:
    trained(Checkpoints(folder), epochs=1)
    new_trainer().fit(loader(workers=1), epochs=2, progress=False, checkpoints=Checkpoints(folder), resume=True)


def test_a_new_run_does_not_mix_with_an_older_one(folder: Path) -> None:
    trained(Checkpoints(folder), epochs=1)
    with pytest.raises(CheckpointError) as caught:
        trained(Checkpoints(folder), epochs=1)
    assert str(caught.value) == (
        f"fit: {folder}: has checkpoints of a run up to step 7: go on with it by resume=True, or name another folder"
    )


def test_other_settings_are_listed_and_refused(folder: Path) -> None:
    trained(Checkpoints(folder), epochs=1)
    other = Trainer(new_model(), loss, optim.Sgd(lr=0.2, momentum=0.9), key=mx.Key(3))
    with pytest.raises(CheckpointError) as caught:
        other.fit(
            DataLoader(dataset(), batch_size=5, seed=0),
            epochs=2,
            progress=False,
            checkpoints=Checkpoints(folder),
            resume=True,
        )
    assert str(caught.value) == (
        f"fit: {folder / 'step-000000007.json'}: of a run with other settings:\n"
        "  optimizer.lr: 0.1 there, 0.2 here\n"
        "  key: [2, 0] there, [3, 0] here\n"
        "  data.batches: 7 there, 10 here\n"
        "  data.batch_size: 8 there, 5 here\n"
        "Resume with the same ones, or begin a new run from its weights: Checkpoints(folder).last() has .model(model)"
    )
    assert other.steps == 0


def test_who_loads_a_checkpoint_as_a_file_of_weights_is_told_how(folder: Path) -> None:
    trained(Checkpoints(folder), epochs=1)
    [tensors] = folder.glob("*.safetensors")
    advice = f"moonxi.train.Checkpoints('{folder}').last() has .model(model) for the weights"
    with pytest.raises(CheckpointError) as caught:
        nn.load(new_model(), tensors)
    assert str(caught.value) == f"load: {tensors}: the tensors of a checkpoint: {advice}"
    with pytest.raises(CheckpointError) as caught:
        nn.load(new_model(), folder)
    assert str(caught.value) == f"load: {folder}: cannot be read: Is a directory: {advice}"
    [manifest] = folder.glob("*.json")
    with pytest.raises(CheckpointError) as caught:
        nn.load(new_model(), manifest)
    assert str(caught.value).startswith(f"load: {manifest}: not a whole safetensors file: ")
    assert str(caught.value).endswith(f"; it says what is in a checkpoint: {advice}")
    last = Checkpoints(folder).last()
    assert last is not None
    assert last.model(new_model()).named_parameters().keys() == new_model().named_parameters().keys()


def test_a_run_that_goes_on_elsewhere_is_told_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    trained(Checkpoints(folder), epochs=1)
    for threads, end in (("1", []), ("3", ["written elsewhere, so the bits may differ: threads 1 there, 3 here"])):
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", threads)
        new_trainer().fit(loader(), epochs=1, checkpoints=Checkpoints(folder), resume=True)
        resumed = f"resumed from {folder}/step-000000007.json: epoch 1, the last, is done"
        assert capsys.readouterr().out.splitlines() == [resumed, *end]


def test_a_setting_of_a_layer_is_one_of_the_run(folder: Path) -> None:
    def run(rate: float) -> None:
        model = nn.Sequential[Array](nn.Linear.init(4, 3, like=mx.numpy(), key=mx.Key(1)), nn.Dropout(rate))
        trainer = Trainer(model, chained, optim.Sgd(lr=0.1), key=mx.Key(2))
        trainer.fit(loader(), epochs=1, progress=False, checkpoints=Checkpoints(folder), resume=True)

    run(0.5)
    run(0.5)
    with pytest.raises(CheckpointError, match=r"settings:\n  model\.[^\n]*: 0\.5 there, 0\.25 here\nResume with"):
        run(0.25)


def chained[T: mx.MlpTensor](model: nn.Sequential[T], batch: Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(Logits(model.forward(batch.x, mode)), batch.labels)


def test_a_second_fit_of_the_same_trainer_goes_on_in_the_same_folder(folder: Path) -> None:
    trainer = trained(Checkpoints(folder), epochs=1)
    trainer.fit(loader(), epochs=1, progress=False, checkpoints=Checkpoints(folder))
    assert steps(Checkpoints(folder)) == [7, 14]
    assert [one.epoch for one in last(Checkpoints(folder)).manifest.place.records] == [0, 1]


def test_the_weights_of_another_model_are_listed_and_refused(folder: Path) -> None:
    trained(Checkpoints(folder), epochs=1)
    other = nn.Linear.init(4, 5, like=mx.numpy(), key=mx.Key(0))
    with pytest.raises(CheckpointError) as caught:
        last(Checkpoints(folder)).model(other)
    assert str(caught.value) == (
        f"checkpoint: {folder / 'step-000000007.json'}: not of this Linear:\n"
        "  parameters/bias: float32 (3,) in the file, float32 (5,) here\n"
        "  parameters/weight: float32 (4, 3) in the file, float32 (4, 5) here"
    )
    with pytest.raises(CheckpointError, match=r"not of this optimizer:\n  optimizer/velocity/0: only in the file"):
        last(Checkpoints(folder)).restored(new_model(), optim.Sgd(lr=0.1).init(new_model()))


def test_resuming_needs_a_folder_and_options_have_limits(folder: Path) -> None:
    with pytest.raises(OptionError, match=r"^fit: resume=True without checkpoints: name the folder"):
        new_trainer().fit(loader(), epochs=1, resume=True)
    with pytest.raises(OptionError, match=r"^Checkpoints: every=0: must be at least 1$"):
        Checkpoints(folder, every=0)
    with pytest.raises(OptionError, match=r"^Checkpoints: keep_last=0: must be at least 1$"):
        Checkpoints(folder, keep_last=0)


def test_a_folder_that_cannot_be_made_is_refused_before_the_first_step(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    trainer = new_trainer()
    with pytest.raises(CheckpointError, match=r"^checkpoint: .*file/run: cannot be made: Not a directory$"):
        trainer.fit(loader(), epochs=1, progress=False, checkpoints=Checkpoints(tmp_path / "file" / "run"))
    assert trainer.steps == 0


def test_another_element_type_is_refused(folder: Path) -> None:
    double = nn.Linear.init(4, 3, like=mx.numpy(mx.F64), key=mx.Key(0))
    checkpoints = Checkpoints(folder)
    state = optim.Adam(lr=0.1).init(double)
    checkpoints.save(double, state, place=Place(steps=1), settings={}, metrics={})
    stored = last(checkpoints).tensors()
    assert {one.dtype for one in stored.values()} == {np.dtype(np.float64)}
    with pytest.raises(CheckpointError, match=r"parameters/bias: float64 \(3,\) in the file, float32 \(3,\) here"):
        last(checkpoints).model(new_model())
