"""How much memory a run has."""

import sys
from typing import Any


def memory_in_use() -> str:
    """That of this process, and that of its arrays on GPUs if it has any: ``412 MB, GPU 1,024 MB``.

    Empty where the system does not say."""
    texts = [] if (resident := _resident()) is None else [_text(resident)]
    cupy: Any = sys.modules.get("cupy")  # asked only if somebody computes with it
    if cupy is not None and (used := cupy.get_default_memory_pool().used_bytes()):
        texts.append(f"GPU {_text(used)}")
    return ", ".join(texts)


def _resident() -> int | None:
    """Bytes of this process in main memory now; where there is no ``/proc``, the most that it ever had."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def _text(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
