from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonxi.traits import ImageModelTensor
from tests.conformance.backends import INTERPRETERS
from tests.conformance.case import Operation
from tests.conformance.draws import seeds
from tests.conformance.operations import OPERATIONS
from tests.conformance.suite import Suite

every_interpreter = pytest.mark.parametrize("suite", INTERPRETERS)


def rows(operations: Iterable[Operation]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("operation", [pytest.param(one, id=one.name) for one in operations])


every_operation = rows(OPERATIONS)
smooth_operations = rows(one for one in OPERATIONS if one.smooth)
other_operations = rows(one for one in OPERATIONS if not one.smooth)


@every_interpreter
@every_operation
@given(data=st.data())
def test_the_value_is_that_of_numpy[T: ImageModelTensor](
    suite: Suite[T], operation: Operation, data: st.DataObject
) -> None:
    case = data.draw(operation.cases)
    suite.check_value(case)
    suite.check_value_under_differentiation(case)


@every_interpreter
@smooth_operations
@given(data=st.data())
def test_the_gradient_is_the_central_difference[T: ImageModelTensor](
    suite: Suite[T], operation: Operation, data: st.DataObject
) -> None:
    suite.check_gradient(data.draw(operation.cases), data.draw(seeds))


@every_interpreter
@smooth_operations
@given(data=st.data())
def test_the_second_derivative_is_the_second_difference[T: ImageModelTensor](
    suite: Suite[T], operation: Operation, data: st.DataObject
) -> None:
    suite.check_second_derivative(data.draw(operation.cases), data.draw(seeds))


@every_interpreter
@other_operations
@given(data=st.data())
def test_what_has_no_derivative_is_a_constant[T: ImageModelTensor](
    suite: Suite[T], operation: Operation, data: st.DataObject
) -> None:
    suite.check_constant(data.draw(operation.cases))


@pytest.mark.slow
@every_interpreter
@every_operation
@settings(max_examples=80, derandomize=False)
@given(data=st.data())
def test_a_long_search_finds_no_difference_to_numpy[T: ImageModelTensor](
    suite: Suite[T], operation: Operation, data: st.DataObject
) -> None:
    case = data.draw(operation.cases)
    suite.check_value(case)
    suite.check_value_under_differentiation(case)
    if operation.smooth:
        suite.check_gradient(case, data.draw(seeds))
        suite.check_second_derivative(case, data.draw(seeds))
    else:
        suite.check_constant(case)
