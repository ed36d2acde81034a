"""What a loss is given, at run time: a program that no checker has seen must not compute a wrong loss."""

from moonxi.errors import OperandError


def expect(loss: str, kind: type, *given: object) -> None:
    """Raise `OperandError` unless each is of the kind, and holds a tensor and not another of these wrappers."""
    for one in given:
        inner = getattr(one, "value", None) if isinstance(one, kind) else None
        if not isinstance(one, kind) or type(inner).__module__.startswith("moonxi.losses"):
            found = f"{type(one).__name__} of {type(inner).__name__}" if isinstance(one, kind) else type(one).__name__
            raise OperandError(
                f"{loss}: {found}: expected {kind.__name__}, which says what numbers mean: wrap the tensor that the "
                f"model gives, {kind.__name__}(x), and convert with its methods"
            )
