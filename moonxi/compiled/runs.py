"""`Ahead`: what comes after the first of several runs of a graph that are done at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from moonxi.key import Key


@dataclass(frozen=True, slots=True)
class Ahead:
    """Runs of which each takes what goes on from the one before, and its own rows of the data."""

    count: int
    """Of all runs."""
    later: int
    """How many it is going to be in calls after this one."""
    rows: Mapping[int, object]
    """By the place of an input: those of all runs as one tensor, one after the other along the first axis."""
    key: int
    """The place of the key."""
    keys: Callable[[int], Key]
    """The key of a run, counted from the first."""
