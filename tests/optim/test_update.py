"""What an update promises: it is pure, it carries the model's state along, and it refuses what is of another model."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.errors import ModuleError, ShapeError

type Array = mx.NpArray[mx.F32]

CPU = mx.numpy()
OPTIMIZERS: dict[str, optim.Optimizer | optim.Muon] = {
    "plain": optim.Sgd(lr=0.1),
    "momentum": optim.Sgd(lr=0.1, momentum=0.9, weight_decay=0.1, clip_norm=1.0),
    "nesterov": optim.Sgd(lr=0.1, momentum=0.9, nesterov=True),
    "adam": optim.Adam(lr=optim.step_decay(0.1, every=optim.Steps(2)), weight_decay=0.1, clip_norm=1.0),
    "adamw": optim.AdamW(lr=0.1, decay_where=optim.matrices),
    "rmsprop": optim.RmsProp(lr=0.1, momentum=0.5, centred=True, clip_value=0.5),
    "adagrad": optim.Adagrad(lr=0.1, initial=0.1),
    "nadam": optim.NAdam(lr=0.1),
    "lion": optim.Lion(lr=0.1, weight_decay=0.1),
    "lamb": optim.Lamb(lr=0.1, weight_decay=0.1),
    "lbfgs": optim.Lbfgs(lr=0.5, history=2),
    "grouped": optim.Grouped(
        groups=(optim.Group(optim.matrices, optim.Adam(lr=0.1)),), rest=optim.Sgd(lr=0.1, momentum=0.5)
    ),
    "muon": optim.Muon(lr=0.1, rest=optim.AdamW(lr=0.1)),
}
each_optimizer = pytest.mark.parametrize("name", OPTIMIZERS)


@dataclass(frozen=True)
class Pair[T: mx.Tensor](nn.Module[T]):
    first: T
    second: T


@dataclass(frozen=True)
class Averaged[T: mx.Tensor](nn.Module[T]):
    weight: T
    mean: mx.State[T]


@dataclass(frozen=True)
class ByName[T: mx.Tensor](nn.Module[T]):
    parts: dict[str, T]


def pair(first: float = 1.0, second: float = 2.0) -> Pair[Array]:
    return Pair(CPU.full((2, 3), first), CPU.full((3,), second))


def bytes_of(*tensors: Array) -> list[bytes]:
    return [tensor.to_host().tobytes() for tensor in tensors]


@each_optimizer
def test_an_update_leaves_its_inputs_as_they_were(name: str) -> None:
    optimizer = OPTIMIZERS[name]
    model, gradients = pair(), pair(3.0, 4.0)
    state = optimizer.init(model)
    model, state = optimizer.update(model, gradients, state)
    tensors = (
        *model.parameters(),
        *gradients.parameters(),
        state.step,
        *(t for slot in state.slots.values() for t in slot),
    )
    before = bytes_of(*tensors)
    after, _ = optimizer.update(model, gradients, state)
    assert bytes_of(*tensors) == before
    assert bytes_of(*after.parameters()) != bytes_of(*model.parameters())


@each_optimizer
def test_an_update_repeated_gives_the_same_bits(name: str) -> None:
    optimizer = OPTIMIZERS[name]
    model, gradients = pair(), pair(3.0, 4.0)
    _, state = optimizer.update(model, gradients, optimizer.init(model))
    one, other = (optimizer.update(model, gradients, state) for _ in range(2))
    assert bytes_of(*one[0].parameters()) == bytes_of(*other[0].parameters())
    assert bytes_of(one[1].step) == bytes_of(other[1].step)


@each_optimizer
def test_what_an_update_gives_is_read_only(name: str) -> None:
    optimizer = OPTIMIZERS[name]
    model, state = optimizer.update(pair(), pair(), optimizer.init(pair()))
    for tensor in (*model.parameters(), state.step, *(t for slot in state.slots.values() for t in slot)):
        assert not tensor.data.flags.writeable
    with pytest.raises(AttributeError, match="cannot assign to field 'step'"):
        state.step = CPU  # type: ignore[misc]


@each_optimizer
def test_class_element_type_and_structure_survive_an_update(name: str) -> None:
    optimizer = OPTIMIZERS[name]
    like = mx.numpy(mx.F64)
    model = Pair(like.ones((2,)), like.ones(()))
    after, state = optimizer.update(model, model, optimizer.init(model))
    assert type(after) is Pair
    for tensor in (*after.parameters(), state.step, *(t for slot in state.slots.values() for t in slot)):
        assert type(tensor) is mx.NpArray
        assert tensor.dtype is mx.F64
    assert list(after.named_parameters()) == ["first", "second"]


def test_the_state_counts_the_updates_and_starts_from_zeros() -> None:
    optimizer = optim.Adam(lr=0.1)
    model = pair()
    state = optimizer.init(model)
    assert state.names == ("first", "second")
    assert list(state.slots) == ["first_moment", "second_moment"]
    assert [slot.shape for slot in state.slots["first_moment"]] == [(2, 3), (3,)]
    assert all(not slot.to_host().any() for slots in state.slots.values() for slot in slots)
    for expected in range(3):
        assert state.step.item() == expected
        model, state = optimizer.update(model, pair(), state)


def test_the_state_fields_of_the_gradients_go_into_the_new_model() -> None:
    model = Averaged(CPU.ones((2,)), mx.State(CPU.zeros(())))
    gradients = Averaged(CPU.ones((2,)), mx.State(CPU.full((), 7.0)))
    optimizer = optim.Sgd(lr=0.5)
    after, _ = optimizer.update(model, gradients, optimizer.init(model))
    assert after.mean.value.item() == 7.0
    assert after.weight.to_host().tolist() == [0.5, 0.5]


def test_a_tied_parameter_is_updated_once_and_stays_tied() -> None:
    shared = CPU.ones((2,))
    model = Pair(shared, shared)
    gradients = model.with_parameters([CPU.full((2,), 10.0)])
    optimizer = optim.Sgd(lr=0.01, momentum=0.5)
    after, state = optimizer.update(model, gradients, optimizer.init(model))
    assert state.names == ("first",)
    assert after.first is after.second
    np.testing.assert_allclose(after.first.to_host(), 0.9)


def test_gradients_that_are_one_tensor_for_two_parameters_update_both() -> None:
    model = Pair(CPU.ones((2,)), CPU.full((2,), 5.0))
    same = CPU.full((2,), 10.0)
    optimizer = optim.Sgd(lr=0.1)
    after, _ = optimizer.update(model, model.with_parameters([same, same]), optimizer.init(model))
    assert [one.to_host().tolist() for one in after.parameters()] == [[0.0, 0.0], [4.0, 4.0]]
    assert after.first is not after.second


def test_a_model_under_differentiation_is_updated_under_differentiation() -> None:
    optimizer = optim.Sgd(lr=0.5)
    rate = mx.variable(CPU.full((), 3.0))
    model = Pair(rate, mx.constant(CPU.full((), 2.0)))
    after, _ = optimizer.update(model, Pair(rate * rate, rate), optimizer.init(model))
    assert (after.first * after.second).backward().of(rate).item() == pytest.approx(
        # (r - r**2/2) (2 - r/2), differentiated at 3
        (1.0 - 3.0) * (2.0 - 1.5) - (3.0 - 4.5) / 2.0
    )


def test_parameters_without_elements_and_scalars_are_updated() -> None:
    model = Pair(CPU.zeros((0, 3)), CPU.full((), 2.0))
    for optimizer in OPTIMIZERS.values():
        after, _ = optimizer.update(model, model, optimizer.init(model))
        assert after.first.shape == (0, 3)
        assert after.second.shape == ()
        assert after.second.item() < 2.0


@each_optimizer
def test_a_model_without_parameters_is_refused(name: str) -> None:
    with pytest.raises(ModuleError, match=r"^\w+\.init: ByName has no parameters to train$"):
        OPTIMIZERS[name].init(ByName[Array]({}))


@each_optimizer
def test_the_state_of_another_model_is_refused(name: str) -> None:
    optimizer = OPTIMIZERS[name]
    model = ByName({"a": CPU.ones((2,)), "b": CPU.ones((2,))})
    other = ByName({"a": CPU.ones((2,)), "c": CPU.ones((2,))})
    text = r"\.update: the state belongs to another model or optimizer \(it has 2 parameters and .*\): make one with "
    with pytest.raises(ModuleError, match=text + r"optimizer\.init\(model\)$"):
        optimizer.update(model, model, optimizer.init(other))


def test_the_state_of_another_optimizer_is_refused() -> None:
    model = pair()
    shapes = [(path, one.shape) for path, one in model.named_parameters().items()]
    for one in OPTIMIZERS.values():
        for other in OPTIMIZERS.values():
            if all(one.memory(path, shape) == other.memory(path, shape) for path, shape in shapes):
                _ = one.update(model, model, other.init(model))
            else:
                with pytest.raises(ModuleError, match="the state belongs to another model or optimizer"):
                    one.update(model, model, other.init(model))


def test_the_state_of_a_model_of_other_shapes_is_refused_also_where_it_would_broadcast() -> None:
    model = Pair(CPU.ones((5, 3)), CPU.ones((3,)))
    narrow = Pair(CPU.ones((1, 3)), CPU.ones((3,)))
    text = (
        r"^update \(first: parameter and velocity\): \(5, 3\) and \(1, 3\): the shapes must be equal; "
        r"reshape one of them if you mean it$"
    )
    optimizer = OPTIMIZERS["momentum"]
    with pytest.raises(ShapeError, match=text):
        optimizer.update(model, model, optimizer.init(narrow))


def test_gradients_of_other_shapes_are_refused_also_where_they_would_broadcast() -> None:
    text = r"^update \(second: parameter and gradient\): \(3,\) and \(\): the shapes must be equal"
    for optimizer in OPTIMIZERS.values():
        with pytest.raises(ShapeError, match=text):
            optimizer.update(pair(), Pair(CPU.ones((2, 3)), CPU.ones(())), optimizer.init(pair()))


def test_gradients_of_another_model_are_refused_by_the_paths() -> None:
    model = ByName({"a": CPU.ones((2,)), "b": CPU.ones((2,))})
    other = ByName({"a": CPU.ones((2,)), "c": CPU.ones((2,))})
    text = r"^Sgd\.update: the gradients are of another model: only one of the two has parts\['b'\], parts\['c'\]$"
    with pytest.raises(ModuleError, match=text):
        OPTIMIZERS["plain"].update(model, other, OPTIMIZERS["plain"].init(model))


def test_gradients_go_to_the_parameters_of_their_names_not_of_their_places() -> None:
    model = ByName({"a": CPU.zeros(()), "b": CPU.zeros(())})
    gradients = ByName({"b": CPU.full((), 2.0), "a": CPU.full((), 1.0)})
    optimizer = optim.Sgd(lr=1.0, momentum=0.5)
    after, _ = optimizer.update(model, gradients, optimizer.init(model))
    assert {name: one.item() for name, one in after.parts.items()} == {"a": -1.0, "b": -2.0}


def test_settings_that_make_no_sense_are_refused() -> None:
    nan = float("nan")
    for lr in (-0.1, nan):
        with pytest.raises(ValueError, match=rf"^Sgd: lr={lr}: must be finite and not negative$"):
            optim.Sgd(lr=lr)
    for weight_decay in (-1.0, nan):
        with pytest.raises(ValueError, match=rf"^Adam: weight_decay={weight_decay}: must be finite and not negative$"):
            optim.Adam(lr=0.1, weight_decay=weight_decay)
    for clip_norm in (0.0, -1.0, nan):
        text = rf"^Sgd: clip_norm={clip_norm}: must be positive$"
        with pytest.raises(ValueError, match=text):
            optim.Sgd(lr=0.1, clip_norm=clip_norm)
    for momentum in (-0.1, 1.1, nan):
        with pytest.raises(ValueError, match=rf"^Sgd: momentum={momentum}: must lie between 0 and 1$"):
            optim.Sgd(lr=0.1, momentum=momentum)
    with pytest.raises(ValueError, match=r"^Sgd: nesterov=True, momentum=0: Nesterov's step needs momentum$"):
        optim.Sgd(lr=0.1, nesterov=True)
    for betas in ((1.0, 0.9), (0.9, 1.0), (-0.1, 0.9), (0.9, -0.1), (nan, 0.9), (0.9, nan)):
        text = r"^Adam: beta[12]=(1\.0|-0\.1|nan): must be at least 0 and less than 1$"
        with pytest.raises(ValueError, match=text):
            optim.Adam(lr=0.1, beta1=betas[0], beta2=betas[1])
    for epsilon in (0.0, -1e-8, nan):
        with pytest.raises(ValueError, match=rf"^Adam: epsilon={epsilon}: must be positive and finite$"):
            optim.Adam(lr=0.1, epsilon=epsilon)


def test_the_settings_at_the_ends_of_their_ranges_are_allowed() -> None:
    model = pair()
    for optimizer in (
        optim.Sgd(lr=0.0, momentum=1.0, weight_decay=0.0),
        optim.Adam(lr=0.0, beta1=0.0, beta2=0.0, weight_decay=0.0),
    ):
        after, _ = optimizer.update(model, model, optimizer.init(model))
        assert bytes_of(*after.parameters()) == bytes_of(*model.parameters())


def test_optimizers_are_values() -> None:
    assert optim.Sgd(lr=0.1, momentum=0.9) == replace(optim.Sgd(lr=0.1), momentum=0.9)
    assert len({optim.Adam(lr=0.1), optim.Adam(lr=0.1), optim.Adam(lr=0.2)}) == 2
