"""ResNet-18 against stored values of PyTorch (references/make_resnet18.py)."""

import json
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

import moonxi as mx
from moonxi import nn
from moonxi.data import Labelled
from moonxi.errors import CheckpointError
from moonxi.losses import cross_entropy
from moonxi.nn.models import ResNet18
from moonxi.nn.models.torchvision import load_resnet18, torchvision_name
from tests.models.fixed_weights import entries, tensor, wave


class Gradient(TypedDict):
    norm: float
    entries: list[float]


class Step(TypedDict):
    loss: float
    gradients: dict[str, Gradient]
    running: dict[str, tuple[float, float]]


class Reference(TypedDict):
    step: Step
    logits: list[list[float]]


REFERENCE: Reference = json.loads((Path(__file__).parent / "references" / "resnet18.json").read_text())


def theirs(name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The fixed tensor for a path of moonxi's model: a linear weight is transposed."""
    if name == "head.weight":
        return tensor("fc.weight", shape[::-1]).T
    return tensor(torchvision_name(name), shape)


def loss[T: mx.ImageModelTensor](model: ResNet18[T], batch: Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


def test_one_step_equals_that_of_pytorch_in_double_precision() -> None:
    like = mx.numpy(mx.F64)
    empty = ResNet18.init(like=like, key=mx.Key(0))
    model = empty.with_parameters(
        [like.from_host(theirs(name, p.shape)) for name, p in empty.named_parameters().items()]
    ).with_states([like.from_host(theirs(name, s.shape)) for name, s in empty.named_states().items()])
    batch = Labelled(like.from_host(wave("images", (8, 3, 32, 32))), like.labels(np.arange(8) % 10))
    value, gradients = nn.value_and_grad(loss, model, batch, nn.Train(mx.Key(0)))

    assert value.item() == pytest.approx(REFERENCE["step"]["loss"], rel=1e-8)
    named = gradients.named_parameters()
    assert {torchvision_name(name) for name in named} == REFERENCE["step"]["gradients"].keys()
    # A bias before a batch norm has no effect; both sides find rounding errors there, relative to nothing.
    scale = max(one["norm"] for one in REFERENCE["step"]["gradients"].values())
    for name, gradient in named.items():
        expected = REFERENCE["step"]["gradients"][torchvision_name(name)]
        array = gradient.to_host().T if name == "head.weight" else gradient.to_host()
        flat = array.reshape(-1)
        assert np.linalg.norm(flat) == pytest.approx(expected["norm"], rel=1e-8, abs=1e-11 * scale), name
        found = flat[entries(torchvision_name(name), flat.size)]
        np.testing.assert_allclose(found, expected["entries"], rtol=1e-8, atol=1e-11 * scale, err_msg=name)
    for name, running in gradients.named_states().items():
        array = running.to_host()
        expected_running = REFERENCE["step"]["running"][torchvision_name(name)]
        assert (array.sum(), np.linalg.norm(array)) == pytest.approx(expected_running, rel=1e-8), name


@pytest.fixture(scope="module")
def torchvision_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file such as torchvision's model writes, with random weights."""
    model = ResNet18.init(like=mx.numpy(), key=mx.Key(0), classes=1000, bias=False)
    arrays = {
        torchvision_name(name): np.ascontiguousarray(
            theirs(name, one.shape).T if name == "head.weight" else theirs(name, one.shape)
        ).astype(np.float32)
        for name, one in (model.named_parameters() | model.named_states()).items()
    }
    arrays["bn1.num_batches_tracked"] = np.array(3)
    path = tmp_path_factory.mktemp("torchvision") / "resnet18.safetensors"
    save_file(arrays, path)
    return path


def test_weights_of_torchvision_give_its_logits(torchvision_file: Path) -> None:
    like = mx.numpy()
    model = load_resnet18(ResNet18.init(like=like, key=mx.Key(0), classes=1000, bias=False), torchvision_file)
    logits = model.forward(like.from_host(wave("photographs", (2, 3, 64, 64))), nn.Eval())
    expected = np.array(REFERENCE["logits"])
    np.testing.assert_allclose(logits.value.to_host()[:, ::25], expected, rtol=0, atol=1e-4 * np.abs(expected).max())


def test_weights_of_torchvision_are_refused_by_a_model_with_other_classes(torchvision_file: Path) -> None:
    model = ResNet18.init(like=mx.numpy(), key=mx.Key(0), classes=10, bias=False)
    with pytest.raises(
        CheckpointError,
        match=r"fc\.weight \(here head\.weight\): float32 \(1000, 512\) in the file, "
        r"float32 \(10, 512\) expected",
    ):
        load_resnet18(model, torchvision_file)


def test_weights_of_torchvision_are_refused_by_a_model_whose_convolutions_have_biases(torchvision_file: Path) -> None:
    model = ResNet18.init(like=mx.numpy(), key=mx.Key(0), classes=1000)
    with pytest.raises(CheckpointError, match=r"conv1\.bias \(here stem\.conv\.bias\): missing in the file"):
        load_resnet18(model, torchvision_file)
