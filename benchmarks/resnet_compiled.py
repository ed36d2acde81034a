"""The training step with moonxi, compiled: a worker of ``benchmarks/train_step_cpu.py``. ``--numba`` allows Numba."""

import sys

import moonxi as mx
from benchmarks import resnet_task
from benchmarks.machine import moonxi_versions
from benchmarks.resnet_moonxi import make_step, update

NUMBA = "--numba" in sys.argv

compiled = mx.compile(update, without=() if NUMBA else ("numba",))

if __name__ == "__main__":
    name = "moonxi compiled, Numba" if NUMBA else "moonxi compiled"
    resnet_task.run(name, moonxi_versions(NUMBA), lambda task: make_step(task, compiled))
