"""The training step with moonxi, compiled: a worker of ``benchmarks/train_step_cpu.py``. ``--numba`` allows Numba."""

import sys
from functools import partial

import moonxi as mx
from benchmarks import mlp_task
from benchmarks.machine import moonxi_versions
from benchmarks.mlp_moonxi import make_step, update

NUMBA = "--numba" in sys.argv

if __name__ == "__main__":
    name = "moonxi compiled, Numba" if NUMBA else "moonxi compiled"
    compiled = mx.compile(update, without=() if NUMBA else ("numba",))
    mlp_task.run(name, moonxi_versions(NUMBA), partial(make_step, update=compiled))
