"""Launching a compiled kernel with little work on the host: its arguments packed, and one call of the driver.

CuPy's own launch converts each argument by itself, at a microsecond each; its binding of the driver does not.
"""

import ctypes
from functools import cache
from struct import Struct as Packer
from threading import Lock

import numpy as np

from moonxi.backends.cupy.layouts import Struct
from moonxi.errors import DeviceError

type Argument = int | float | np.uint64 | Struct
"""What a kernel is given: a pointer or an integer, a number, 64 bits, or a struct; 8 bytes or several times that."""

_POINTER, _SIZE, _END = 1, 2, 0
"""CU_LAUNCH_PARAM_BUFFER_POINTER, ..._SIZE and ..._END."""
_CLUSTER_DIMENSION = 4
"""CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION."""
_NON_PORTABLE, _PORTABLE = 14, 8
"""CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, which larger clusters than this need."""
_lock = Lock()


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute of cuda.h, with the size of a cluster."""

    _fields_ = (("id", ctypes.c_uint), ("gap", ctypes.c_uint), ("value", ctypes.c_uint * 16))


class _Configuration(ctypes.Structure):
    """CUlaunchConfig of cuda.h."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("count", ctypes.c_uint),
    )


class Kernel:
    """A compiled kernel, and the place where its arguments are packed."""

    __slots__ = ("_configurations", "_extra", "_function", "_held", "_launch", "_name", "_pack", "_packed")

    def __init__(self, name: str, function: int, arguments: tuple[Argument, ...]) -> None:
        from cupy.cuda import driver

        packer = Packer("".join(map(_format, arguments)))
        self._name, self._function, self._pack = name, function, packer.pack_into
        self._launch = driver.launchKernel
        self._packed = (ctypes.c_ubyte * packer.size)()
        size = ctypes.c_size_t(packer.size)
        extra = (ctypes.c_void_p * 5)(_POINTER, ctypes.addressof(self._packed), _SIZE, ctypes.addressof(size), _END)
        self._extra, self._held = ctypes.addressof(extra), (extra, size)
        self._configurations: dict[tuple[int, int, tuple[int, int]], _Configuration] = {}

    def __call__(self, blocks: int, threads: tuple[int, int], stream: int, arguments: tuple[Argument, ...]) -> None:
        """Run on this many blocks of this many threads. Raises `DeviceError` if the driver refuses."""
        across, down = threads
        with _lock:
            self._pack(self._packed, 0, *arguments)
            try:
                self._launch(self._function, blocks, 1, 1, across, down, 1, 0, stream, 0, self._extra)
            except RuntimeError as error:  # CuPy's CUDADriverError
                raise self._refused(str(error)) from None

    def in_clusters(
        self, size: int, blocks: int, threads: tuple[int, int], stream: int, arguments: tuple[Argument, ...]
    ) -> None:
        """The same in clusters of ``size`` blocks, which see each other's shared memory; it divides their number.

        Raises `DeviceError` if the driver refuses, as on GPUs before compute capability 9.0."""
        key = size, blocks, threads
        with _lock:
            how = self._configurations.get(key)
            if how is None:
                how = self._configurations[key] = self._configuration(*key)
            how.stream = stream
            self._pack(self._packed, 0, *arguments)
            self._check(_extended_launch()(ctypes.byref(how), self._function, None, self._extra))

    def _configuration(self, size: int, blocks: int, threads: tuple[int, int]) -> _Configuration:
        if size > _PORTABLE:
            self._check(_attribute_setter()(self._function, _NON_PORTABLE, 1))
        cluster = _Attribute(_CLUSTER_DIMENSION, 0, (size, 1, 1))
        return _Configuration((blocks, 1, 1), (*threads, 1), 0, 0, ctypes.pointer(cluster), 1)

    def _check(self, status: int) -> None:
        if status:
            raise self._refused(f"error {status} of the CUDA driver")

    def _refused(self, why: str) -> DeviceError:
        return DeviceError(f"GPU: the kernel {self._name} could not be launched: {why}")


def _format(argument: Argument) -> str:
    """As `struct` spells the type."""
    if isinstance(argument, bytes):
        return f"{len(argument)}s"
    formats: dict[type, str] = {int: "q", float: "d", np.uint64: "Q"}
    return formats[type(argument)]


@cache
def _extended_launch() -> "ctypes._NamedFuncPointer":
    """``cuLaunchKernelEx``."""
    launch = ctypes.PyDLL("libcuda.so.1").cuLaunchKernelEx
    launch.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    launch.restype = ctypes.c_int
    return launch


@cache
def _attribute_setter() -> "ctypes._NamedFuncPointer":
    """``cuFuncSetAttribute``."""
    setter = ctypes.PyDLL("libcuda.so.1").cuFuncSetAttribute
    setter.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    setter.restype = ctypes.c_int
    return setter
