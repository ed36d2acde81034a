"""`Steps`: a number of updates, which is not one of epochs."""

from typing import NewType

Steps = NewType("Steps", int)
"""A number of updates: ``Steps(500)``, or ``loader.steps(epochs=30)``. A bare integer does not say which of the two."""
