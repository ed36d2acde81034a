"""The training step with PyTorch, eagerly: a worker of ``benchmarks/resnet.py`` in an environment that has PyTorch.

With ``--fast`` images and weights are channels-last and the optimizer is PyTorch's fused one: not its defaults, but the
fastest that it has on the CPU without compiling. With ``--compiled`` forward and backward pass are compiled as well, by
its default compiler, which needs one for C++.
"""

import platform
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks import resnet_task
from benchmarks.resnet_task import Task

COMPILED = "--compiled" in sys.argv
FAST = COMPILED or "--fast" in sys.argv

# PyTorch is no dependency, not even of the development tools, so type checkers do not get to see it.
torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")


def block(inputs: int, outputs: int, stride: int) -> Any:
    """The layers of a block, by torchvision's names."""
    layers = {
        "conv1": nn.Conv2d(inputs, outputs, 3, stride, 1),
        "bn1": nn.BatchNorm2d(outputs),
        "conv2": nn.Conv2d(outputs, outputs, 3, 1, 1),
        "bn2": nn.BatchNorm2d(outputs),
    }
    if stride != 1 or inputs != outputs:
        layers["downsample"] = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))
    return nn.ModuleDict(layers)


def resnet18(classes: int) -> Any:
    """torchvision's layers and names, with biases in the convolutions."""
    stages, inputs = {}, 64
    for number, outputs in enumerate((64, 128, 256, 512), 1):
        first = block(inputs, outputs, 1 if number == 1 else 2)
        stages[f"layer{number}"] = nn.Sequential(first, block(outputs, outputs, 1))
        inputs = outputs
    stem = {"conv1": nn.Conv2d(3, 64, 7, 2, 3), "bn1": nn.BatchNorm2d(64)}
    return nn.ModuleDict({**stem, **stages, "fc": nn.Linear(512, classes)})


def forward(model: Any, x: Any) -> Any:
    relu = torch.nn.functional.relu
    h = torch.nn.functional.max_pool2d(relu(model["bn1"](model["conv1"](x))), 3, 2, 1)
    for number in range(1, 5):
        for one in model[f"layer{number}"]:
            y = one["bn2"](one["conv2"](relu(one["bn1"](one["conv1"](h)))))
            h = relu(y + (one["downsample"](h) if "downsample" in one else h))
    return model["fc"](h.mean((2, 3)))


def make_step(task: Task) -> Callable[[int], Any]:
    model = resnet18(len(task.weights["fc.bias"]))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(task.weights[name]))
    images, labels = torch.from_numpy(task.images), torch.from_numpy(task.labels)
    batches = list(zip(images, labels, strict=True))
    if FAST:
        model = model.to(memory_format=torch.channels_last)
        batches = [(x.contiguous(memory_format=torch.channels_last), y) for x, y in batches]
    model.train()
    optimizer = torch.optim.SGD(
        model.parameters(),
        lr=resnet_task.LEARNING_RATE,
        momentum=resnet_task.MOMENTUM,
        weight_decay=resnet_task.WEIGHT_DECAY,
        fused=FAST,
    )

    def loss_of(x: Any, y: Any) -> Any:
        return torch.nn.functional.cross_entropy(forward(model, x), y)

    call = torch.compile(loss_of) if COMPILED else loss_of

    def step(number: int) -> Any:
        x, y = batches[number]
        optimizer.zero_grad()
        loss = call(x, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), resnet_task.CLIP_NORM)
        optimizer.step()
        return loss

    return step


if __name__ == "__main__":
    mkldnn = "oneDNN" if torch.backends.mkldnn.is_available() else "no oneDNN"
    versions = {"torch": f"{torch.__version__} ({mkldnn})", "python of torch": platform.python_version()}
    name = "PyTorch eager, channels last, fused SGD" if FAST else "PyTorch eager"
    if COMPILED:
        name = "PyTorch compiled, channels last, fused SGD"
    resnet_task.run(name, versions, make_step)
