"""The table: every member of the traits `Tensor` and `BlasTensor`, how to call it, and what NumPy gives."""

from tests.conformance.classes import CLASSES
from tests.conformance.elementwise import ELEMENTWISE
from tests.conformance.making import MAKING
from tests.conformance.shaping import SHAPING

OPERATIONS = (*MAKING, *ELEMENTWISE, *SHAPING, *CLASSES)
