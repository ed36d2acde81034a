"""Weights of PyTorch in a model of moonxi, against PyTorch's output (references/make_state_dict.py)."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from jaxtyping import Float
from safetensors.numpy import load_file, save_file

import moonxi as mx
from moonxi import F64, NpArray, nn
from moonxi.errors import CheckpointError, OptionError
from moonxi.nn import TorchKeys, TorchTensor, load_state_dict

FILE = Path(__file__).parent / "references" / "state_dict.safetensors"
REFERENCE = json.loads(FILE.with_suffix(".json").read_text())
LAYERS = {
    "conv": "features.0",
    "norm": "features.1",
    "head.first": "classifier.0",
    "head.norm": "classifier.1",
    "head.last[0]": "classifier.2",
}


@dataclass(frozen=True)
class Head[T: mx.MlpTensor](nn.Module[T]):
    first: nn.Linear[T]
    norm: nn.LayerNorm[T]
    last: tuple[nn.Linear[T], ...]

    def forward(self, x: Float[T, "batch {self.first.inputs}"]) -> Float[T, "batch classes"]:
        x = self.norm.forward(self.first.forward(x))
        for layer in self.last:
            x = layer.forward(x)
        return x


@dataclass(frozen=True)
class Net[T: mx.ImageModelTensor](nn.Module[T]):
    conv: nn.Conv2d[T]
    norm: nn.BatchNorm2d[T]
    head: Head[T]

    def forward(self, x: Float[T, "batch {self.conv.inputs} h w"], mode: nn.Mode) -> Float[T, "batch classes"]:
        h = self.norm.forward(self.conv.forward(x), mode).relu()
        return self.head.forward(h.reshape((h.shape[0], -1)))


def net(hidden: int = 5) -> Net[NpArray[F64]]:
    like, keys = mx.numpy(F64), mx.Key(0).split(3)
    return Net(
        nn.Conv2d.init(2, 3, 3, like=like, key=keys[0], padding=1),
        nn.BatchNorm2d.init(3, like=like),
        Head(
            nn.Linear.init(48, hidden, like=like, key=keys[1]),
            nn.LayerNorm.init(hidden, like=like),
            (nn.Linear.init(hidden, 4, like=like, key=keys[2], bias=False),),
        ),
    )


def test_the_model_computes_what_pytorch_computes() -> None:
    model = load_state_dict(net(), FILE, LAYERS)
    y = model.forward(mx.numpy(F64).from_host(np.array(REFERENCE["x"])), nn.Eval())
    np.testing.assert_allclose(y.to_host(), REFERENCE["y"], rtol=1e-8, atol=1e-10)


def test_layers_can_be_named_by_a_function() -> None:
    model = load_state_dict(net(), FILE, TorchKeys(LAYERS.__getitem__))
    assert model.head.first.weight.to_host().tobytes() == load_file(FILE)["classifier.0.weight"].T.tobytes()


def test_everything_that_does_not_fit_is_listed_at_once(tmp_path: Path) -> None:
    stored = load_file(FILE)
    del stored["classifier.1.bias"], stored["features.1.running_var"]
    stored["features.0.weight"] = stored["features.0.weight"].astype(np.float32)
    stored["extra.weight"] = np.zeros(3)
    path = tmp_path / "other.safetensors"
    save_file(stored, path)
    with pytest.raises(CheckpointError) as caught:
        load_state_dict(net(hidden=6), path, LAYERS)
    assert str(caught.value).splitlines() == [
        f"load_state_dict: {path}: not the weights of this Net:",
        "  classifier.0.bias (here head.first.bias): float64 (5,) in the file, float64 (6,) expected",
        "  classifier.0.weight (here head.first.weight): float64 (5, 48) in the file, float64 (6, 48) expected",
        "  classifier.1.bias (here head.norm.bias): missing in the file",
        "  classifier.1.weight (here head.norm.weight): float64 (5,) in the file, float64 (6,) expected",
        "  classifier.2.weight (here head.last[0].weight): float64 (4, 5) in the file, float64 (4, 6) expected",
        "  extra.weight: not in the model",
        "  features.0.weight (here conv.weight): float32 (3, 2, 3, 3) in the file, float64 (3, 2, 3, 3) expected",
        "  features.1.running_var (here norm.variance): missing in the file",
    ]


def test_what_is_named_as_unused_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "more.safetensors"
    save_file({**load_file(FILE), "ema.weight": np.zeros(3)}, path)
    keys = TorchKeys(LAYERS, unused=frozenset({"ema.weight"}))
    _ = load_state_dict(net(), path, keys)
    with pytest.raises(CheckpointError, match=r"\n  ema.weight: not in the model$"):
        load_state_dict(net(), path, LAYERS)


@dataclass(frozen=True)
class Scaled[T: mx.MlpTensor](nn.Module[T]):
    """A layer of one's own."""

    scale: T
    weight: T

    def forward(self, x: Float[T, "*batch n"]) -> Float[T, "*batch m"]:
        return (x * self.scale) @ self.weight


def test_tensors_of_a_layer_of_ones_own_are_named_one_by_one(tmp_path: Path) -> None:
    like = mx.numpy(F64)
    path = tmp_path / "scaled.safetensors"
    save_file({"scale": np.array([2.0, 3.0]), "proj.kernel": np.arange(6.0).reshape(3, 2)}, path)
    keys = TorchKeys({"": ""}, tensors={"weight": TorchTensor("proj.kernel", transposed=True)})
    model = load_state_dict(Scaled(like.ones((2,)), like.ones((2, 3))), path, keys)
    assert model.scale.to_host().tolist() == [2, 3]
    assert model.weight.to_host().tolist() == [[0, 2, 4], [1, 3, 5]]


def test_names_that_do_not_fit_the_model_are_listed_at_once() -> None:
    layers = {("head.frist" if path == "head.first" else path): name for path, name in LAYERS.items()}
    keys = TorchKeys(layers, tensors={"conv.scale": TorchTensor("x")})
    with pytest.raises(OptionError) as caught:
        load_state_dict(net(), FILE, keys)
    assert str(caught.value).splitlines() == [
        "TorchKeys: names do not fit this Net:",
        "  'conv.scale': no tensor of the model",
        "  'head.frist': no layer of the model",
        "  'head.first.weight': its layer 'head.first' has no name in layers",
        "  'head.first.bias': its layer 'head.first' has no name in layers",
    ]


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"none.safetensors: cannot be read: No such file or directory$"):
        load_state_dict(net(), tmp_path / "none.safetensors", LAYERS)
