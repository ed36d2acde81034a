"""The plugin class: which hook runs which check.

mypy asks the plugins in order and takes the first hook it gets. The hooks for calls are wanted for every call, so
they also run what mypy's own plugin would have done. A failure inside must not break a user's mypy run: the call
then counts as checked. ``mypy --show-traceback`` lets it through.
"""

from collections.abc import Callable
from functools import partial

from mypy.checker import TypeChecker
from mypy.nodes import TypeAlias, TypeInfo
from mypy.options import Options
from mypy.plugin import AnalyzeTypeContext, ClassDefContext, FunctionContext, MethodContext, Plugin
from mypy.plugins.default import DefaultPlugin
from mypy.semanal import SemanticAnalyzer
from mypy.typeanal import TypeAnalyser
from mypy.types import Instance, Type, get_proper_type

from moonxi.mypy_plugin.annotations import Annotations
from moonxi.mypy_plugin.conformance import Conformance, is_own, is_tensor
from moonxi.mypy_plugin.mixing import check, with_name
from moonxi.mypy_plugin.module_map import add_map, is_module
from moonxi.mypy_plugin.traits import is_trait


class MapOnly(Plugin):
    """Gives modules their ``map``: the part that typed programs cannot do without."""

    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        symbol = self.lookup_fully_qualified(fullname)
        if symbol is not None and isinstance(symbol.node, TypeInfo) and is_module(symbol.node):
            return self._add_map
        return None

    def _add_map(self, ctx: ClassDefContext) -> None:
        self._guarded(lambda: add_map(ctx))

    def _guarded(self, run: Callable[[], None]) -> None:
        try:
            run()
        except Exception:
            if self.options.show_traceback:
                raise


class MoonxiPlugin(MapOnly):
    """All of it."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._default = DefaultPlugin(options)
        self._annotations = Annotations()
        self._conformance = Conformance()
        self._default_next = ""

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type]:
        return partial(self._function, fullname, self._default.get_function_hook(fullname))

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type]:
        return partial(self._method, fullname, self._default.get_method_hook(fullname))

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        if fullname == self._default_next:
            self._default_next = ""
            return None
        symbol = self.lookup_fully_qualified(fullname)
        node = symbol.node if symbol is not None else None
        if isinstance(node, TypeInfo) and is_tensor(node):
            return partial(self._tensor, fullname)
        if isinstance(node, TypeAlias):
            target = get_proper_type(node.target)
            node = target.type if isinstance(target, Instance) else None
        return partial(self._trait, fullname, node.name) if isinstance(node, TypeInfo) and is_trait(node) else None

    def _function(self, fullname: str, default: Callable[[FunctionContext], Type] | None, ctx: FunctionContext) -> Type:
        self._guarded(lambda: self._call(ctx, fullname))
        return default(ctx) if default else with_name(ctx.default_return_type)

    def _method(self, fullname: str, default: Callable[[MethodContext], Type] | None, ctx: MethodContext) -> Type:
        self._guarded(lambda: self._call(ctx, fullname))
        return default(ctx) if default else with_name(ctx.default_return_type)

    def _call(self, ctx: FunctionContext | MethodContext, fullname: str) -> None:
        if isinstance(ctx.api, TypeChecker) and not is_own(ctx.api.tree.fullname):
            self._conformance.learn(ctx.default_return_type, ctx.api.modules)
        check(ctx, fullname)

    def _tensor(self, fullname: str, ctx: AnalyzeTypeContext) -> Type:
        typ = self._analyzed(fullname, ctx)
        semantic = ctx.api.api if isinstance(ctx.api, TypeAnalyser) else None
        if isinstance(semantic, SemanticAnalyzer) and not is_own(semantic.cur_mod_id):
            self._guarded(lambda: self._conformance.learn(typ, semantic.modules))
        return typ

    def _trait(self, fullname: str, name: str, ctx: AnalyzeTypeContext) -> Type:
        self._guarded(lambda: self._annotations.check(ctx, name))
        return self._analyzed(fullname, ctx)

    def _analyzed(self, fullname: str, ctx: AnalyzeTypeContext) -> Type:
        """The type as mypy analyses it by itself, for which it asks for a hook of this name once more."""
        self._default_next = fullname
        return ctx.api.analyze_type(ctx.type)
