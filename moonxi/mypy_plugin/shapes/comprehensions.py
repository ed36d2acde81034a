"""Comprehensions: over what is known element by element, else once for any element."""

from mypy.nodes import Expression, GeneratorExpr

from moonxi.mypy_plugin.shapes.builtin_functions import elements
from moonxi.mypy_plugin.shapes.objects import is_settled
from moonxi.mypy_plugin.shapes.run import Run
from moonxi.mypy_plugin.shapes.targets import bind
from moonxi.mypy_plugin.shapes.values import UNKNOWN, Each


def comprehended(run: Run, node: GeneratorExpr) -> object:
    """The elements that a comprehension gives, if it is known how many there are; else one of them."""
    before = dict(run.values)
    try:
        items = elements(run.around.evaluate(run, node.sequences[0]))
        plain = len(node.sequences) == 1 and not node.condlists[0] and not node.is_async[0]
        if isinstance(items, tuple) and plain:
            return tuple(_element(run, node.indices[0], item, node.left_expr) for item in items)
        for index, sequence in zip(node.indices, node.sequences, strict=True):
            found = elements(run.around.evaluate(run, sequence))
            bind(run, index, found.item() if isinstance(found, Each) else UNKNOWN)
        for condition in (one for some in node.condlists for one in some):
            run.around.evaluate(run, condition)
        value = run.around.evaluate(run, node.left_expr)
        return Each(lambda: value if is_settled(value) else UNKNOWN)
    finally:
        run.values = before


def _element(run: Run, index: Expression, item: object, written: Expression) -> object:
    bind(run, index, item)
    return run.around.evaluate(run, written)
