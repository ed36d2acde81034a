"""cuBLAS: through CuPy's bindings, and in a recording, which those refuse, by calls of the library itself.

CuPy has loaded the library already; a recording has a handle and a workspace of its own.
"""

import ctypes
import os
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from moonxi.errors import DeviceError
from moonxi.thread_setting import ThreadSetting

WORKSPACE = 32 << 20
"""Bytes of a workspace, as NVIDIA's manual recommends for Hopper."""
SMALL_WORKSPACE = 8 << 20
"""Those for a stream beside the longest chain of a step, where products may take longer."""
_MAJOR = (13, 12, 11)
"""Versions of the library that may be loaded."""
_GEMM = "iiiiippiipiippiiii"
"""The types of the arguments of ``cublasGemmEx`` after the handle: integers and pointers."""
_GEMM_BATCHED = "iiiiippiilpiilppiiliii"
_TYPES = {"i": ctypes.c_int, "p": ctypes.c_void_p, "l": ctypes.c_longlong}


class Calls(NamedTuple):
    """The two products, without their first argument: the arguments are those of cuBLAS."""

    gemm: Callable[..., None]
    gemm_batched: Callable[..., None]


recording = ThreadSetting[Calls | None](None)
"""The calls by which this thread's products are made, while it records."""


def calls() -> Calls:
    """The products for the thread: those of the recording that is under way, or CuPy's."""
    return recording.value or _eager()


@cache
def _eager() -> Calls:
    from cupy.cuda import cublas, get_cublas_handle

    def gemm(*arguments: int) -> None:
        cublas.gemmEx(get_cublas_handle(), *arguments)

    def gemm_batched(*arguments: int) -> None:
        cublas.gemmStridedBatchedEx(get_cublas_handle(), *arguments)

    return Calls(gemm, gemm_batched)


class Handle:
    """A handle of the library for one stream, with a workspace of so many bytes at an address."""

    def __init__(self, stream: int, workspace: int, bytes: int) -> None:
        library = _library()
        self._handle = ctypes.c_void_p()
        self._destroy = library.cublasDestroy_v2
        _check("cublasCreate", library.cublasCreate_v2(ctypes.byref(self._handle)))
        _check("cublasSetStream", library.cublasSetStream_v2(self._handle, ctypes.c_void_p(stream)))
        size = ctypes.c_size_t(bytes)
        _check("cublasSetWorkspace", library.cublasSetWorkspace_v2(self._handle, ctypes.c_void_p(workspace), size))

    def calls(self) -> Calls:
        """The products on the stream."""
        library = _library()
        return Calls(
            self._call(library.cublasGemmEx, _GEMM), self._call(library.cublasGemmStridedBatchedEx, _GEMM_BATCHED)
        )

    def _call(self, function: "ctypes._NamedFuncPointer", types: str) -> Callable[..., None]:
        kinds = [_TYPES[letter] for letter in types]

        def call(*arguments: int) -> None:
            made = [kind(argument) for kind, argument in zip(kinds, arguments, strict=True)]
            _check("cublasGemm", function(self._handle, *made))

        return call

    def __del__(self) -> None:
        if self._handle.value:
            self._destroy(self._handle)


def _check(name: str, status: int) -> None:
    if status:
        raise DeviceError(f"GPU: {name}: error {status} of cuBLAS")


@cache
def _library() -> ctypes.CDLL:
    """The library that CuPy has loaded. Raises `DeviceError` if there is none."""
    from cupy.cuda import get_cublas_handle

    get_cublas_handle()  # CuPy loads it when it is first needed
    for major in _MAJOR:
        try:
            return ctypes.CDLL(f"libcublas.so.{major}", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:
            continue
    raise DeviceError(f"GPU: libcublas.so of version {_MAJOR} is not loaded, as it is where CuPy is")
