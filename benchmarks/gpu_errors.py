"""Rounding errors of one training step of ResNet-18 on the GPU: ``python -m benchmarks.gpu_errors --json FILE``.

The step is traced, and each of its operations runs on the GPU and, from the same operands, on the CPU in float64. So an
error is that of one operation, and not of what came before it: errors of a whole network say little, as normalisation
and rectification amplify the smallest difference of an early layer. Beside these stand the loss and the gradient of the
whole step, of moonxi and of PyTorch with the same weights and images.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import moonxi as mx
from benchmarks import gpu_tasks
from benchmarks.gpu_tasks import PRECISIONS, Side
from benchmarks.train_step import versions
from moonxi.compiled.graph import Graph, Node
from moonxi.compiled.interpreter import computed
from moonxi.compiled.structure import flattened, spec_of
from moonxi.compiled.tracing import traced
from moonxi.dtypes import I64, Bool
from moonxi.nn.models.torchvision import torchvision_name

CPU = mx.numpy(mx.F64)


@dataclass
class Errors:
    """What one operation on operands of certain shapes is off by: the worst over all places where it stands."""

    operation: str
    pass_: str
    shapes: str
    count: int = 0
    relative: float = 0.0
    """The norm of the difference over the norm of what is right; of a sum over that of the sum of the magnitudes."""
    largest: float = 0.0
    """The largest difference over the largest number."""

    def add(self, found: NDArray[Any], right: NDArray[Any], scale: NDArray[Any]) -> None:
        """Take note of one more place."""
        difference = np.abs(found.astype(np.float64) - right)
        if not np.isfinite(difference).all():
            raise FloatingPointError(f"{self.operation} {self.shapes}: not finite, on one side or on both")
        self.count += 1
        self.relative = max(self.relative, float(np.linalg.norm(difference) / (np.linalg.norm(scale) or 1.0)))
        self.largest = max(self.largest, float(difference.max(initial=0) / (np.abs(scale).max(initial=0) or 1.0)))


def on_host(value: Any) -> Any:
    """The same numbers in float64 on the CPU."""
    if isinstance(value, mx.Key):
        return value
    array = value.to_host()
    if spec_of(value).dtype is Bool:
        return mx.NpArray[Any](array.astype(np.bool_))
    return CPU.labels(array).carrier if spec_of(value).dtype is I64 else CPU.from_host(array)


def to_host(tensor: Any) -> NDArray[Any]:
    """Elements as an array."""
    array: NDArray[Any] = tensor.to_host()
    return array


def differentiated(side: Side) -> tuple[Any, Any]:
    """The loss and the gradients of a model for the first batch, as a function and its arguments."""
    loss, value_and_grad = side.loss, mx.value_and_grad

    def step(model: Any, batch: Any) -> Any:
        either: Any = value_and_grad
        value, gradients = either(loss, model, batch, mx.Train(mx.Key(0)))
        return value, gradients.parameters()

    return step, (side.model, side.batches[0])


def graph_of(side: Side) -> tuple[Graph, list[object]]:
    """The step as it was traced, and its inputs."""
    step, arguments = differentiated(side)
    found, structure = flattened((arguments, {}), "the arguments")
    return traced(step, structure, found.leaves, type(side.batches[0].x)).graph, found.leaves


def errors(side: Side) -> list[Errors]:
    """Those of each operation."""
    graph, leaves = graph_of(side)
    weights = {tuple(one.shape) for one in side.model.parameters()}
    values: dict[int, object] = {**graph.constants, **dict(zip(graph.inputs, leaves, strict=True))}
    found: dict[tuple[str, str, str], Errors] = {}
    for node in graph.nodes:
        results = computed(node, values)
        if node.operation != "fold":
            operands = {number: on_host(values[number]) for number in node.inputs}
            right = computed(node, operands)
            scales = right
            if node.operation == "sum":  # the gradient of what a normalisation takes away is a sum to 0
                scales = computed(node, {number: one.abs() for number, one in operands.items()})
            for one, expected, scale in zip(results, right, scales, strict=True):
                pass_ = "forward" if not node.backward else "input gradient"
                if node.backward and spec_of(one).shape in weights:
                    pass_ = "weight gradient"
                identity = node.operation.strip("_"), pass_, _shapes(node, graph, spec_of(one).shape)
                arrays = [to_host(tensor) for tensor in (one, expected, scale)]
                found.setdefault(identity, Errors(*identity)).add(*arrays)
        values.update(zip(node.results, results, strict=True))
    return sorted(found.values(), key=lambda one: -one.relative)


def _shapes(node: Node, graph: Graph, result: tuple[int, ...]) -> str:
    """Operands and result, for people."""
    operands = " ".join("x".join(map(str, graph.specs[number].shape)) or "1" for number in node.inputs)
    options = "".join(f" {name}={value}" for name, value in node.options if not isinstance(value, bool))
    return f"{operands} -> {'x'.join(map(str, result)) or '1'}{options}"


def whole(side: Side) -> tuple[float, list[NDArray[np.float64]]]:
    """Loss and gradients of the whole step."""
    step, arguments = differentiated(side)
    value, gradients = step(*arguments)
    return value.item(), [one.to_host().astype(np.float64) for one in gradients]


def whole_of_torch(side: Side, names: list[str]) -> tuple[float, list[NDArray[np.float64]]]:
    """The same of PyTorch, in the order of moonxi's parameters."""
    torch: Any = import_module("torch")
    x, y = side.batches[0]
    value = torch.nn.functional.cross_entropy(side.loss(side.model, x).float(), y)
    value.backward()
    named = {name: one.grad.double().cpu().numpy() for name, one in side.model.named_parameters()}
    return value.item(), [named[name].T if name == "fc.weight" else named[name] for name in names]


def off(found: list[NDArray[np.float64]], right: list[NDArray[np.float64]]) -> float:
    """The norm of the difference of gradients over the norm of the right ones."""
    squares = sum(float(np.square(one - other).sum()) for one, other in zip(found, right, strict=True))
    return float((squares / sum(float(np.square(one).sum()) for one in right)) ** 0.5)


def rows(batch: int, precision: str) -> Iterator[tuple[str, Any]]:
    """What there is to say of a precision."""
    task = gpu_tasks.resnet(batch, precision, autotune=False)
    side = task.own()
    host = Side(side.model.map(on_host), side.loss, [side.batches[0].map(on_host)])
    value, right = whole(host)
    own_value, own = whole(side)
    yield "loss", {"float64": value, "moonxi": own_value}
    yield "gradient of the whole step, relative error", {"moonxi": off(own, right)}
    if task.other is not None:
        names = [torchvision_name(name) for name in side.model.named_parameters()]
        torch_value, theirs = whole_of_torch(task.other(), names)
        yield "loss", {"PyTorch": torch_value}
        yield "gradient of the whole step, relative error", {"PyTorch": off(theirs, right)}
    yield (
        "operations",
        [
            {
                "operation": one.operation,
                "pass": one.pass_,
                "operands": one.shapes,
                "places": one.count,
                "relative_error": one.relative,
                "largest_error": one.largest,
            }
            for one in errors(side)
        ],
    )


def main() -> None:
    """Measure, print the worst, and write if asked."""
    parser = argparse.ArgumentParser(description="Rounding errors of one training step of ResNet-18 on the GPU.")
    parser.add_argument("--precisions", nargs="+", choices=list(PRECISIONS), default=list(PRECISIONS))
    parser.add_argument("--batch", type=int, default=32, metavar="N", help="images (32)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there")
    chosen = parser.parse_args()
    found: dict[str, Any] = {"versions": versions(), "batch": chosen.batch}
    for precision in chosen.precisions:
        _choose(precision)
        here: dict[str, Any] = found.setdefault(precision, {})
        for name, value in rows(chosen.batch, precision):
            here[name] = here.get(name, {}) | value if isinstance(value, dict) else value
        print(f"{precision}: {json.dumps({name: value for name, value in here.items() if name != 'operations'})}")
        for pass_ in "forward", "input gradient", "weight gradient":
            worst = next((row for row in here["operations"] if row["pass"] == pass_), None)
            print(f"  {pass_}, worst: {json.dumps(worst)}", flush=True)
        if chosen.json is not None:
            chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _choose(precision: str) -> None:
    """Have PyTorch, if it is there, round products as the precision says."""
    if find_spec("torch") is not None:
        torch: Any = import_module("torch")
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"


if __name__ == "__main__":
    main()
