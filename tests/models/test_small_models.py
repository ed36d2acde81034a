"""LeNet and the multi-layer perceptron against stored values of PyTorch (references/make_small_models.py)."""

import json
from itertools import pairwise
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import moonxi as mx
from moonxi import nn
from moonxi.data import Labelled
from moonxi.dims import symbol
from moonxi.errors import OptionError, ShapeError
from moonxi.losses import cross_entropy
from moonxi.nn.initializers import xavier_uniform, zeros
from moonxi.nn.models import LeNet, Mlp
from tests.models.fixed_weights import entries, tensor, wave


class Gradient(TypedDict):
    norm: float
    entries: list[float]


class Reference(TypedDict):
    loss: float
    logits: list[list[float]]
    gradients: dict[str, Gradient]


type Host = mx.NpArray[mx.F64]

CPU = mx.numpy(mx.F64)
KEY = mx.Key(0)
REFERENCES: dict[str, Reference] = json.loads((Path(__file__).parent / "references" / "small_models.json").read_text())


def is_linear(path: str) -> bool:
    """Whether PyTorch has this weight transposed."""
    return "layers" in path and path.endswith("weight")


def fixed(model: str, named: dict[str, Host]) -> list[Host]:
    """The fixed numbers of each parameter."""

    def made(path: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        name = f"{model}.{path}"
        return tensor(name, shape[::-1]).T if is_linear(path) else tensor(name, shape)

    return [CPU.from_host(made(path, one.shape)) for path, one in named.items()]


def batch(model: str, *shape: int, classes: int) -> Labelled[Host]:
    return Labelled(CPU.from_host(wave(f"{model}.x", shape)), CPU.labels(np.arange(shape[0]) % classes))


def compare(model: str, logits: Host, loss: Host, gradients: dict[str, Host]) -> None:
    """Everything equals what is stored."""
    expected = REFERENCES[model]
    np.testing.assert_allclose(logits.to_host(), expected["logits"], rtol=1e-8, atol=1e-10)
    assert loss.item() == pytest.approx(expected["loss"], rel=1e-8)
    assert gradients.keys() == expected["gradients"].keys()
    for path, gradient in gradients.items():
        flat = (gradient.to_host().T if is_linear(path) else gradient.to_host()).reshape(-1)
        assert np.linalg.norm(flat) == pytest.approx(expected["gradients"][path]["norm"], rel=1e-8), path
        found = flat[entries(path, flat.size)]
        np.testing.assert_allclose(found, expected["gradients"][path]["entries"], rtol=1e-8, atol=1e-10, err_msg=path)


def mlp_loss[T: mx.MlpTensor](model: Mlp[T], batch: Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


def lenet_loss[T: mx.ImageModelTensor](model: LeNet[T], batch: Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


def test_the_perceptron_and_its_gradients_are_those_of_pytorch() -> None:
    new = Mlp.init(7, 12, 9, 4, like=CPU, key=KEY)
    model = new.with_parameters(fixed("mlp", new.named_parameters()))
    data = batch("mlp", 6, 7, classes=4)
    value, gradients = nn.value_and_grad(mlp_loss, model, data, mx.Train(KEY))
    compare("mlp", model.forward(data.x).value, value, gradients.named_parameters())


def test_lenet_and_its_gradients_are_those_of_pytorch() -> None:
    new = LeNet.init(like=CPU, key=KEY, channels=2, classes=5)
    model = new.with_parameters(fixed("lenet", new.named_parameters()))
    data = batch("lenet", 3, 2, 28, 28, classes=5)
    value, gradients = nn.value_and_grad(lenet_loss, model, data, mx.Train(KEY))
    compare("lenet", model.forward(data.x).value, value, gradients.named_parameters())


@given(st.lists(st.integers(1, 5), min_size=2, max_size=5), st.integers(0, 3))
def test_a_perceptron_has_a_layer_between_any_two_sizes(sizes: list[int], samples: int) -> None:
    model = Mlp.init(*sizes, like=CPU, key=KEY)
    assert [(layer.inputs, layer.outputs) for layer in model.layers] == list(pairwise(sizes))
    assert (model.inputs, model.outputs) == (sizes[0], sizes[-1])
    assert model.forward(CPU.ones((samples, sizes[0]))).value.shape == (samples, sizes[-1])


def test_layers_of_a_perceptron_start_from_keys_of_their_own_and_by_the_initialiser_that_is_given() -> None:
    first, second = Mlp.init(3, 3, 3, like=CPU, key=KEY).layers
    assert not np.array_equal(first.weight.to_host(), second.weight.to_host())
    bound = np.sqrt(6.0 / (100 + 50))
    uniform = Mlp.init(100, 50, like=CPU, key=KEY, weight=xavier_uniform).layers[0].weight.to_host()
    assert 0.99 * bound < np.abs(uniform).max() <= bound
    assert not any(layer.weight.to_host().any() for layer in Mlp.init(3, 2, like=CPU, key=KEY, weight=zeros).layers)


def test_a_perceptron_needs_two_sizes() -> None:
    for sizes in ((), (784,)):
        with pytest.raises(OptionError) as found:
            Mlp.init(*sizes, like=CPU, key=KEY)
        text = f"Mlp: sizes {sizes}: needs at least the width of the input and that of the result"
        assert str(found.value) == text


@pytest.mark.parametrize("like", [mx.numpy(), CPU], ids=["F32", "F64"])
def test_a_new_lenet_lives_where_like_lives[D: mx.F32 | mx.F64](like: mx.NpArray[D]) -> None:
    model = LeNet.init(like=like, key=KEY)
    assert {parameter.dtype for parameter in model.parameters()} == {like.dtype}
    assert sum(p.to_host().size for p in model.parameters()) == 61_706  # as in LeCun et al. 1998, all maps connected
    assert model.forward(like.ones((2, 1, 28, 28))).value.shape == (2, 10)


def test_the_mode_makes_no_difference_to_the_small_models() -> None:
    lenet, mlp = LeNet.init(like=CPU, key=KEY), Mlp.init(4, 3, 2, like=CPU, key=KEY)
    images, points = CPU.normal((2, 1, 28, 28), KEY), CPU.normal((5, 4), KEY)
    for mode in (mx.Eval(), mx.Train(KEY)):
        np.testing.assert_array_equal(
            lenet.forward(images, mode).value.to_host(), lenet.forward(images).value.to_host()
        )
        np.testing.assert_array_equal(mlp.forward(points, mode).value.to_host(), mlp.forward(points).value.to_host())


def test_the_batch_of_a_small_model_may_be_a_symbol() -> None:
    n, like = symbol("n", least=1), mx.ShapeTensor(())
    expected: tuple[object, ...] = (n, 10)
    assert LeNet.init(like=like, key=KEY, channels=3).forward(mx.ShapeTensor((n, 3, 28, 28))).value.shape == expected
    assert Mlp.init(784, 128, 10, like=like, key=KEY).forward(mx.ShapeTensor((n, 784))).value.shape == expected


def test_images_of_another_size_or_number_of_channels_are_refused_by_lenet() -> None:
    model = LeNet.init(like=CPU, key=KEY)
    for shape in ((2, 1, 32, 32), (2, 3, 28, 28), (1, 28, 28)):
        with pytest.raises(ShapeError, match=r'^LeNet\.forward: argument x: expected Float\[T, "batch 1 28 28"\]'):
            model.forward(CPU.ones(shape))


def test_inputs_of_another_width_are_refused_by_the_perceptron() -> None:
    with pytest.raises(ShapeError, match=r'^Mlp\.forward: argument x: expected Float\[T, "batch 7"\]'):
        Mlp.init(7, 12, 4, like=CPU, key=KEY).forward(CPU.ones((2, 8)))
