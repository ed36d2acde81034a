"""A model is a value: its class is a frozen dataclass."""

from moonxi.errors import ModuleError


def refuse_unfrozen(cls: type) -> None:
    """Raise `ModuleError` for a dataclass whose objects can be changed."""
    parameters = getattr(cls, "__dataclass_params__", None)
    if parameters is not None and not parameters.frozen:
        raise ModuleError(
            f"{cls.__name__}: its fields can be assigned to, and a model is a value that training makes anew: "
            f"write @dataclass(frozen=True) above class {cls.__name__}"
        )
