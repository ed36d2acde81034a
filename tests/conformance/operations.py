"""The table: every member of the traits, how to call it, and what NumPy gives."""

from tests.conformance.classes import CLASSES
from tests.conformance.elementwise import ELEMENTWISE
from tests.conformance.images import IMAGES
from tests.conformance.making import MAKING
from tests.conformance.normalising import NORMALISING
from tests.conformance.shaping import SHAPING

OPERATIONS = (*MAKING, *ELEMENTWISE, *SHAPING, *CLASSES, *IMAGES, *NORMALISING)
