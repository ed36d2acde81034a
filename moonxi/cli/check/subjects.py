"""What in a file can be checked: the methods of its layers and its functions, as far as they take tensors."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType

from moonxi.cli.check.annotations import mentions_tensors
from moonxi.cli.check.source import Source
from moonxi.nn import Layer


@dataclass(frozen=True)
class Subject:
    """A function, or a method of a layer."""

    name: str
    function: Callable[..., object]
    owner: type[Layer] | None
    line: int
    signature: inspect.Signature

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters, without that of the layer itself."""
        return list(self.signature.parameters.values())[1 if self.owner else 0 :]


def subjects(source: Source) -> Iterator[Subject]:
    """In the order of the file."""
    found = [*_methods(source), *_functions(source)]
    yield from sorted(found, key=lambda one: one.line)


def _methods(source: Source) -> Iterator[Subject]:
    for cls in vars(source.module).values():
        if isinstance(cls, type) and issubclass(cls, Layer) and cls.__module__ == source.module.__name__:
            for name, member in vars(cls).items():
                if isinstance(member, FunctionType) and not name.startswith("_"):
                    subject = _subject(f"{cls.__name__}.{name}", member, cls)
                    if name == "forward" or any(mentions_tensors(one.annotation) for one in subject.parameters):
                        yield subject


def _functions(source: Source) -> Iterator[Subject]:
    for name, function in vars(source.module).items():
        if isinstance(function, FunctionType) and function.__module__ == source.module.__name__:
            subject = _subject(name, function, None)
            if any(mentions_tensors(one.annotation) for one in subject.parameters):
                yield subject


def _subject(name: str, function: FunctionType, owner: type[Layer] | None) -> Subject:
    plain = inspect.unwrap(function)
    return Subject(name, function, owner, plain.__code__.co_firstlineno, _signature(plain, owner))


def _signature(function: FunctionType, owner: type[Layer] | None) -> inspect.Signature:
    """The signature, with annotations that are text made objects where that is possible."""
    types = {one.__name__: one for holder in (owner, function) for one in getattr(holder, "__type_params__", ())}

    def resolved(annotation: object) -> object:
        if not isinstance(annotation, str):
            return annotation
        try:
            return eval(annotation, function.__globals__, types)
        except Exception:  # such as a name that only type checkers import
            return annotation

    signature = inspect.signature(function)
    parameters = [one.replace(annotation=resolved(one.annotation)) for one in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=resolved(signature.return_annotation))
