"""Batch norm for compiled steps, with what stands around it, a few rows at a time so that they stay in the cache.

The formulas are those of `normalisation`. A row holds one value of each channel; as many rows as fill NumPy's buffer
are one line, beside which a vector of channels is repeated: NumPy is twice as fast on long lines as on short rows.
"""

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any, Final, cast

import numpy as np

from moonxi.backends.numpy import jit_norm_routines, scratch, threads
from moonxi.backends.numpy.selection import bits, every_bit
from moonxi.dtypes import HostArray
from moonxi.traits.kernels import Form, Request, Routine

_BLOCK: Final = 1 << 18
"""Elements of a block of lines."""
_LINE: Final = 8192
"""Elements of a line at most."""
_WORK: Final = 48
"""What an element costs in each pass, in multiplications of a product of matrices."""

type Outs = tuple[HostArray | None, ...]


def forward(request: Request) -> Routine:
    """Images, weight, bias and perhaps what is added to the result, means and variances."""
    if request.numba:
        return jit_norm_routines.forward(request)
    options: dict[str, Any] = request.options
    eps, relu = float(options.get("eps", 1e-5)), bool(options["relu"])
    lines = _Lines(request.operands[0])

    def run(x: HostArray, weight: HostArray, bias: HostArray, added: HostArray | None = None, *, out: Outs) -> None:
        y, mean_out, variance_out = out
        assert y is not None, "somebody needs the result"
        source = lines.of(x)
        more = None if added is None else lines.of(added)
        target = lines.to_write(y)
        mean = (lines.total(lambda part: _sums(source[part])) / lines.rows).astype(x.dtype)
        repeated = lines.repeated(mean)

        def squares(part: slice) -> HostArray:
            centred = _scratch(source[part])
            np.subtract(source[part], repeated, out=centred)
            np.square(centred, out=centred)
            return _sums(centred)

        variance = lines.total(squares) / lines.rows
        scale, offset = lines.repeated(weight / np.sqrt(variance + eps)), lines.repeated(bias)

        def finish(part: slice) -> None:
            block = target[part]
            np.subtract(source[part], repeated, out=block)
            block *= scale
            block += offset
            if more is not None:
                block += more[part]
            if relu:
                np.maximum(block, lines.zeros, out=block)

        lines.each(finish)
        _finish(target, y)
        if mean_out is not None:
            mean_out[...] = mean
        if variance_out is not None:
            variance_out[...] = variance

    return run


def gradient(request: Request) -> Routine:
    """Images, weight, means, variances, gradients of the result and perhaps that result to all gradients."""
    if request.numba:
        return jit_norm_routines.gradient(request)
    options: dict[str, Any] = request.options
    eps, masked = float(options.get("eps", 1e-5)), bool(options["masked"])
    lines = _Lines(request.operands[0])

    def run(x: HostArray, weight: HostArray, mean: HostArray, variance: HostArray, *more: HostArray, out: Outs) -> None:
        dx_out, dw, db, incoming_out, sums_out = out
        source = lines.of(x)
        gradients = [lines.of(one) for one in (more[:-1] if masked else more)]
        mask = lines.of(more[-1]) if masked else None
        dx = np.empty_like(source) if dx_out is None else lines.to_write(dx_out)
        plain = mask is None and len(gradients) == 1
        incoming = gradients[0] if plain else dx if incoming_out is None else lines.to_write(incoming_out)
        repeated = lines.repeated(mean)

        def sums(part: slice) -> HostArray:
            block = incoming[part]
            if len(gradients) == 2:
                np.add(gradients[0][part], gradients[1][part], out=block)
            if mask is not None:
                chosen = block if len(gradients) == 2 else gradients[0][part]
                np.bitwise_and(bits(chosen), every_bit(mask[part] > 0.0, x.dtype), out=bits(block))
            centred = _scratch(block)
            np.subtract(source[part], repeated, out=centred)
            centred *= block
            return np.concatenate((_sums(block), _sums(centred)))

        total, product = lines.total(sums, 2)
        root = np.sqrt(variance.astype(np.float64) + eps)
        scale = lines.repeated(weight / root)
        share = lines.repeated(total / lines.rows)
        slope = lines.repeated(product / (lines.rows * root**2))

        def finish(part: slice) -> HostArray:
            centred = _scratch(dx[part])
            np.subtract(source[part], repeated, out=centred)
            centred *= slope
            block = dx[part]
            np.subtract(incoming[part], centred, out=block)
            block -= share
            block *= scale
            return _NOTHING if sums_out is None else _sums(block)

        if sums_out is not None:
            sums_out[...] = lines.total(finish)
        elif dx_out is not None:
            lines.each(finish)
        if dx_out is not None:
            _finish(dx, dx_out)
        if incoming_out is not None:
            _finish(incoming, incoming_out)
        if dw is not None:
            dw[...] = product / root
        if db is not None:
            db[...] = total

    return run


_NOTHING: Final = np.zeros(0)


class _Lines:
    """How tensors ``(n, c, ...)`` of one shape are seen as lines of several rows."""

    def __init__(self, form: Form) -> None:
        self._channels = form.shape[1]
        self.rows = prod(form.shape) // max(1, self._channels)
        repeats = 1
        while 2 * repeats * self._channels <= _LINE and self.rows % (2 * repeats) == 0:
            repeats *= 2
        self._repeats = repeats
        self._shape = self.rows // repeats, repeats * self._channels
        self.zeros = np.zeros(self._shape[1], form.dtype)

    def of(self, x: HostArray) -> HostArray:
        """The elements, without a copy where the channels are last in memory."""
        return np.ascontiguousarray(np.moveaxis(x, 1, -1)).reshape(self._shape)

    def to_write(self, out: HostArray) -> HostArray:
        """Lines to write to: those of ``out`` where the channels are last in memory."""
        last = np.moveaxis(out, 1, -1)
        lines = last if last.flags.c_contiguous else np.empty(last.shape, out.dtype)
        return lines.reshape(self._shape)

    def repeated(self, vector: HostArray) -> HostArray:
        """A number for each channel, beside a line."""
        return cast(
            HostArray, np.tile(vector.astype(self.zeros.dtype), self._repeats)
        )  # whose stub forgets the element type

    def each[R](self, function: Callable[[slice], R]) -> list[R]:
        """The function of each block of lines, on several threads if there are many."""
        work = self.rows * self._channels * _WORK
        return threads.each(function, threads.parts(self._shape[0], work, most=_BLOCK // max(1, self._shape[1])))

    def total(self, function: Callable[[slice], HostArray], several: int = 1) -> HostArray:
        """The sums over all blocks and rows of what the function gives for a block: sums for each place in a line."""
        whole: HostArray = np.sum(self.each(function), axis=0, dtype=np.float64)
        totals: HostArray = whole.reshape(several, self._repeats, self._channels).sum(1)
        return totals if several > 1 else totals[0]


def _finish(lines: HostArray, out: HostArray) -> None:
    """What was written to lines goes to ``out``, if it is not there already."""
    if not np.may_share_memory(lines, out):
        last = np.moveaxis(out, 1, -1)
        last[...] = lines.reshape(last.shape)


def _scratch(like: HostArray) -> HostArray:
    return scratch.array("norm centred", like.shape, like.dtype)


def _sums(block: HostArray) -> HostArray:
    """The sum of each column; BLAS adds rows several times as fast as ``sum`` does."""
    total: HostArray = np.matmul(_ones(len(block), block.dtype), block)
    return total


@cache
def _ones(count: int, dtype: np.dtype[np.floating]) -> HostArray:
    return np.ones(count, dtype)
