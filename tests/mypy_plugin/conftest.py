"""Projects for mypy, which share the memory of one run over moonxi."""

import fcntl
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest

from tests.examples.program import CHECKOUT
from tests.mypy_plugin.checking import DAEMON, Project, run, warmed, with_cache


@pytest.fixture(scope="session", name="cache")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What mypy remembers of moonxi, from whichever process was first, today or before."""
    kept = CHECKOUT / ".mypy_cache" / "tests-{}.{}".format(*sys.version_info)
    kept.mkdir(parents=True, exist_ok=True)
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return Path(copytree(warmed(kept), tmp_path_factory.mktemp("warm") / "cache"))


@pytest.fixture(name="project")
def _project(cache: Path, tmp_path: Path) -> Project:
    """An empty folder in which moonxi need not be checked anew."""
    return with_cache(tmp_path, cache)


@pytest.fixture(name="daemon")
def _daemon(project: Project) -> Iterator[None]:
    """The test may ask mypy's daemon, which ends with it."""
    yield
    run(*DAEMON, "kill", folder=project.folder)
