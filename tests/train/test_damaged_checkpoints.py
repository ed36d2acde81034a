"""Damaged, foreign and newer checkpoints are refused in words, and passed over on request."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonxi import optim
from moonxi.errors import CheckpointError
from moonxi.train import Checkpoints
from moonxi.train.checkpoint import read_checkpoint
from moonxi.train.history import EpochRecord
from moonxi.train.manifest import Manifest
from moonxi.train.place import Place
from tests.train.test_checkpoints import last, loader, trained
from tests.train.test_trainer import new_model, new_trainer, weights

SGD = optim.Sgd(lr=0.1, momentum=0.9)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def _flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("harm", [_cut, _flipped, Path.unlink, lambda path: path.write_bytes(b"")])
@pytest.mark.parametrize("kind", ["tensors", "manifest"])
def test_a_damaged_checkpoint_is_refused_and_skipped_on_request(
    folder: Path, kind: str, harm: Callable[[Path], None]
) -> None:
    trained(Checkpoints(folder), epochs=2)
    newest = last(Checkpoints(folder))
    harm(newest.path if kind == "manifest" else folder / newest.manifest.tensors)
    gone = not newest.path.exists()
    if not gone:
        with pytest.raises(CheckpointError, match=r'damaged="skip"\) goes on from the newest one that is whole$'):
            Checkpoints(folder).last()
    skipping = Checkpoints(folder, damaged="skip")
    assert last(skipping).step == 7
    trainer, unbroken = new_trainer(), new_trainer()
    trainer.fit(loader(), epochs=3, progress=False, checkpoints=skipping, resume=True)
    unbroken.fit(loader(), epochs=3, progress=False)
    assert weights(trainer.model) == weights(unbroken.model)


def test_where_all_are_damaged_all_reasons_are_given(folder: Path) -> None:
    trained(Checkpoints(folder), epochs=2)
    for path in folder.glob("*.json"):
        path.write_text("{}")
    with pytest.raises(CheckpointError, match=r"none of 2 is whole:\n  checkpoint: .*\n  checkpoint: .* its format"):
        Checkpoints(folder, damaged="skip").last()


def rewritten(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A manifest changed by somebody who also corrects its digest."""
    whole = json.loads(path.read_bytes())
    change(whole)
    body = json.dumps(whole["body"], sort_keys=True, separators=(",", ":")).encode()
    whole["sha256"] = sha256(body).hexdigest()
    path.write_text(json.dumps(whole))
    return path


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            lambda whole: whole.update(version=2),
            r"has version 2 of the format, and this moonxi \(.*\) reads 1: use",
        ),
        (
            lambda whole: whole.update(format="other"),
            r"not a manifest of moonxi: its format is not 'moonxi check",
        ),
        (
            lambda whole: whole["body"].pop("step"),
            r"file\.body\.step: expected a whole number, not negative",
        ),
        (
            lambda whole: whole["body"].update(batch=-1),
            r"file\.body\.batch: expected a whole number, not negative",
        ),
        (
            lambda whole: whole["body"].update(epoch=True),
            r"file\.body\.epoch: expected a whole number, .* found true",
        ),
        (lambda whole: whole["body"].update(sums=[]), r"file\.body\.sums: expected an object, found a list$"),
        (lambda whole: whole["body"].update(records={}), r"file\.body\.records: expected a list, found an object$"),
        (
            lambda whole: whole["body"]["metrics"].update(loss="x"),
            r"metrics\.loss: expected a number, found the text",
        ),
        (
            lambda whole: whole["body"]["tensors"].update(file="../../etc/passwd"),
            r"file\.body\.tensors\.file: expected a name such as step-.*, found the text '\.\./\.\./etc/passwd'$",
        ),
    ],
    ids=range(9),
)
def test_a_foreign_newer_or_wrong_manifest_is_refused(
    folder: Path, change: Callable[[dict[str, Any]], None], text: str
) -> None:
    trained(Checkpoints(folder), epochs=1)
    path = rewritten(last(Checkpoints(folder)).path, change)
    with pytest.raises(CheckpointError, match=text):
        read_checkpoint(path)


@pytest.mark.parametrize("text", ["", "[]", "nul", "[" * 100_000, '{"format": NaN}', "\ud800", "9" * 5000, "1e999"])
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "step-000000001.json"
    path.write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(CheckpointError, match=r"^checkpoint: .*step-000000001\.json: "):
        read_checkpoint(path)


def test_a_tensor_file_of_another_kind_with_the_right_digest_is_refused(folder: Path) -> None:
    trained(Checkpoints(folder), epochs=1)
    found = last(Checkpoints(folder))
    content = b"\x80\x04K\x01."  # a pickle
    (folder / found.manifest.tensors).write_bytes(content)

    def named(whole: dict[str, Any]) -> None:
        whole["body"]["tensors"].update(bytes=len(content), sha256=sha256(content).hexdigest())

    with pytest.raises(CheckpointError, match=r"not a file of tensors that can be read: "):
        read_checkpoint(rewritten(found.path, named)).tensors()


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_garbled_tensors_under_a_right_digest_are_refused_or_of_the_right_shapes(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("garbled")
    state = SGD.init(new_model())
    found = Checkpoints(folder).save(new_model(), state, place=Place(steps=1), settings={}, metrics={})
    content = bytearray((folder / found.manifest.tensors).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        if data.draw(st.booleans()):
            content[at] = data.draw(st.integers(0, 255))
        else:
            del content[at : at + data.draw(st.integers(1, 30))]
    (folder / found.manifest.tensors).write_bytes(content)

    def named(whole: dict[str, Any]) -> None:
        whole["body"]["tensors"].update(bytes=len(content), sha256=sha256(content).hexdigest())

    again = read_checkpoint(rewritten(found.path, named))
    try:
        model, after = again.restored(new_model(), state)
    except CheckpointError:
        return
    assert [one.shape for one in model.parameters()] == [(4, 3), (3,)]
    assert [one.shape for one in after.slots["velocity"]] == [(4, 3), (3,)]


PLACE = Place(2, 3, 17, {"loss": 1.5, "odd": float("nan")}, 40, 0.25, (EpochRecord(0, 7, {"loss": 2.0}, {}, 1.0, 56),))
MANIFEST = Manifest(
    PLACE, {"lr": 0.1}, {"loss": float("inf")}, "step-000000017-0f.safetensors", 9, "ab", {"numpy": "2"}
)


def test_a_manifest_comes_back_as_it_was() -> None:
    found = Manifest.parse(MANIFEST.to_bytes(), "here")
    assert repr(found) == repr(MANIFEST)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_garbled_manifest_is_refused_or_says_the_same(data: st.DataObject) -> None:
    content = bytearray(MANIFEST.to_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        if data.draw(st.booleans()):
            content[place] = data.draw(st.integers(0, 255))
        else:
            del content[place : place + data.draw(st.integers(1, 30))]
    outcome: object
    try:
        outcome = repr(Manifest.parse(bytes(content), "here"))
    except CheckpointError as error:
        outcome = str(error)[:18]
    assert outcome in (repr(MANIFEST), "checkpoint: here: ")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(member=st.sampled_from(sorted(json.loads(MANIFEST.to_bytes())["body"])), value=json_values)
def test_a_manifest_with_any_member_exchanged_is_read_or_refused(member: str, value: object) -> None:
    whole = json.loads(MANIFEST.to_bytes())
    whole["body"][member] = value
    whole["sha256"] = sha256(json.dumps(whole["body"], sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    try:
        outcome = type(Manifest.parse(json.dumps(whole).encode(), "here")).__name__
    except CheckpointError as error:
        outcome = str(error)[:18]
    assert outcome in ("Manifest", "checkpoint: here: ")
