"""What in a model is a parameter, what is state, what is a setting; and how the structure survives mapping."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn
from moonxi.errors import ModuleError, ShapeError
from moonxi.traits import Labels, Mask
from tests.nn.models import CPU, Array, Everywhere, Gate, Holder, Pair, Scales, line, numbers

PATHS = [
    "single",
    "listed[0]",
    "listed[1]",
    "pair[0]",
    "pair[1].weight",
    "pair[1].bias",
    "scales[0]",
    "scales[1]",
    "by_name['b']",
    "by_name['a']",
    "by_number[3][0]",
    "gate.weight",
]


def identity(x: Array) -> Array:
    return x


class Colour(Enum):
    RED = "red"


class WithOptions(dict[str, Array]):
    """A dict with an attribute."""

    option = 0


def test_parameters_are_found_in_every_place_in_the_order_of_the_fields() -> None:
    model = Everywhere.new()
    assert list(model.named_parameters()) == PATHS
    assert list(model.named_states()) == ["mean"]
    assert model.parameters() == tuple(model.named_parameters().values())
    assert model.named_parameters()["by_number[3][0]"] is model.by_number[3][0]
    assert model.named_states()["mean"] is model.mean.value


def test_with_parameters_puts_each_value_where_it_belongs() -> None:
    model = Everywhere.new()
    new = [numbers(*one.shape, seed=1) for one in model.parameters()]
    changed = model.with_parameters(new)
    assert list(changed.named_parameters()) == PATHS
    assert all(one is other for one, other in zip(changed.parameters(), new, strict=True))
    assert type(changed.scales) is Scales
    assert type(changed.gate) is Gate
    assert changed.mean is model.mean
    assert (changed.name, changed.activation, changed.sizes, changed.nothing) == ("every place", abs, (1, 2), None)


def test_the_given_model_and_its_containers_stay_as_they_are() -> None:
    model = Everywhere.new()
    before = (list(model.listed), dict(model.by_name), list(model.by_number[3]))
    changed = model.with_parameters([one * 2.0 for one in model.parameters()])
    assert (list(model.listed), dict(model.by_name), list(model.by_number[3])) == before
    assert changed.listed is not model.listed
    with pytest.raises(FrozenInstanceError):
        model.single = CPU  # type: ignore[misc]


def test_with_states_changes_the_state_alone() -> None:
    model = Everywhere.new()
    changed = model.with_states([numbers(*model.mean.value.shape, seed=1)])
    assert changed.mean.value is not model.mean.value
    assert all(one is other for one, other in zip(changed.parameters(), model.parameters(), strict=True))


def test_mapping_reaches_parameters_and_state_and_changes_the_class() -> None:
    model = Everywhere.new()
    lifted = model.map(mx.variable)
    assert type(lifted).__name__ == "Everywhere"
    assert list(lifted.named_parameters()) == PATHS
    for path, one in lifted.named_parameters().items():
        assert isinstance(one, mx.Grad)
        assert one.value is model.named_parameters()[path]
    assert lifted.mean.value.value is model.mean.value
    assert lifted.name == "every place"


def test_a_tied_parameter_counts_once_and_stays_tied() -> None:
    shared = numbers(3)
    model = Pair(shared, shared)
    assert list(model.named_parameters()) == ["first"]
    for one in (model.map(mx.variable), model.map(identity), model.with_parameters([numbers(3, seed=1)])):
        assert one.first is one.second
    assert model.with_parameters([numbers(3, seed=1)]).first is not shared


def test_a_tied_module_counts_once_and_stays_tied() -> None:
    layer = line(3, 3)
    model = nn.Sequential(layer, nn.Relu(), layer)
    assert list(model.named_parameters()) == ["layers[0].weight", "layers[0].bias"]
    changed = model.with_parameters([one * 2.0 for one in model.parameters()])
    assert changed.layers[0] is changed.layers[2]
    lifted = model.map(mx.variable)
    assert lifted.layers[0] is lifted.layers[2]


def test_parameters_tied_across_modules_stay_tied() -> None:
    weight = numbers(3, 3)
    model = nn.Sequential(nn.Linear(weight, numbers(3)), nn.Linear(weight, numbers(3)))
    assert list(model.named_parameters()) == ["layers[0].weight", "layers[0].bias", "layers[1].bias"]
    lifted = model.map(mx.variable)
    assert list(lifted.named_parameters()) == list(model.named_parameters())


def test_one_value_for_two_parameters_does_not_tie_them() -> None:
    model = Pair(numbers(3), numbers(3))
    value = numbers(3, seed=1)
    for one in (model.with_parameters([value, value]), model.map(lambda _: value)):
        assert list(one.named_parameters()) == ["first", "second"]
        np.testing.assert_array_equal(one.second.to_host(), value.to_host())


def test_state_that_starts_as_a_parameter_is_not_tied_to_it() -> None:
    weight = numbers(3)
    model = Holder(weight, mx.State(weight))
    assert list(model.named_parameters()) == ["weight"]
    assert list(model.named_states()) == ["held"]
    changed = model.with_parameters([numbers(3, seed=1)])
    assert changed.named_states()["held"] is weight
    lifted: Any = model.map(mx.variable)
    assert lifted.weight.parents == ()
    assert lifted.held.value.parents is None


def test_one_state_object_at_two_places_is_one_state() -> None:
    state = mx.State(numbers(3))
    model = Holder(numbers(2), [state, state, mx.State(state.value)])
    assert list(model.named_states()) == ["held[0]", "held[2]"]
    changed: Any = model.with_states([numbers(3, seed=1), numbers(3, seed=2)])
    assert changed.held[0] is changed.held[1]
    assert changed.held[0] is not changed.held[2]


def test_with_state_takes_the_state_by_path() -> None:
    def model(seed: int, *names: str) -> Holder[Array]:
        return Holder(numbers(2, seed=seed), {name: mx.State(numbers(1, seed=ord(name) + seed)) for name in names})

    own, other = model(0, "a", "b"), model(1, "b", "a")
    changed = own.with_state(other)
    assert {k: v.item() for k, v in changed.named_states().items()} == {
        k: v.item() for k, v in other.named_states().items()
    }
    assert changed.weight is own.weight
    with pytest.raises(ModuleError, match=r"^with_state: Holder: only one of the two models has held\['c'\]$"):
        own.with_state(model(1, "a", "b", "c"))


def test_labels_and_masks_are_no_parameters_and_are_mapped() -> None:
    labels, mask = CPU.labels(np.array([1, 0])), numbers(3) > 0.0
    model = Holder(numbers(2), [labels, mask])
    assert list(model.named_parameters()) == ["weight"]
    assert model.named_states() == {}
    lifted: Any = model.map(mx.variable)
    assert type(lifted.held[0]) is Labels
    assert type(lifted.held[1]) is Mask
    assert lifted.held[0].carrier.value is labels.carrier
    changed: Any = model.with_parameters([numbers(2, seed=1)])
    assert changed.held[0] is labels


@pytest.mark.parametrize(
    "setting",
    [
        1,
        2.5,
        "text",
        b"bytes",
        True,
        None,
        1j,
        abs,
        len,
        Colour.RED,
        mx.F32,
        mx.NpArray,
        dict,
        {1, 2},
        range(3),
        mx.Key(3),
    ],
    ids=repr,
)
def test_a_setting_is_no_parameter_and_is_kept(setting: object) -> None:
    model = Holder(numbers(2), setting)
    assert list(model.named_parameters()) == ["weight"]
    assert model.with_parameters([numbers(2, seed=1)]).held is setting
    lifted: Any = model.map(mx.variable)
    assert lifted.held is setting


def test_a_class_as_a_setting_does_not_make_parameters_of_classes() -> None:
    for cls in (mx.NpArray, mx.BlasGrad, nn.Linear):
        assert list(Holder(numbers(2), cls).named_parameters()) == ["weight"]


@pytest.mark.parametrize(
    "container",
    [
        OrderedDict(a=numbers(1)),
        defaultdict(numbers, a=numbers(1)),
        WithOptions(a=numbers(1)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_kinds_of_dict_stay_what_they_are(container: dict[str, Array]) -> None:
    changed: Any = Holder(numbers(2), container).with_parameters([numbers(2), numbers(1, seed=1)])
    assert type(changed.held) is type(container)
    assert changed.held["a"] is not container["a"]
    assert getattr(changed.held, "default_factory", None) is getattr(container, "default_factory", None)


def test_kinds_of_list_and_tuple_stay_what_they_are() -> None:
    class Stack(list[Array]):
        pass

    class Two(tuple[Array, ...]):
        pass

    for container in (Stack([numbers(1)]), Two((numbers(1),)), Scales(numbers(1), 2)):
        changed: Any = Holder(numbers(2), container).with_parameters([numbers(2), numbers(1, seed=1)])
        assert type(changed.held) is type(container)
        assert changed.held[0] is not container[0]


def test_two_tensors_with_one_name_cannot_be_the_keys_are_strings_or_numbers() -> None:
    text = (
        r"^model: held\[\('a', 1\)\]: the key is a tuple; the keys of a dict with tensors are strings or whole "
        r"numbers, for they name the tensors, also in files$"
    )
    with pytest.raises(ModuleError, match=text):
        Holder(numbers(1), {("a", 1): numbers(1)}).named_parameters()


def test_an_attribute_that_is_no_field_is_kept_unless_it_is_a_tensor() -> None:
    @dataclass(frozen=True)
    class Scaled(nn.Module[Array]):
        weight: Array
        extra: object = None

        def __post_init__(self) -> None:
            super().__post_init__()
            object.__setattr__(self, "scale", self.extra)

    changed: Any = Scaled(numbers(2), 0.5).with_parameters([numbers(2)])
    assert changed.scale == 0.5
    hidden = numbers(1)
    text = (
        r"^model: scale\[0\]: scale is not a field of the dataclass Scaled, so this tensor would never be trained; "
        r"declare the field$"
    )
    with pytest.raises(ModuleError, match=text):
        Scaled(numbers(2), [hidden]).named_parameters()


def test_a_cached_property_is_computed_again_for_a_new_model() -> None:
    @dataclass(frozen=True)
    class Cached(nn.Module[Array]):
        weight: Array

        @cached_property
        def doubled(self) -> Array:
            return self.weight * 2.0

    model = Cached(numbers(2))
    assert model.doubled.shape == (2,)
    assert list(model.named_parameters()) == ["weight"]
    changed = model.with_parameters([numbers(2, seed=1)])
    np.testing.assert_array_equal(changed.doubled.to_host(), changed.weight.to_host() * 2.0)


def test_a_dataclass_with_slots_works() -> None:
    @dataclass(frozen=True, slots=True)
    class Slotted[T: mx.Tensor](nn.Module[T]):
        weight: T

        def forward(self, x: T) -> T:
            return x * self.weight

    model = Slotted(numbers(2))
    changed = model.with_parameters([CPU.ones((2,))])
    assert changed.forward(CPU.full((2,), 3.0)).to_host().tolist() == [3.0, 3.0]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_number_of_parameters_is_refused(count: int) -> None:
    model = Pair(numbers(2), numbers(2))
    with pytest.raises(ModuleError, match=rf"^with_parameters: Pair has 2 parameters, not {count}$"):
        model.with_parameters([numbers(2)] * count)
    with pytest.raises(ModuleError, match=r"^with_states: Pair has 0 state fields, not 1$"):
        model.with_states([numbers(2)])


def test_another_shape_of_a_parameter_or_a_state_is_refused_with_the_path() -> None:
    model = Everywhere.new()
    with pytest.raises(ShapeError, match=r"^with_parameters \(single\): \(2,\) and \(1, 2\): the shapes must be equal"):
        model.with_parameters([numbers(1, 2), *model.parameters()[1:]])
    with pytest.raises(ShapeError, match=r"^with_states \(mean\): \(12,\) and \(\): the shapes must be equal"):
        model.with_states([numbers()])


def test_an_empty_model_has_nothing_and_maps_to_itself() -> None:
    model = nn.Sequential[Array]()
    assert model.parameters() == ()
    assert model.map(mx.variable).layers == ()
    assert model.with_parameters([]).layers == ()


def test_models_of_ten_thousand_parameters_work() -> None:
    model = Holder(numbers(1), [numbers(1) for _ in range(10_000)])
    double: Callable[[Array], Array] = lambda x: x * 2.0  # noqa: E731
    assert len(model.map(double).parameters()) == 10_001


def test_values_of_another_class_or_element_type_are_refused() -> None:
    model = nn.Linear(mx.numpy(mx.F64).ones((2, 2)), None)
    narrow: Any = mx.numpy().ones((2, 2))
    array: Any = np.ones((2, 2))
    lifted: Any = mx.variable(model.weight)
    for value, name in ((narrow, r"NpArray\[F32\]"), (array, "ndarray of float64"), (lifted, r"ImageGrad\[F64\]")):
        text = rf"^with_parameters \(weight\): {name}.* in the place of NpArray\[F64\]: expected the same class"
        with pytest.raises(ModuleError, match=text):
            model.with_parameters([value])
    norm = nn.BatchNorm2d.init(2, like=mx.numpy())
    wide: Any = mx.numpy(mx.F64).ones((2,))
    with pytest.raises(ModuleError, match=r"^with_states \(mean\): NpArray\[F64\] in the place of NpArray\[F32\]: "):
        norm.with_states([wide, wide])


def test_a_function_that_gives_no_tensor_is_no_map() -> None:
    model: Any = nn.Linear(mx.numpy().ones((2, 2)), None)
    text = r"^map: the function gave {} for NpArray\[F32\]: expected a tensor for each tensor$"
    with pytest.raises(ModuleError, match=text.format("float")):
        model.map(lambda tensor: 1.0)
    with pytest.raises(ModuleError, match=text.format(r"ndarray of float32 \(2, 2\)")):
        model.map(lambda tensor: tensor.to_host())
