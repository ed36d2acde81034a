"""Every loss of `mx.repeat` on the GPU beside those of single steps: ``python -m benchmarks.repeat_losses``.

The MLP of `benchmarks.train_step` makes the same steps in three ways: all at one call, compiled step by step, and
eagerly. A step keeps its loss in the state, from where those of all steps are read in the end.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import moonxi as mx
from benchmarks import gpu_tasks
from benchmarks.train_step import update_of


def losses(count: int, precision: str) -> dict[str, list[float]]:
    """Those of so many steps, in each way."""
    task = gpu_tasks.mlp(precision, autotune=False)
    side = task.own()
    on = side.batches[0].x
    update, first = update_of(side)

    def step(model: Any, state: Any, batch: Any, key: mx.Key) -> Any:
        inner, kept, numbers = state
        model, inner, value = update(model, inner, batch, key)
        return model, (inner, value.where(numbers.equal(0.0), kept), numbers - 1.0), value

    def state() -> Any:
        return first, on.zeros((count,)), on.from_host(np.arange(count, dtype=np.float32))

    key = mx.Key(0)
    order = np.arange(count) % len(side.batches)
    images, labels = task.arrays.images[order], task.arrays.labels[order]
    data: Any = mx.Labelled(on.from_host(images.reshape(-1, images.shape[-1])), on.labels(labels.ravel()))
    _, (_, kept, _), _ = mx.repeat(step, count)(side.model, state(), data, key)
    found = {"repeat": kept.to_host().tolist()}
    for name, one in ("compiled", mx.compile(step)), ("eager", step):
        model, now, read = side.model, state(), list[float]()
        for number in range(count):
            model, now, value = one(model, now, side.batches[order[number]], key.fold(number))
            read.append(float(value.item()))
        found[name] = now[1].to_host().tolist()
        assert found[name] == read, "what the state keeps is what the step gives"
    return found


def main() -> None:
    """Compute, compare, print, and write if asked."""
    parser = argparse.ArgumentParser(description="Every loss of mx.repeat beside those of single steps.")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--precision", choices=list(gpu_tasks.PRECISIONS), default="fp32")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the losses there")
    chosen = parser.parse_args()
    found = losses(chosen.steps, chosen.precision)
    mine = np.array(found["repeat"])
    for name in ("compiled", "eager"):
        theirs = np.array(found[name])
        off = np.abs(mine - theirs) / np.abs(theirs)
        print(f"repeat beside {name}: {np.sum(mine == theirs)} of {len(mine)} equal, at most {off.max():.1e} apart")
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
