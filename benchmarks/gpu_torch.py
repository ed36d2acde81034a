"""PyTorch's training step on the GPU in its several forms, for `benchmarks.train_step`."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks import resnet_task
from benchmarks.gpu_tasks import Side

type Step = Callable[[], Any]
"""A training step, which gives the loss before it, on the device."""


def eager(side: Side) -> Step:
    """One operation after the other, with PyTorch's default optimizer for the GPU."""
    return _stepping(side, _loss_of(side), fused=False)


def compiled(side: Side) -> Step:
    """``torch.compile`` with ``mode="reduce-overhead"``, and the fused optimizer."""
    torch: Any = import_module("torch")
    return _stepping(side, torch.compile(_loss_of(side), mode="reduce-overhead"), fused=True)


def graph(side: Side) -> Step:
    """The whole step in one CUDA graph, with the fused optimizer."""
    return _captured(side, _loss_of(side))


def graph_of_compiled(side: Side) -> Step:
    """The whole step in one CUDA graph: compiled, channels last, with the fused optimizer."""
    torch: Any = import_module("torch")
    last = torch.channels_last
    batches = [(x.contiguous(memory_format=last) if x.ndim == 4 else x, y) for x, y in side.batches]
    moved = Side(side.model.to(memory_format=last), side.loss, batches)
    return _captured(moved, torch.compile(_loss_of(moved)))


def _loss_of(side: Side) -> Callable[[Any, Any], Any]:
    torch: Any = import_module("torch")

    def loss(x: Any, y: Any) -> Any:
        return torch.nn.functional.cross_entropy(side.loss(side.model, x).float(), y)

    return loss


def _optimizer(side: Side, *, fused: bool) -> Any:
    torch: Any = import_module("torch")
    return torch.optim.SGD(
        side.model.parameters(),
        lr=resnet_task.LEARNING_RATE,
        momentum=resnet_task.MOMENTUM,
        weight_decay=resnet_task.WEIGHT_DECAY,
        fused=fused or None,
    )


def _stepping(side: Side, loss: Callable[[Any, Any], Any], *, fused: bool) -> Step:
    optimizer = _optimizer(side, fused=fused)
    number = 0

    def step() -> Any:
        nonlocal number
        x, y = side.batches[number % len(side.batches)]
        number += 1
        return _updated(side, optimizer, loss(x, y))

    return step


def _updated(side: Side, optimizer: Any, value: Any) -> Any:
    """Backward pass, clipping and update for a loss, which is given back."""
    torch: Any = import_module("torch")
    optimizer.zero_grad()
    value.backward()
    torch.nn.utils.clip_grad_norm_(side.model.parameters(), resnet_task.CLIP_NORM)
    optimizer.step()
    return value


def _captured(side: Side, loss: Callable[[Any, Any], Any]) -> Step:
    """Warmed up for as many steps as there are batches, which the losses that are printed leave out."""
    torch: Any = import_module("torch")
    optimizer = _optimizer(side, fused=True)
    x, y = (one.clone() for one in side.batches[0])

    def step() -> Any:
        return _updated(side, optimizer, loss(x, y))

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(4):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        value = step()
    number = 0

    def replay() -> Any:
        nonlocal number
        new_x, new_y = side.batches[number % len(side.batches)]
        number += 1
        x.copy_(new_x)
        y.copy_(new_y)
        graph.replay()
        return value

    return replay
