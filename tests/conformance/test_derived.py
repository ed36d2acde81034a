"""The operations that a trait derives, and the faster or more exact ways in which `Grad` does some of them itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonxi.autodiff import ImageGrad
from moonxi.backends.numpy import NpArray
from moonxi.dtypes import F64
from moonxi.traits import ImageModelTensor
from tests.conformance.case import Operation
from tests.conformance.draws import seeds
from tests.conformance.operations import OPERATIONS
from tests.conformance.primitives_only import DERIVED, PrimitivesOnly
from tests.conformance.suite import Suite


class DerivedGrad[T: ImageModelTensor](ImageGrad[T]):
    """`ImageGrad` with every derived operation as the traits define it."""

    __slots__ = ()


for name, member in DERIVED.items():
    setattr(DerivedGrad, name, member)


class DerivedSuite(Suite[PrimitivesOnly[F64]]):
    """Differentiates through the definitions."""

    def lift[U: ImageModelTensor](self, value: U, /) -> ImageGrad[U]:
        return DerivedGrad(value, ())


derived_operations = pytest.mark.parametrize(
    "operation",
    [pytest.param(one, id=one.name) for one in OPERATIONS if one.member in DERIVED and one.smooth],
)


def test_the_derived_operations_are_the_rest_of_the_trait() -> None:
    assert set(DERIVED) >= {"zeros", "ones", "item", "square", "relu", "mean", "sum_to", "one_hot", "softmax"}
    assert set(DERIVED) >= {"__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rpow__", "__gt__", "__ge__"}
    assert set(DERIVED) >= {"log_softmax", "transpose", "__matmul__", "__bool__"}
    assert not {"matmul", "sum", "exp", "shape"} & set(DERIVED)


def test_an_interpreter_of_primitives_only_uses_the_definitions() -> None:
    assert PrimitivesOnly.relu is not NpArray.relu
    assert all(getattr(PrimitivesOnly, name) is member for name, member in DERIVED.items())


@derived_operations
@given(data=st.data())
def test_differentiating_the_definition_gives_the_same(operation: Operation, data: st.DataObject) -> None:
    suite = DerivedSuite(PrimitivesOnly[F64](np.zeros(())))
    case = data.draw(operation.cases)
    suite.check_value_under_differentiation(case)
    suite.check_gradient(case, data.draw(seeds))
    suite.check_second_derivative(case, data.draw(seeds))
