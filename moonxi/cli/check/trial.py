"""One run of a subject on tensors without data, forward and, where the result is a number, backward."""

from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import BoundArguments, Parameter
from math import prod

from moonxi import shapes
from moonxi.autodiff import Grad, variable
from moonxi.cli.check import layers
from moonxi.cli.check.annotations import in_braces, is_layer, mentions_tensors, stated, wants_more
from moonxi.cli.check.guesses import ForModel
from moonxi.cli.check.samples import NoGuess, Samples, Unmade
from moonxi.cli.check.sizes import Again, Kind, Sizes
from moonxi.cli.check.subjects import Subject
from moonxi.nn import Eval, Layer, Module, Train, tree, value_and_grad
from moonxi.nn.annotations import shapes_in
from moonxi.nn.findings import misfit
from moonxi.nn.symbolic_checks import fits


@dataclass
class Trial:
    """How to run a subject: with which alternative of its arguments, and which guess at shapes that none are told."""

    subject: Subject
    is_loss: bool
    choice: int
    guess: int
    used: ForModel | None = None
    """The guess, if one was called for."""
    stand_ins: dict[str, str] = field(default_factory=dict)
    """The arguments in whose place there was only a shape, though they are of one tensor class, which is named."""
    examples: list[str] = field(default_factory=list)
    """The arguments that were arrays of the host, with made-up elements."""
    guessed: list[str] = field(default_factory=list)
    """The arguments without a shape in their annotation that were taken to be like what the model gives."""

    def run(self, sizes: Sizes) -> None:
        """Run until no further size is found; raises what the code raises."""
        with shapes.solving(sizes.differ), shapes.watching(sizes.broadcast):
            while True:  # each time one more size is known, of the few that there are
                try:
                    return self._once(sizes)
                except Again:
                    continue

    def _once(self, sizes: Sizes) -> None:
        subject = self.subject
        sizes.stated = stated((one.annotation for one in subject.parameters), subject.signature.return_annotation)
        samples = Samples(sizes, layers.build, sizes.stated.leading, self.choice, integers=Kind.OPTION)
        given: list[object] = []
        if trait := wants_more(subject.function):
            raise Unmade(f"it is for a {trait}, and there is none of shapes alone")
        if subject.owner is not None:
            # Whoever makes the layer chooses what its init asks for: not the code of its methods.
            kind = Kind.CHOSEN if callable(getattr(subject.owner, "init", None)) else Kind.OPEN
            layer = layers.made(subject.owner, Samples(sizes, layers.build, choice=self.choice, integers=kind))
            samples.names = layers.class_names(layer)
            samples.arguments[next(iter(subject.signature.parameters))] = layer
            given.append(layer)
        elif not _takes_tensors(subject):
            raise Unmade("it takes no tensors but those that it makes or a model has")
        options: dict[str, object] = {}
        braces = in_braces(one.annotation for one in subject.parameters)
        integers = [one for one in subject.parameters if one.annotation is int and one.name in braces]
        first = {one.name: samples.parameter(one) for one in integers}  # shapes are computed from them
        for one in subject.parameters:
            if one.kind is one.VAR_POSITIONAL and mentions_tensors(one.annotation):
                given += [samples.make(one.annotation, f"{one.name}[{place}]") for place in (0, 1)]
            if one.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
                continue
            value = first[one.name] if one.name in first else samples.parameter(one)
            if isinstance(value, Layer) and isinstance(samples.guess, NoGuess):
                samples.guess = self.used = ForModel(value, samples, self.guess)
            if one.kind is one.KEYWORD_ONLY:
                options[one.name] = value
            else:
                given.append(value)
        self.stand_ins, self.examples, self.guessed = samples.stand_ins, samples.examples, samples.guessed
        bound = subject.signature.bind(*given, **options)
        result = subject.function(*bound.args, **bound.kwargs)
        self._backward(result, bound)
        bound.apply_defaults()
        self._check(result, samples, bound)

    def _check(self, result: object, samples: Samples, bound: BoundArguments) -> None:
        """Compare the result with its annotation; a layer's forward does that itself."""
        expected = self.subject.signature.return_annotation
        if not any(shapes_in(expected)) or fits(expected, result, samples.names, bound.arguments):
            return
        raise misfit(f"{self.subject.name}: result", expected, result, bound.arguments, str(samples.names))

    def _backward(self, result: object, bound: BoundArguments) -> None:
        function: Callable[..., object] = self.subject.function
        match bound.args:
            case (Module() as model, batch, Train() | Eval() as mode) if self.is_loss and not bound.kwargs:
                value_and_grad(function, model, batch, mode)  # type: ignore[call-overload]  # it is known here only
                return
        if _is_number(result):
            args, kwargs = _lifted((bound.args, bound.kwargs))
            value = function(*args, **kwargs)
            loss = value[0] if isinstance(value, tuple) else value
            if isinstance(loss, Grad) and loss.parents is not None:
                loss.backward()


def _takes_tensors(subject: Subject) -> bool:
    """Whether a function computes with tensors that are given to it: to run any other might be to train a model."""
    given = [one for one in subject.parameters if mentions_tensors(one.annotation) and one.name != "like"]
    result = subject.signature.return_annotation
    return not all(map(is_layer, (one.annotation for one in given))) or (
        bool(given) and mentions_tensors(result) and not is_layer(result)
    )


def _is_number(result: object) -> bool:
    """Whether a result, or the first of several, is a tensor of one element."""
    first = result[0] if isinstance(result, tuple) and result else result
    shape = getattr(first, "shape", None)
    return isinstance(shape, tuple) and hasattr(first, "stop_gradient") and prod(shape) == 1


def _lifted(
    arguments: tuple[tuple[object, ...], dict[str, object]],
) -> tuple[tuple[object, ...], dict[str, object]]:
    """The arguments under differentiation, with respect to all of them."""
    lifted = tree.mapped(arguments, variable)
    match lifted:
        case (tuple() as args, dict() as kwargs):
            return args, kwargs
    raise AssertionError("the structure comes out as it went in")
