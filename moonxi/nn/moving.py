"""Models moved from one tensor class, element type or device to another."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from moonxi.dtypes import HostArray
from moonxi.traits import Tensor


class Readable(Protocol):
    """A tensor whose elements can be read: one of any backend."""

    def to_host(self) -> HostArray: ...


def to[U: Tensor](like: U, /) -> Callable[[Readable], U]:
    """What moves a tensor, by way of the host, to where ``like`` lives and to its element type.

    It is for ``map``: ``model.map(nn.to(mx.gpu()))`` is the model on the GPU, and has that type. Batches move alike:
    class indices stay integers, and masks masks."""

    def moved(tensor: Readable) -> U:
        array = tensor.to_host()
        if np.issubdtype(array.dtype, np.integer):
            return like.labels(array.astype(np.int64)).carrier
        if array.dtype == np.bool_:
            return (like.from_host(array.astype(np.float32)) > 0.5).carrier
        return like.from_host(array)

    return moved
