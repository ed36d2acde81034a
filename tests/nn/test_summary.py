"""The table of a model."""

from dataclasses import dataclass
from textwrap import dedent

import moonxi as mx
from moonxi import nn
from tests.nn.models import Array, Gate, Holder, Mlp, line, numbers


def table(text: str) -> str:
    return dedent(text).strip("\n")


def test_a_line_for_each_layer_and_the_totals() -> None:
    model = nn.Sequential(nn.Flatten(), line(784, 128), nn.Relu(), nn.Dropout(0.5), line(128, 10))
    assert model.summary() == table("""
        layer      class    tensors                         parameters
        layers[0]  Flatten                                           0
        layers[1]  Linear   weight (784, 128), bias (128,)     100,480
        layers[2]  Relu                                              0
        layers[3]  Dropout                                           0
        layers[4]  Linear   weight (128, 10), bias (10,)         1,290
        101,770 parameters, 0 elements of state, 814,160 bytes
        """)


def test_the_bytes_are_those_of_the_element_type() -> None:
    single = nn.Linear.init(3, 2, like=mx.numpy(), key=mx.Key(0))
    assert single.summary() == table("""
        layer  class   tensors                   parameters
        .      Linear  weight (3, 2), bias (2,)           8
        8 parameters, 0 elements of state, 32 bytes
        """)


def test_what_is_tied_is_counted_once_and_refers_to_its_first_place() -> None:
    layer = line(2, 2)
    assert Mlp(layer, nn.Linear(layer.weight, layer.bias)).summary() == table("""
        layer   class   tensors                                                 parameters
        hidden  Linear  weight (2, 2), bias (2,)                                         6
        out     Linear  weight (2, 2) = hidden.weight, bias (2,) = hidden.bias           0
        6 parameters, 0 elements of state, 48 bytes
        """)
    assert Mlp(layer, layer).summary() == table("""
        layer   class   tensors                                                         parameters
        .       Mlp     out.weight (2, 2) = hidden.weight, out.bias (2,) = hidden.bias           0
        hidden  Linear  weight (2, 2), bias (2,)                                                 6
        6 parameters, 0 elements of state, 48 bytes
        """)


def test_state_and_tensors_of_the_model_itself_are_listed() -> None:
    state = mx.State(numbers(3))
    assert Holder(numbers(2), {"a": state, "b": [state], "c": line(1, 1)}).summary() == table("""
        layer      class   tensors                                                                 parameters
        .          Holder  weight (2,), held['a'] (3,) state, held['b'][0] (3,) state = held['a']           2
        held['c']  Linear  weight (1, 1), bias (1,)                                                         2
        4 parameters, 3 elements of state, 56 bytes
        """)


def test_the_tensors_of_a_dataclass_that_is_no_layer_are_listed_with_the_layer_around_it() -> None:
    assert Holder(numbers(2), [Gate(numbers(4)), numbers(1)]).summary() == table("""
        layer  class   tensors                                         parameters
        .      Holder  weight (2,), held[0].weight (4,), held[1] (1,)           7
        7 parameters, 0 elements of state, 56 bytes
        """)


def test_a_parameter_that_is_also_the_value_of_a_state_counts_as_both() -> None:
    @dataclass(frozen=True)
    class Follower(nn.Module[Array]):
        mean: mx.State[Array]
        weight: Array

    weight = numbers(5)
    assert Follower(mx.State(weight), weight).summary() == table("""
        layer  class     tensors                       parameters
        .      Follower  mean (5,) state, weight (5,)           5
        5 parameters, 5 elements of state, 80 bytes
        """)


def test_a_model_without_tensors_has_a_summary() -> None:
    assert nn.Sequential[Array](nn.Relu()).summary() == table("""
        layer      class  tensors  parameters
        layers[0]  Relu                     0
        0 parameters, 0 elements of state, 0 bytes
        """)
