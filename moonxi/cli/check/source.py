"""A file of Python code, imported to be checked."""

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import walk_tb
from types import CodeType, ModuleType, TracebackType


class Unreadable(Exception):
    """The file cannot be imported; the text says where and why."""


@dataclass(frozen=True)
class Source:
    """An imported file, and every function's code in it."""

    path: str
    """As the user gave it."""
    module: ModuleType
    codes: tuple[CodeType, ...]
    losses: frozenset[str]
    """The names of functions that the file hands to a trainer or to ``value_and_grad``."""

    def line_of(self, trace: TracebackType | None) -> int | None:
        """The line in the file from which an error came in the end."""
        lines = [line for frame, line in walk_tb(trace) if frame.f_code.co_filename == self.module.__file__]
        return lines[-1] if lines else None


@contextmanager
def imported(path: str) -> Iterator[Source]:
    """The file as a module of its own name, never as ``__main__``. Raises `Unreadable`.

    Its folder comes first on the path, as when it is run; afterwards that, and what came from there, is undone."""
    file = Path(path).resolve()
    folder, name = _place(file)
    before, modules = list(sys.path), dict(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield _load(path, file, name)
    finally:
        sys.path[:] = before
        for other, module in list(sys.modules.items()):
            if other in modules:
                sys.modules[other] = modules[other]
            elif _is_inside(module, folder):
                del sys.modules[other]


def _place(file: Path) -> tuple[Path, str]:
    """The folder to import from, and the name there: dotted for a file of a package."""
    folder, names = file.parent, [file.stem]
    while (folder / "__init__.py").exists() and folder.parent != folder:
        names.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(names)


def _load(path: str, file: Path, name: str) -> Source:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise Unreadable(f"{path}: cannot be read: {reason or error}") from error
    try:
        tree = ast.parse(text, str(file))
        code = compile(tree, str(file), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise Unreadable(f"{path}{f':{line}' if line else ''}: SyntaxError: {getattr(error, 'msg', error)}") from error
    if "." not in name and name in sys.modules:
        name = f"{name}@{abs(hash(file)):x}"  # such as a file `random.py`: the library's own stays what it is
    # Named, as a file that does not end in .py would have none.
    spec = spec_from_file_location(name, file, loader=SourceFileLoader(name, str(file)))
    assert spec is not None, "there is one for every loader"
    module = module_from_spec(spec)
    source = Source(path, module, tuple(_codes(code)), frozenset(_losses(tree)))
    try:
        if "." in name:
            import_module(name.rpartition(".")[0])
        sys.modules[name] = module  # dataclasses look their module up
        exec(code, module.__dict__)
    except (Exception, SystemExit) as error:
        line = source.line_of(error.__traceback__)
        text = f"{path}{f':{line}' if line else ''}: the import raises {type(error).__name__}"
        if str(error):
            text += f": {error}"
        if isinstance(error, SystemExit):
            text += "; put what is to happen only in a run under if __name__ == '__main__'"
        raise Unreadable(text) from error
    return source


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)


def _losses(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            place = {"value_and_grad": 0, "Trainer": 1}.get(called)
            if place is not None and len(node.args) > place and isinstance(loss := node.args[place], ast.Name):
                yield loss.id


def _is_inside(module: ModuleType, folder: Path) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(file).is_relative_to(folder) and "site-packages" not in Path(file).parts
