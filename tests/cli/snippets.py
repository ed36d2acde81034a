"""What all small files that are checked begin with."""

from collections.abc import Callable

HEAD = """\
from dataclasses import dataclass
from typing import Literal
from jaxtyping import Float
import moonxi as mx
from moonxi import nn
from moonxi.losses import Logits, cross_entropy, mse
"""

LINES = HEAD.count("\n")

type Check = Callable[[str], tuple[int, list[str]]]
"""Checks a file with this text: the exit status and the lines printed, numbered as in the text."""
