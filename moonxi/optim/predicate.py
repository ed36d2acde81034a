"""Which parameters something is for: functions of a parameter's path and shape."""

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, override

from moonxi.errors import OperandError, OptionError
from moonxi.nn.findings import brief
from moonxi.nn.sequential import Step
from moonxi.optim.updating import Trainable
from moonxi.traits import Shape, Tensor

_SHOWN: Final = 4
type Predicate = Callable[[str, Shape], bool]
"""From a parameter's path, such as ``blocks[0].norm.weight``, and its shape to whether it is meant."""


def weights(path: str, shape: Shape, /) -> bool:
    """Parameters of two or more axes: weights of linear layers and convolutions, but no biases and no norms."""
    return len(shape) >= 2


def matrices(path: str, shape: Shape, /) -> bool:
    """Parameters of exactly two axes: weights of linear layers, and tables of embeddings."""
    return len(shape) == 2


@dataclass(frozen=True, init=False)
class named:  # used as a function, compared and printed as a value
    """Parameters whose path has neighbouring parts that match one of the patterns, or whose whole path does.

    The parts of ``blocks[0].norm.weight`` are ``blocks``, ``0``, ``norm`` and ``weight``; ``*`` and ``?`` stand for any
    letters, as in file names. So ``named("bias", "norm*")`` are all biases and whatever is in a ``norm1``, and
    ``named("blocks[0]")`` is the whole block."""

    patterns: tuple[str, ...]

    def __init__(self, *patterns: str) -> None:
        if not patterns:
            raise OptionError("named: no pattern: give at least one, such as named('bias', 'norm*')")
        object.__setattr__(self, "patterns", patterns)

    def __call__(self, path: str, shape: Shape, /) -> bool:
        """Whether the path matches."""
        parts = _parts(path)
        return any(
            fnmatchcase(".".join(parts), ".".join(wanted))
            or any(
                all(map(fnmatchcase, parts[first : first + len(wanted)], wanted))
                for first in range(len(parts) - len(wanted) + 1)
            )
            for wanted in map(_parts, self.patterns)
        )


def _parts(path: str) -> list[str]:
    return path.replace("]", "").replace("[", ".").replace("'", "").strip(".").split(".")


@dataclass(frozen=True, init=False)
class within:  # used as a function, compared and printed as a value
    """The parameters of parts of a model: ``within(model, model.stem, model.blocks[0])``.

    The parts are layers, and mypy knows their names. Raises `OptionError` for no part, and for one that has no
    parameter of the model, such as an activation, and `OperandError` for what is no layer."""

    paths: tuple[str, ...]

    def __init__[T: Tensor](self, model: Trainable[T, object], /, *parts: Trainable[T, object] | Step[T]) -> None:
        named, _ = model.named_tensors()
        if not parts:
            raise OptionError(f"within: no part: name at least one of this {type(model).__name__}'s")
        picked: set[int] = set()
        for number, part in enumerate(parts):
            if isinstance(part, type) or (not hasattr(part, "forward") and not hasattr(part, "named_tensors")):
                raise OperandError(
                    f"within: part {number}, {brief(part)}: expected a layer of the model, such as model.stem; paths "
                    "are for named('stem')"
                )
            tensors = getattr(part, "named_tensors", None)  # which an activation does not have
            own = set() if tensors is None else {id(one) for one in tensors()[0].values()}
            if not own & {id(one) for one in named.values()}:
                raise OptionError(
                    f"within: part {number}, a {type(part).__name__}, has no parameter of this {type(model).__name__}"
                )
            picked |= own
        object.__setattr__(self, "paths", tuple(path for path, one in named.items() if id(one) in picked))

    @override
    def __repr__(self) -> str:
        more = f", ... {len(self.paths) - _SHOWN} more" if len(self.paths) > _SHOWN else ""
        return f"within({', '.join(self.paths[:_SHOWN])}{more})"

    def __call__(self, path: str, shape: Shape, /) -> bool:
        """Whether the path is that of one of them."""
        return path in self.paths
