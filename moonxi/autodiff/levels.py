"""What is said when tensors of different levels of differentiation meet."""

from moonxi.errors import OperandError
from moonxi.traits import Labels, Mask, Tensor


def differ(operation: str, mine: object, other: object) -> OperandError:
    """Of an operand that is not at the level of ``mine``."""
    return OperandError(
        f"{operation}: {named(mine)} with {named(other)}: both operands must be under differentiation alike; "
        "bring a plain tensor in with constant(x), or take the plain one out with x.value"
    )


def held_elsewhere[T: Tensor](operation: str, mine: object, held: Labels[T] | Mask[T]) -> OperandError:
    """Of labels or a mask that are not at the level of ``mine``."""
    kind = type(held).__name__
    return OperandError(
        f"{operation}: {named(mine)} with {kind} of {named(held.carrier)}: both must be under differentiation "
        f"alike; bring the {kind.lower()} in with {kind.lower()}.map(constant)"
    )


def named(value: object) -> str:
    """The class with its levels: ``Grad[NpArray[F32]]``."""
    from moonxi.autodiff.node import Node  # that module says its errors with this one

    name = type(value).__name__
    if isinstance(value, Node):
        return f"{name}[{named(value.value)}]"
    dtype = getattr(value, "dtype", None)
    return f"{name}[{dtype.__name__}]" if isinstance(dtype, type) else name


def depth(value: object) -> int:
    """How often a tensor is lifted."""
    from moonxi.autodiff.node import Node  # that module says its errors with this one

    found = 0
    while isinstance(value, Node):
        value = value.value
        found += 1
    return found
