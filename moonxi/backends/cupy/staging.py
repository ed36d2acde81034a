"""Uploads on a stream of their own, from pinned memory: the device copies while it computes, and no host waits."""

import threading
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cupy.cuda import Event, PinnedMemoryPointer, Stream

    from moonxi.backends.cupy.device import Device

_SLOTS = 2
"""Buffers of a size that a thread has: one is filled while the device reads the other."""


class _Thread(threading.local):
    """The stream on which a thread uploads to each device, and its buffers by size, each with the end of its use."""

    def __init__(self) -> None:
        self.streams: dict[int, Stream] = {}
        self.buffers: dict[int, list[tuple[PinnedMemoryPointer, Event]]] = {}


_thread = _Thread()


class Upload:
    """A copy under way; the array of the host may be changed already."""

    __slots__ = ("_device", "_done")

    def __init__(self, device: "Device", array: NDArray[np.generic], target: int) -> None:
        from cupy.cuda import Event, Stream, alloc_pinned_memory, runtime

        stream = _thread.streams.get(device.index)
        if stream is None:
            stream = _thread.streams[device.index] = Stream(non_blocking=True)
        # The memory may be that of an array of which work that was given to the device before still makes use.
        before = Event(disable_timing=True)
        before.record(device.stream())
        stream.wait_event(before)
        room = max(512, 1 << (array.nbytes - 1).bit_length())
        slots = _thread.buffers.setdefault(room, [])
        if len(slots) < _SLOTS:
            buffer = alloc_pinned_memory(room)
        else:
            buffer, used = slots.pop(0)
            used.synchronize()
        np.frombuffer(buffer, np.uint8, array.nbytes)[:] = np.frombuffer(array.data, np.uint8)
        runtime.memcpyAsync(target, buffer.ptr, array.nbytes, runtime.memcpyHostToDevice, stream.ptr)
        self._device, self._done = device, Event(disable_timing=True)
        self._done.record(stream)
        slots.append((buffer, self._done))

    def awaited(self) -> None:
        """Have the current stream of the calling thread wait for the copy."""
        self._device.stream().wait_event(self._done)
