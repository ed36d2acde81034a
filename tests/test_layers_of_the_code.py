"""Who may import whom, and what ``import moonxi`` costs."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "moonxi").rglob("*.py"))

LAYERS = (
    {"errors"},
    {"dims"},
    {"settings"},
    {
        *("collecting", "computing", "dtypes", "formulas", "identity", "json_fields", "key", "norms", "pooled_sums"),
        *("recording", "shapes", "thread_setting", "turned", "uploading", "waves", "whole_file"),
    },
    {"traits", "pooled_sums", "turned"},
    {"backends.numpy", "backends.cupy", "autodiff", "shape_tensor", "profiled", "fusion"},
    {"linalg", "nn", "losses", "optim"},
    {"metrics"},
    {"compiled", "data"},
    {"train"},
    {"sight"},
    {"cli"},
    {"__main__"},
)
"""From the bottom up: a part imports its own layer and those below. The package's own ``__init__`` only names them."""

PLACE = {part: level for level, layer in enumerate(LAYERS) for part in layer}
STRANGERS = LAYERS[5]
"""Interpreters, which do not import each other."""
TENSOR_FREE = {"errors", "dims", "settings"}
"""Parts that use the standard library only."""
HOMES = {
    "PIL": {"data", "sight"},
    "cupy": {"backends.cupy"},
    "cudnn": {"backends.cupy"},
    "scipy": {"backends.numpy"},
    "threadpoolctl": {"backends.numpy"},
    "mypy": {"mypy_plugin"},
    "rich": {"train", "cli"},
    "matplotlib": {"sight"},
    "safetensors": {"nn", "train"},
    "jaxtyping": {"nn", "losses", "mypy_plugin"},
    "beartype": {"nn", "losses"},
}
"""Packages that only these parts import. NumPy and typing_extensions are everybody's but those of TENSOR_FREE."""


def part_of(module: str) -> str:
    """``backends.numpy`` for ``moonxi.backends.numpy.tensor``; empty for the package itself."""
    names = module.split(".")[1:]
    return ".".join(names[:2]) if names[:1] == ["backends"] else ".".join(names[:1])


def module_of(file: Path) -> str:
    names = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


def imports(source: str) -> Iterator[str]:
    """Every module that is imported, wherever in the file; of ``from moonxi import shapes`` it is ``moonxi.shapes``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are banned"
            assert node.module is not None
            own = node.module in ("moonxi", "moonxi.backends")
            yield from (f"{node.module}.{name.name}" for name in node.names) if own else [node.module]


def complaint(module: str, imported: str) -> str | None:
    """What is wrong with an import of ``imported`` in ``module``."""
    mine, root = part_of(module), imported.split(".", maxsplit=1)[0]
    if root != "moonxi":
        if root in sys.stdlib_module_names:
            return None
        if mine in TENSOR_FREE:
            return "only the standard library may be imported here"
        known = root in HOMES or root in ("numpy", "typing_extensions")
        homes = HOMES.get(root)
        if not known:
            return f"nothing says who may import {root}; write it into HOMES"
        return None if homes is None or mine in homes else f"only {' and '.join(sorted(homes))} may import {root}"
    other = part_of(imported)
    if other == mine or mine == "" or imported == "moonxi.__version__":
        return None
    if mine == "mypy_plugin":
        below = {"errors", "dims", "shapes", "traits", "shape_tensor", "losses"}
        return None if other in below else "the plugin stands on dims, shapes, traits, shape_tensor and losses only"
    if other == "mypy_plugin":
        return "nothing imports the plugin but mypy"
    if mine == "backends" or other == "backends":
        return "moonxi.backends itself is empty"
    if mine not in PLACE or other not in PLACE:
        return f"{mine if mine not in PLACE else other} has no place in LAYERS"
    if PLACE[other] > PLACE[mine]:
        return f"{other} is a higher layer than {mine}"
    if other.startswith("backends.") and PLACE[mine] < PLACE["train"]:
        return f"{mine} must not name a backend"
    if {mine, other} <= STRANGERS:
        return f"{mine} and {other} are interpreters, which do not import each other"
    return None


def test_there_are_files_to_read() -> None:
    assert len(FILES) > 40


@pytest.mark.parametrize("file", FILES, ids=lambda file: module_of(file))
def test_imports_go_downwards_only(file: Path) -> None:
    module = module_of(file)
    found = {imported: complaint(module, imported) for imported in imports(file.read_text(encoding="utf-8"))}
    assert {imported: text for imported, text in found.items() if text is not None} == {}


@pytest.mark.parametrize(
    ("module", "imported", "text"),
    [
        ("moonxi.dims.dim", "numpy", "only the standard library may be imported here"),
        ("moonxi.errors", "moonxi.dims", "dims is a higher layer than errors"),
        ("moonxi.shapes", "moonxi.traits.tensor", "traits is a higher layer than shapes"),
        ("moonxi.autodiff.tensor", "moonxi.backends.numpy", "autodiff must not name a backend"),
        ("moonxi.backends.cupy.tensor", "moonxi.backends.numpy.tensor", "backends.cupy must not name a backend"),
        (
            "moonxi.backends.numpy.tensor",
            "moonxi.autodiff",
            "backends.numpy and autodiff are interpreters, which do not import each other",
        ),
        ("moonxi.nn.linear", "moonxi.backends.numpy", "nn must not name a backend"),
        ("moonxi.data.loader", "moonxi.backends.numpy", "data must not name a backend"),
        ("moonxi.nn.linear", "moonxi.train", "train is a higher layer than nn"),
        ("moonxi.nn.linear", "cupy", "only backends.cupy may import cupy"),
        ("moonxi.nn.linear", "mypy.nodes", "only mypy_plugin may import mypy"),
        ("moonxi.nn.linear", "torch", "nothing says who may import torch; write it into HOMES"),
        ("moonxi.mypy_plugin", "moonxi.nn", "the plugin stands on dims, shapes, traits, shape_tensor and losses only"),
        ("moonxi.nn.linear", "moonxi.mypy_plugin", "nothing imports the plugin but mypy"),
        ("moonxi.speed.records", "moonxi.errors", "speed has no place in LAYERS"),
        ("moonxi.nn.linear", "moonxi.losses", None),
        ("moonxi.train.trainer", "moonxi.backends.numpy", None),
        ("moonxi.autodiff.tensor", "moonxi.traits", None),
        ("moonxi.backends.numpy.tensor", "moonxi.backends.numpy.random", None),
    ],
)
def test_an_import_upwards_would_be_seen(module: str, imported: str, text: str | None) -> None:
    assert complaint(module, imported) == text


def test_imports_are_found_wherever_they_stand() -> None:
    source = "import a.b, c\nfrom moonxi import nn, key\nif True:\n    def f():\n        from d.e import f\n"
    assert list(imports(source)) == ["a.b", "c", "moonxi.nn", "moonxi.key", "d.e"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: module_of(file))
def test_annotations_are_evaluated(file: Path) -> None:
    """With ``from __future__ import annotations`` the shapes in them would silently not be checked."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    assert "__future__" not in [node.module for node in nodes if isinstance(node, ast.ImportFrom)]


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", [*HOMES, "numpy"])
def test_importing_moonxi_does_not_import(name: str) -> None:
    assert run(f"import sys, moonxi; print({name!r} in sys.modules)") == "False\n"


def test_importing_moonxi_imports_no_other_part_of_it() -> None:
    loaded = run("import sys, moonxi; print(sorted(name for name in sys.modules if name.startswith('moonxi')))")
    assert loaded == "['moonxi']\n"


def test_using_everything_but_the_plugin_imports_no_tool_and_no_driver() -> None:
    program = """
import sys, moonxi
for name in dir(moonxi):
    getattr(moonxi, name)
print([name for name in ("cupy", "mypy", "matplotlib") if name in sys.modules])
"""
    assert run(program) == "[]\n"


def test_importing_moonxi_takes_a_fraction_of_what_its_dependencies_take() -> None:
    program = """
from time import perf_counter
start = perf_counter()
import numpy, jaxtyping, beartype
between = perf_counter()
import moonxi
end = perf_counter()
print(between - start, end - between)
"""
    times = [tuple(map(float, run(program).split())) for _ in range(3)]
    assert min(own for _, own in times) < 0.1
    assert min(own / dependencies for dependencies, own in times) < 0.2


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    import moonxi

    with pytest.raises(AttributeError, match="module 'moonxi' has no attribute 'nonsense'"):
        getattr(moonxi, "nonsense")  # noqa: B009 - a checker knows that it is not there


def test_every_name_that_moonxi_lists_exists() -> None:
    program = "import moonxi; print([n for n in dir(moonxi) if getattr(moonxi, n, None) is None and n[0] != '_'])"
    assert run(program) == "[]\n"
