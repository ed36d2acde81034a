"""The text of a Python file beside its syntax tree, and texts that differ from it in one place."""

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Mutant:
    """A file in which one thing was changed."""

    original: str
    """The path of the file as it was."""
    operator: str
    """What kind of change it is."""
    line: int
    change: str
    """The code in that place, before and after."""
    text: str

    @property
    def name(self) -> str:
        """For messages: the file and line, the kind and the change."""
        return f"{self.original}:{self.line}: {self.operator}: {self.change}"


@dataclass(frozen=True)
class Source:
    """A file to be changed."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text, self.path)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node around each node."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line begins, in bytes as `ast` counts."""
        starts = [0]
        for line in self.text.encode().splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts

    def functions(self) -> Iterator[ast.FunctionDef]:
        """All functions and methods."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef):
                yield node

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, from the inside out."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def code(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.text.encode()[start:end].decode()

    def arguments(self, call: ast.Call) -> list[str]:
        """The texts of the arguments of a call."""
        return [*map(self.code, call.args), *map(self.code, call.keywords)]

    def atom(self, node: ast.expr) -> str:
        """The text of an expression, in parentheses if it needs them before ``.method()``."""
        text = self.code(node)
        return text if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({text})"

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> tuple[int, int]:
        """Where a node begins and ends, in bytes."""
        line, column = node.end_lineno, node.end_col_offset
        assert line is not None, "the tree comes from a text"
        assert column is not None, "the tree comes from a text"
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[line - 1] + column

    def names(self, node: ast.AST) -> str:
        """The qualified name of the function around a node, or of the function itself; empty outside of functions."""
        around = [node, *self.around(node)]
        named = [one for one in around if isinstance(one, ast.FunctionDef | ast.ClassDef)]
        if not any(isinstance(one, ast.FunctionDef) for one in named):
            return ""
        return ".".join(one.name for one in reversed(named))

    def without(self, executed: Collection[str]) -> str:
        """The text with the bodies of all other functions left out."""
        edits = []
        for function in self.functions():
            outer = next((one for one in self.around(function) if isinstance(one, ast.FunctionDef)), None)
            if outer is None and self.names(function) not in executed:
                start, _ = self.span(function.body[0])
                edits.append(((start, self.span(function)[1]), "raise NotImplementedError"))
        return self.replaced(*edits)

    def replaced(self, *edits: tuple[tuple[int, int], str]) -> str:
        """The text with other text in some places."""
        data = self.text.encode()
        for (start, end), text in sorted(edits, reverse=True):
            data = data[:start] + text.encode() + data[end:]
        return data.decode()
