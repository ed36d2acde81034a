"""`DeviceArray`: elements in device memory and how they lie; and the spaces in which tensors live."""

from array import array
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from moonxi.backends.cupy import sources
from moonxi.backends.cupy.device import Device, Kernels, device
from moonxi.backends.cupy.layouts import Plan, Strides, is_dense, lie_alike, merged, row_major, walk
from moonxi.dtypes import I64, Bool, DType
from moonxi.formulas import Formula
from moonxi.norms import NormGradients, Norms
from moonxi.traits import Shape
from moonxi.waves import Waves

if TYPE_CHECKING:
    from moonxi.backends.cupy.fused import Call
    from moonxi.backends.cupy.waves import Compiled


PIECES: Final = 20
"""Pieces of memory that one kernel copies, at most: see ``Pieces`` of kernels/moving.cu."""
INLINE: Final = 16
"""Words that come with its launch, at most."""
WORDS: Final = 3 + INLINE + 3 * PIECES
"""Of the struct that it takes."""
_SMALL: Final = 1 << 14
"""Bytes of an array, at most, that shares a piece of memory with others that are made at once."""
_LINE: Final = 256
"""Bytes, of which those begin at a multiple."""


class Lender:
    """An owner of memory that takes note of each array there."""

    __slots__ = ()

    def add(self, array: "DeviceArray") -> None:
        """Take note of a view."""
        raise NotImplementedError

    def give_away(self, array: "DeviceArray") -> None:
        """Take note that another library is going to have the address of an array, which may be moved before."""
        raise NotImplementedError


class DeviceArray:
    """Where elements lie: an address, sizes and strides (in elements); ``owner`` keeps the memory alive."""

    __slots__ = ("__weakref__", "count", "dense", "itemsize", "kept", "last", "owner", "pointer", "shape", "strides")

    written: str | None = None
    """Of a product with a number that nobody has asked for yet: the number, as a formula has it; see `pending`."""

    def __init__(
        self, owner: object, pointer: int, shape: Shape, strides: Strides, itemsize: int, count: int, dense: bool
    ) -> None:
        self.owner = owner
        self.pointer = pointer
        self.shape = shape
        self.strides = strides
        self.itemsize = itemsize
        self.count = count
        """The number of elements."""
        self.dense = dense
        """Whether they lie together, in any order of the axes."""
        self.last: DeviceArray | None = None
        """A copy with the channels last, kept since a convolution needs it again for its gradients."""
        self.kept: tuple[object, DeviceArray] | None = None
        """What an operation has made of it and its gradient needs again, after what says which operation it was."""

    def view(self, shape: Shape, strides: Strides, offset: int = 0) -> "DeviceArray":
        """Other sizes and strides in the same memory, from ``offset`` elements on."""
        pointer = self.pointer + offset * self.itemsize
        return self._seen(pointer, shape, strides, prod(shape), is_dense(shape, strides))

    def turned(self, shape: Shape, strides: Strides) -> "DeviceArray":
        """All the elements with other sizes and strides."""
        return self._seen(self.pointer, shape, strides, self.count, self.dense)

    def _seen(self, pointer: int, shape: Shape, strides: Strides, count: int, dense: bool) -> "DeviceArray":
        owner = self.owner
        made = DeviceArray(owner, pointer, shape, strides, self.itemsize, count, dense)
        if isinstance(owner, Lender):
            owner.add(made)
        return made


class Space:
    """Where tensors live: a GPU, an element type, and how they are to be computed with."""

    __slots__ = (
        "_booleans",
        "_integers",
        "autotune",
        "calls",
        "classes",
        "debug",
        "device",
        "element",
        "elementwise",
        "formulas",
        "images",
        "itemsize",
        "moving",
        "norms",
        "random",
        "reductions",
        "tf32",
        "waves",
        "wide",
        "zeros",
    )

    def __init__(self, element: type[DType], on: Device, *, debug: bool, tf32: bool, autotune: bool) -> None:
        self.element, self.device, self.debug, self.tf32, self.autotune = element, on, debug, tf32, autotune
        self._integers: Space | None = None
        self._booleans: Space | None = None
        self.itemsize = element.itemsize
        self.wide = max(4, element.itemsize)
        """The size of the type that is computed in."""
        self.formulas: dict[tuple[Formula, int], Kernels] = {}
        """Kernels that were generated, for how many elements a thread takes at a time."""
        self.calls: dict[tuple[Formula, int], list["Call"]] = {}
        """Calls of them that were prepared, by the number of operands of all members."""
        self.waves: dict[tuple[Waves, tuple[Strides, ...]], "Compiled"] = {}
        """The same for waves, and the strides of their operands."""
        self.norms: dict[tuple[Norms | NormGradients, int, bool], Kernels] = {}
        """Those with batch norms, for how many channels a thread takes at a time, in one step or in two."""
        self.zeros: dict[int, DeviceArray] = {}
        """Vectors of zeros, by length: see `centred`."""
        self.moving = _kernels(on, "moving", element)
        self.elementwise = _kernels(on, "elementwise", element)
        self.reductions = _kernels(on, "reductions", element)
        self.classes = _kernels(on, "classes", element)
        self.random = _kernels(on, "random", element)
        self.images = _kernels(on, "images", element)

    @property
    def integers(self) -> "Space":
        """Where the carriers of labels live."""
        if self._integers is None:
            self._integers = self.of(I64)
        return self._integers

    @property
    def booleans(self) -> "Space":
        """Where the carriers of masks live."""
        if self._booleans is None:
            self._booleans = self.of(Bool)
        return self._booleans

    def of(self, element: type[DType]) -> "Space":
        """The same but for the element type."""
        return space(element, self.device.index, debug=self.debug, tf32=self.tf32, autotune=self.autotune)

    # -- arrays ------------------------------------------------------------------------------------------------

    def empty(self, shape: Shape, strides: Strides | None = None, *, itemsize: int | None = None) -> DeviceArray:
        """Memory of any content for elements that lie together."""
        size = self.itemsize if itemsize is None else itemsize
        count = prod(shape)
        memory = self.device.allocate(count * size)
        if strides is None:
            strides = row_major(shape)
        return DeviceArray(memory, memory.ptr, shape, strides, size, count, True)

    def planned(self, how: Plan, itemsize: int | None = None) -> DeviceArray:
        """Memory of any content for the result of an operation on several arrays."""
        size = self.itemsize if itemsize is None else itemsize
        memory = self.device.allocate(how.count * size)
        return DeviceArray(memory, memory.ptr, how.shape, how.strides, size, how.count, True)

    def like(self, x: DeviceArray, itemsize: int | None = None) -> DeviceArray:
        """Memory of any content for elements that lie as those of a dense array do."""
        size = self.itemsize if itemsize is None else itemsize
        memory = self.device.allocate(x.count * size)
        return DeviceArray(memory, memory.ptr, x.shape, x.strides, size, x.count, True)

    def vectors(self, count: int, length: int) -> list[DeviceArray]:
        """Memory of any content for so many vectors, all in one piece."""
        size = self.itemsize
        step = _lines(length * size)
        memory = self.device.allocate(count * step)
        first, shape = memory.ptr, (length,)
        return [DeviceArray(memory, first + n * step, shape, (1,), size, length, True) for n in range(count)]

    def full(self, shape: Shape, fill: float) -> DeviceArray:
        """One number everywhere."""
        out = self.empty(shape)
        self.moving.launch("fill", out.count, out.pointer, fill, out.count)
        return out

    def copy(self, x: DeviceArray, out: DeviceArray) -> None:
        """Move the elements into an array of the same shape that lies anyhow."""
        if not x.count:
            return
        order = sorted(range(len(x.shape)), key=lambda axis: -abs(out.strides[axis]))
        shape = tuple(x.shape[axis] for axis in order)
        source, target = (tuple(a.strides[axis] for axis in order) for a in (x, out))
        sizes, ((*own,), (*other,)) = merged(shape, source, target)
        if len(sizes) == 2:
            sizes, own, other = [1, *sizes], [prod(sizes), *own], [prod(sizes), *other]
        if len(sizes) == 3:
            batch, columns, rows = sizes
            # From (batch, rows, columns) to (batch, columns, rows), each without gaps, by tiles that are full enough.
            square = own == [rows * columns, 1, columns] and other == [rows * columns, rows, 1]
            if square and min(rows, columns) >= 8:
                blocks = batch * (-(-rows // 32)) * (-(-columns // 32))
                blocks = min(blocks, self.device.most_blocks)
                self.moving.launch_blocks("exchange", blocks, (32, 8), x.pointer, out.pointer, batch, rows, columns)
                return
        self.moving.launch("move", x.count, x.pointer, out.pointer, walk(shape, source, target))

    def gather(self, pieces: Sequence[tuple[int, int, int]]) -> None:
        """Copy up to `PIECES` pieces of memory, from and to these addresses and so many bytes, by one kernel."""
        words = array("Q", [len(pieces), *[0] * (2 + INLINE), *(word for piece in pieces for word in piece)])
        words.extend([0] * (WORDS - len(words)))
        blocks = sum((bytes >> 14) + 1 for _, _, bytes in pieces)
        self.moving.launch_blocks("bring", min(blocks, self.device.most_blocks), (256, 1), words.tobytes())

    def laid(self, x: DeviceArray, strides: Strides) -> DeviceArray:
        """The elements lying in this way, without a copy if they do."""
        if x.strides == strides:
            return x
        if lie_alike(x.shape, x.strides, strides) or not x.count:
            return x.view(x.shape, strides)
        out = self.empty(x.shape, strides)
        self.copy(x, out)
        return out

    def compact(self, x: DeviceArray) -> DeviceArray:
        """The elements in row-major order."""
        return self.laid(x, row_major(x.shape))

    def dense(self, x: DeviceArray) -> DeviceArray:
        """The elements together, in any order of the axes."""
        return x if x.dense else self.compact(x)

    # -- from and to the host ------------------------------------------------------------------------------------

    def from_bits(self, array: NDArray[np.generic]) -> DeviceArray:
        """A copy of a contiguous host array whose elements are those of this space, bit for bit."""
        memory = self.device.upload(array)
        shape = array.shape
        return DeviceArray(memory, memory.ptr, shape, row_major(shape), self.itemsize, array.size, True)

    def to_bits(self, x: DeviceArray, kind: np.dtype[np.generic]) -> NDArray[np.generic]:
        """A copy on the host, of a NumPy type as wide as the elements."""
        x = self.compact(x)
        array: NDArray[np.generic] = np.empty(x.shape, kind)
        self.device.download(x.pointer, array)
        return array


class Several:
    """Memory of any content for results that are made at once; small ones share a piece of it, which is had faster."""

    __slots__ = ("_each", "_room", "_space")

    def __init__(self, space: Space, plans: Sequence[Plan]) -> None:
        self._space, self._room = space, 0
        self._each: list[tuple[Plan, int | None]] = []
        """How each lies, and where it begins in the shared piece."""
        for how in plans:
            size = how.count * space.itemsize
            shares = len(plans) > 1 and size <= _SMALL
            self._each.append((how, self._room if shares else None))
            if shares:
                self._room += _lines(size)

    def made(self) -> list[DeviceArray]:
        """New arrays."""
        space, size = self._space, self._space.itemsize
        shared = space.device.allocate(self._room) if self._room else None
        pointer = 0 if shared is None else shared.ptr
        return [
            space.planned(how)
            if start is None
            else DeviceArray(shared, pointer + start, how.shape, how.strides, size, how.count, True)
            for how, start in self._each
        ]


def _lines(size: int) -> int:
    """So many bytes, up to where the next vector or result may begin."""
    return -(-size // _LINE) * _LINE


def _kernels(on: Device, topic: str, element: type[DType]) -> Kernels:
    return Kernels(on, lambda: sources.source(topic, element), sources.options(topic))


_spaces: dict[tuple[type[DType], int, bool, bool, bool], Space] = {}


def space(
    element: type[DType], index: int = 0, *, debug: bool = False, tf32: bool = False, autotune: bool = False
) -> Space:
    """The space of these properties; there is one of each, so that spaces are compared by identity."""
    key = (element, index, debug, tf32, autotune)
    found = _spaces.get(key)
    if found is None:
        made = Space(element, device(index), debug=debug, tf32=tf32, autotune=autotune)
        found = _spaces.setdefault(key, made)
    return found


def restored[C](
    kind: Callable[[DeviceArray, Space], C],
    host: NDArray[np.generic],
    element: type[DType],
    index: int,
    options: dict[str, bool],
) -> C:
    """A tensor out of a pickle, on the GPU of the number that it was on."""
    where = space(element, index, **options)
    return kind(where.from_bits(np.ascontiguousarray(host).reshape(host.shape)), where)
