"""What operations give that are told symbolic sizes, or get labels and masks of symbolic shape."""

import pickle
from typing import Any

import pytest

from moonxi import nn, optim
from moonxi.autodiff import variable
from moonxi.data import Labelled
from moonxi.dims import symbol
from moonxi.dtypes import F64, I64, Bool
from moonxi.errors import NoElementsError, ShapeError
from moonxi.key import Key
from moonxi.losses import Logits, cross_entropy, mse
from moonxi.shape_tensor import ShapeTensor
from moonxi.traits import Labels, Mask

n, m, c = symbol("n", least=1), symbol("m", least=1), symbol("c", least=1)
x = ShapeTensor((n, m, c))
indices = Labels(ShapeTensor((n, m), I64))

CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "reshape": (lambda x: x.reshape((n * m, c)), (n * m, c)),
    "reshape, -1": (lambda x: x.reshape((n, -1)), (n, m * c)),
    "broadcast_to": (lambda x: x.broadcast_to((m, n, m, c)), (m, n, m, c)),
    "sum_to": (lambda x: x.sum_to((m, 1)), (m, 1)),
    "where": (lambda x: x.where(x[:, :1] > 0.0, 0.0), (n, m, c)),
    "pick": (lambda x: x.pick(indices_of(x)), (n, m)),
    "put": (lambda x: x.sum(-1).put(indices_of(x), 2 * c), (n, m, 2 * c)),
    "one_hot": (lambda x: x.one_hot(indices_of(x), c), (n, m, c)),
    "slice": (lambda x: x[:, 1:, ::2], (n, m - 1, (c + 1) // 2)),
    "slice, symbolic": (lambda x: x[:, : m // 2], (n, m // 2, c)),
    "index, symbolic": (lambda x: x[:, m - 1], (n, c)),
    "put_slice": (lambda x: x.put_slice((slice(None), slice(1, m + 1)), (n, m + 2, c)), (n, m + 2, c)),
    "mean": (lambda x: x.mean((0, 2)), (m,)),
    "divided by a size": (lambda x: (x / x.shape[0] + x.shape[1]) * (1.0 / x.shape[2]) - c, (n, m, c)),
    "a size divided": (lambda x: c / (n * x), (n, m, c)),
    "power": (lambda x: x**2.0 ** x.max(), (n, m, c)),
}


def indices_of(x: Any) -> Any:
    return indices if isinstance(x, ShapeTensor) else indices.map(lambda carrier: x.full((), 0.0).constant(carrier))


@pytest.mark.parametrize(("call", "shape"), CASES.values(), ids=CASES.keys())
def test_the_result_has_a_symbolic_shape(call: Any, shape: tuple[Any, ...]) -> None:
    assert call(x).shape == shape
    lifted = variable(x)
    result = call(lifted)
    assert result.shape == shape
    if result.parents is not None:
        assert result.sum().backward().of(lifted).shape == x.shape


def test_labels_and_masks_keep_their_kind() -> None:
    assert x.argmax(-1).carrier.dtype is I64
    assert (x > 0.0).carrier.dtype is (~(x > 0.0) & (x < x)).carrier.dtype is Bool
    assert (x > 0.0).to_tensor(ShapeTensor((), F64)).dtype is F64
    assert isinstance(x.argmax(-1).equal(indices), Mask)


def test_there_are_no_elements_to_read() -> None:
    with pytest.raises(NoElementsError) as error:
        x.to_host()
    assert str(error.value) == (
        "to_host: ShapeTensor[F32] (n, m, c): only shapes are computed, so there is no element to read; keep what "
        "depends on values, such as a test or a print of the loss, out of the function that is checked"
    )
    with pytest.raises(NoElementsError, match=r"^item: ShapeTensor\[F32\] \(\): "):
        x.sum().item()


def test_losses_take_a_symbolic_batch() -> None:
    logits, labels = ShapeTensor((n, 10)), Labels(ShapeTensor((n,), I64))
    assert cross_entropy(Logits(logits), labels).shape == ()
    assert mse(logits, logits).shape == ()
    with pytest.raises(ShapeError, match=r"labels must have the shape without its last axis"):
        cross_entropy(Logits(logits), Labels(ShapeTensor((m,), I64)))


def _loss[T: Any](model: nn.Linear[T], batch: Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(Logits(nn.dropout(model.forward(batch.x), 0.5, Key(0))), batch.labels)


def test_a_whole_step_is_computed_on_shapes() -> None:
    model = nn.Linear.init(784, 10, like=ShapeTensor(()), key=Key(0))
    batch = Labelled(ShapeTensor((n, 784)), Labels(ShapeTensor((n,), I64)))
    value, gradients = nn.value_and_grad(_loss, model, batch, nn.Eval())
    assert value.shape == ()
    assert gradients.weight.shape == (784, 10)
    for optimizer in (
        optim.Sgd(lr=0.1, momentum=0.9, weight_decay=1e-4, clip_norm=1.0),
        optim.Adam(lr=optim.step_decay(0.1, every=optim.Steps(3))),
    ):
        after, state = optimizer.update(model, gradients, optimizer.init(model))
        assert repr(after) == repr(model)
        assert state.step.shape == ()


def test_parameters_that_come_from_one_tensor_are_several() -> None:
    w = ShapeTensor((3, 3))
    made = (w + 0.0, -w, w.exp(), w * 2.0, w.stop_gradient(), w.sqrt().floor())
    assert len({id(w), *map(id, made)}) == 7


def test_a_shape_can_be_copied_and_stored() -> None:
    again = pickle.loads(pickle.dumps(x))
    assert again.shape == x.shape
    assert again.dtype is x.dtype
