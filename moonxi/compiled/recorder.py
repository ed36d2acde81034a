"""`Recorder`: writes down what a step does, while it runs with traced tensors."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import FrameType

import numpy as np

from moonxi.compiled.graph import Array, Graph, Holder, Line, Node, Operand, Spec, operands
from moonxi.errors import CompileError, MoonxiError
from moonxi.key import Key
from moonxi.shape_tensor import ShapeTensor
from moonxi.traits import DerivedImage, Labels, Mask
from moonxi.traits.passes import in_backward_pass

_OURS = frozenset({"moonxi", "jaxtyping", "beartype", "functools", "contextlib", "dataclasses"})
"""Whose lines are nobody's concern."""


class Recorder:
    """The graph of one run of a step on tensors of the class ``backend``."""

    def __init__(self, backend: type, tensor: "Callable[[Recorder, int, Spec], object]") -> None:
        self.backend = backend
        self._tensor = tensor
        self._nodes: list[Node] = []
        self._inputs: list[int] = []
        self._specs: dict[int, Spec] = {}
        self._made_by: dict[int, Node] = {}
        self._used_at: dict[int, Line] = {}
        self._gradients: set[int] = set()
        self._open = True
        self.refusal: CompileError | None = None
        """The first thing that was asked for and refused, which holds even if the step catches the error."""

    def refused(self, message: str) -> CompileError:
        """The error for something that no graph can give."""
        error = CompileError(message)
        self.refusal = self.refusal or error
        return error

    def input(self, spec: Spec) -> int:
        """A new value that comes from outside."""
        number = self._new(spec)
        self._inputs.append(number)
        return number

    def finished(self, outputs: Sequence[int]) -> Graph:
        """The graph. Nothing is recorded from then on."""
        self._open = False
        return Graph(tuple(self._inputs), tuple(self._nodes), tuple(outputs), self._specs, {})

    def made_at(self, number: int) -> str:
        """Where a value comes from, for messages."""
        node = self._made_by.get(number)
        return "an argument of the step" if node is None else f"made at {node.line}"

    def _new(self, spec: Spec) -> int:
        number = len(self._specs)
        self._specs[number] = spec
        return number

    # -- recording -----------------------------------------------------------------------------------------------

    def record(self, operation: str, arguments: tuple[object, ...], options: Mapping[str, object]) -> object:
        """The result of an operation of the traits: traced tensors in the place of those of the backend.

        What the backend has from `DerivedImage` is recorded as the operations that it is derived from."""
        derived = _derived(self.backend, operation)
        if derived is not None:
            return derived(*arguments, **options)
        self._refuse_if_finished(operation)
        written = tuple(self._written(one, operation) for one in arguments)
        named = tuple((name, self._written(one, operation)) for name, one in options.items())
        symbolic = [self._symbolic(one) for one in written]
        try:
            result = getattr(ShapeTensor, operation)(*symbolic, **{name: self._symbolic(one) for name, one in named})
        except MoonxiError as error:  # what a person has is a tensor of the backend
            error.args = (str(error).replace("ShapeTensor", self.backend.__name__),)
            raise
        several = isinstance(result, tuple)
        parts = result if isinstance(result, tuple) else (result,)
        holders: tuple[Holder, ...] = tuple(type(one) if isinstance(one, Labels | Mask) else None for one in parts)
        carriers = [one.carrier if isinstance(one, Labels | Mask) else one for one in parts]
        specs = [Spec(tuple(map(int, one.shape)), one.dtype) for one in carriers]
        numbers = self._add(operation, written, named, specs, holders, several)
        tensors = [self._tensor(self, number, spec) for number, spec in zip(numbers, specs, strict=True)]
        held = tuple(one if holder is None else holder(one) for holder, one in zip(holders, tensors, strict=True))
        return held if several else held[0]

    def record_fold(self, key: int, data: int | str) -> int:
        """The number of a random key, folded."""
        self._refuse_if_finished("fold")
        return self._add("fold", (Operand(key), data), (), [Spec()], (None,), False)[0]

    def _add(
        self,
        operation: str,
        arguments: tuple[object, ...],
        options: tuple[tuple[str, object], ...],
        specs: Sequence[Spec],
        holders: tuple[Holder, ...],
        several: bool,
    ) -> tuple[int, ...]:
        numbers = tuple(map(self._new, specs))
        taken = [operand.number for operand in operands((arguments, options))]
        backward = in_backward_pass()
        line = (self._forward_line(taken) if backward else None) or users_line()
        if not backward:
            for number in taken:
                self._used_at.setdefault(number, line)
        elif operation == "full" or not self._gradients.isdisjoint(taken):  # of ones, where the pass begins
            self._gradients.update(numbers)
        node = Node(operation, arguments, options, numbers, holders, several, line, backward)
        self._nodes.append(node)
        self._made_by.update(dict.fromkeys(numbers, node))
        return numbers

    def _forward_line(self, taken: Sequence[int]) -> Line | None:
        """The line of the operation that is differentiated, as far as the operands tell.

        A result of the forward pass, or what is made of such results alone, tells by where it was made, a parameter by
        its first use; a gradient, which comes first, by what is known of it."""
        makers = {number: self._made_by.get(number) for number in taken}
        forward = [node.line for number, node in makers.items() if node is not None and number not in self._gradients]
        used = [self._used_at[number] for number, node in makers.items() if node is None and number in self._used_at]
        before = [node.line for node in makers.values() if node is not None]
        found = forward or used or before
        return found[-1] if found else None

    def _refuse_if_finished(self, operation: str) -> None:
        if not self._open:
            raise CompileError(
                f"{operation}: a traced tensor after its step was traced: the step has put it somewhere outside, where "
                "no later call would put anything; return it as a result"
            )

    # -- arguments -------------------------------------------------------------------------------------------------

    def _written(self, argument: object, operation: str) -> object:
        """An argument as a node holds it."""
        from moonxi.compiled.traced import TracedKey, TracedTensor  # whose methods call this one

        if isinstance(argument, Labels | Mask):
            return Operand(self._number(argument.carrier, operation), type(argument))
        if isinstance(argument, TracedTensor):
            return Operand(self._number(argument, operation))
        if isinstance(argument, TracedKey):
            return Operand(argument.number)
        if isinstance(argument, np.ndarray):
            return Array(argument.copy())
        if isinstance(argument, list | tuple):
            return tuple(self._written(one, operation) for one in argument)
        if isinstance(argument, self.backend):
            self._number(argument, operation)
        return argument

    def _number(self, tensor: object, operation: str) -> int:
        from moonxi.compiled.traced import TracedTensor  # whose methods call this one

        if isinstance(tensor, TracedTensor):
            if tensor.recorder is self:
                return tensor.number
            raise CompileError(f"{operation}: a traced tensor of another step: pass it to this one as an argument")
        raise CompileError(
            f"{operation}: a traced tensor with {type(tensor).__name__}: the step computes with a tensor that is none "
            f"of its arguments (at {users_line()}); pass the tensor as an argument"
        )

    def _symbolic(self, argument: object) -> object:
        """The argument where only shapes are computed."""
        if isinstance(argument, Operand):
            spec = self._specs[argument.number]
            if spec.dtype is None:
                return Key(0)
            shape = ShapeTensor(spec.shape, spec.dtype)
            return shape if argument.holder is None else argument.holder(shape)
        if isinstance(argument, Array):
            return argument.data
        return argument


@cache
def _derived(backend: type, operation: str) -> Callable[..., object] | None:
    """The operation as `DerivedImage` has it, if that is also the backend's."""
    shared: Callable[..., object] | None = getattr(DerivedImage, operation, None)
    if shared is None or getattr(shared, "__isabstractmethod__", False):
        return None
    return shared if getattr(backend, operation, None) is shared else None


def is_ours(frame: FrameType) -> bool:
    """Whether moonxi runs there, or what it brings along."""
    name = str(frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] in _OURS or frame.f_code.co_filename.startswith("<")


def users_line() -> Line:
    """The innermost line that runs and is not one of moonxi's own."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_ours(frame):
        frame = frame.f_back
    return Line(frame.f_code.co_filename, frame.f_lineno)
