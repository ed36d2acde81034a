"""Time of a training step on the GPU, eagerly, beside PyTorch in the same process: ``python -m benchmarks.gpu_eager``.

Both start from the same weights and see the same batches; the losses of the first steps are shown side by side. A time
is the median over rounds, in which the systems take turns, of the time of several steps between two synchronisations.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import moonxi as mx
from benchmarks import mlp_moonxi, mlp_task, resnet_moonxi, resnet_task
from benchmarks.resnet import make_task
from moonxi import nn
from moonxi.nn.models import ResNet18

type Step = Callable[[], Any]
"""A training step, which gives the loss before it, on the device."""

PRECISIONS = {"fp32": mx.F32, "tf32": mx.F32, "bf16": mx.BF16}
"""In bf16 everything is, the parameters too, in both systems."""
BATCHES = 4


autotune = False
"""Whether both try plans for each convolution first."""


def like(precision: str) -> Any:
    """The GPU as moonxi has it."""
    if precision == "tf32":
        return mx.gpu(mx.F32, tf32=True, autotune=autotune)
    return mx.gpu(PRECISIONS[precision], autotune=autotune)


def steps(model: Any, loss: Any, batches: list[Any]) -> Step:
    """Moonxi's training step."""
    optimizer = mx.Sgd(
        lr=resnet_task.LEARNING_RATE,
        momentum=resnet_task.MOMENTUM,
        weight_decay=resnet_task.WEIGHT_DECAY,
        clip_norm=resnet_task.CLIP_NORM,
    )
    state, mode, number = optimizer.init(model), mx.Train(mx.Key(0)), 0
    step_of: Any = mx.value_and_grad

    def step() -> Any:
        nonlocal model, state, number
        value, gradients = step_of(loss, model, batches[number % len(batches)], mode)
        model, state = optimizer.update(model, gradients, state)
        number += 1
        return value

    return step


def torch_steps(model: Any, forward: Any, batches: list[Any]) -> Step:
    """PyTorch's, with its default optimizer for the GPU."""
    torch: Any = import_module("torch")
    optimizer = torch.optim.SGD(
        model.parameters(),
        lr=resnet_task.LEARNING_RATE,
        momentum=resnet_task.MOMENTUM,
        weight_decay=resnet_task.WEIGHT_DECAY,
    )
    number = 0

    def step() -> Any:
        nonlocal number
        x, y = batches[number % len(batches)]
        number += 1
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(forward(model, x).float(), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), resnet_task.CLIP_NORM)
        optimizer.step()
        return loss

    return step


def mlp(precision: str) -> tuple[Step, Step | None]:
    """The multi-layer perceptron 784-128-64-10 at batch 64."""
    rng = np.random.default_rng(0)
    weights = [rng.normal(0.0, (2.0 / n) ** 0.5, (n, m)).astype(np.float32) for n, m in mlp_task.LAYERS]
    images = rng.random((BATCHES, mlp_task.BATCH, 784), np.float32)
    labels = rng.integers(0, 10, (BATCHES, mlp_task.BATCH))
    on = like(precision)
    layers = [nn.Linear(on.from_host(weight), on.zeros(weight.shape[1:])) for weight in weights]
    batches = [mx.Labelled(on.from_host(x), on.labels(y)) for x, y in zip(images, labels, strict=True)]
    own = steps(mlp_moonxi.Mlp(*layers), mlp_moonxi.loss, batches)
    if find_spec("torch") is None:
        return own, None
    torch: Any = import_module("torch")
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    parts: list[Any] = []
    for number, weight in enumerate(weights):
        layer = torch.nn.Linear(*weight.shape)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weight).T)
            layer.bias.zero_()
        parts += [torch.nn.ReLU(), layer] if number else [layer]
    model = torch.nn.Sequential(*parts).to("cuda", dtype)
    theirs = [
        (torch.from_numpy(x).to("cuda", dtype), torch.from_numpy(y).to("cuda"))
        for x, y in zip(images, labels, strict=True)
    ]
    return own, torch_steps(model, lambda model, x: model(x), theirs)


def resnet(batch: int) -> Callable[[str], tuple[Step, Step | None]]:
    """ResNet-18 on images of 32 x 32 pixels."""

    def make(precision: str) -> tuple[Step, Step | None]:
        task = make_task(batch, BATCHES)
        on = like(precision)
        cpu = ResNet18.init(like=mx.numpy(), key=mx.Key(0))
        move: Any = cpu.map
        model = move(lambda tensor: on.from_host(tensor.to_host()))
        batches = [mx.Labelled(on.from_host(x), on.labels(y)) for x, y in zip(task.images, task.labels, strict=True)]
        own = steps(model, resnet_moonxi.loss, batches)
        if find_spec("torch") is None:
            return own, None
        torch: Any = import_module("torch")
        peer: Any = import_module("benchmarks.resnet_torch")
        dtype = torch.bfloat16 if precision == "bf16" else torch.float32
        other = peer.resnet18(len(task.weights["fc.bias"]))
        with torch.no_grad():
            for name, parameter in other.named_parameters():
                parameter.copy_(torch.from_numpy(task.weights[name]))
        other = other.to("cuda", dtype).train()
        theirs = [
            (torch.from_numpy(x).to("cuda", dtype), torch.from_numpy(y).to("cuda"))
            for x, y in zip(task.images, task.labels, strict=True)
        ]
        return own, torch_steps(other, peer.forward, theirs)

    return make


def synchronize() -> None:
    from cupy.cuda import get_current_stream, runtime

    get_current_stream().synchronize()
    runtime.deviceSynchronize()


def timed(step: Step, count: int) -> float:
    """Milliseconds a step."""
    synchronize()
    start = perf_counter()
    for _ in range(count):
        step()
    synchronize()
    return (perf_counter() - start) * 1e3 / count


def rows(workloads: list[str], rounds: int) -> Iterator[dict[str, Any]]:
    """What each workload takes in each precision."""
    makers = {"mlp 64": mlp, "resnet18 128": resnet(128), "resnet18 1024": resnet(1024)}
    for name in workloads:
        for precision in PRECISIONS:
            if find_spec("torch") is not None:
                torch: Any = import_module("torch")
                torch.backends.cudnn.benchmark = autotune
                torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
            own, other = makers[name](precision)
            both = [own] if other is None else [own, other]
            losses = [[float(step().item()) for _ in range(3)] for step in both]
            for step in both:
                timed(step, 10)
            count = 50 if name.startswith("mlp") else 10
            times = [[timed(step, count) for step in both] for _ in range(rounds)]
            found = [median(column) for column in zip(*times, strict=True)]
            row: dict[str, Any] = {"workload": name, "precision": precision, "moonxi_ms": round(found[0], 4)}
            row["moonxi_losses"] = losses[0]
            if other is not None:
                row |= {
                    "torch_ms": round(found[1], 4),
                    "ratio": round(found[0] / found[1], 3),
                    "torch_losses": losses[1],
                }
            print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)
            yield row


def versions() -> dict[str, str]:
    """Of what is measured."""
    import cupy

    found = {"moonxi": mx.__version__, "cupy": cupy.__version__, "numpy": np.__version__}
    if find_spec("torch") is not None:
        torch: Any = import_module("torch")
        found |= {"torch": torch.__version__, "gpu": torch.cuda.get_device_name(0)}
    if find_spec("cudnn") is not None:
        import cudnn

        found["cudnn"] = str(cudnn.backend_version())
    return found


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description="Time of an eager training step on the GPU, beside PyTorch.")
    parser.add_argument("--workloads", nargs="+", default=["mlp 64", "resnet18 128", "resnet18 1024"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--autotune", action="store_true", help="both try plans for each convolution first")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there")
    chosen = parser.parse_args()
    global autotune
    autotune = chosen.autotune
    found = {"versions": versions(), "autotune": autotune, "rows": list(rows(chosen.workloads, chosen.rounds))}
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
