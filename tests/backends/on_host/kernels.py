"""A GPU that is none: the kernels compiled as C++ for the host, each run by one thread, behind what is called of CuPy.

Every kernel works with any number of threads, so one does. What this cannot show is a missing barrier or a race.
"""

import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache, partial
from hashlib import blake2b
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from moonxi.backends.cupy import cublas, device, launching
from tests.backends.on_host import streams

EAGER, RECORDING = 1, 2
"""Handles of cuBLAS: CuPy's and that of a recording."""
HEADER = Path(__file__).with_name("cuda.h")
HALVES = """
DEVICE float load(f16 x) { _Float16 y; std::memcpy(&y, &x.bits, 2); return (float)y; }
DEVICE void keep(float x, f16& y) { _Float16 z = (_Float16)x; std::memcpy(&y.bits, &z, 2); }
DEVICE void keep(float x, bf16& y) {  // to nearest, ties to even; NaN stays NaN
    unsigned bits = as_bits(x);
    y.bits = (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}
"""
_FOLDER = Path(tempfile.gettempdir()) / "moonxi-kernels-on-host"


def compiler() -> str | None:
    """A C++ compiler, if there is one."""
    return shutil.which("g++")


@cache
def _library(code: str) -> ctypes.CDLL:
    """The compiled source; kept for the next process."""
    whole = f'#include "{HEADER}"\n{code}{HALVES}'
    digest = blake2b((whole + HEADER.read_text()).encode(), digest_size=12).hexdigest()
    target = _FOLDER / f"{digest}.so"
    if not target.exists():
        _FOLDER.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            source, made = Path(folder) / "kernels.cpp", Path(folder) / "kernels.so"
            source.write_text(whole)
            command = [str(compiler()), "-std=c++17", "-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC"]
            subprocess.run([*command, str(source), "-o", str(made)], check=True)
            shutil.copy(made, target.with_suffix(f".{Path(folder).name}"))
            target.with_suffix(f".{Path(folder).name}").replace(target)
    return ctypes.CDLL(str(target))


@cache
def _struct(words: int) -> type[ctypes.Structure]:
    return type(f"Struct{words}", (ctypes.Structure,), {"_fields_": [("words", ctypes.c_longlong * words)]})


def _argument(value: object) -> Any:
    if isinstance(value, bytes):
        return _struct(len(value) // 8).from_buffer_copy(value)
    if isinstance(value, np.uint64):
        return ctypes.c_ulonglong(int(value))
    if type(value) is int:
        return ctypes.c_longlong(value)
    if type(value) is float:
        return ctypes.c_double(value)
    raise TypeError(f"no kernel takes a {type(value).__name__}")


class Handle:
    """In the place of `moonxi.backends.cupy.cublas.Handle`."""

    def __init__(self, stream: int, workspace: int, bytes: int) -> None:
        assert stream != 0
        assert workspace != 0
        assert bytes >= 1 << 22

    def calls(self) -> cublas.Calls:
        return cublas.Calls(partial(_single_gemm, RECORDING), partial(_gemm, RECORDING))


class RawModule:
    def __init__(self, *, code: str, options: tuple[str, ...], backend: str) -> None:
        assert options[0] == "--std=c++17"
        assert backend == "nvrtc"
        self.library = _library(code)
        _used.setdefault(self.library._name, set())

    def get_function(self, name: str) -> SimpleNamespace:
        _used[self.library._name].add(name)
        function = self.library[name]
        function.restype = None
        _functions.append(function)
        return SimpleNamespace(kernel=SimpleNamespace(ptr=len(_functions) - 1))


_used: dict[str, set[str]] = {}
"""The kernels that were asked for, of each compiled source."""


def unused() -> list[str]:
    """The kernels of the sources compiled until now that nobody has asked for, whatever the element type."""
    there: set[str] = set()
    for library in _used:
        found = subprocess.run(
            ["nm", "--dynamic", "--defined-only", library], capture_output=True, text=True, check=True
        )
        there |= {name for _, kind, name in map(str.split, found.stdout.splitlines()) if kind == "T" and name[0] != "_"}
    return sorted(there.difference(*_used.values()))


_functions: list[Any] = []
"""The number of each stands for its address."""


class HostKernel:
    """In the place of `moonxi.backends.cupy.launching.Kernel`."""

    def __init__(self, name: str, function: int, arguments: tuple[object, ...]) -> None:
        self.function = _functions[function]
        self.types = [type(argument) for argument in arguments]

    def __call__(self, blocks: int, threads: tuple[int, int], stream: int, arguments: tuple[object, ...]) -> None:
        assert blocks > 0
        assert 1 <= threads[0] * threads[1] <= 1024
        assert all(count & (count - 1) == 0 for count in threads)
        assert [type(argument) for argument in arguments] == self.types
        streams.do(lambda: self.function(*map(_argument, arguments)))

    def in_clusters(
        self, size: int, blocks: int, threads: tuple[int, int], stream: int, arguments: tuple[object, ...]
    ) -> None:
        assert blocks % size == 0
        assert size <= 16
        self(blocks, threads, stream, arguments)


def _address(pointer: int, size: int) -> Any:
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(pointer))


def _copy(target: int, source: int, size: int, kind: int, stream: int) -> None:
    assert kind in (1, 2, 3)
    assert kind == 3 or not streams.is_capturing(), "a host address in a CUDA graph"
    streams.do(lambda: ctypes.memmove(target, source, size))


_KINDS: dict[int, Any] = {0: np.float32, 1: np.float64, 2: np.float16, 14: np.uint16}


def _matrix(pointer: int, kind: int, rows: int, columns: int, leading: int, step: int, batch: int) -> Any:
    """Matrices as BLAS has them, column after column, with NumPy's strides."""
    dtype = np.dtype(_KINDS[kind])
    assert leading >= max(1, rows)
    size = (max(batch - 1, 0) * abs(step) + (columns - 1) * leading + rows) * dtype.itemsize
    flat = _address(pointer, size).view(dtype)
    strides = (step * dtype.itemsize, dtype.itemsize, leading * dtype.itemsize)
    return np.lib.stride_tricks.as_strided(flat, (batch, rows, columns), strides)


def _numbers(matrix: Any) -> Any:
    if matrix.dtype == np.uint16:
        return (matrix.astype(np.uint32) << 16).view(np.float32)
    return matrix.astype(np.float32) if matrix.dtype == np.float16 else matrix


def _gemm(
    handle: int, ta: int, tb: int, m: int, n: int, k: int, alpha: int, a: int, kind: int, lda: int, step_a: int, b: int,
    kind_b: int, ldb: int, step_b: int, beta: int, c: int, kind_c: int, ldc: int, step_c: int, batch: int, compute: int,
    algorithm: int,
) -> None:  # fmt: skip
    assert handle == RECORDING or not streams.is_capturing(), "CuPy's cuBLAS refuses capture"
    arguments = ta, tb, m, n, k, a, kind, lda, step_a, b, kind_b, ldb, step_b, c, kind_c, ldc, step_c, batch, compute
    scalar = np.float64 if kind == 1 else np.float32
    one, before = (_address(p, np.dtype(scalar).itemsize).view(scalar)[0] for p in (alpha, beta))
    assert one == 1.0
    streams.do(lambda: _multiply(*arguments, before))


def _multiply(
    ta: int, tb: int, m: int, n: int, k: int, a: int, kind: int, lda: int, step_a: int, b: int, kind_b: int, ldb: int,
    step_b: int, c: int, kind_c: int, ldc: int, step_c: int, batch: int, compute: int, before: float,
) -> None:  # fmt: skip
    assert kind == kind_b == kind_c
    assert compute == {1: 70}.get(kind, 68)
    left = _numbers(_matrix(a, kind, *((k, m) if ta else (m, k)), lda, step_a, batch))
    right = _numbers(_matrix(b, kind, *((n, k) if tb else (k, n)), ldb, step_b, batch))
    out = _matrix(c, kind, m, n, ldc, step_c, batch)
    left, right = (x.transpose(0, 2, 1) if t else x for x, t in ((left, ta), (right, tb)))
    found = np.matmul(left, right) + (_numbers(out) * before if before else 0)
    if kind == 14:
        from moonxi.backends.cupy import bits
        from moonxi.dtypes import BF16

        found = bits.rounded(found, BF16)
    out[...] = found


def _single_gemm(
    handle: int, ta: int, tb: int, m: int, n: int, k: int, alpha: int, a: int, kind: int, lda: int, b: int,
    kind_b: int, ldb: int, beta: int, c: int, kind_c: int, ldc: int, compute: int, algorithm: int,
) -> None:  # fmt: skip
    left, right, out = (a, kind, lda, 0), (b, kind_b, ldb, 0), (c, kind_c, ldc, 0)
    _gemm(handle, ta, tb, m, n, k, alpha, *left, *right, beta, *out, 1, compute, algorithm)


def module() -> ModuleType:
    """What the backend calls of CuPy."""
    cupy, cuda = ModuleType("cupy"), ModuleType("cupy.cuda")
    runtime, products = ModuleType("runtime"), ModuleType("cublas")
    cupy.__spec__, cuda.__spec__ = ModuleSpec("cupy", None), ModuleSpec("cupy.cuda", None)
    contents: dict[ModuleType, dict[str, Any]] = {
        cupy: {
            "cuda": cuda,
            "RawModule": RawModule,
            "get_default_memory_pool": lambda: SimpleNamespace(
                free_all_blocks=lambda: None, used_bytes=lambda: 3 << 30
            ),
        },
        cuda: {
            "runtime": runtime,
            "cublas": products,
            "set_allocator": lambda allocator: None,
            "alloc": streams.alloc,
            "alloc_pinned_memory": streams.PinnedMemory,
            "using_allocator": streams.using_allocator,
            "MemoryPool": streams.MemoryPool,
            "Stream": streams.Stream,
            "Event": streams.Event,
            "Device": lambda index: SimpleNamespace(
                use=lambda: None, attributes={"MultiProcessorCount": 4}, compute_capability="90"
            ),
            "get_current_stream": streams.current,
            "get_cublas_handle": lambda: EAGER,
        },
        runtime: {
            "getDeviceCount": lambda: 1,
            "getDevice": lambda: 0,
            "memcpyAsync": _copy,
            "memcpyHostToDevice": 1,
            "memcpyDeviceToHost": 2,
            "memcpyDeviceToDevice": 3,
            "memGetInfo": lambda: (1 << 30, 4 << 30),
        },
        products: {"gemmEx": _single_gemm, "gemmStridedBatchedEx": _gemm},
    }
    for one, names in contents.items():
        vars(one).update(names)
    return cupy


def install() -> Callable[[], None]:
    """Put it in CuPy's place; gives what takes it away again."""
    cupy = module()
    vars(device)["Kernel"] = HostKernel
    handle = vars(cublas)["Handle"]
    vars(cublas)["Handle"] = Handle
    sys.modules["cupy"], sys.modules["cupy.cuda"] = cupy, vars(cupy)["cuda"]

    def remove() -> None:
        for name in ("cupy", "cupy.cuda"):
            del sys.modules[name]
        vars(device)["Kernel"], vars(cublas)["Handle"] = launching.Kernel, handle

    return remove
