"""Weights on disk: what is saved comes back bit for bit, and nothing else is taken for it."""

import errno
import json
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

import moonxi as mx
from moonxi import nn
from moonxi.errors import CheckpointError
from tests.nn.models import CPU, Array, Everywhere, Holder, Mlp, Pair, line, numbers
from tests.parameter_names import counted


@dataclass(frozen=True)
class Small[T: mx.Tensor](nn.Module[T]):
    weight: T
    mean: mx.State[T]


def small(seed: int = 0) -> Small[Array]:
    return Small(numbers(2, 3, seed=seed), mx.State(numbers(4, seed=seed + 1)))


def bits(model: Any) -> dict[str, bytes]:
    return {name: one.to_host().tobytes() for name, one in {**model.named_parameters(), **model.named_states()}.items()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "weights.safetensors"


def only_file(path: Path) -> bool:
    return list(path.parent.iterdir()) == [path]


def test_every_place_of_a_model_comes_back_bit_for_bit(path: Path) -> None:
    model = Everywhere.new()
    nn.save(model, path)
    other = model.with_parameters([one * 0.0 for one in model.parameters()]).with_states([model.mean.value * 0.0])
    loaded = nn.load(other, path)
    assert bits(loaded) == bits(model)
    assert bits(other) != bits(model)
    assert type(loaded) is Everywhere
    assert only_file(path)


@pytest.mark.parametrize("like", [mx.numpy(), CPU], ids=["F32", "F64"])
def test_values_that_are_special_come_back_bit_for_bit[D: mx.F32 | mx.F64](path: Path, like: mx.NpArray[D]) -> None:
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e-45, 1.0 + 2.0**-23, np.pi])
    model = Pair(like.from_host(special), like.zeros((0, 3)))
    nn.save(model, path)
    loaded = nn.load(Pair(like.zeros(special.shape), like.zeros((0, 3))), path)
    assert bits(loaded) == bits(model)
    assert loaded.first.dtype is like.dtype


def test_scalars_and_views_come_back(path: Path) -> None:
    matrix = numbers(3, 4)
    model = Holder(matrix.transpose(), [numbers(), matrix[::2, 1:], matrix[:1].broadcast_to((2, 4))])
    nn.save(model, path)
    assert bits(nn.load(model, path)) == bits(model)


def test_the_file_holds_the_paths_as_names_and_is_readable_by_others(path: Path) -> None:
    nn.save(small(), path)
    stored = load_file(path)
    assert {name: array.shape for name, array in stored.items()} == {"weight": (2, 3), "mean": (4,)}
    np.testing.assert_array_equal(stored["weight"], small().weight.to_host())


def test_a_tied_parameter_is_stored_once_and_is_tied_when_it_comes_back(path: Path) -> None:
    shared = numbers(3)
    nn.save(Pair(shared, shared), path)
    assert list(load_file(path)) == ["first"]
    other = numbers(3, seed=1)
    loaded = nn.load(Pair(other, other), path)
    assert loaded.first is loaded.second
    np.testing.assert_array_equal(loaded.first.to_host(), shared.to_host())
    with pytest.raises(CheckpointError, match=r"second: missing in the file$"):
        nn.load(Pair(other, numbers(3)), path)


def test_a_shared_state_is_stored_once_and_stays_shared(path: Path) -> None:
    state = mx.State(numbers(3))
    nn.save(Holder(numbers(1), [state, state]), path)
    other = mx.State(numbers(3, seed=1))
    loaded: Any = nn.load(Holder(numbers(1), [other, other]), path)
    assert loaded.held[0] is loaded.held[1]
    np.testing.assert_array_equal(loaded.held[0].value.to_host(), state.value.to_host())


def test_an_older_file_is_replaced(path: Path) -> None:
    nn.save(small(), path)
    nn.save(small(5), path)
    assert bits(nn.load(small(), path)) == bits(small(5))
    assert only_file(path)


def test_paths_may_be_text_and_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    nn.save(small(), "model")
    assert bits(nn.load(small(3), "model")) == bits(small())


def test_the_file_has_the_permissions_of_any_new_file(path: Path) -> None:
    before = os.umask(0o027)
    try:
        nn.save(small(), path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_model_without_tensors_is_saved_and_loaded(path: Path) -> None:
    model = nn.Sequential[Array](nn.Relu())
    nn.save(model, path)
    assert nn.load(model, path) == model


def test_weights_move_between_a_plain_model_and_one_under_differentiation(path: Path) -> None:
    model = Mlp(line(3, 4), line(4, 2))
    nn.save(model.map(mx.variable), path)
    assert bits(nn.load(Mlp(line(3, 4, 7), line(4, 2, 8)), path)) == bits(model)


def test_the_weights_of_another_model_are_refused_with_every_difference(path: Path) -> None:
    nn.save(Holder(numbers(2, 3), {"a": numbers(2), "b": mx.State(numbers(3)), "d": numbers(1)}), path)
    other = Holder(numbers(3, 2), {"a": numbers(2), "b": mx.State(numbers(4)), "c": numbers(1)})
    with pytest.raises(CheckpointError) as caught:
        nn.load(other, path)
    assert str(caught.value) == (
        f"load: {path}: not the weights of this Holder:\n"
        "  held['b']: float64 (3,) in the file, float64 (4,) in the model\n"
        "  held['c']: missing in the file\n"
        "  held['d']: not in the model\n"
        "  weight: float64 (2, 3) in the file, float64 (3, 2) in the model"
    )


def test_another_element_type_is_refused(path: Path) -> None:
    nn.save(small(), path)
    single = mx.numpy()
    with pytest.raises(
        CheckpointError, match=r"\n  weight: float64 \(2, 3\) in the file, float32 \(2, 3\) in the model$"
    ):
        nn.load(Small(single.zeros((2, 3)), mx.State(single.zeros((4,)))), path)
    for kind in (np.int64, np.float16, np.bool_, np.complex64):
        save_file({"weight": np.zeros((2, 3), kind), "mean": np.zeros(4)}, path)
        with pytest.raises(CheckpointError, match=rf"\n  weight: {np.dtype(kind).name} \(2, 3\) in the file, float64"):
            nn.load(small(), path)


def test_an_element_type_that_numpy_lacks_is_refused_by_name(path: Path) -> None:
    header = json.dumps({"weight": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0\0")
    with pytest.raises(CheckpointError, match=r"holds elements of type BF16, which NumPy lacks$"):
        nn.load(small(), path)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: None, "No such file or directory"),
        (lambda path: path.mkdir(), "Is a directory"),
    ],
    ids=["missing", "directory"],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(
    path: Path, make: Callable[[Path], None], reason: str
) -> None:
    make(path)
    with pytest.raises(CheckpointError) as caught:
        nn.load(small(), path)
    assert str(caught.value) == f"load: {path}: cannot be read: {reason}"


@pytest.mark.parametrize("content", [b"", b"\0", b"hello, world", b"\x80\x02}q\x00.", b"\xff" * 100], ids=counted)
def test_a_file_of_another_kind_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r": not a whole safetensors file: "):
        nn.load(small(), path)


@pytest.mark.parametrize("content", [b"PK\x03\x04and so on", b"\x80\x02}q\x00."], ids=["zip", "pickle"])
def test_who_loads_a_file_of_pytorch_is_told_how(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        nn.load(small(), path)
    assert str(caught.value).endswith(
        "; it looks like one of PyTorch or NumPy: write one there with "
        "safetensors.torch.save_file(model.state_dict(), path), and see moonxi.nn.load_state_dict"
    )


def test_a_file_cut_off_anywhere_is_refused(path: Path) -> None:
    nn.save(small(), path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match=r": not a whole safetensors file: "):
            nn.load(small(), path)


@given(st.data())
def test_a_garbled_file_is_refused_or_gives_a_model_of_the_right_shapes(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("garbled") / "weights"
    nn.save(small(), path)
    content = bytearray(path.read_bytes())
    header = 8 + struct.unpack("<Q", content[:8])[0]
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.one_of(st.integers(0, header - 1), st.integers(0, len(content) - 1)))
        content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    outcome: object
    try:
        outcome = {name: len(one) for name, one in bits(nn.load(small(9), path)).items()}
    except CheckpointError as error:
        outcome = str(error).partition(f"load: {path}: ")[:2]
    assert outcome in ({"weight": 48, "mean": 32}, ("", f"load: {path}: "))


@given(st.data())
def test_a_change_anywhere_is_refused_or_changes_no_weight(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("changed") / "weights"
    nn.save(small(), path)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    kind = data.draw(st.sampled_from(["byte", "cut", "more"]))
    if kind == "byte":
        content[place] = data.draw(st.integers(0, 255))
    elif kind == "cut":
        del content[place : place + data.draw(st.integers(1, 20))]
    else:
        content[place:place] = data.draw(st.binary(min_size=1, max_size=8))
    path.write_bytes(content)
    try:
        loaded = nn.load(small(9), path)
    except CheckpointError:
        return
    assert bits(loaded) == bits(small())


def test_an_element_that_changed_is_found(path: Path) -> None:
    nn.save(small(), path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r": damaged: its tensors do not have the SHA-256 that it states$"):
        nn.load(small(9), path)


def test_files_of_other_programs_state_nothing_and_are_loaded(path: Path) -> None:
    arrays = {name: one.to_host() for name, one in (small().named_parameters() | small().named_states()).items()}
    for metadata in (None, {"format": "pt"}):
        save_file(arrays, path, metadata=metadata)
        assert bits(nn.load(small(9), path)) == bits(small())


@pytest.mark.parametrize("wrong", ["", "\0", "no/such/folder/weights"], ids=repr)
def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.chdir(tmp_path)
    for operation in (nn.save, lambda _, target: nn.check_writable(target)):
        with pytest.raises(CheckpointError, match=r"^save: .*: cannot be written: .+$"):
            operation(small(), wrong)
    with pytest.raises(CheckpointError, match=r"^load: .*: cannot be read: .+$"):
        nn.load(small(), wrong)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_place_of_the_file_is_refused_and_stays(path: Path) -> None:
    path.mkdir()
    (path / "kept").touch()
    for operation in (nn.save, lambda _, target: nn.check_writable(target)):
        with pytest.raises(CheckpointError, match=r": cannot be written: Is a directory$"):
            operation(small(), path)
    assert (path / "kept").exists()
    assert only_file(path)


def test_asking_whether_a_place_can_be_written_leaves_no_trace(path: Path) -> None:
    nn.check_writable(path)
    assert list(path.parent.iterdir()) == []
    nn.save(small(), path)
    before = path.read_bytes()
    nn.check_writable(path)
    assert path.read_bytes() == before
    assert only_file(path)


@pytest.mark.parametrize("name", ["os.open", "os.write", "os.fsync", "os.replace"])
def test_a_disk_that_is_full_leaves_the_old_file_and_no_other(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    nn.save(small(), path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(name, full)
    with pytest.raises(CheckpointError, match=r": cannot be written: No space left on device$") as caught:
        nn.save(small(5), path)
    assert isinstance(caught.value.__cause__, OSError)
    assert path.read_bytes() == before
    assert only_file(path)


def test_an_interrupt_leaves_the_old_file_and_no_other(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nn.save(small(), path)
    before = path.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        nn.save(small(5), path)
    assert path.read_bytes() == before
    assert only_file(path)


def test_a_model_that_hides_a_tensor_is_not_saved(path: Path) -> None:
    with pytest.raises(TypeError, match="hides a NpArray"):
        nn.save(Holder(numbers(1), {numbers(1)}), path)
    assert not path.exists()
