"""What a loss is given, at run time: a program that no checker has seen must not compute a wrong loss."""

from moonxi.errors import LabelError, OperandError
from moonxi.traits import Labels, Mask, Tensor
from moonxi.traits.foreign import advice, described

_tensor_classes: set[type] = set()
"""Those met so far: to look for each member of a Protocol takes longer than some losses do."""


def expect(loss: str, kind: type, *given: object) -> None:
    """Raise `OperandError` unless each is of the kind."""
    for one in given:
        if not isinstance(one, kind):
            raise OperandError(
                f"{loss}: {type(one).__name__}: expected {kind.__name__}, which says what numbers mean: wrap the "
                f"tensor that the model gives, {kind.__name__}(x), and convert with its methods"
            )


def expect_tensor(what: str, value: object) -> None:
    """Raise `OperandError` unless the value is a tensor."""
    if type(value) in _tensor_classes:
        return
    if not isinstance(value, Tensor):
        numbers = isinstance(value, list | tuple | int | float)
        how = "; bring numbers in with x.from_host(np.array(...))" if numbers else advice(value)
        if isinstance(value, Mask):
            how = "; numbers of a mask are x.ones(mask.shape).where(mask, 0.0)"
        elif isinstance(value, Labels):
            how = "; numbers of labels are x.from_host(labels.to_host()), or x.one_hot(labels, classes)"
        raise OperandError(f"{what}: {described(value)}: expected a tensor{how}")
    _tensor_classes.add(type(value))


def picked[T: Tensor](loss: str, scores: T, labels: Labels[T], how: str) -> T:
    """The score of each label. Raises `LabelError` in the name of the loss, with what to do about it."""
    try:
        return scores.pick(labels)
    except LabelError as error:
        raise LabelError(f"{loss}{str(error).removeprefix('pick')}; {how}") from None
