"""The plugin class: which hook runs which check.

mypy asks the plugins in order and takes the first hook it gets. The hooks for calls are wanted for every call, so
they also run what mypy's own plugin would have done. A failure inside must not break a user's mypy run: the call
then counts as checked. ``mypy --show-traceback`` tells of it on standard error, ``mypy --raise-exceptions`` stops at
it, as the checks of this project do.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from traceback import format_exc
from typing import TYPE_CHECKING

from mypy.checker import TypeChecker
from mypy.checker_shared import CheckerScope
from mypy.nodes import FuncDef, MypyFile, TypeAlias, TypeInfo
from mypy.options import Options
from mypy.plugin import (
    AnalyzeTypeContext,
    ClassDefContext,
    DynamicClassDefContext,
    FunctionContext,
    FunctionSigContext,
    MethodContext,
    Plugin,
    ReportConfigContext,
)
from mypy.plugins.default import DefaultPlugin
from mypy.semanal import SemanticAnalyzer
from mypy.typeanal import TypeAnalyser
from mypy.types import FunctionLike, Instance, Type, UninhabitedType, get_proper_type

from moonxi.mypy_plugin.annotations import Annotations
from moonxi.mypy_plugin.conformance import Conformance
from moonxi.mypy_plugin.digest import DIGEST
from moonxi.mypy_plugin.frozen import check_frozen
from moonxi.mypy_plugin.keys import check_keys
from moonxi.mypy_plugin.messages import TENSOR_SHAPE
from moonxi.mypy_plugin.mixing import checked
from moonxi.mypy_plugin.module_map import add_map, is_module
from moonxi.mypy_plugin.numbers import power
from moonxi.mypy_plugin.overloads import checked_overload
from moonxi.mypy_plugin.scores import check_scores
from moonxi.mypy_plugin.shapes.aliases import note_aliases
from moonxi.mypy_plugin.shapes.attached import ANNOTATED, attach, text_of
from moonxi.mypy_plugin.shapes.formulas import note_formulas
from moonxi.mypy_plugin.shapes.malformed import problem_of
from moonxi.mypy_plugin.shapes.marker import METHOD, imports_moonxi, is_mark, is_marked, plant, plant_end
from moonxi.mypy_plugin.traits import is_trait
from moonxi.mypy_plugin.unused import check_unused, dropped_calls

if TYPE_CHECKING:
    from moonxi.mypy_plugin.shapes.module import Module


def _is_own(name: str) -> bool:
    """Whether a module or class is moonxi's."""
    return name == "moonxi" or name.startswith("moonxi.")


@dataclass
class _Checked:
    """What is known of a file while mypy checks it."""

    scope: CheckerScope
    """Of the checker: another one where the daemon comes back to the file, of which anything may have changed."""
    dropped: frozenset[int]
    module: "Module | None" = None
    called_in: "tuple[FuncDef | None] | None" = None


class MapOnly(Plugin):
    """Gives modules their ``map``: the part that typed programs cannot do without."""

    def report_config_data(self, ctx: ReportConfigContext) -> str:
        return DIGEST

    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        return self._add_map if self._guarded(lambda: self._names_module(fullname)) else None

    def _names_module(self, fullname: str) -> bool:
        symbol = self.lookup_fully_qualified(fullname)
        return symbol is not None and isinstance(symbol.node, TypeInfo) and is_module(symbol.node)

    def _add_map(self, ctx: ClassDefContext) -> None:
        self._guarded(lambda: check_frozen(ctx))
        self._guarded(lambda: add_map(ctx))
        self._guarded(lambda: note_formulas(ctx.cls))

    def _guarded[R](self, run: Callable[[], R]) -> R | None:
        try:
            return run()
        except Exception:
            if self.options.raise_exceptions:
                raise
            if self.options.show_traceback:
                print(f"moonxi.mypy_plugin: note: a check failed:\n{format_exc()}", file=sys.stderr)
            return None


class MoonxiPlugin(MapOnly):
    """All of it."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._default = DefaultPlugin(options)
        self._annotations = Annotations()
        self._conformance = Conformance()
        self._default_next = ""
        self._planted: MypyFile | None = None
        self._checked: _Checked | None = None

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type]:
        return partial(self._function, fullname, self._default.get_function_hook(fullname))

    def get_function_signature_hook(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        return self._overload if _is_own(fullname) else None

    def _overload(self, ctx: FunctionSigContext) -> FunctionLike:
        return self._guarded(lambda: checked_overload(ctx)) or ctx.default_signature

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type]:
        default = self._default.get_method_hook(fullname)
        return partial(self._mark if fullname == METHOD else self._method, fullname, default)

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        if fullname == self._default_next:
            self._default_next = ""
            return None
        if fullname in ANNOTATED:
            return partial(self._annotated, fullname)
        trait = self._guarded(lambda: self._named_trait(fullname))
        if trait is not None:
            return partial(self._trait, fullname, trait)
        if _is_own(fullname) or self._guarded(lambda: self._is_alias(fullname)):
            return partial(self._own_type, fullname)
        return None

    def get_dynamic_class_hook(self, fullname: str) -> Callable[[DynamicClassDefContext], None] | None:
        return self._assigned if _is_own(fullname) else None

    def _assigned(self, ctx: DynamicClassDefContext) -> None:
        """What is called is moonxi's: a file need not name a type of it to be checked."""
        semantic = ctx.api
        if isinstance(semantic, SemanticAnalyzer):
            self._guarded(lambda: self._plant(semantic))

    def _named_trait(self, fullname: str) -> str | None:
        """The name of the trait that a name stands for, by itself or as an alias."""
        symbol = self.lookup_fully_qualified(fullname)
        node = symbol.node if symbol is not None else None
        if isinstance(node, TypeAlias):
            target = get_proper_type(node.target)
            node = target.type if isinstance(target, Instance) else None
        return node.name if isinstance(node, TypeInfo) and is_trait(node) else None

    def _is_alias(self, fullname: str) -> bool:
        symbol = self.lookup_fully_qualified(fullname)
        return symbol is not None and isinstance(symbol.node, TypeAlias)

    def _function(self, fullname: str, default: Callable[[FunctionContext], Type] | None, ctx: FunctionContext) -> Type:
        changed = self._guarded(lambda: self._call(fullname, ctx))
        return default(ctx) if default else changed or ctx.default_return_type

    def _method(self, fullname: str, default: Callable[[MethodContext], Type] | None, ctx: MethodContext) -> Type:
        changed = self._guarded(lambda: self._call(fullname, ctx))
        result = default(ctx) if default else changed or ctx.default_return_type
        return self._guarded(lambda: power(ctx, fullname, result)) or result

    def _mark(self, fullname: str, default: Callable[[MethodContext], Type] | None, ctx: MethodContext) -> Type:
        if not is_mark(ctx.context):
            return self._method(fullname, default, ctx)
        if isinstance(ctx.api, TypeChecker) and any(ctx.api.msg.errors.get_watchers()):
            return UninhabitedType()  # mypy asks whether to call the statement unreachable: not this one
        self._guarded(lambda: self._shapes(ctx))
        return ctx.default_return_type

    def _shapes(self, ctx: MethodContext) -> None:
        """Check the shapes in the function of which the mark is the first statement, or in the file that it ends."""
        if not isinstance(ctx.api, TypeChecker) or not ctx.api.in_checked_function():
            return
        self._check_shapes(ctx.api)

    def _check_shapes(self, checker: TypeChecker) -> None:
        """Check the function that mypy is in, or what is outside of functions."""
        from moonxi.mypy_plugin.shapes.module import Module  # takes a moment, and many runs check nothing

        known = self._known(checker)
        if known.module is None:
            known.module = Module(checker)
        function = checker.scope.current_function()
        if isinstance(function, FuncDef):
            known.module.check(checker, function)
            check_keys(checker, function, function.body.body)
        elif function is None:
            known.module.check_top_level(checker)
            check_keys(checker, None, checker.tree.defs)

    def _known(self, checker: TypeChecker) -> _Checked:
        if self._checked is None or self._checked.scope is not checker.scope:
            self._checked = _Checked(checker.scope, frozenset(dropped_calls(checker.tree.defs)))
        return self._checked

    def _unmarked(self, checker: TypeChecker) -> None:
        """The same at the first call where nothing of moonxi is written in a type, nor called for a variable."""
        current, known = checker.scope.current_function(), self._known(checker)
        function = current if isinstance(current, FuncDef) else None
        if known.called_in == (function,) or any(checker.msg.errors.get_watchers()):
            return
        known.called_in = (function,)
        if not imports_moonxi(checker.tree) or not checker.in_checked_function():
            return
        plant_end(checker.tree)
        if function is not None and not is_marked(function):
            self._check_shapes(checker)

    def _annotated(self, fullname: str, ctx: AnalyzeTypeContext) -> Type:
        typ = self._own_type(fullname, ctx)
        return self._guarded(lambda: self._with_shape(typ, ctx)) or typ

    def _with_shape(self, typ: Type, ctx: AnalyzeTypeContext) -> Type | None:
        text = text_of(ctx.type)
        if text is None:
            return None
        malformed = problem_of(text)
        if malformed is not None:
            ctx.api.fail(malformed, ctx.context, code=TENSOR_SHAPE)
            return None
        shaped = attach(typ, text, ctx.api.named_type("builtins.str", []))
        semantic = ctx.api.api if isinstance(ctx.api, TypeAnalyser) else None
        if isinstance(semantic, SemanticAnalyzer) and not _is_own(semantic.cur_mod_id):
            self._conformance.alike(typ, shaped)
        return shaped

    def _call(self, fullname: str, ctx: FunctionContext | MethodContext) -> Type | None:
        if not isinstance(ctx.api, TypeChecker):
            return None
        checker = ctx.api
        module = checker.tree.fullname
        self._conformance.prepare(module, checker.modules)
        if not _is_own(module):
            self._conformance.learn(ctx.default_return_type)
        self._guarded(lambda: self._unmarked(checker))
        if isinstance(ctx, FunctionContext):
            check_scores(ctx, fullname, checker)
        check_unused(ctx, fullname, self._known(checker).dropped, checker)
        return checked(ctx, fullname, checker)

    def _trait(self, fullname: str, name: str, ctx: AnalyzeTypeContext) -> Type:
        self._guarded(lambda: self._annotations.check(ctx, name))
        return self._own_type(fullname, ctx)

    def _own_type(self, fullname: str, ctx: AnalyzeTypeContext) -> Type:
        self._default_next = fullname  # for mypy's own analysis, which asks for a hook of this name once more
        typ = ctx.api.analyze_type(ctx.type)
        semantic = ctx.api.api if isinstance(ctx.api, TypeAnalyser) else None
        if isinstance(semantic, SemanticAnalyzer):
            self._guarded(lambda: self._plant(semantic))
            self._guarded(lambda: self._note_alias(fullname, semantic))
        # While a module of moonxi is analysed, its traits may be half analysed.
        if isinstance(semantic, SemanticAnalyzer) and not _is_own(semantic.cur_mod_id):
            self._guarded(lambda: self._mentioned(typ, semantic))
        return typ

    def _note_alias(self, fullname: str, semantic: SemanticAnalyzer) -> None:
        home = semantic.modules.get(fullname.rpartition(".")[0])
        if home is not None and self._is_alias(fullname):
            note_aliases(home, semantic.named_type("builtins.str"))

    def _mentioned(self, typ: Type, semantic: SemanticAnalyzer) -> None:
        self._conformance.prepare(semantic.cur_mod_id, semantic.modules)
        self._conformance.learn(typ)

    def _plant(self, semantic: SemanticAnalyzer) -> None:
        """Mark the functions of the module once."""
        file = semantic.cur_mod_node
        if file is not self._planted and not file.is_stub:
            self._planted = file
            plant(file)
