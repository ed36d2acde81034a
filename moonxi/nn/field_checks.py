"""The annotated shapes of a dataclass's fields, checked against each other when it is made."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass

from beartype.door import is_bearable
from jaxtyping import jaxtyped

from moonxi.errors import OperandError, ShapeError
from moonxi.nn.annotations import refuse_text, shapes_in, spelled
from moonxi.nn.findings import described
from moonxi.nn.symbolic_checks import have_expressions, is_symbolic, misfitting
from moonxi.shapes.specification import Names
from moonxi.traits import Tensor, foreign


@dataclass(frozen=True)
class FieldShapes:
    """The fields of a class that state a shape."""

    annotations: Mapping[str, object]
    have_expressions: bool
    """Whether they have expressions of names, which jaxtyping does not solve."""


def shapes_of_fields(cls: type) -> FieldShapes:
    """The fields that state a shape. Raises `ModuleError` if an annotation is text."""
    annotations: dict[str, object] = {one.name: one.type for one in fields(cls)} if is_dataclass(cls) else {}
    refuse_text(cls.__name__, annotations)
    shapes = {name: annotation for name, annotation in annotations.items() if any(shapes_in(annotation))}
    return FieldShapes(shapes, have_expressions(shapes.values()))


def check_fields(record: object, shapes: FieldShapes) -> None:
    """Raise `ShapeError` unless the shapes fit each other, `OperandError` for what is no tensor where one is due."""
    arguments, annotations = {"self": record}, shapes.annotations
    if shapes.have_expressions or any(is_symbolic(getattr(record, name)) for name in annotations):
        claims = [(annotation, getattr(record, name)) for name, annotation in annotations.items()]
        place = misfitting(claims, Names(), arguments)
        name = None if place is None else list(annotations)[place]
    else:
        name = _misfit(record, annotations)
    if name is None:
        return
    value: object = getattr(record, name)
    text = f"{type(record).__name__}: field {name}: expected {spelled(annotations[name], arguments)}"
    if isinstance(value, Tensor):
        raise ShapeError(f"{text}, got {described(value)}: sizes of one name must be the same in all fields")
    advice = foreign.advice(value)
    if not advice and callable(getattr(type(record), "init", None)):
        advice = f"; {type(record).__name__}.init(...) makes one with new weights"
    raise OperandError(f"{text}, got {described(value)}{advice}")


@jaxtyped(typechecker=None)
def _misfit(self: object, annotations: Mapping[str, object]) -> str | None:
    """The first field that does not fit; the parameter has the name that annotations use for the object."""
    for name, annotation in annotations.items():
        if not is_bearable(getattr(self, name), annotation):  # type: ignore[arg-type]  # to mypy it is no type form
            return name
    return None
