"""Device memory shared with other libraries, without a copy: DLPack and CUDA's array interface."""

import ctypes
from typing import Protocol

from moonxi.backends.cupy.layouts import is_dense, row_major
from moonxi.backends.cupy.memory import DeviceArray, Lender, Space
from moonxi.dtypes import BF16, F16, F32, F64, I64, Bool, DType
from moonxi.errors import OperandError

_CUDA = 2
"""kDLCUDA."""
_CODES: dict[type[DType], tuple[int, int]] = {
    F32: (2, 32),
    F64: (2, 64),
    F16: (2, 16),
    BF16: (4, 16),
    I64: (0, 64),
    Bool: (6, 8),
}
"""DLDataTypeCode and bits."""
_TYPESTR: dict[type[DType], str] = {F32: "<f4", F64: "<f8", F16: "<f2", I64: "<i8", Bool: "|b1"}
_NAME = b"dltensor"


class SupportsDlpack(Protocol):
    """An array of another library."""

    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(self, *, stream: int | None = None) -> object: ...


class _Tensor(ctypes.Structure):
    """DLManagedTensor of dlpack.h, version 0."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


_given_out: dict[int, object] = {}
"""What keeps each tensor that was given out alive, until its new owner calls the deleter."""


def _let_go(address: int) -> None:
    _given_out.pop(address, None)


_delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_let_go)


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _end_of_capsule(capsule: int) -> None:
    """If nobody has taken the tensor out of the capsule, the memory is let go."""
    if _is_capsule(capsule, _NAME):
        _let_go(_pointer_of(capsule, _NAME))


_unused = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_end_of_capsule)


def dlpack(space: Space, x: DeviceArray, stream: int | None) -> object:
    """A capsule with the memory, in which all work done so far is seen by what comes next on the consumer's stream."""
    pointer = _given(x)  # before the wait: it may still have to be computed
    if stream != -1:
        _wait(space, 0 if stream in (None, 1) else stream)
    rank = len(x.shape)
    shape, strides = (ctypes.c_int64 * rank)(*x.shape), (ctypes.c_int64 * rank)(*x.strides)
    code, bits = _CODES[space.element]
    tensor = _Tensor(
        pointer,
        _CUDA,
        space.device.index,
        rank,
        code,
        bits,
        1,
        ctypes.addressof(shape),
        ctypes.addressof(strides),
        0,
        None,
        ctypes.cast(_delete, ctypes.c_void_p),
    )
    address = ctypes.addressof(tensor)
    _given_out[address] = (tensor, shape, strides, x.owner)
    capsule: object = _new_capsule(address, _NAME, ctypes.cast(_unused, ctypes.c_void_p))
    return capsule


def _given(x: DeviceArray) -> int:
    """The address, of which another library is going to know."""
    pointer = x.pointer  # what is pending is computed now
    if isinstance(x.owner, Lender):
        x.owner.give_away(x)
        pointer = x.pointer
    return pointer


class _Foreign:
    """A stream of another library, as CUDA's protocol for streams has it."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address


def _wait(space: Space, stream: int | None) -> None:
    """Let a stream wait for the current one."""
    from cupy.cuda import Event, Stream

    current = space.device.stream()
    if stream is not None and stream != current.ptr:
        event = Event(disable_timing=True)
        event.record(current)
        Stream.from_external(_Foreign(stream)).wait_event(event)


def array_interface(space: Space, x: DeviceArray) -> dict[str, object]:
    """CUDA's array interface, version 3. Raises `AttributeError` for BF16, which it does not know."""
    if space.element not in _TYPESTR:
        raise AttributeError(f"__cuda_array_interface__: {space.element.__name__} is unknown to it; use __dlpack__")
    return {
        "shape": x.shape,
        "typestr": _TYPESTR[space.element],
        "data": (_given(x), False),  # PyTorch refuses memory that is marked read-only
        "strides": tuple(stride * x.itemsize for stride in x.strides),
        "version": 3,
        "stream": space.device.stream().ptr or 1,
    }


def shared(space: Space, source: SupportsDlpack) -> DeviceArray:
    """The memory of an array of another library, which lives on the GPU of the space and has its element type."""
    kind, index = source.__dlpack_device__()
    name = f"{type(source).__module__.partition('.')[0]}.{type(source).__name__}"
    if kind != _CUDA or index != space.device.index:
        raise OperandError(
            f"from_dlpack: {name} on device {(int(kind), index)}: expected an array on GPU {space.device.index}; "
            "bring a host array in with x.from_host(array)"
        )
    import cupy

    array = cupy.from_dlpack(source)
    expected = "bfloat16" if space.element is BF16 else space.element.name
    if array.dtype.name != expected:
        raise OperandError(f"from_dlpack: {name} of {array.dtype.name}: expected elements of {expected}")
    size, shape = array.itemsize, array.shape
    strides = tuple(stride // size for stride in array.strides) if array.size else row_major(shape)
    return DeviceArray(array, array.data.ptr, shape, strides, size, array.size, is_dense(shape, strides))
