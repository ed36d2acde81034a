"""Shapes for a batch whose annotation states none: those that the model takes, and what goes with them."""

from contextlib import suppress
from dataclasses import dataclass
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
    _result: Shape | None = None

    def __post_init__(self) -> None:
        with suppress(Unmade):
            self._run()

    def tensor(self) -> Shape | None:
        """The input of the layer, and after that a target."""
        if not self._given or self._input is None:
            self._given = True
            return self._input
        self.unsure = True
        return (self._result or self._input, self._input, self._input[:1])[self.guess]

    def labels(self) -> Shape | None:
        """The shape of labels."""
        if self._input is None:
            return None
        self.unsure = True
        return (self._input[:1], self._result[:-1] if self._result else self._input[:1], self._input[:1])[self.guess]

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
            shape = getattr(forward(*arguments), "shape", None)
        except Exception:  # it is told where the layer itself is checked
            return
        self._result = shape if isinstance(shape, tuple) else None
