"""Which model is being computed: gives each layer its path, its own random key, and a place for its new state.

A scope opens with the outermost ``forward`` of a thread, or around a whole loss. Within it a layer's path is where it
stands in that model. Nothing outlives the scope.
"""

from contextlib import suppress
from types import TracebackType
from typing import Any, Self, cast

from moonxi.autodiff.surroundings import Again, remember
from moonxi.errors import ModuleError
from moonxi.key import Key
from moonxi.nn import tree
from moonxi.nn.moves import Move, moved, waiting
from moonxi.nn.state import State
from moonxi.thread_setting import ThreadSetting
from moonxi.traits import Tensor


class Scope:
    """One computation of the model ``root``."""

    __slots__ = ("_calls", "_due", "_moves", "_outer", "_paths", "_updates", "root")

    def __init__(self, root: object) -> None:
        self.root = root
        self._updates: dict[object, Any] = {}  # by the state field, each of which is equal to itself alone
        self._moves: dict[object, list[tuple[object, float]]] = {}
        self._due: dict[object, Move] = {}  # the last moves, which nobody has asked for yet
        self._paths: dict[int, str] | None = None
        self._calls: dict[str, int] = {}
        self._outer: Scope | None = None

    def __enter__(self) -> Self:
        self._outer = _active.value
        _active.value = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _active.value = self._outer

    def path(self, layer: object) -> str:
        """Where the layer stands in the model: ``blocks[2].norm``; empty for the model itself or a stranger."""
        if self._paths is None:
            self._paths = {id(one): path for path, one in tree.layers(self.root)}
        return self._paths.get(id(layer), "")

    def update[T: Tensor](self, state: State[T], value: T, /) -> None:
        """Note the new value of a state field."""
        self._updates[state] = value
        self._moves.pop(state, None)
        self._due.pop(state, None)

    def move[T: Tensor](self, state: State[T], target: T, share: float, /) -> None:
        """Note that a state field moves towards a value, by a share of the way."""
        before = self.newest(state)
        move = waiting(state, before, target, share)
        if move is None:
            self._updates[state] = before * (1.0 - share) + target * share
        else:
            self._updates[state], self._due[state] = before, move
        self._moves[state] = [*self._moves.get(state, ()), (target, share)]

    def moves[T: Tensor](self, state: State[T], /) -> list[tuple[T, float]]:
        """All that a state field has done, if it has moved only: where to, and by which share."""
        return cast("list[tuple[T, float]]", self._moves.get(state, []))  # noted for this very state

    @property
    def updated(self) -> bool:
        """Whether any state field has a new value."""
        return bool(self._updates)

    def newest[T: Tensor](self, state: State[T], /) -> T:
        """The last value noted for a state field, or the one that it has."""
        if self._due and state in self._due:
            for move, there in moved(list(self._due.values())):
                self._updates[move.state] = there
            self._due.clear()
        value: T = self._updates.get(state, state.value)  # noted for this very state
        return value

    def copy(self) -> "Scope":
        """A scope as this one is now."""
        copy = Scope(self.root)
        copy._updates = dict(self._updates)
        copy._moves = dict(self._moves)
        copy._due = dict(self._due)
        copy._calls = dict(self._calls)
        copy._paths = self._paths
        return copy

    def call_number(self, name: str) -> int:
        """How often this was asked for the name before, within the scope."""
        number = self._calls.get(name, 0)
        self._calls[name] = number + 1
        return number


_active = ThreadSetting[Scope | None](None)


@remember
def _reopened() -> Again:
    """The scope as it is now, in which layers find the names and keys that they find from here on."""
    now = None if _active.value is None else _active.value.copy()

    return lambda: _active.within(None if now is None else now.copy())


def active() -> Scope | None:
    """The scope of this thread, if one is open."""
    return _active.value


def where(layer: object) -> str:
    """A layer's name for messages: its path in the model and its class."""
    scope = _active.value
    path = ""
    if scope is not None:
        with suppress(ModuleError):  # of a model that hides a tensor: that must not stand before the error to be named
            path = scope.path(layer)
    return f"{path} ({type(layer).__name__})" if path else type(layer).__name__


def layer_key(layer: object, key: Key, /) -> Key:
    """The layer's own key: ``key`` folded with its path and with the number of times the path has asked.

    So two layers under one key draw different numbers, and so does one layer that is used twice. Layers that are not
    in the model, such as one made within a forward, go by their class instead of a path."""
    scope = _active.value
    if scope is None:
        return key.fold(type(layer).__name__)
    name = scope.path(layer) or type(layer).__name__
    number = scope.call_number(name)
    return key.fold(name).fold(number) if number else key.fold(name)


def collect[T: Tensor](state: State[T], value: T, /) -> None:
    """Note the new value of a state field; it comes back with the result of the scope."""
    if _active.value is None:
        raise ModuleError("state update: outside a forward: new state is collected while a model is computed")
    _active.value.update(state, value)


def move[T: Tensor](state: State[T], target: T, share: float, /) -> None:
    """Note that a state field moves towards a value; the result of the scope has it there."""
    if _active.value is None:
        raise ModuleError("state update: outside a forward: new state is collected while a model is computed")
    _active.value.move(state, target, share)


def newest[T: Tensor](state: State[T], /) -> T:
    """The value that a state field has after what was collected until now."""
    return state.value if _active.value is None else _active.value.newest(state)
