"""The gradient of what goes into a batch norm: its sum over all but the channels is 0, and need not be added up.

A bias before a batch norm has this sum for its gradient. It is 0 if the mean is that of the norm's operand, as
`moonxi.compiled.passes.biases_before_norms` proves; rounding leaves some 1e-7 of what is added up. Views of such a
gradient, and all that is computed from it, are arrays like any other.
"""

from weakref import ref

from moonxi.backends.cupy import cublas
from moonxi.backends.cupy.memory import DeviceArray, Space


class Mean(DeviceArray):
    """The mean of each channel, which knows what it is the mean of."""

    __slots__ = ("_of",)

    def __init__(self, mean: DeviceArray, of: DeviceArray) -> None:
        super().__init__(mean.owner, mean.pointer, mean.shape, mean.strides, mean.itemsize, mean.count, mean.dense)
        self._of = ref(of)

    def is_of(self, x: DeviceArray) -> bool:
        """Whether it is the mean of this very array."""
        return self._of() is x


class Centred(DeviceArray):
    """A gradient whose sum over all but the channels is 0."""

    __slots__ = ()

    def __init__(self, x: DeviceArray) -> None:
        super().__init__(x.owner, x.pointer, x.shape, x.strides, x.itemsize, x.count, x.dense)

    def sums(self, space: Space, axes: tuple[int, ...]) -> DeviceArray | None:
        """The sum over these axes, if it is known; arrays of one length share the memory of their zeros."""
        if len(axes) != len(self.shape) - 1 or 1 in axes:
            return None
        length = self.shape[1]
        zeros = space.zeros.get(length)
        if zeros is None:
            zeros = space.full((length,), 0.0)
            if cublas.recording.value is not None:
                return zeros  # of which the memory is the recording's
            space.device.stream().synchronize()  # other streams find it filled
            space.zeros[length] = zeros
        return zeros.turned(zeros.shape, zeros.strides)
