"""Projects for mypy, which share the memory of one run over moonxi."""

from pathlib import Path

import pytest

from tests.mypy_plugin.checking import Project, warmed, with_cache


@pytest.fixture(scope="session", name="cache")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return warmed(tmp_path_factory.mktemp("warm"))


@pytest.fixture(name="project")
def _project(cache: Path, tmp_path: Path) -> Project:
    """An empty folder in which moonxi need not be checked anew."""
    return with_cache(tmp_path, cache)
