"""What a loss function is, and what is said of a function that is none."""

import inspect
from collections.abc import Callable, Mapping

from moonxi.errors import OperandError
from moonxi.nn.findings import brief, described

_EXPECTED = "expected a function loss(model, batch, mode)"


def expect_loss(where: str, loss: object) -> None:
    """Raise `OperandError` unless ``loss`` can be called with a model, a batch and a mode."""
    name = name_of(loss)
    if not callable(loss):
        raise OperandError(f"{where}: {described(loss)}: {_EXPECTED}")
    if isinstance(loss, type):
        raise OperandError(f"{where}: the class {name}: {_EXPECTED}")
    try:
        signature = inspect.signature(loss)
    except (TypeError, ValueError):  # of some functions written in C
        return
    try:
        signature.bind(None, None, None)
    except TypeError as error:
        given = f"{where}: {name}({', '.join(signature.parameters)})"
        if "too many" in str(error):
            advice = "takes the mode also where it makes no difference"
        else:
            advice = "has what else it needs bound by functools.partial"
        raise OperandError(f"{given}: {error}: {_EXPECTED}, which {advice}") from None


def expect_mapped(where: str, batch: object) -> None:
    """Raise `OperandError` unless a batch has a ``map``."""
    if not isinstance(batch, type) and callable(getattr(batch, "map", None)):
        return
    advice = "Labelled(x, labels), Paired(x, y), or a dataclass of tensors of yours with map and size"
    if isinstance(batch, list | tuple) and batch and all(hasattr(one, "map") for one in batch):
        advice += "; several batches for one update are given one by one: step(*batches)"
    raise OperandError(f"{where}: {brief(batch)}: expected a batch: {advice}")


def called(
    where: str, loss: Callable[[object, object, object], object], model: object, batch: object, mode: object
) -> tuple[object, Mapping[str, object] | None]:
    """What the loss function gives: the loss, and what it names besides, if it does."""
    try:
        result = loss(model, batch, mode)
    except TypeError:
        expect_loss(where, loss)
        raise
    if not isinstance(result, tuple):
        return result, None
    match result:
        case (value, Mapping() as named):
            return value, named
    parts = ", ".join(type(one).__name__ for one in result)
    raise OperandError(
        f"{where}: {name_of(loss)} gives ({parts}): expected the loss, or the loss and a dict of named tensors, "
        'such as (loss, {"accuracy": hits.mean()})'
    )


def name_of(loss: object) -> str:
    """What a function is called in messages."""
    inner: object = getattr(loss, "func", loss)  # of a partial
    return str(getattr(inner, "__name__", type(inner).__name__))
