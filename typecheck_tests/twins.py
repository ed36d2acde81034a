"""The cases written by hand: each ``wrong_x`` has a ``right_x`` beside it, which passes mypy and runs.

``right_gpu_x`` is a twin that needs a GPU to run. In the bug suite a wrong program may also be one that fails when it
runs, at the line that is marked ``# R: LabelError: part of the message``.
"""

import ast
from collections.abc import Iterable
from pathlib import Path

_WRONG, _RIGHT, _GPU = "wrong_", "right_", "right_gpu_"


def cases(file: Path) -> list[str]:
    """The names of the cases in a file."""
    return [name.removeprefix(_WRONG) for name in _functions(file) if name.startswith(_WRONG)]


def problems(files: Iterable[Path]) -> list[str]:
    """Cases without a twin, without a mark, or that differ from another only in an operator or a name."""
    found: list[str] = []
    seen: dict[str, str] = {}
    for file in files:
        functions, lines = _functions(file), file.read_text(encoding="utf-8").splitlines()
        for name, function in functions.items():
            place = f"{file.name}:{function.lineno}: {name}"
            if name.startswith(_RIGHT):
                case = name.removeprefix(_GPU if name.startswith(_GPU) else _RIGHT)
                if _WRONG + case not in functions:
                    found.append(f"{place}: there is no {_WRONG}{case}")
                if function.args.args:
                    found.append(f"{place}: a twin is called without arguments")
            elif name.startswith(_WRONG):
                case = name.removeprefix(_WRONG)
                if not {_RIGHT + case, _GPU + case} & functions.keys():
                    found.append(f"{place}: there is no {_RIGHT}{case}")
                if not any("# E:" in one or "# R:" in one for one in lines[function.lineno - 1 : function.end_lineno]):
                    found.append(f"{place}: no line is marked")
                other = seen.setdefault(_shape(function), place)
                if other is not place:
                    found.append(f"{place}: the same as {other} but for an operator")
    return found


def _functions(file: Path) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _shape(function: ast.FunctionDef) -> str:
    """What is left of a function without its name and its operators."""
    kinds = (ast.operator, ast.cmpop, ast.unaryop, ast.boolop)
    copy = ast.parse(ast.unparse(function)).body[0]
    assert isinstance(copy, ast.FunctionDef)
    copy.name = "case"
    for node in ast.walk(copy):
        for field, value in ast.iter_fields(node):
            if isinstance(value, kinds):
                setattr(node, field, ast.Add())
            elif isinstance(value, list) and any(isinstance(one, kinds) for one in value):
                setattr(node, field, [ast.Add() for _ in value])
    return ast.dump(copy)
