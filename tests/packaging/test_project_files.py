"""The project's files agree with each other and with the package."""

import ast
import re
import sys
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
# Where a distribution is imported under a name that is not its own.
IMPORTED_AS = {
    "cupy-cuda13x": "cupy",
    "nvidia-cudnn-frontend": "cudnn",
    "cuda-toolkit": "cuda",
    "pillow": "PIL",
}


def imported_names(requirements: list[str]) -> set[str]:
    names = {re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0] for requirement in requirements}
    return {IMPORTED_AS.get(name, name.replace("-", "_")) for name in names}


def imports(path: Path, *, at_load: bool = False) -> set[str]:
    """Top-level names of the packages that a file imports, or only of those that loading it imports."""
    tree = ast.parse(path.read_text())
    found: set[str] = set()
    for node in tree.body if at_load else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"moonxi"}


def test_the_python_versions_agree_in_every_file() -> None:
    versions = (CHECKOUT / ".python-version").read_text().split()
    assert versions == ["3.12", "3.13"]
    classifiers = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if "Python :: 3." in text]
    assert classifiers == versions
    assert re.findall(r"find-python\.sh (\S+)\)", (CHECKOUT / ".ci" / "run").read_text()) == versions


def test_the_package_imports_only_what_the_project_declares() -> None:
    for_users = [names for extra, names in PROJECT["optional-dependencies"].items() if extra != "dev"]
    declared = imported_names(sum(for_users, PROJECT["dependencies"]))
    undeclared = {
        f"{path.relative_to(CHECKOUT)}: {name}"
        for path in (CHECKOUT / "moonxi").rglob("*.py")
        for name in imports(path) - declared - ({"mypy"} if "mypy_plugin" in path.parts else set())
    }
    assert undeclared == set()


def test_loading_a_module_imports_only_normal_dependencies() -> None:
    normal = imported_names(PROJECT["dependencies"])
    eager = {
        f"{path.relative_to(CHECKOUT)}: {name}"
        for path in (CHECKOUT / "moonxi").rglob("*.py")
        if "mypy_plugin" not in path.parts
        for name in imports(path, at_load=True) - normal
    }
    assert eager == set()


def test_every_normal_dependency_is_imported_somewhere() -> None:
    used = set[str]().union(*(imports(path) for path in (CHECKOUT / "moonxi").rglob("*.py")))
    assert imported_names(PROJECT["dependencies"]) - used == set()


def test_the_readme_names_the_two_commands_that_ci_relies_on() -> None:
    readme = (CHECKOUT / "README.md").read_text()
    assert re.search(r"^make mnist\b", readme, re.MULTILINE)
    assert re.search(r"^make test\b", readme, re.MULTILINE)
    assert re.search(r"^make test\b", (CHECKOUT / ".ci" / "run").read_text(), re.MULTILINE)


def test_the_page_on_gates_quotes_the_gated_project_whole() -> None:
    page = (CHECKOUT / "docs" / "gating-ci.md").read_text()
    quoted = re.findall(r"^<!-- from (\S+) -->\n```\w+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert [name for name, text in quoted if (CHECKOUT / name).read_text() != text] == []
    assert {Path(name).name for name, _ in quoted} == {"mypy.ini", ".pre-commit-config.yaml", "check.yml"}


def test_the_gated_project_pins_the_mypy_of_the_plugin() -> None:
    tools = (CHECKOUT / "examples" / "gated_project" / "requirements.txt").read_text().split()
    assert [tool for tool in tools if tool.startswith("mypy")] == [
        tool for tool in PROJECT["optional-dependencies"]["dev"] if tool.startswith("mypy")
    ]
