"""What needs a GPU, run on the host where there is none: the sample that runs every kernel, and some programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.backends.on_host import kernels

CHECKOUT = Path(__file__).parents[2]
PROGRAM = """
import json
import os
from tests.backends.on_host import kernels
kernels.install()
from tests.backends import gpu_sample
gpu_sample.main()
print(json.dumps(kernels.unused()))
"""


@pytest.mark.slow
@pytest.mark.skipif(kernels.compiler() is None, reason="no C++ compiler: install g++")
def test_the_sample_runs_every_kernel() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said, unused = done.stdout.splitlines()
    assert said == "every kernel ran"
    assert json.loads(unused) == []


@pytest.mark.slow
@pytest.mark.skipif(kernels.compiler() is None, reason="no C++ compiler: install g++")
def test_some_random_programs_are_compiled_right_for_the_gpu() -> None:
    """As many as the kernels can be compiled for in a minute; on a GPU the same file runs hundreds."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "tests/backends/test_gpu_random_programs.py"]
    env = os.environ | {"MOONXI_GPU_ON_HOST": "1", "MOONXI_RANDOM_PROGRAMS": "3"}
    done = subprocess.run(command, cwd=CHECKOUT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "13 passed" in done.stdout
