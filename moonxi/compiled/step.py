"""`compile`: a step that is traced once for each structure of its arguments, and replayed from then on."""

import inspect
import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from time import perf_counter
from types import CodeType
from typing import Final, cast
from weakref import WeakKeyDictionary

from moonxi.autodiff import Grad
from moonxi.compiled.building import Builder, builder
from moonxi.compiled.differing import difference
from moonxi.compiled.going_on import GoingOn
from moonxi.compiled.graph import Graph
from moonxi.compiled.matching import Matcher, matcher
from moonxi.compiled.optimising import PASSES, Pass, optimised
from moonxi.compiled.replaying import Replay, first_replay
from moonxi.compiled.report import CompileReport, TraceReport
from moonxi.compiled.runs import Ahead
from moonxi.compiled.structure import Found, Structure, flattened, is_tensor, spec_of
from moonxi.compiled.surroundings import Surroundings, function_of, surroundings_of
from moonxi.compiled.traced import TracedTensor
from moonxi.compiled.tracing import traced
from moonxi.dtypes import DType
from moonxi.errors import CompileError, GraphLimitError, OptionError
from moonxi.key import Key
from moonxi.thread_setting import ThreadSetting

LIMIT: Final = 16
"""How many graphs a step may have."""


@dataclass(slots=True)
class _Program:
    """One graph, ready to run, and what it is good for."""

    structure: Structure
    matches: Matcher
    arguments: GoingOn
    surroundings: Surroundings
    because: str
    build: Builder
    traced: Graph
    graph: Graph
    replay: Replay
    seconds: float
    replays: int = 0

    def given(self, outputs: Sequence[object]) -> object:
        """The result of a call."""
        result = self.build(outputs)
        self.arguments.keep(result, outputs)
        return result


_tracing = ThreadSetting(False)
"""Whether this thread runs a step to find its graph."""


class _Compiled:
    """What stands for a step that is compiled."""

    def __init__(self, step: Callable[..., object], without: Collection[Pass]) -> None:
        self._step = step
        self._without = frozenset(without)
        self._roots, self._bound, self._function = function_of(step)
        self._programs: list[_Program] = []
        self._lock = threading.Lock()

    def called(self, positional: tuple[object, ...], named: dict[str, object]) -> object:
        """What the step gives for these arguments."""
        if _tracing.value:  # within another step, or this one, it is plain Python
            return self._step(*positional, **named)
        arguments = (*self._bound, *positional), named
        with self._lock:
            for program in self._programs:
                leaves = program.arguments.leaves(arguments)
                if leaves is not None and program.surroundings.match():
                    program.replays += 1
                    return program.given(program.replay.run(leaves))
            found, structure = self._flattened(arguments)
            tensors = [leaf for leaf in found.leaves if is_tensor(leaf)]
            if not any(isinstance(one, TracedTensor | Grad) for one in tensors):
                return self._first_call(found, structure, tensors)
        return self._step(*positional, **named)  # under differentiation it is plain Python too

    def run_on(
        self, call: tuple[object, ...], rows: Mapping[int, object], counts: tuple[int, int], keys: Callable[[int], Key]
    ) -> object:
        """What the last of several calls gives, of each of which model and state are those that the one before gave.

        ``rows`` has the tensors of all calls as one, by the identity of those in the first; ``counts`` are how many
        calls it is, and how many it is going to be later. None if it cannot be had at once."""
        if _tracing.value:
            return None
        with self._lock:
            for program in self._programs:
                leaves = program.matches(((*self._bound, *call), {}))
                if leaves is None or not program.surroundings.match():
                    continue
                found, _ = flattened((*self._bound, *call[:2]), "the arguments")
                if not program.replay.goes_on(len(found.leaves)):
                    return None
                places = {place: rows[id(leaf)] for place, leaf in enumerate(leaves) if id(leaf) in rows}
                key = next(place for place, leaf in enumerate(leaves) if leaf is call[3])
                program.replays += counts[0]
                return program.given(program.replay.run_on(leaves, Ahead(*counts, places, key, keys)))
        return None

    def _flattened(self, arguments: object) -> tuple[Found, Structure]:
        try:
            return flattened(arguments, "the arguments")
        except CompileError as error:  # people know an argument by its name
            names = dict(enumerate(self._names))
            text = re.sub(r"the arguments\[1\]\['(\w+)'\]", r"argument \1", str(error))
            known = partial(re.sub, r"the arguments\[0\]\[(\d+)\]")
            raise CompileError(known(lambda at: f"argument {names.get(int(at[1]), int(at[1]) + 1)}", text)) from None

    def _first_call(self, found: Found, structure: Structure, tensors: list[object]) -> object:
        classes = list(dict.fromkeys(map(type, tensors)))
        if not classes:
            raise CompileError(
                f"compile: {self._name}: there is no tensor among the arguments, from which all that a step gives is "
                "computed; pass one, such as the model"
            )
        if len(classes) != 1:
            names = " and ".join(cls.__name__ for cls in classes)
            raise CompileError(f"compile: the tensors among the arguments are {names}: they must be of one class")
        because = self._because(structure)
        if len(self._programs) == LIMIT:
            raise GraphLimitError(
                f"compile: {self._name}: {LIMIT} graphs, and these arguments need another one: {because}: shapes, "
                "Python numbers and what the step reads from outside are parts of a graph; pass what changes from call "
                "to call as a tensor, such as x.full((), lr), and give batches one size"
            )
        start = perf_counter()
        classes_of_records = dict.fromkeys(record.__class__ for record in found.records)
        surroundings = surroundings_of(self._roots, [*classes_of_records, *found.functions])
        with _tracing.within(True):
            made = traced(self._function, structure, found.leaves, classes[0], surroundings.may_show)
        if changed := surroundings.changed():
            raise CompileError(
                f"compile: the step changes {' and '.join(changed)}, which is outside of it: a replay would not; "
                "return the new value as a result"
            )
        graph = optimised(made.graph, {spec_of(one).dtype or DType: one for one in tensors}, self._without)
        replay, outputs = first_replay(graph, classes[0], found.leaves, self._without)
        graph = replace(graph, layouts=replay.layouts, together=replay.together)
        seconds = perf_counter() - start
        matches = matcher(structure)
        going_on, build = GoingOn(structure, matches), builder(made.result)
        program = _Program(
            structure, matches, going_on, surroundings, because, build, made.graph, graph, replay, seconds
        )
        self._programs.insert(0, program)
        return program.given(outputs)

    def _because(self, structure: Structure) -> str:
        """Why there has to be another graph: what is not as in the call that was traced last."""
        if not self._programs:
            return "the first call"
        last = self._programs[0]
        if found := difference(last.structure, structure, self._names):
            return found
        return f"{', '.join(last.surroundings.changed())} changed"

    @property
    def _names(self) -> tuple[str, ...]:
        """Of the arguments by position."""
        code = getattr(inspect.unwrap(self._function), "__code__", None)
        return code.co_varnames[: code.co_argcount] if isinstance(code, CodeType) else ()

    @property
    def _name(self) -> str:
        return getattr(self._step, "__qualname__", type(self._step).__name__)

    def report(self) -> CompileReport:
        """What was traced until now."""
        with self._lock:
            return CompileReport(
                tuple(
                    TraceReport(
                        one.because,
                        len(one.traced.nodes),
                        len(one.graph.nodes),
                        one.replay.fusions,
                        one.replay.peak_bytes,
                        sum(one.graph.specs[number].bytes for number in set(one.graph.outputs) - set(one.graph.inputs)),
                        one.seconds,
                        one.replays,
                        one.traced,
                        one.graph,
                        one.replay.source(),
                    )
                    for one in reversed(self._programs)
                )
            )


_compiled: WeakKeyDictionary[Callable[..., object], _Compiled] = WeakKeyDictionary()


def compile[F: Callable[..., object]](step: F, /, *, without: tuple[Pass, ...] = ()) -> F:
    """The same function, traced at the first call and replayed at later ones.

    The step is a pure function of its arguments: models, optimizer states, batches, keys; shapes and Python numbers
    among them, and what the function reads from outside, belong to the graph, and others make another one. ``without``
    names passes to leave out, to look for a fault. Raises `CompileError` at the call, for a step that reads elements,
    does something else when it is traced again, or needs too many graphs, and `OptionError` for a pass that is not
    there, or something that cannot be called, or gives its results piece by piece."""
    if not callable(step):
        raise OptionError(f"compile: {step!r}: expected a function, such as a training step or model.forward")
    if any(kind(step) for kind in (iscoroutinefunction, isgeneratorfunction, isasyncgenfunction)):
        raise OptionError(
            f"compile: {step!r}: what this gives is computed piece by piece, after the call; expected a function that "
            "returns its results"
        )
    given: object = without
    unknown = [name for name in given if name not in PASSES] if isinstance(given, tuple) else [given]
    if unknown:
        raise OptionError(f"compile: without={unknown[0]!r}: expected a tuple of names among {', '.join(PASSES)}")
    made = _Compiled(step, without)
    called = made.called

    @wraps(step)
    def call(*positional: object, **named: object) -> object:
        return called(positional, named)

    _compiled[call] = made
    return cast(F, call)  # it takes and gives what the step does


def compiled_of[F: Callable[..., object]](step: F, /) -> F:
    """The step itself if it is compiled, else compiled."""
    return step if _made(step) is not None else compile(step)


def compile_as[F: Callable[..., object]](function: F, step: Callable[..., object], /) -> F:
    """The function, which reports what ``step`` does, as that is what it calls."""
    _compiled[function] = _compiled[step]
    return function


def run_on(
    step: Callable[..., object],
    call: tuple[object, ...],
    rows: Mapping[int, object],
    counts: tuple[int, int],
    keys: Callable[[int], Key],
    /,
) -> object:
    """What the last of several calls of a compiled step gives: see `_Compiled.run_on`."""
    return _compiled[step].run_on(call, rows, counts, keys)


def compile_report(step: Callable[..., object], /) -> CompileReport:
    """What compiling ``step`` came to until now. Raises `CompileError` for a function that is not compiled."""
    made = _made(step)
    if made is None:
        raise CompileError(f"compile_report: {step!r} is not compiled: give what compile(step) returned")
    return made.report()


def _made(step: Callable[..., object]) -> _Compiled | None:
    try:
        return _compiled.get(step)
    except TypeError:  # an object without a hash or weak references, which `compile` has not given
        return None
