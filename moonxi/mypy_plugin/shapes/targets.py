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
            bind(run, target.expr, value)
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
    if isinstance(value, Each):
        return [value if isinstance(one, StarExpr) else value.item() for one in target.items]
    if not isinstance(value, tuple) or len(value) < count - len(stars) or (len(value) > count and not stars):
        return [UNKNOWN] * count
    if not stars:
        return list(value)
    behind = len(value) - (count - stars[0] - 1)
    return [*value[: stars[0]], value[stars[0] : behind], *value[behind:]]
