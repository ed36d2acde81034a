"""`Symbol`: the interpreter that writes down what an element-wise function does, as the steps of a formula."""

from collections.abc import Callable
from inspect import getmro, isfunction
from typing import Final, NoReturn, Self, cast, override

from moonxi.dtypes import F32, DType
from moonxi.formulas import COMPARISONS, Step, Term
from moonxi.traits import DerivedTensor, Mask, MlpTensor, Shape, Tensor


class NotElementwise(Exception):
    """The function does something that is no step of a formula."""


class Symbol(DerivedTensor["Symbol"]):
    """A value of a formula, or a number. Its shape is that of every element alone."""

    __slots__ = ("steps", "term")

    def __init__(self, term: Term, steps: list[tuple["Symbol", Step]], /) -> None:
        self.term = term
        self.steps = steps

    @override
    def __repr__(self) -> str:
        return f"Symbol {self.term}"

    @property
    @override
    def shape(self) -> Shape:
        return ()

    @property
    @override
    def dtype(self) -> type[DType]:
        return F32

    @override
    def stop_gradient(self) -> Self:
        return self

    @override
    def full(self, shape: Shape, fill: float, /) -> Self:
        if shape:
            raise NotElementwise(f"full({shape})")
        return type(self)(float(fill).hex(), self.steps)

    @override
    # pyright does not compare Self with a Protocol while the class is being made.
    def where(self, mask: Mask[Self], other: Self | float, /) -> Self:  # pyright: ignore[reportInvalidTypeArguments]
        return self.made("where", self, mask.carrier, other)

    def made(self, operation: str, /, *operands: Self | float) -> Self:
        """The value of another step."""
        terms = tuple(float(one).hex() if isinstance(one, (float, int)) else one.term for one in operands)
        if all(isinstance(term, str) for term in terms):
            raise NotElementwise(f"{operation} of numbers alone")
        result = type(self)(-1, self.steps)
        self.steps.append((result, Step(operation, terms)))
        result.term = -len(self.steps)  # steps are numbered when all operands are known
        return result


_OF_ONE: Final = (
    "__neg__",
    "exp",
    "log",
    "expm1",
    "log1p",
    "sin",
    "cos",
    "erf",
    "tanh",
    "sqrt",
    "floor",
    "square",
    "relu",
)
_OF_TWO: Final = ("__add__", "__sub__", "__mul__", "__truediv__", "__pow__", "maximum")
_FROM_LEFT: Final = {"__rsub__": "__sub__", "__rtruediv__": "__truediv__", "__rpow__": "__pow__"}


def _of_one(name: str) -> Callable[[Symbol], Symbol]:
    return lambda self: self.made(name, self)


def _of_two(name: str) -> Callable[[Symbol, Symbol | float], Symbol]:
    return lambda self, other: self.made(name, self, other)


def _from_left(name: str) -> Callable[[Symbol, float], Symbol]:
    return lambda self, other: self.made(name, other, self)


def _compared(name: str) -> Callable[[Symbol, Symbol | float], Mask[Symbol]]:
    return lambda self, other: Mask(self.made(name, self, other))


def _refused(name: str) -> Callable[..., NoReturn]:
    def refuse(self: Symbol, /, *arguments: object, **options: object) -> NoReturn:
        raise NotElementwise(name)

    return refuse


def _methods() -> dict[str, Callable[..., object]]:
    """Every operation of the trait that is not written above: as a step, or refused."""
    found: dict[str, Callable[..., object]] = {name: _of_one(name) for name in _OF_ONE}
    found |= {name: _of_two(name) for name in _OF_TWO}
    found |= {name: _from_left(step) for name, step in _FROM_LEFT.items()}
    found |= {name: _compared(name) for name in COMPARISONS}
    traits = [cls for cls in getmro(Tensor) if cls.__module__.startswith("moonxi.")]
    members = {name for trait in traits for name, member in vars(trait).items() if isfunction(member)}
    derived = {name for cls in getmro(DerivedTensor) for name in vars(cls)} - Symbol.__abstractmethods__
    return found | {name: _refused(name) for name in members - derived - found.keys() - set(vars(Symbol))}


for _name, _method in _methods().items():
    setattr(Symbol, _name, _method)
Symbol.__abstractmethods__ = frozenset()
# For mypy the methods are those of the base, some of which are abstract there.
_concrete = cast(type, Symbol)
symbol = cast(Callable[[Term, list[tuple[Symbol, Step]]], Symbol], _concrete)
"""Makes a `Symbol`."""
MlpTensor.register(_concrete)
