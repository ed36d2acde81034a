"""A model is a value: its class is a frozen dataclass."""

from moonxi.errors import ModuleError


def is_frozen(cls: type) -> bool:
    """Whether it is a dataclass whose objects cannot be changed."""
    parameters = getattr(cls, "__dataclass_params__", None)
    return parameters is not None and parameters.frozen is True


def refuse_unfrozen(cls: type) -> None:
    """Raise `ModuleError` for a dataclass whose objects can be changed."""
    if hasattr(cls, "__dataclass_params__") and not is_frozen(cls):
        raise ModuleError(
            f"{cls.__name__}: its fields can be assigned to, and a model is a value that training makes anew: "
            f"write @dataclass(frozen=True) above class {cls.__name__}"
        )
