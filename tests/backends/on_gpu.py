"""The GPU for tests that need one, or the reason why they are skipped."""

import os
from collections.abc import Callable
from typing import Any

import pytest

from moonxi.backends.cupy import gpu
from moonxi.backends.cupy.device import Kernels
from moonxi.errors import DeviceError
from tests.backends.on_host import kernels

ON_HOST = bool(os.environ.get("MOONXI_GPU_ON_HOST"))
"""Whether the kernels run on the host instead."""


def gpu_or_skip(element: Any, **options: Any) -> Callable[[], Any]:
    """What makes the prototype of the backend, and skips the test where there is no GPU."""

    def make() -> Any:
        if ON_HOST:
            kernels.install()
        try:
            return gpu(element, **options)
        except DeviceError as error:
            pytest.skip(str(error))

    return make


def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list to which the name of each kernel is added that is launched on blocks of a given number from now on."""
    names: list[str] = []
    launch = Kernels.launch_blocks

    def noted(kernels: Kernels, name: str, *arguments: Any, **options: Any) -> None:
        names.append(name)
        launch(kernels, name, *arguments, **options)

    monkeypatch.setattr(Kernels, "launch_blocks", noted)
    return names
