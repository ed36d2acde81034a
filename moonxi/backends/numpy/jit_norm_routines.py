"""Batch norm for compiled steps by Numba, with what stands around it: the routines of `normalisation_routines`."""

from collections.abc import Callable
from math import prod
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from moonxi.backends.numpy import threads
from moonxi.backends.numpy.jit import plain
from moonxi.dtypes import HostArray
from moonxi.traits.kernels import Form, Request, Routine

_WORK: Final = 48
"""What an element costs in each pass, in multiplications of a product of matrices."""

type Outs = tuple[HostArray | None, ...]


def forward(request: Request) -> Routine:
    """Images, weight, bias and perhaps what is added to the result, means and variances."""
    from moonxi.backends.numpy.jit import norm as jit  # which imports Numba

    options: dict[str, Any] = request.options
    eps, relu = float(options.get("eps", 1e-5)), bool(options["relu"])
    rows = _Rows(request.operands[0])

    def run(x: HostArray, weight: HostArray, bias: HostArray, added: HostArray | None = None, *, out: Outs) -> None:
        y, mean_out, variance_out = out
        assert y is not None, "somebody needs the result"
        source, target = rows.of(x), rows.to_write(y)
        more = rows.none if added is None else rows.of(added)
        (total,) = rows.totals(lambda part, total: jit.sums(source[part], total))
        mean = (total / rows.count).astype(x.dtype)
        (total,) = rows.totals(lambda part, total: jit.squares(source[part], mean, total))
        variance = total / rows.count
        scale, offset = (weight / np.sqrt(variance + eps)).astype(x.dtype), np.array(bias)

        def finish(part: slice) -> None:
            jit.normalise(source[part], mean, scale, offset, more[part], relu, target[part])

        rows.each(finish)
        rows.finish(target, y)
        if mean_out is not None:
            mean_out[...] = mean
        if variance_out is not None:
            variance_out[...] = variance

    return run


def gradient(request: Request) -> Routine:
    """Images, weight, means, variances, gradients of the result and perhaps that result to all gradients."""
    from moonxi.backends.numpy.jit import norm as jit  # which imports Numba

    options: dict[str, Any] = request.options
    eps, masked = float(options.get("eps", 1e-5)), bool(options["masked"])
    rows = _Rows(request.operands[0])

    def run(
        x: HostArray, weight: HostArray, mean: HostArray, variance: HostArray, *given: HostArray, out: Outs
    ) -> None:
        dx_out, dw, db, incoming_out, sums_out = out
        source, middle = rows.of(x), np.array(mean)
        gradients = [rows.of(one) for one in (given[:-1] if masked else given)]
        mask = rows.of(given[-1]) if masked else rows.none
        more = gradients[1] if len(gradients) == 2 else rows.none
        dx = np.empty_like(source) if dx_out is None else rows.to_write(dx_out)
        plainly = not masked and len(gradients) == 1
        incoming = gradients[0] if plainly else dx if incoming_out is None else rows.to_write(incoming_out)

        def sums(part: slice, total: Totals, product: Totals) -> None:
            mine, target = gradients[0][part], incoming[part]
            jit.gradient_sums(source[part], middle, mine, more[part], mask[part], target, total, product)

        total, product = rows.totals(sums, 2)
        root = np.sqrt(variance.astype(np.float64) + eps)
        scale = (weight / root).astype(x.dtype)
        share = (total / rows.count).astype(x.dtype)
        slope = (product / (rows.count * root**2)).astype(x.dtype)

        def finish(part: slice, total: Totals) -> None:
            jit.gradient(source[part], middle, incoming[part], slope, share, scale, dx[part], total)

        if dx_out is not None or sums_out is not None:
            (found,) = rows.totals(finish)
            if sums_out is not None:
                sums_out[...] = found
            if dx_out is not None:
                rows.finish(dx, dx_out)
        if incoming_out is not None:
            rows.finish(incoming, incoming_out)
        if dw is not None:
            dw[...] = product / root
        if db is not None:
            db[...] = total

    return run


type Totals = NDArray[np.float64]


class _Rows:
    """How tensors ``(n, c, ...)`` of one shape are seen as rows of channels."""

    def __init__(self, form: Form) -> None:
        self._channels = form.shape[1]
        self.count = prod(form.shape) // max(1, self._channels)
        self.none = cast(HostArray, np.empty((0, self._channels), form.dtype))  # as the form is of a tensor

    def of(self, x: HostArray) -> HostArray:
        """The elements, without a copy where the channels are last in memory and they may be written to."""
        return plain(np.moveaxis(x, 1, -1)).reshape(-1, self._channels)

    def to_write(self, out: HostArray) -> HostArray:
        """Rows to write to: those of ``out`` where the channels are last in memory."""
        last = np.moveaxis(out, 1, -1)
        return (last if last.flags.c_contiguous else np.empty(last.shape, out.dtype)).reshape(-1, self._channels)

    def finish(self, rows: HostArray, out: HostArray) -> None:
        """What was written to rows goes to ``out``, if it is not there already."""
        if not np.may_share_memory(rows, out):
            last = np.moveaxis(out, 1, -1)
            last[...] = rows.reshape(last.shape)

    def each[R](self, function: Callable[[slice], R]) -> list[R]:
        """The function of each part of the rows, on several threads if there are many."""
        return threads.each(function, threads.parts(self.count, self.count * self._channels * _WORK))

    def totals(self, function: Callable[..., object], several: int = 1) -> Totals:
        """What the function adds up for each channel over all parts."""

        def work(part: slice) -> Totals:
            totals = np.zeros((several, self._channels))
            function(part, *totals)
            return totals

        whole: Totals = np.sum(self.each(work), axis=0)
        return whole
