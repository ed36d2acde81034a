"""A model is a value: mypy refuses a `Module` that is a dataclass and not frozen, as the run time does."""

from mypy.errorcodes import MISC
from mypy.nodes import CallExpr, RefExpr
from mypy.plugin import ClassDefContext


def check_frozen(ctx: ClassDefContext) -> None:
    """Report the class if its decorator makes it a dataclass whose fields can be assigned to."""
    for decorator in ctx.cls.decorators:
        call = decorator if isinstance(decorator, CallExpr) else None
        named = decorator if call is None else call.callee
        if not isinstance(named, RefExpr) or named.fullname != "dataclasses.dataclass":
            continue
        options = {} if call is None else dict(zip(call.arg_names, call.args, strict=True))
        frozen = None if "frozen" not in options else ctx.api.parse_bool(options["frozen"])
        if frozen is False or "frozen" not in options:
            name = ctx.cls.name
            ctx.api.fail(
                f'The fields of the model "{name}" can be assigned to; training makes models anew: '
                "write @dataclass(frozen=True)",
                ctx.cls,
                code=MISC,
            )
