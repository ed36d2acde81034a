"""Single operations and a layer's call, in every interpreter: a worker of ``benchmarks/mlp.py``.

The small operands have 64 elements, so that the time is that of the call and hardly of the arithmetic. A `Grad` here is
a variable: its result remembers where it came from. Nothing is differentiated.
"""

from collections.abc import Mapping
from functools import partial
from timeit import Timer
from typing import Any

import numpy as np

import moonxi as mx
from benchmarks.worker import median_ms, serve
from moonxi import nn
from moonxi.nn.scope import Scope

OPERATIONS = "Single operations"
LAYER = "Linear.forward, 10 -> 10"

# NumPy has no relu, and spells the others as moonxi does.
STATEMENTS = {
    "x + y, (8, 8)": "x + y",
    "x * y, (8, 8)": "x * y",
    "x.sum(), (8, 8)": "x.sum()",
    "x.relu(), (8, 8)": "x.relu()",
    "a @ b, (64, 784) @ (784, 128)": "a @ b",
}
STATEMENTS_OF_NUMPY = STATEMENTS | {"x.relu(), (8, 8)": "maximum(x, 0.0)"}


def operands() -> dict[str, dict[str, object]]:
    """For each system the names that the statements use."""
    random = np.random.default_rng(0)
    shapes = {"x": (8, 8), "y": (8, 8), "a": (64, 784), "b": (784, 128)}
    arrays = {name: random.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    tensors = {name: mx.numpy().from_host(array) for name, array in arrays.items()}
    variables = {name: mx.variable(tensor) for name, tensor in tensors.items()}
    twice = {name: mx.variable(variable) for name, variable in variables.items()}
    return {
        "NumPy": {**arrays, "maximum": np.maximum},
        "NpArray": {**tensors},
        "Grad[NpArray]": {**variables},
        "Grad[Grad[NpArray]]": {**twice},
    }


def measure_operations(names: Mapping[str, Mapping[str, object]], calls: int) -> list[dict[str, object]]:
    """Each operation in each system, one after the other: the median of ten parts of the calls."""
    each = max(1, calls // 10)
    found: list[dict[str, object]] = []
    for workload in STATEMENTS:
        for system, own in names.items():
            statement = (STATEMENTS_OF_NUMPY if system == "NumPy" else STATEMENTS)[workload]
            ms = median_ms(Timer(statement, globals={**own}).timeit, [each] * 10) / each
            found.append({"group": OPERATIONS, "workload": workload, "system": system, "ms": ms})
    return found


def measure_layer(calls: int) -> list[dict[str, object]]:
    """One layer on inputs of as many different shapes as there are calls, so that each shape has a first time."""
    cpu = mx.numpy()
    unchecked: Any = vars(nn.Linear)["forward"].__wrapped__
    # A new class, because a layer class remembers the shapes that have passed its checks, and only the first 1024.
    fresh: Any = type("Linear", (nn.Linear,), {"forward": unchecked})
    layer = fresh(cpu.ones((10, 10)), cpu.ones((10,)))
    inputs = [cpu.ones((rows, 10)) for rows in range(1, min(calls, 1000) + 1)]
    ways = {
        "unchecked": unchecked,
        "checked, new shape": fresh.forward,
        "checked, known shape": fresh.forward,
    }
    workload = f"one call, 1 to {len(inputs)} rows"
    found: list[dict[str, object]] = []
    with Scope(layer):  # as within a model
        layer.forward(cpu.ones((0, 10)))  # what the first call of all costs is not a check
        for way, forward in ways.items():
            ms = median_ms(partial(forward, layer), inputs)
            found.append({"group": LAYER, "workload": workload, "system": way, "ms": ms})
    return found


if __name__ == "__main__":
    prepared = operands()
    serve({"measure": lambda calls: measure_operations(prepared, calls) + measure_layer(calls)})
