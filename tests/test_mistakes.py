"""What people and a tester's programs did by mistake, and what they are told."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader, Labelled, LabelledArrays
from moonxi.errors import LabelError, ModuleError, OperandError, OptionError
from moonxi.losses import Logits, cross_entropy
from moonxi.nn.models import Mlp

like = mx.numpy()


def model() -> Mlp[mx.NpArray[mx.F32]]:
    return Mlp.init(4, 3, like=like, key=mx.Key(0))


def data() -> LabelledArrays[mx.NpArray[mx.F32]]:
    return LabelledArrays(like, np.ones((6, 4)), np.arange(6) % 3)


def test_a_named_value_does_not_hide_the_loss() -> None:
    def loss(model: Any, batch: Any, mode: Any) -> Any:
        value = cross_entropy(model.forward(batch.x), batch.labels)
        return value * float("nan"), {"loss": value}

    trainer: Any = mx.Trainer
    with pytest.raises(OptionError, match="the named value 'loss' would hide the loss itself"):
        trainer(model(), loss, mx.Sgd(lr=0.1), key=mx.Key(0)).step(next(DataLoader(data(), batch_size=2).epoch(0)))


def test_an_exhausted_iterator_in_a_data_set_does_not_end_the_epoch_silently() -> None:
    class Once:
        def __init__(self) -> None:
            self.left = iter([Labelled(like.ones((1, 4)), like.labels(np.zeros(1, np.int64)))])

        def __len__(self) -> int:
            return 3

        def batch(self, indices: object, /) -> Labelled[mx.NpArray[mx.F32]]:
            return next(self.left)

    with pytest.raises(RuntimeError):
        list(DataLoader(Once(), batch_size=1).epoch(0))


def test_labels_that_int64_does_not_hold_are_refused() -> None:
    with pytest.raises(LabelError, match="18446744073709551615 is larger than int64 holds"):
        like.labels(np.array([2**64 - 1], np.uint64))


@pytest.mark.parametrize("rate", ["0.1", None, np.float32(0.1)])
def test_a_learning_rate_is_a_number_or_a_schedule(rate: Any) -> None:
    with pytest.raises(OptionError, match="expected a Python number or a schedule of the step"):
        optim.Sgd(lr=rate)


@pytest.mark.parametrize("call", [lambda x: x[0.5:], lambda x: x.split((1.5, 1.5), axis=1), lambda x: x.topk(1.0, 1)])
def test_a_size_that_is_no_whole_number_is_named(call: Any) -> None:
    with pytest.raises((OperandError, TypeError)):
        call(like.ones((2, 3)))


def test_a_model_is_not_called() -> None:
    network: Any = model()
    with pytest.raises(ModuleError, match=r"Mlp\.forward\(\.\.\.\)"):
        network(like.ones((2, 4)))


def test_a_batch_of_arrays_of_numpy_is_described() -> None:
    layer: Any = nn.Linear.init(4, 3, like=like, key=mx.Key(0))
    make: Any = Labelled
    with pytest.raises(OperandError, match="got Labelled"):
        layer.forward(make(np.ones((2, 4)), like.labels(np.zeros(2, np.int64))))


def batch() -> Labelled[mx.NpArray[mx.F32]]:
    return data().batch(np.arange(2))


def without_mode(model: Any, batch: Any) -> Any:
    return cross_entropy(model.forward(batch.x), batch.labels)


def with_more(model: Any, batch: Any, mode: Any, weight: Any) -> Any:
    return cross_entropy(model.forward(batch.x), batch.labels, weight=weight)


class Entropy:
    def __call__(self, model: Any, batch: Any) -> Any: ...


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (
            without_mode,
            r"without_mode\(model, batch\): too many .*: expected a function loss\(model, batch, mode\), which takes",
        ),
        (with_more, r"with_more\(model, batch, mode, weight\): missing .* bound by functools.partial$"),
        (Entropy(), r"Entropy\(model, batch\): too many"),
        (Entropy, "the class Entropy: expected a function loss"),
        (cross_entropy, r"cross_entropy\(logits, labels, weight, "),
        (0.5, r"float 0\.5: expected a function loss"),
    ],
)
def test_a_loss_of_other_arguments_is_refused_by_the_trainer_and_at_the_call(loss: Any, text: str) -> None:
    trainer: Any = mx.Trainer
    with pytest.raises(OperandError, match="^Trainer: " + text):
        trainer(model(), loss, mx.Sgd(lr=0.1), key=mx.Key(0))
    differentiate: Any = nn.value_and_grad
    with pytest.raises(OperandError, match="^value_and_grad: " + text):
        differentiate(loss, model(), batch(), nn.Eval())


def test_a_loss_with_its_other_arguments_bound_is_called() -> None:
    trainer: Any = mx.Trainer
    of_three = partial(with_more, weight=None)
    assert trainer(model(), of_three, mx.Sgd(lr=0.1), key=mx.Key(0)).step(batch())["loss"] > 0.0


def test_an_error_of_type_within_a_loss_stays_what_it_is() -> None:
    def loss(model: Any, batch: Any, mode: Any) -> Any:
        return len(3)  # type: ignore[arg-type]

    differentiate: Any = nn.value_and_grad
    with pytest.raises(TypeError, match="no len"):
        differentiate(loss, model(), batch(), nn.Eval())


@pytest.mark.parametrize(
    ("beside", "found"), [((0.5,), "ImageGrad, float"), (({}, {}), "ImageGrad, dict, dict"), ((), "ImageGrad")]
)
def test_what_a_loss_gives_besides_is_a_dict(beside: tuple[object, ...], found: str) -> None:
    def loss(model: Any, batch: Any, mode: Any) -> Any:
        return without_mode(model, batch), *beside

    differentiate: Any = nn.value_and_grad
    with pytest.raises(
        OperandError, match=rf"value_and_grad: loss gives \({found}\): expected the loss, or the loss and"
    ):
        differentiate(loss, model(), batch(), nn.Eval())
    trainer: Any = mx.Trainer
    with pytest.raises(OperandError, match=rf"evaluate: loss gives \({found}\)"):
        trainer(model(), loss, mx.Sgd(lr=0.1), key=mx.Key(0)).evaluate(DataLoader(data(), batch_size=2))


def test_a_number_in_place_of_a_loss_is_refused_in_evaluation_too() -> None:
    def loss(model: Any, batch: Any, mode: Any) -> Any:
        return without_mode(model, batch).item()

    trainer: Any = mx.Trainer
    with pytest.raises(OperandError, match=r"^loss \(loss\): float: expected a scalar tensor, without \.item\(\)$"):
        trainer(model(), loss, mx.Sgd(lr=0.1), key=mx.Key(0)).evaluate(DataLoader(data(), batch_size=2))


def test_the_class_of_an_optimizer_is_none() -> None:
    trainer: Any = mx.Trainer
    with pytest.raises(OperandError, match=r"^Trainer: the class Sgd: expected an optimizer: Sgd\(\.\.\.\)$"):
        trainer(model(), partial(with_more, weight=None), mx.Sgd, key=mx.Key(0))


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (nn.Linear, r"the class Linear: expected a layer: make one, Linear\.init\(\.\.\.\)"),
        (nn.Relu, r"the class Relu: expected a layer: make one, Relu\(\.\.\.\)"),
        (nn.gelu, r"the function gelu: expected a layer: wrap it, Lambda\(gelu\)"),
        ([nn.Relu()], r"a list: expected a layer: give them one by one, Sequential\(\*layers\)"),
        (0.5, r"float 0\.5: expected a layer, which has forward\(x, mode\)"),
    ],
)
def test_a_sequence_of_what_is_no_layer_says_how_one_comes_of_it(layer: Any, text: str) -> None:
    with pytest.raises(ModuleError, match=f"^Sequential: layer 1 is {text}$"):
        nn.Sequential(nn.Relu(), layer)


def test_sizes_in_place_of_tensors_get_the_way_to_new_weights() -> None:
    layer: Any = nn.Linear
    with pytest.raises(
        OperandError, match=r"^Linear: field weight: expected .* got int 3; Linear\.init\(\.\.\.\) makes"
    ):
        layer(3, 4)


def test_a_model_whose_fields_can_be_assigned_to_is_refused() -> None:
    @dataclass
    class Net(nn.Module[Any]):  # type: ignore[misc]  # what is refused
        layer: nn.Linear[Any]

        def forward(self, x: Any) -> Any:
            return self.layer.forward(x)

    text = r"^Net: its fields can be assigned to, .*: write @dataclass\(frozen=True\) above class Net$"
    with pytest.raises(ModuleError, match=text):
        Net(nn.Linear.init(4, 3, like=like, key=mx.Key(0)))

    @dataclass
    class Quiet(Net):  # type: ignore[misc]  # what is refused
        def __post_init__(self) -> None:
            self.width = 3

    quiet = Quiet(nn.Linear.init(4, 3, like=like, key=mx.Key(0)))
    with pytest.raises(ModuleError, match=r"^Quiet: its fields can be assigned to"):
        quiet.parameters()


def test_scores_are_of_a_tensor() -> None:
    wrap: Any = Logits
    with pytest.raises(OperandError, match=r"^Logits: float: expected a tensor; bring numbers in with x\.from_host"):
        wrap(0.5)


def test_a_tensor_is_no_python_number_and_the_error_says_how_to_read_it() -> None:
    loss: Any = like.full((), 1.5)
    with pytest.raises(OperandError, match=r"^float\(NpArray\): read the number with x\.item\(\)$"):
        float(loss)
    with pytest.raises(OperandError, match=r"^format '\.3f' of NpArray: read the number with x\.item\(\)$"):
        f"{loss:.3f}"
    assert f"{loss}" == str(loss)
