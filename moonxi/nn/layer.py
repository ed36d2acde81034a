"""`Layer`: what has a ``forward``. Its annotations are checked when it is called, and errors name it."""

from collections.abc import Callable
from functools import wraps
from inspect import isfunction
from typing import ClassVar, Concatenate, override
from weakref import WeakSet

from moonxi.computing import layers
from moonxi.errors import MoonxiError
from moonxi.nn import checks
from moonxi.nn.field_checks import FieldShapes, check_fields, shapes_of_fields
from moonxi.nn.frozen import refuse_unfrozen
from moonxi.nn.scope import Scope, active, where
from moonxi.nn.showing import shown


class Layer:
    """Base of everything with a ``forward``; a frozen dataclass without parameters derives from it directly.

    The annotations of ``forward``, such as ``x: Float[T, "batch 784"]``, are checked at run time; a mismatch is a
    `ShapeError` that names the layer, the argument, the expected and the actual shape. ``{self.inputs}`` within an
    annotation is worked out at the call."""

    _field_shapes: ClassVar[FieldShapes | None] = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        forward = getattr(cls, "forward", None)
        if isfunction(forward) and forward not in _entered_forwards:
            type.__setattr__(cls, "forward", _entered(forward))
        # Of its own, or `dataclass` would write one, which prints every tensor.
        type.__setattr__(cls, "__repr__", cls.__repr__)

    @override
    def __repr__(self) -> str:
        return shown(self)

    def __post_init__(self) -> None:
        cls = type(self)
        if cls._field_shapes is None or "_field_shapes" not in cls.__dict__:
            refuse_unfrozen(cls)
            cls._field_shapes = shapes_of_fields(cls)
        if cls._field_shapes.annotations:
            check_fields(self, cls._field_shapes)


_entered_forwards: WeakSet[object] = WeakSet()


def _entered[S, **P, R](forward: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """The forward within a scope and with its annotations checked; an error from inside gets the layer's name."""
    run = checks.checked(forward, where)

    @wraps(forward)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        scope = active()
        if scope is None:
            with Scope(self):
                return call(self, *args, **kwargs)
        computing = layers()
        computing.append((scope, self))
        try:
            return run(self, *args, **kwargs)
        except MoonxiError as error:
            if not hasattr(error, "__notes__"):
                error.add_note(f"in the forward of {where(self)}")
            raise
        finally:
            computing.pop()

    _entered_forwards.add(call)
    return call
