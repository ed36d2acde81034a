"""What assignments and loops do to the names on their left side."""

from mypy.nodes import Expression, ListExpr, MemberExpr, NameExpr, StarExpr, TupleExpr

from moonxi.mypy_plugin.shapes.objects import Object
from moonxi.mypy_plugin.shapes.run import Run
from moonxi.mypy_plugin.shapes.values import UNKNOWN, Each


def bind(run: Run, target: Expression, value: object) -> None:
    """Give the value to a name, its parts to several."""
    match target:
        case NameExpr():
            run.bind(target.name, value)
        case StarExpr():
            bind(run, target.expr, UNKNOWN)
        case MemberExpr():
            owner = run.around.evaluate(run, target.expr)
            if isinstance(owner, Object):
                owner.fields[target.name] = UNKNOWN
        case TupleExpr() | ListExpr():
            for one, part in zip(target.items, _parts(target, value), strict=True):
                bind(run, one, part)


def _parts(target: TupleExpr | ListExpr, value: object) -> list[object]:
    """What each of several names gets; one with a star gets what the others leave."""
    stars = [place for place, one in enumerate(target.items) if isinstance(one, StarExpr)]
    count = len(target.items)
    if isinstance(value, Each) and not stars:
        return [value.item() for _ in target.items]
    if not isinstance(value, tuple) or (len(value) != count and not stars):
        return [UNKNOWN] * count
    return list(value) if not stars else [UNKNOWN] * count
