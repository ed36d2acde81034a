from typing import Protocol

import pytest
from typing_extensions import get_protocol_members

from moonxi.traits import BlasTensor, ImageModelTensor, ImageTensor, Tensor
from tests.conformance import test_other_members
from tests.conformance.operations import OPERATIONS

ELSEWHERE = {
    "__bool__": test_other_members.test_a_tensor_is_not_a_truth,
    "dtype": test_other_members.test_the_element_type_is_a_class_and_stays,
    "normal": test_other_members.test_normal_numbers_are_box_and_muller_of_the_words_of_the_key,
    "uniform": test_other_members.test_uniform_numbers_are_the_words_of_the_key,
}
"""Members whose result is no tensor, or depends on the element type: they have tests of their own."""


@pytest.mark.parametrize("trait", [Tensor, BlasTensor, ImageTensor])
def test_every_member_of_a_trait_has_a_row(trait: type) -> None:
    tested = {operation.member for operation in OPERATIONS} | set(ELSEWHERE)
    assert sorted(get_protocol_members(trait) - tested) == []


def test_every_row_is_about_a_member_of_a_trait() -> None:
    members = get_protocol_members(ImageModelTensor)
    assert sorted({operation.member for operation in OPERATIONS} | set(ELSEWHERE)) == sorted(members)


def test_the_names_of_the_rows_differ() -> None:
    names = [operation.name for operation in OPERATIONS]
    assert len(set(names)) == len(names)


def test_a_member_that_somebody_adds_is_seen() -> None:
    class More(Tensor, Protocol):
        def convolve(self) -> None: ...

    assert get_protocol_members(More) - get_protocol_members(Tensor) == {"convolve"}
