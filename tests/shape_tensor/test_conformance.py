import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import get_protocol_members

from moonxi.autodiff import variable
from moonxi.backends.numpy import numpy
from moonxi.dtypes import F64
from moonxi.errors import LabelError, MoonxiError, OperandError, ShapeError
from moonxi.shape_tensor import ShapeTensor
from moonxi.traits import ImageTensor, Tensor
from tests.conformance.case import Operation
from tests.conformance.operations import OPERATIONS
from tests.conformance.test_errors import WRONG_SHAPES, Call
from tests.shape_tensor.readable import Readable, numbers, symbolic

symbolic_operations = pytest.mark.parametrize(
    "operation", [pytest.param(one, id=one.name) for one in OPERATIONS if one.member != "shape"]
)
every_operation = pytest.mark.parametrize("operation", [pytest.param(one, id=one.name) for one in OPERATIONS])
cpu = numpy(F64)
OF_NUMBERS = get_protocol_members(ImageTensor) - get_protocol_members(Tensor) | {
    *(
        "reshape",
        "broadcast_to",
        "sum_to",
        "put_slice",
        "where",
        "masked_fill",
        "split",
        "pick",
        "put",
        "gather",
        "scatter_add",
    )
}
"""Members whose cases also hold numbers or arrays of their own, which symbolic operands need not fit."""


@every_operation
@given(data=st.data())
def test_the_shape_is_that_of_numpy(operation: Operation, data: st.DataObject) -> None:
    case = data.draw(operation.cases)
    expected = case.apply([operand.place(cpu) for operand in case.operands])
    found = case.apply([Readable(operand.array.shape, F64) for operand in case.operands])
    assert type(found) is Readable
    assert found.shape == expected.shape
    assert found.dtype is expected.dtype
    if operation.smooth:
        lifted = [variable(Readable(operand.array.shape, F64)) for operand in case.operands]
        result = case.apply(lifted)
        assert result.shape == expected.shape
        gradients = result.backward(result.value.zeros(result.shape))
        assert [gradients.of(x).shape for x in lifted] == [x.shape for x in lifted]


@symbolic_operations
@settings(max_examples=50)
@given(data=st.data())
def test_a_symbolic_shape_is_right_for_the_numbers_that_it_stands_for(
    operation: Operation, data: st.DataObject
) -> None:
    case = data.draw(operation.cases)
    expected = case.apply([operand.place(cpu) for operand in case.operands])
    lifted = [variable(Readable(symbolic(operand.array.shape), F64)) for operand in case.operands]
    try:
        result = case.apply(lifted)
        assert numbers(result.shape) == expected.shape
        if result.parents is not None:
            gradients = result.backward(result.value.zeros(result.shape))
            assert [gradients.of(x).shape for x in lifted] == [x.shape for x in lifted]
    except ShapeError:
        if operation.member not in OF_NUMBERS:
            raise


SHAPES = {
    name: row
    for name, row in WRONG_SHAPES.items()
    if row[1] is not LabelError and not name.startswith(("labels", "from_host"))
}
"""Elements, and which arrays are taken, are for backends to check."""


@pytest.mark.parametrize(("call", "error", "text"), SHAPES.values(), ids=SHAPES.keys())
def test_a_wrong_call_is_refused_in_the_words_of_every_backend(call: Call, error: type[MoonxiError], text: str) -> None:
    with pytest.raises(error) as raised:
        call(ShapeTensor((2, 3)), ShapeTensor((4, 3)), ShapeTensor(()))
    assert str(raised.value) == text


def test_operands_of_another_class_or_element_type_are_refused() -> None:
    x = ShapeTensor((2, 3))
    with pytest.raises(OperandError) as error:
        x + ShapeTensor((2, 3), F64)
    assert str(error.value) == "add: ShapeTensor[F32] with ShapeTensor[F64]: both operands must be ShapeTensor[F32]"
    with pytest.raises(OperandError) as error:
        x @ variable(x)  # type: ignore[operator]
    assert str(error.value) == "matmul: ShapeTensor[F32] with ImageGrad[F32]: both operands must be ShapeTensor[F32]"
    mask = variable(x) > 0.0
    with pytest.raises(OperandError) as error:
        x.where(mask, 0.0)  # type: ignore[arg-type]
    assert str(error.value).startswith("where: ShapeTensor[F32] with Mask of ")
