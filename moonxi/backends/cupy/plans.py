"""Convolution by cuDNN: one plan for each kind, shape and element type, made at first use and kept.

Everything lies with the channels last. Only engines whose results have the same bits every time are taken, and for
`F32` without ``tf32=True`` only those that multiply in single precision. What has no plan is left to `convolution`.
"""

from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from moonxi.backends.cupy import single_place, tuning
from moonxi.backends.cupy.layouts import lying, ordered
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.dtypes import BF16, F16, F32
from moonxi.shapes import Conv2d, Window
from moonxi.thread_setting import ThreadSetting
from moonxi.traits import Shape

if TYPE_CHECKING:
    from cudnn import data_type, pygraph

type Kind = Literal["result", "images", "weight"]
"""What a convolution computes: its result, or the gradient of its images or of its weight."""

_LAST = (0, 2, 3, 1)
_FIRST, _SECOND, _RESULT = 1, 2, 3
_WORKSPACE = 1 << 30
"""Bytes that a plan may ask for."""


_streams: dict[int, int] = {}
"""The stream on which each handle works."""


branch = ThreadSetting(0)
"""By the handle of which branch this thread's convolutions are made: there is one for each stream of a recording."""


class Plan:
    """A convolution as cuDNN executes it."""

    __slots__ = ("_graph", "_index", "_workspace")

    def __init__(self, graph: "pygraph", index: int, workspace: int) -> None:
        self._graph, self._index, self._workspace = graph, index, workspace

    def run(self, space: Space, first: DeviceArray, second: DeviceArray, out: DeviceArray) -> None:
        """Compute on the current stream; everything lies with the channels last, from a multiple of 16 bytes on."""
        device = space.device
        if device.several:
            device.enter()
        handle = _handle(device.index, branch.value)
        stream = device.stream().ptr
        if _streams.get(handle) != stream:
            _work_on(handle, stream)
        pointers = {_FIRST: first.pointer, _SECOND: second.pointer, _RESULT: out.pointer}
        if self._workspace:
            memory = device.allocate(self._workspace)  # held until the launch
            self._graph.execute_plan_at_index(pointers, memory.ptr, self._index, handle=handle)
        else:
            self._graph.execute_plan_at_index(pointers, 0, self._index, handle=handle)


def _work_on(handle: int, stream: int) -> None:
    """Have the handle work on a stream."""
    import cudnn

    cudnn.set_stream(handle=handle, stream=stream)
    _streams[handle] = stream


class Convolution:
    """A convolution, with the plans that were made for it: the rule's own result, asked for once a shape."""

    __slots__ = ("_plans", "conv", "images", "is_empty", "result", "seen", "weight")

    def __init__(self, conv: Conv2d[int]) -> None:
        self.conv = conv
        self.images, self.weight, self.result = (lying(shape, _LAST) for shape in shapes_of("result", conv))
        """How they lie, with the channels last."""
        self.is_empty = 0 in (conv.batch, conv.inputs, conv.outputs)
        self.seen = single_place.seen(conv)
        self._plans: dict[tuple[Kind, Space, bool], Plan | None] = {}

    def plan(self, kind: Kind, space: Space) -> Plan | None:
        """The plan of cuDNN; None if it is not installed or has none."""
        tuned = space.autotune or tuning.is_wanted()
        key = (kind, space, tuned)
        found = self._plans.get(key)
        if found is None and key not in self._plans:
            there = _can_have_one(self.conv, space)
            try:
                found = self._plans[key] = _made(kind, self.conv, space, tuned=tuned) if there else None
            except TimeoutError:  # it is tried the next time
                return self._untuned(kind, space)
        return found

    def _untuned(self, kind: Kind, space: Space) -> Plan | None:
        key = (kind, space, False)
        if key not in self._plans:
            self._plans[key] = _made(kind, self.conv, space, tuned=False)
        return self._plans[key]


def _can_have_one(conv: Conv2d[int], space: Space) -> bool:
    """Whether to ask: cuDNN 9.19 has died of padding that differs before and after the image."""
    alike = all(_is_symmetric(window) for window in (conv.rows, conv.columns))
    return alike and space.element in (F32, F16, BF16) and _is_there()


def _made(kind: Kind, conv: Conv2d[int], space: Space, *, tuned: bool) -> Plan | None:
    import cudnn

    space.device.enter()
    kinds = cudnn.data_type
    element = kinds.FLOAT if space.element is F32 else kinds.HALF if space.element is F16 else kinds.BFLOAT16
    try:
        graph = _graph(kind, conv, element, _handle(space.device.index, 0))
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.B, cudnn.heur_mode.FALLBACK])
        unwanted = [cudnn.numerical_note.NONDETERMINISTIC]
        if space.element is F32 and not space.tf32:
            unwanted += [cudnn.numerical_note.TENSOR_CORE, cudnn.numerical_note.WINOGRAD, cudnn.numerical_note.FFT]
        graph.deselect_numeric_notes(unwanted)
        graph.deselect_behavior_notes([cudnn.behavior_note.RUNTIME_COMPILATION])  # while they are tried
        graph.check_support()
        plans = graph.get_execution_plan_count()
    except Exception:  # cuDNN's errors are of several classes, and each means that there is no plan
        return None
    if tuned:
        try:
            return tuning.fastest(space, kind, conv, plans, partial(_built, graph), _trial(kind, conv, space))
        except TimeoutError:
            raise
        except Exception:  # as above
            return None
    for index in range(plans):
        try:
            return _built(graph, index)
        except Exception:  # as above
            continue
    return None


def _built(graph: "pygraph", index: int) -> Plan:
    """The plan of a number. Raises if it cannot be built, or needs too large a workspace."""
    graph.build_plan_at_index(index)
    workspace = graph.get_workspace_size_plan_at_index(index)
    if workspace > _WORKSPACE:
        raise ValueError(f"a plan that needs {workspace} bytes")
    return Plan(graph, index, workspace)


def _trial(kind: Kind, conv: Conv2d[int], space: Space) -> Callable[[Plan], None]:
    """What runs plans on operands of its own, which are made for the first."""
    made: list[DeviceArray] = []

    def run(plan: Plan) -> None:
        if not made:
            made.extend(space.full(shape, 0.5) for shape in shapes_of(kind, conv))
        plan.run(space, *made)

    return run


def shapes_of(kind: Kind, conv: Conv2d[int]) -> tuple[Shape, Shape, Shape]:
    """Of both operands and of what is computed."""
    images: Shape = (conv.batch, conv.inputs, conv.rows.size, conv.columns.size)
    weight: Shape = (conv.outputs, conv.inputs // conv.groups, conv.rows.kernel, conv.columns.kernel)
    if kind == "result":
        return images, weight, conv.shape
    return (conv.shape, weight, images) if kind == "images" else (images, conv.shape, weight)


def _graph(kind: Kind, conv: Conv2d[int], element: "data_type", handle: int) -> "pygraph":
    import cudnn

    single = cudnn.data_type.FLOAT
    graph = cudnn.pygraph(io_data_type=element, intermediate_data_type=single, compute_data_type=single, handle=handle)
    windows = (conv.rows, conv.columns)
    padding = [window.before for window in windows]
    stride = [window.stride for window in windows]
    dilation = [window.dilation for window in windows]
    shapes = shapes_of(kind, conv)
    first, second = (
        graph.tensor(dim=shape, stride=ordered(shape, _LAST), data_type=element, name=name, uid=uid)
        for shape, name, uid in ((shapes[0], "first", _FIRST), (shapes[1], "second", _SECOND))
    )
    if kind == "result":
        out = graph.conv_fprop(image=first, weight=second, padding=padding, stride=stride, dilation=dilation)
    elif kind == "images":
        out = graph.conv_dgrad(loss=first, filter=second, padding=padding, stride=stride, dilation=dilation)
    else:
        out = graph.conv_wgrad(image=first, loss=second, padding=padding, stride=stride, dilation=dilation)
    out.set_output(True).set_data_type(element).set_uid(_RESULT)
    out.set_dim(shapes[2]).set_stride(ordered(shapes[2], _LAST))
    graph.validate()
    graph.build_operation_graph()
    return graph


def _is_symmetric(window: Window[int]) -> bool:
    """Whether as much padding after the axis as before it gives the same places."""
    reach = (window.kernel - 1) * window.dilation + 1
    return (window.size + 2 * window.before - reach) // window.stride + 1 == window.count


@cache
def _is_there() -> bool:
    """Whether cuDNN and its frontend can be used."""
    if find_spec("cudnn") is None:
        return False
    try:
        import cudnn

        return cudnn.backend_version() >= 90000
    except Exception:  # the package is there, the library or its driver is not
        return False


@cache
def _handle(index: int, branch: int) -> int:
    """The cuDNN handle of a GPU for a branch."""
    import cudnn

    return cudnn.create_handle()
