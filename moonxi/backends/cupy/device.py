"""One GPU: its memory, its compiled kernels and its record of labels that are no class."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from moonxi.backends.cupy.launching import Argument, Kernel
from moonxi.backends.cupy.presence import require
from moonxi.backends.cupy.staging import Upload
from moonxi.errors import DeviceError, LabelError
from moonxi.uploading import arrivals

if TYPE_CHECKING:
    from cupy import RawModule
    from cupy.cuda import MemoryPointer, Stream

LABEL_OPERATIONS = ("gather", "scatter_add", "pick", "put", "one_hot")
_THREADS = (256, 1)
_WAVES = 16
_CLUSTERS = {"90": 16, "100": 16}
"""Blocks of a cluster by compute capability, where more than the eight are known that every GPU with clusters has."""


class Kernels:
    """The kernels of one source, compiled when the first is launched; CuPy keeps them on disk."""

    __slots__ = ("_compiled", "_device", "_module", "_options", "_source")

    def __init__(self, device: "Device", source: Callable[[], str], options: tuple[str, ...]) -> None:
        self._device, self._source, self._options = device, source, options
        self._module: RawModule | None = None
        self._compiled: dict[str, Kernel] = {}

    def launch(self, name: str, threads: int, *arguments: Argument) -> None:
        """Run a kernel on at least this many threads, or as many as fill the device several times."""
        if threads > 0:
            device = self._device
            blocks = (threads + 255) >> 8
            if blocks > device.most_blocks:
                blocks = device.most_blocks
            if Device.several:
                device.enter()
            kernel = self._compiled.get(name) or self._compile(name, arguments)
            kernel(blocks, _THREADS, device.stream().ptr, arguments)

    def launch_blocks(
        self, name: str, blocks: int, threads: tuple[int, int], *arguments: Argument, cluster: int = 1
    ) -> None:
        """Run a kernel on blocks of this many threads, on the current stream; as many as ``cluster`` form a cluster."""
        device = self._device
        if Device.several:
            device.enter()
        kernel = self._compiled.get(name) or self._compile(name, arguments)
        if cluster > 1:
            kernel.in_clusters(cluster, blocks, threads, device.stream().ptr, arguments)
        else:
            kernel(blocks, threads, device.stream().ptr, arguments)

    def _compile(self, name: str, arguments: tuple[Argument, ...]) -> Kernel:
        import cupy

        self._device.enter()
        if self._module is None:
            self._module = cupy.RawModule(code=self._source(), options=self._options, backend="nvrtc")
        kernel = Kernel(name, self._module.get_function(name).kernel.ptr, arguments)
        return self._compiled.setdefault(name, kernel)


class Device:
    """A GPU by its number. Work goes to CuPy's current stream of the calling thread."""

    __slots__ = (
        *("_alloc", "_fault", "index", "labels_were_read", "most_blocks", "most_in_cluster", "processors", "stream"),
    )

    several = False
    """Whether more than one GPU is in use, so that the right one must be made current before each operation."""

    def __init__(self, index: int) -> None:
        require(index)
        import cupy

        self.index = index
        self._alloc = cupy.cuda.alloc
        self.stream: Callable[[], Stream] = cupy.cuda.get_current_stream
        self._fault: MemoryPointer | None = None
        self.labels_were_read = False
        found = cupy.cuda.Device(index)
        self.processors: int = found.attributes["MultiProcessorCount"]
        self.most_blocks = _WAVES * self.processors
        self.most_in_cluster = _CLUSTERS.get(found.compute_capability, 8 if int(found.compute_capability) > 90 else 1)
        """Blocks, at most, that can see each other's shared memory."""
        Device.several = Device.several or index != cupy.cuda.runtime.getDevice()

    def enter(self) -> None:
        """Make this GPU the current one of the thread."""
        from cupy.cuda import Device as Current

        Current(self.index).use()

    # -- memory --------------------------------------------------------------------------------------------------

    def allocate(self, size: int) -> "MemoryPointer":
        """Bytes from CuPy's pool. Raises `DeviceError` if there are too few; what is there stays usable."""
        if Device.several:
            self.enter()
        try:
            return self._alloc(size)
        except MemoryError:  # CuPy's OutOfMemoryError
            import cupy

            pool = cupy.get_default_memory_pool()
            pool.free_all_blocks()
            free, total = cupy.cuda.runtime.memGetInfo()
            raise DeviceError(
                f"GPU {self.index}: out of memory: asked for {_size(size)}, with {_size(pool.used_bytes())} in use by "
                f"this process and {_size(free)} of {_size(total)} free; make the batch smaller, or let go of tensors "
                "that are no longer needed"
            ) from None

    def release_unused(self) -> None:
        """Give back to the driver what CuPy's pool keeps for later, which waits for all work."""
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()

    def upload(self, array: NDArray[np.generic]) -> "MemoryPointer":
        """A copy of a contiguous host array; the host does not wait for work that is under way.

        In a thread that makes batches ahead it goes on beside that work: see `moonxi.uploading`."""
        memory = self.allocate(array.nbytes)
        under_way = arrivals()
        if under_way is None or not array.nbytes:
            self.write(array, memory.ptr)
        else:
            under_way.append(Upload(self, array, memory.ptr))
        return memory

    def write(self, array: NDArray[np.generic], pointer: int) -> None:
        """Copy a contiguous host array to an address; the host does not wait for work that is under way."""
        from cupy.cuda import runtime

        if array.nbytes:
            runtime.memcpyAsync(pointer, array.ctypes.data, array.nbytes, runtime.memcpyHostToDevice, self.stream().ptr)

    def duplicate(self, source: int, target: int, size: int) -> None:
        """Copy bytes on the device, on the current stream."""
        from cupy.cuda import runtime

        if Device.several:
            self.enter()
        if size:
            runtime.memcpyAsync(target, source, size, runtime.memcpyDeviceToDevice, self.stream().ptr)

    def download(self, pointer: int, array: NDArray[np.generic]) -> None:
        """Fill a contiguous host array from device memory, once all work before it is done."""
        from cupy.cuda import runtime

        if Device.several:
            self.enter()
        stream = self.stream()
        if array.nbytes:
            runtime.memcpyAsync(array.ctypes.data, pointer, array.nbytes, runtime.memcpyDeviceToHost, stream.ptr)
        stream.synchronize()

    # -- labels that are no class ----------------------------------------------------------------------------------

    @property
    def fault(self) -> int:
        """Where kernels write down the first label that is no class."""
        self.labels_were_read = True
        if self._fault is None:
            self._fault = self.upload(np.zeros(5, np.int64))
        return self._fault.ptr

    def check_labels(self) -> None:
        """Raise `LabelError` if a kernel has met a label that is no class since the last call."""
        if not self.labels_were_read or self._fault is None:
            return
        self.labels_were_read = False
        found = np.zeros(5, np.int64)
        self.download(self._fault.ptr, found)
        is_set, operation, label, place, classes = found.tolist()
        if is_set:
            found[:] = 0
            self.write(found, self._fault.ptr)
            raise LabelError(
                f"{LABEL_OPERATIONS[operation]}: label {label}, number {place} of the labels, is not a class from 0 to "
                f"{classes - 1}. It was found before this result was read, and what was computed from it is wrong; "
                "make tensors with gpu(debug=True) to be told at the operation itself"
            )


@cache
def device(index: int) -> Device:
    """The GPU of this number. Raises `DeviceError` if there is none."""
    return Device(index)


def _size(count: int) -> str:
    """Bytes for people."""
    return f"{count / 2**30:.2f} GiB" if count >= 2**30 else f"{count / 2**20:.2f} MiB"
