"""The configurations that are compared with PyTorch: plain data, read by the tests and by ``make_reference.py``.

Both this file and that script also run on Python 3.11, where PyTorch may live.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Configuration:
    operation: str
    title: str
    shapes: tuple[tuple[int, ...], ...]
    """Of the tensors, the first of which has the method."""
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    ties: bool = False
    """Whether the elements are small integers, so that many in a window are equal."""

    @property
    def name(self) -> str:
        return f"{self.operation}, {self.title}"

    def operands(self) -> list[NDArray[np.float64]]:
        """The same in every version of NumPy: the generator behind ``RandomState`` is frozen."""
        random = np.random.RandomState([*self.name.encode()])
        arrays = [random.standard_normal(shape) for shape in self.shapes]
        if self.operation == "batch_norm_with":
            arrays[2] = np.abs(arrays[2]) + 0.1
        return [np.round(array) for array in arrays] if self.ties else arrays

    def cotangent(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """The gradient of the result."""
        return np.random.RandomState([*self.name.encode(), 1]).standard_normal(shape)


def _conv(
    title: str, x: tuple[int, ...], weight: tuple[int, ...], *, bias: bool = True, **options: Any
) -> Configuration:
    return Configuration("conv2d", title, (x, weight, weight[:1]) if bias else (x, weight), (), options)


def _transposed(
    title: str, x: tuple[int, ...], weight: tuple[int, ...], *, bias: bool = True, **options: Any
) -> Configuration:
    outputs = (weight[1] * options.get("groups", 1),)
    return Configuration("conv_transpose2d", title, (x, weight, outputs) if bias else (x, weight), (), options)


def _pool(
    operation: str, title: str, x: tuple[int, ...], kernel: Any, *, ties: bool = False, **options: Any
) -> Configuration:
    return Configuration(operation, title, (x,), (kernel,), options, ties)


CONVOLUTIONS = (
    _conv("plain", (2, 3, 5, 6), (4, 3, 3, 3)),
    _conv("without bias", (2, 3, 5, 6), (4, 3, 3, 3), bias=False),
    _conv("wide kernel", (2, 3, 5, 6), (4, 3, 1, 5)),
    _conv("high kernel", (2, 3, 6, 5), (4, 3, 5, 2)),
    _conv("padding", (2, 3, 5, 6), (4, 3, 3, 3), padding=1),
    _conv("two paddings", (2, 3, 5, 6), (4, 3, 3, 2), padding=(2, 1)),
    _conv("stride", (2, 3, 7, 6), (4, 3, 3, 3), stride=2, padding=1),
    _conv("two strides", (2, 3, 8, 7), (4, 3, 3, 2), stride=(3, 2)),
    _conv("stride that leaves pixels over", (2, 2, 8, 9), (3, 2, 2, 3), stride=(3, 4)),
    _conv("stride beyond the kernel", (2, 2, 8, 9), (3, 2, 1, 2), stride=(3, 4), padding=(0, 1)),
    _conv("dilation", (2, 3, 7, 8), (4, 3, 3, 3), dilation=2),
    _conv("two dilations, stride and padding", (2, 3, 9, 8), (4, 3, 3, 2), stride=2, padding=(2, 3), dilation=(2, 3)),
    _conv("same", (2, 3, 5, 6), (4, 3, 3, 5), padding="same"),
    _conv("same, even kernel", (2, 3, 5, 6), (4, 3, 2, 4), padding="same"),
    _conv("same, dilated", (2, 3, 5, 6), (4, 3, 2, 3), padding="same", dilation=(3, 2)),
    _conv("groups", (2, 4, 5, 6), (6, 2, 3, 3), groups=2),
    _conv("groups, stride, padding", (2, 6, 5, 7), (3, 2, 3, 2), groups=3, stride=2, padding=1),
    _conv("groups of one pixel", (2, 6, 3, 4), (4, 3, 1, 1), groups=2),
    _conv("depth-wise", (2, 5, 5, 6), (5, 1, 3, 3), groups=5, padding=1),
    _conv("depth-wise, several outputs", (2, 3, 5, 6), (6, 1, 2, 3), groups=3),
    _conv("depth-wise, stride, dilation", (2, 3, 8, 7), (6, 1, 3, 2), groups=3, stride=2, padding=2, dilation=2),
    _conv("one pixel kernel", (2, 3, 4, 5), (4, 3, 1, 1)),
    _conv("one pixel kernel, stride", (2, 3, 5, 4), (4, 3, 1, 1), stride=2),
    _conv("one pixel kernel, padding", (2, 3, 3, 4), (4, 3, 1, 1), padding=1),
    _conv("one channel", (2, 1, 5, 5), (3, 1, 3, 3), padding=1),
    _conv("one output channel", (2, 3, 5, 5), (1, 3, 3, 3)),
    _conv("batch of one", (1, 3, 5, 4), (5, 3, 3, 3), padding=1),
    _conv("output of one pixel", (3, 2, 4, 3), (5, 2, 4, 3)),
    _conv("first layer", (2, 3, 12, 11), (5, 3, 7, 7), stride=2, padding=3),
    _conv("image of one pixel", (4, 3, 1, 1), (5, 3, 3, 3), padding=1),
    _conv("image of one pixel, stride", (4, 3, 1, 1), (5, 3, 3, 3), padding=1, stride=2),
    _conv("tiny image", (30, 2, 2, 2), (3, 2, 3, 3), padding=1),
    _conv("tiny image, stride", (30, 2, 2, 3), (3, 2, 3, 3), padding=1, stride=2),
    _conv("tiny image, dilation", (40, 2, 2, 2), (3, 2, 5, 4), padding=4, dilation=2),
    _conv("more padding than kernel", (2, 2, 2, 3), (3, 2, 2, 3), padding=(3, 4)),
    _conv("more padding than kernel, stride", (2, 2, 1, 2), (3, 2, 3, 2), padding=(4, 3), stride=(2, 3)),
)

TRANSPOSED = (
    _transposed("plain", (2, 3, 4, 5), (3, 4, 3, 3)),
    _transposed("without bias", (2, 3, 4, 5), (3, 4, 2, 3), bias=False),
    _transposed("stride", (2, 3, 3, 4), (3, 4, 2, 2), stride=2),
    _transposed("stride, padding, output padding", (2, 3, 3, 4), (3, 4, 3, 3), stride=2, padding=1, output_padding=1),
    _transposed(
        "two of everything",
        (2, 3, 3, 4),
        (3, 2, 3, 2),
        stride=(3, 2),
        padding=(1, 2),
        output_padding=(2, 1),
        dilation=(1, 3),
    ),
    _transposed(
        "output padding beyond the stride", (2, 3, 3, 4), (3, 2, 2, 3), dilation=3, output_padding=(2, 1), padding=1
    ),
    _transposed("groups", (2, 4, 3, 4), (4, 3, 3, 2), groups=2, stride=2),
    _transposed("depth-wise", (2, 3, 3, 4), (3, 2, 3, 3), groups=3, stride=2, padding=1),
    _transposed("output of one pixel", (2, 3, 1, 1), (3, 2, 3, 3), padding=1),
)

POOLS = (
    _pool("max_pool2d", "plain", (2, 3, 6, 4), 2),
    _pool("max_pool2d", "overlapping", (2, 3, 7, 8), 3, stride=2, padding=1),
    _pool("max_pool2d", "ties", (2, 3, 7, 8), 3, stride=2, padding=1, ties=True),
    _pool("max_pool2d", "ties, dilation", (2, 3, 7, 8), (2, 3), stride=1, padding=1, dilation=2, ties=True),
    _pool("max_pool2d", "wide kernel", (2, 3, 6, 7), (1, 4), stride=(2, 1)),
    _pool("max_pool2d", "dilation", (2, 3, 7, 8), 3, stride=2, dilation=(1, 3)),
    _pool("max_pool2d", "ceil mode", (2, 3, 6, 8), 3, stride=2, ceil_mode=True),
    _pool("max_pool2d", "ceil mode, a window dropped", (2, 3, 5, 6), 2, stride=(3, 2), padding=1, ceil_mode=True),
    _pool("max_pool2d", "whole image", (2, 3, 4, 5), (4, 5)),
    _pool("max_pool2d", "batch and channel of one", (1, 1, 5, 5), 2),
    _pool("avg_pool2d", "plain", (2, 3, 6, 4), 2),
    _pool("avg_pool2d", "overlapping", (2, 3, 7, 8), 3, stride=2, padding=1),
    _pool("avg_pool2d", "padding does not count", (2, 3, 7, 8), 3, stride=2, padding=1, count_include_pad=False),
    _pool("avg_pool2d", "two of everything", (2, 3, 7, 8), (2, 5), stride=(1, 3), padding=(1, 2)),
    _pool("avg_pool2d", "ceil mode", (2, 3, 6, 8), (3, 4), stride=2, padding=1, ceil_mode=True),
    _pool(
        "avg_pool2d",
        "ceil mode, padding does not count",
        (2, 3, 6, 8),
        (3, 4),
        stride=(2, 3),
        padding=1,
        ceil_mode=True,
        count_include_pad=False,
    ),
    _pool("avg_pool2d", "ceil mode without padding", (1, 1, 5, 6), 2, stride=(2, 3), ceil_mode=True),
    _pool("adaptive_avg_pool2d", "whole image", (2, 3, 4, 5), 1),
    _pool("adaptive_avg_pool2d", "even windows", (2, 3, 6, 4), (3, 2)),
    _pool("adaptive_avg_pool2d", "uneven windows", (2, 3, 7, 8), (3, 5)),
    _pool("adaptive_avg_pool2d", "more than there are", (2, 1, 3, 2), (5, 3)),
)

SIZES = (
    _pool("upsample_nearest2d", "twice", (2, 3, 3, 4), (6, 8)),
    _pool("upsample_nearest2d", "uneven", (2, 3, 3, 4), (5, 7)),
    _pool("upsample_nearest2d", "smaller", (2, 3, 5, 7), (2, 3)),
    _pool("upsample_bilinear2d", "twice", (2, 3, 3, 4), (6, 8)),
    _pool("upsample_bilinear2d", "uneven", (2, 3, 3, 4), (5, 7)),
    _pool("upsample_bilinear2d", "smaller", (2, 3, 5, 7), (2, 3)),
    _pool("upsample_bilinear2d", "corners", (2, 3, 3, 4), (6, 8), align_corners=True),
    _pool("upsample_bilinear2d", "corners, smaller", (2, 3, 5, 7), (3, 1), align_corners=True),
    _pool("upsample_bilinear2d", "one pixel", (2, 3, 1, 1), (3, 2)),
    _pool("pad2d", "zeros", (2, 3, 3, 4), 2),
    _pool("pad2d", "a number", (2, 3, 3, 4), ((1, 2), (0, 3)), fill=-1.5),
    _pool("pad2d", "reflect", (2, 3, 4, 5), ((3, 1), (2, 4)), mode="reflect"),
    _pool("pad2d", "replicate", (2, 3, 3, 2), ((4, 1), (0, 3)), mode="replicate"),
    _pool("pad2d", "circular", (2, 3, 4, 3), ((4, 1), (2, 3)), mode="circular"),
)

NORMALISATIONS = (
    Configuration("batch_norm", "images", ((3, 4, 2, 5), (4,), (4,))),
    Configuration("batch_norm", "another eps", ((2, 3, 4, 3), (3,), (3,)), (), {"eps": 0.1}),
    Configuration("batch_norm", "vectors", ((5, 3), (3,), (3,))),
    Configuration("batch_norm", "sequences", ((3, 2, 4), (2,), (2,))),
    Configuration("batch_norm", "batch of one", ((1, 3, 3, 2), (3,), (3,))),
    Configuration("batch_norm_with", "images", ((2, 4, 3, 2), (4,), (4,), (4,), (4,))),
    Configuration("batch_norm_with", "vectors, another eps", ((5, 3), (3,), (3,), (3,), (3,)), (), {"eps": 0.1}),
    Configuration("group_norm", "two groups", ((2, 6, 3, 2), (6,), (6,)), (2,)),
    Configuration("group_norm", "one group", ((2, 3, 3, 2), (3,), (3,)), (1,), {"eps": 0.1}),
    Configuration("group_norm", "a group a channel", ((2, 3, 3, 2), (3,), (3,)), (3,)),
    Configuration("group_norm", "vectors", ((3, 6), (6,), (6,)), (2,)),
)

CONFIGURATIONS = (*CONVOLUTIONS, *TRANSPOSED, *POOLS, *SIZES, *NORMALISATIONS)
