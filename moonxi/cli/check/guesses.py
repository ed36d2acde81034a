"""Shapes for a batch whose annotation states none: those that the model takes, and what goes with them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from inspect import signature

from moonxi.cli.check.annotations import flattened, stated
from moonxi.cli.check.samples import Samples, Unmade
from moonxi.nn import Layer
from moonxi.nn.annotations import shape_annotation
from moonxi.shape_tensor import ShapeTensor
from moonxi.shapes import Sizes as Shape

COUNT = 3
"""How many guesses there are."""


@dataclass
class ForModel:
    """The first tensor is what the forward of the layer takes; labels and further tensors are as one ``guess`` says.

    Labels may be one for each sample or one for each score, and a target like the result, the input or the labels."""

    layer: Layer
    samples: Samples
    guess: int
    unsure: bool = False
    """Whether more was asked for than the annotations of the layer say."""
    _given: bool = False
    _input: Shape | None = None
    _results: Sequence[Shape] = ()
    """The different shapes of what it gives: a target may go with any of them."""

    def __post_init__(self) -> None:
        with suppress(Unmade):
            self._run()

    def tensor(self) -> Shape | None:
        """The input of the layer, and after that a target."""
        if not self._given or self._input is None:
            self._given = True
            return self._input
        self.unsure = True
        if len(self._results) >= COUNT:
            return None
        return (*(self._results or [self._input]), self._input, self._input[:1])[self.guess]

    def labels(self) -> Shape | None:
        """The shape of labels."""
        if self._input is None:
            return None
        self.unsure = True
        scores = self._results[0] if len(self._results) == 1 else self._input[:2]
        return (self._input[:1], scores[:-1], self._input[:1])[self.guess]

    def _run(self) -> None:
        """Find out what the layer takes and gives."""
        forward = getattr(self.layer, "forward", None)
        if not callable(forward):
            return
        parameters = list(signature(forward).parameters.values())
        own = Samples(
            self.samples.sizes,
            self.samples.build,
            stated(one.annotation for one in parameters).leading,
            self.samples.choice,
            names=self.samples.names,
            arguments={"self": self.layer},
        )
        arguments = [own.parameter(one) for one in parameters if one.kind is not one.KEYWORD_ONLY]
        for one, value in zip(parameters, arguments, strict=False):
            if isinstance(value, ShapeTensor) and any(map(shape_annotation, flattened(one.annotation))):
                self._input = value.shape
                break
        try:
            self._results = list(dict.fromkeys(_shapes(forward(*arguments))))
        except Exception:  # it is told where the layer itself is checked
            return


def _shapes(value: object) -> Iterator[Shape]:
    """Those of the tensors of a result, which may be several."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        yield shape
    elif isinstance(value, Mapping):
        yield from _shapes(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _shapes(one)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _shapes([getattr(value, one.name) for one in fields(value)])
