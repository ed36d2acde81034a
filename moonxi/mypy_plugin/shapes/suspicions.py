"""Values that come from what looks like a mistake: what is done with them later can show that it was meant."""

from mypy.errorcodes import ErrorCode

from moonxi.shape_tensor import ShapeTensor

type Place = tuple[int, int]
type Suspicion = tuple[Place, ErrorCode]


class Suspicions:
    """For tensors, by their identity, the errors that they come from."""

    def __init__(self) -> None:
        self.cleared = set[Suspicion]()
        """Errors that have turned out to be none."""
        self._of: dict[int, frozenset[Suspicion]] = {}
        self._kept: list[object] = []

    def add(self, value: object, place: Place, code: ErrorCode) -> None:
        """The value comes from what is reported there."""
        self._put(value, {(place, code)})

    def of(self, value: object, code: ErrorCode) -> frozenset[Suspicion]:
        """The errors of the code that a value comes from."""
        return frozenset(one for one in self._of.get(id(value), ()) if one[1] is code)

    def pass_on(self, result: object, *operands: object, code: ErrorCode) -> None:
        """The result comes from what the operands come from."""
        if self._of:
            self._put(result, {one for operand in operands for one in self.of(operand, code)})

    def _put(self, value: object, errors: set[Suspicion]) -> None:
        if errors and isinstance(value, ShapeTensor):
            self._kept.append(value)
            self._of[id(value)] = self._of.get(id(value), frozenset()) | errors
