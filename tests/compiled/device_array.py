"""An array of the host that is compiled as a tensor of a device is: it computes formulas, and repeats a program."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Self

import numpy as np

from moonxi.backends.numpy import NpArray
from moonxi.dtypes import Floating
from moonxi.formulas import Formula, Kind
from moonxi.norms import NormGradients, Norms
from moonxi.recording import Program
from moonxi.traits import Mask


class DeviceArray[D: Floating](NpArray[D]):
    """A formula is computed step by step; results are what they say."""

    __slots__ = ()

    def fused(self, formula: Formula, /, *members: Sequence[Self]) -> tuple[Self, ...]:
        made: list[Self] = []
        for operands in members:
            assert len(operands) == len(formula.kinds) == len(formula.masks)
            shape = next(x.shape for x, kind in zip(operands, formula.kinds, strict=True) if kind is Kind.EACH)
            for x, kind, is_mask in zip(operands, formula.kinds, formula.masks, strict=True):
                assert is_mask == (x.data.dtype == bool)
                assert kind is not Kind.ONE or x.data.size == 1
                assert kind is not Kind.AXIS or sum(size != 1 for size in x.shape) == 1
            values: list[Any] = [Mask(x) if is_mask else x for x, is_mask in zip(operands, formula.masks, strict=True)]
            for step in formula.steps:
                first, *rest = (values[one] if isinstance(one, int) else float.fromhex(one) for one in step.terms)
                if isinstance(first, float):
                    first = self.full((), first)
                values.append(getattr(first, step.operation)(*rest))
            results = [values[number] for number in formula.results]
            made += [one.carrier if isinstance(one, Mask) else one for one in results]
            assert all(one.shape == shape for one in results)
            made += [values[number].sum() for number in formula.sums]
        return tuple(made)

    def tuning(self) -> AbstractContextManager[None]:
        return nullcontext()

    def normalised(self, norms: Norms, operands: Sequence[Self], /) -> tuple[Self, ...]:
        results: list[Any] = []
        statistics: list[Any] = []
        count = len(norms.eps)
        for place, eps in enumerate(norms.eps):
            x, weight, bias = operands[3 * place : 3 * place + 3]
            y, *others = x.batch_norm(weight, bias, eps=eps)
            assert norms.formula.kinds[place] is Kind.EACH
            results.append(y)
            statistics += others
        return *self.fused(norms.formula, [*results, *operands[3 * count :]]), *statistics

    def normalised_gradients(self, norms: NormGradients, operands: Sequence[Self], /) -> tuple[Self, ...]:
        count = len(norms.formula.kinds)
        kept = replace(norms.formula, results=(*norms.formula.results, norms.gradient))
        *results, dy = self.fused(kept, operands[:count])
        for place, eps in enumerate(norms.eps):
            x, weight, mean, variance = operands[count + 4 * place : count + 4 * place + 4]
            results += x.batch_norm_grad(dy, weight, mean, variance, eps=eps)
        return tuple(results)

    def recording(self, program: Program, outputs: Sequence[object], /, *, branches: int, tuned: bool) -> "Repeated":
        return Repeated(program, branches)


class Repeated:
    """A program that is run each time."""

    bytes = 1
    handed: Mapping[int, int] | None = None

    def run_on(
        self,
        inputs: Sequence[object],
        rows: Mapping[int, object],
        counts: tuple[int, int],
        keys: Sequence[Sequence[object]],
        /,
    ) -> list[object]:
        raise AssertionError("nothing is handed on")

    def __init__(self, program: Program, branches: int) -> None:
        self._program, self._branches = program, branches
        self.marked: list[int] = []
        self.joined = True

    def run(self, inputs: Sequence[object], /) -> list[object] | None:
        self.marked = []
        found = self._program(inputs, self)
        assert self.joined
        # Each output of the device is announced, but for inputs that come out as they are.
        assert len(set(self.marked)) == len(self.marked)
        assert set(self.marked) <= set(range(len(found)))
        return found

    def start(self, constants: Sequence[object], /) -> None:
        assert not self.marked

    def mark(self, places: Sequence[int], /) -> None:
        self.marked += places

    def work(
        self, branch: int, operands: Sequence[object], do: Callable[[Sequence[object]], list[object]], /
    ) -> list[object]:
        assert 0 <= branch < self._branches
        self.joined = False
        return do(operands)

    def join(self) -> None:
        self.joined = True


def device(dtype: type[Floating]) -> DeviceArray[Any]:
    """The backend as a value."""
    return DeviceArray(np.zeros((), dtype.name))
