"""Dimension expressions as text, as they stand in shape annotations: ``2*c``, ``h//2``, ``(h-1)//2+1``."""

import ast
from functools import lru_cache

from moonxi.dims.dim import Dim, Size, maximum, minimum, symbol
from moonxi.errors import ShapeError


def parse(text: str, *, least: int = 0) -> Size:
    """The size that an expression of names, integers, ``+ - * // %``, ``max``, ``min`` and parentheses describes.

    Every name becomes a symbol that is at least ``least``. Raises ShapeError for anything else.
    """
    return _parsed(text, least)


@lru_cache(maxsize=1024)
def _parsed(text: str, least: int) -> Size:
    return _Parser(text, least).parsed()


class _Parser:
    def __init__(self, text: str, least: int) -> None:
        self.text = text
        self.least = least

    def parsed(self) -> Size:
        try:
            tree = ast.parse(self.text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self.error("is not one expression") from None
        return self.size(tree.body)

    def size(self, node: ast.expr) -> Size:
        match node:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                return value
            case ast.Name(id=name):
                return symbol(name, least=self.least)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.size(operand)
            case ast.BinOp(left=left, op=operator, right=right):
                return self.operation(self.size(left), operator, self.size(right))
            case ast.Call(func=ast.Name(id="max" | "min" as name), args=[first, *others], keywords=[]):
                choose = maximum if name == "max" else minimum
                return choose(self.size(first), *map(self.size, others))
            case _:
                raise self.error(f"{ast.unparse(node)!r} is not a size")

    def operation(self, left: Size, operator: ast.operator, right: Size) -> Size:
        match operator:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.FloorDiv() | ast.Mod():
                if not isinstance(right, Dim) and right == 0:
                    raise self.error("divides by zero")
                return left // right if isinstance(operator, ast.FloorDiv) else left % right
            case ast.Div():
                raise self.error("a size is an integer; divide with //")
            case _:
                raise self.error("only + - * // % combine sizes")

    def error(self, rule: str) -> ShapeError:
        notation = "names, integers, + - * // %, max(...) and min(...)"
        return ShapeError(f"parse: dimension {self.text!r}: {rule}; write {notation}")
