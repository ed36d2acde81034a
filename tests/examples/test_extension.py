"""The extension by somebody else: its own tests, and that it needs nothing but moonxi's public names."""

import ast
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.examples.program import CHECKOUT, EXAMPLES, environment

EXTENSION = EXAMPLES / "extension"
SOURCES = sorted((EXTENSION / "src" / "moonxi_more").glob("*.py"))
PAGE = (CHECKOUT / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCK = re.compile(
    r"(<!-- from (?P<file>\S+) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
BLOCKS = list(BLOCK.finditer(PAGE))


def run(*arguments: str | Path, folder: Path, path: Path = EXTENSION / "src") -> str:
    """What Python prints, where it finds moonxi and the package in the folder ``path``."""
    env = environment()
    env["PYTHONPATH"] = os.pathsep.join((str(path), env["PYTHONPATH"]))
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package in a place where it can leave things behind."""
    return Path(shutil.copytree(EXTENSION, tmp_path / "moonxi-more"))


def test_its_own_tests_pass(copy: Path) -> None:
    assert " passed" in run("-m", "pytest", "-q", "-p", "no:cacheprovider", folder=copy, path=copy / "src")


def test_nothing_in_moonxi_knows_of_it() -> None:
    files = [*(CHECKOUT / "moonxi").rglob("*.py"), CHECKOUT / "pyproject.toml"]
    assert [file for file in files if re.search(r"moonxi_more|FftTensor|Precise\b", file.read_text())] == []


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: file.name)
def test_it_uses_public_names_only(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = [
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and re.match(r"moonxi(\.|$)", node.module)
        for alias in node.names
    ]
    assert [pair for pair in imported if not is_public(*pair)] == []
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    private = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and re.match(r"_[a-z]", node.attr) and node.attr not in own
    }
    assert private == set()


def is_public(module: str, name: str) -> bool:
    """Whether a part of moonxi says that the name is for everybody."""
    found = import_module(module)
    listed: list[str] = dir(found) if module == "moonxi" else getattr(found, "__all__", [])
    own = not hasattr(found, "__all__") and getattr(getattr(found, name), "__module__", module) == module
    return not name.startswith("_") and module.count(".") <= 1 and (name in listed or own)


@pytest.mark.parametrize(
    ("module", "name", "public"),
    [
        ("moonxi", "NpArray", True),
        ("moonxi.traits", "DerivedBlas", True),
        ("moonxi.dtypes", "Floating", True),
        ("moonxi.errors", "ShapeError", True),
        ("moonxi.autodiff.pullback", "summed", False),
        ("moonxi.backends.numpy", "NpArray", False),
        ("moonxi.traits", "tensor", False),
        ("moonxi", "_HOME", False),
    ],
)
def test_a_name_that_is_not_public_would_be_seen(module: str, name: str, public: bool) -> None:
    assert is_public(module, name) is public


def test_the_page_on_extending_runs_and_prints_what_it_says(tmp_path: Path) -> None:
    program = "".join(one["text"] for one in BLOCKS if one["language"] == "python" and one["file"] is None)
    printed = "".join(one["text"] for one in BLOCKS if one["language"] == "console")
    assert printed.count("\n") == 3
    assert run("-c", program, folder=tmp_path) == printed


def test_the_page_quotes_the_package() -> None:
    quoted = [one for one in BLOCKS if one["file"] is not None]
    assert [one["text"] in (CHECKOUT / one["file"]).read_text(encoding="utf-8") for one in quoted] == [True]


USES = """
import moonxi as mx
from moonxi import F32, NpArray
from moonxi_more import FftArray, FftGrad, Precise, precise


def spectrum(plain: NpArray[F32], array: FftArray[F32], exact: Precise) -> None:
    FftGrad.variable(array).rfft().backward(array)
    FftGrad.variable(plain)  # error: [type-var]
    mx.variable(array).rfft()  # error: [attr-defined]
    FftGrad.variable(array) * mx.variable(array)  # error: [operator]
    array + exact  # error: [operator]
    exact.conv2d(exact)  # error: [attr-defined]
    reveal_type(mx.variable(mx.variable(precise())))  # note: BlasGrad[moonxi_more.precise.Precise]]
    reveal_type(FftGrad.variable(FftGrad.constant(array)).rfft().value)  # note: .FftGrad[moonxi_more.fft.FftArray[
"""


@pytest.mark.slow
def test_mypy_finds_nothing_wrong_in_it_and_what_is_wrong_in_its_use(copy: Path, tmp_path: Path) -> None:
    assert "Success" in run("-m", "mypy", "--cache-dir", tmp_path / "cache", folder=copy, path=copy / "src")
    (copy / "src" / "use.py").write_text(USES, encoding="utf-8")
    command = (sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache", "src/use.py")
    done = subprocess.run(command, cwd=copy, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    reported = {
        int(found[1]): found[2] for found in re.finditer(r"^src/use\.py:(\d+): (.*)$", done.stdout, re.MULTILINE)
    }
    marked = {
        number: line.partition("  # ")[2].split(": ", 1)
        for number, line in enumerate(USES.splitlines(), 1)
        if "  # " in line
    }
    assert reported.keys() == marked.keys(), done.stdout
    for number, (kind, text) in marked.items():
        assert reported[number].startswith(f"{kind}: "), reported[number]
        assert text in reported[number]


@pytest.mark.slow
def test_it_is_installed_and_used_outside_the_checkout(copy: Path, tmp_path: Path) -> None:
    if find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the package, is not installed")
    target = tmp_path / "target"
    install = ("pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", target, copy)
    run("-m", *install, folder=tmp_path)
    assert (target / "moonxi_more" / "py.typed").exists()
    program = "import moonxi_more; print(moonxi_more.__file__); print(moonxi_more.fft().ones((4,)).rfft().shape)"
    assert run("-c", program, folder=tmp_path, path=target).splitlines() == [
        str(target / "moonxi_more" / "__init__.py"),
        "(3, 2)",
    ]
