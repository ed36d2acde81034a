"""The structure of a model: its tensors by path, and the same structure with other tensors.

What is what in a model is told in `kinds`. A tensor where a walk does not find it would never be trained: that is an
error. A model that cannot be changed is walked through once, and known from then on by its `Outline`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from operator import is_not
from sys import getrecursionlimit
from typing import NamedTuple

from moonxi import shapes
from moonxi.errors import ModuleError
from moonxi.identity import identity
from moonxi.nn.kinds import Kind, besides_fields, field_names, is_plain, is_tensor, kind_of
from moonxi.nn.outline import known
from moonxi.nn.state import State
from moonxi.traits import Labels, Mask, Tensor
from moonxi.traits.foreign import described, same_kind


class Leaf(NamedTuple):
    """A tensor in a model: where it stands, and whether it is state. ``holder`` is the `State` then."""

    path: str
    tensor: Tensor
    holder: State[Tensor] | None


def _besides_fields(record: object, path: str) -> dict[str, object]:
    """The attributes of a dataclass that are not fields of it."""
    others = besides_fields(record)
    for name, value in others.items():
        for leaf in walk(value, _joined(path, name)):
            raise ModuleError(
                f"model: {leaf.path}: {name} is not a field of the dataclass {type(record).__name__}, so this tensor "
                "would never be trained; declare the field"
            )
    return others


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _children(value: object, kind: Kind, path: str) -> Iterator[tuple[str, object]]:
    """What a container holds, each with its path."""
    if kind is Kind.RECORD:
        _besides_fields(value, path)
        prefix = f"{path}." if path else ""
        for name in field_names(value):
            yield prefix + name, getattr(value, name)
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield f"{path}[{number}]", one
    elif isinstance(value, dict):
        for key, one in value.items():
            yield f"{path}[{key!r}]", one


def walk(value: object, path: str = "") -> list[Leaf]:
    """Every parameter and state, in the order of the fields; a tied one once for each place."""
    found: list[Leaf] = []
    if not path and (there := known(value)) is not None:
        for place, is_state, number in there.outline.places:
            holder = there.states[number] if is_state else None
            found.append(Leaf(place, there.parameters[number] if holder is None else holder.value, holder))
        return found
    try:
        _collect(value, path, found)
    except RecursionError:
        raise _too_deep(value) from None
    return found


def _too_deep(value: object) -> ModuleError:
    return ModuleError(
        f"model: {type(value).__name__}: its parts are nested deeper than the {getrecursionlimit()} calls that Python "
        "makes within each other, or hold themselves: put the parts of a chain into one list or tuple"
    )


def _collect(value: object, path: str, found: list[Leaf]) -> None:
    kind = kind_of(value, path)
    if kind is Kind.PLAIN or kind is Kind.SETTING:
        return
    if is_tensor(value):
        found.append(Leaf(path, value, None))
    elif kind is Kind.HELD:
        if isinstance(value, State):
            found.append(Leaf(path, value.value, value))
    elif kind is Kind.MAPPING and isinstance(value, dict):
        for (key, one), (place, _) in zip(value.items(), _children(value, kind, path), strict=True):
            start = len(found)
            _collect(one, place, found)
            if len(found) > start and not isinstance(key, str | int):
                raise ModuleError(
                    f"model: {found[start].path}: the key is a {type(key).__name__}; the keys of a dict with tensors "
                    "are strings or whole numbers, for they name the tensors, also in files"
                )
    else:
        for place, one in _children(value, kind, path):
            if not is_plain(one):  # as most fields of most layers are
                _collect(one, place, found)


def layers(root: object) -> Iterator[tuple[str, object]]:
    """Every object in the model that has a ``forward``, the model first, each with its path; a tied one once."""
    found: set[int] = set()

    def visit(value: object, path: str) -> Iterator[tuple[str, object]]:
        kind = kind_of(value, path)
        if hasattr(value, "forward") and not isinstance(value, type) and identity(value) not in found:
            found.add(identity(value))
            yield path, value
        for place, one in _children(value, kind, path):
            yield from visit(one, place)

    try:
        return iter(list(visit(root, "")))
    except RecursionError:
        raise _too_deep(root) from None


def parameters(value: object) -> dict[str, Tensor]:
    """The trainable tensors by path; a tied one once, at its first place."""
    return tensors(value)[0]


def states(value: object) -> dict[str, State[Tensor]]:
    """The state fields by path; a shared one once, at its first place."""
    return _found(value)[1]


def tensors(value: object) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """What `parameters` gives, and the tensors in what `states` gives, in one walk."""
    trained, held = _found(value)
    return trained, {path: state.value for path, state in held.items()}


def _found(value: object) -> tuple[dict[str, Tensor], dict[str, State[Tensor]]]:
    there = known(value)
    if there is not None:
        outline = there.outline
        return dict(zip(outline.trained, there.parameters, strict=True)), dict(
            zip(outline.held, there.states, strict=True)
        )
    trained: dict[str, Tensor] = {}
    held: dict[str, State[Tensor]] = {}
    seen: set[int] = set()
    for leaf in walk(value):
        key = identity(leaf.tensor if leaf.holder is None else leaf.holder)
        if key not in seen:
            seen.add(key)
            if leaf.holder is None:
                trained[leaf.path] = leaf.tensor
            else:
                held[leaf.path] = leaf.holder
    return trained, held


class _Change(NamedTuple):
    """What comes in the place of the tensors of a model."""

    parameter: Callable[[Tensor], Tensor]
    state: Callable[[State[Tensor]], State[Tensor]]
    other: Callable[[Labels[Tensor] | Mask[Tensor]], object]


def mapped(value: object, f: Callable[[Tensor], Tensor]) -> object:
    """The same structure with ``f`` of each tensor; what is tied stays tied. State takes no part in differentiation."""
    there = known(value)
    if there is None:
        return _rebuilt(value, _Change(_distinct(f), lambda state: _mapped(state, f), lambda held: held.map(f)))
    parameters: list[Tensor] = []
    states: list[State[Tensor]] = []
    for is_state, number in there.outline.order:
        if is_state:
            states.append(_mapped(there.states[number], f))
        else:
            parameters.append(f(there.parameters[number]))
    return there.outline.filled(_each_another(parameters, there.parameters), states)


def _mapped(state: State[Tensor], f: Callable[[Tensor], Tensor]) -> State[Tensor]:
    return State(f(state.value).stop_gradient())


def replaced(value: object, new_parameters: Sequence[Tensor] | None, new_states: Sequence[Tensor] | None) -> object:
    """The same structure with other parameters, states or both, in the order of `parameters` and `states`."""
    tensors = None if new_parameters is None else _each_another(new_parameters, new_parameters)
    states = None if new_states is None else list(map(State, new_states))
    there = known(value)
    if there is not None:
        return there.outline.filled(
            there.parameters if tensors is None else tensors, there.states if states is None else states
        )
    return _rebuilt(value, _Change(_in_turn(tensors), _in_turn(states), lambda held: held))


def _in_turn[C](given: Sequence[C] | None) -> Callable[[C], C]:
    """What gives the next in the place of each, or each itself if there is nothing to give."""
    if given is None:
        return lambda one: one
    rest = iter(given)
    return lambda _: next(rest)


def expect_alike(operation: str, named: Mapping[str, Tensor], new: Sequence[Tensor], /) -> None:
    """Raise unless the new tensors have the classes, element types and shapes of those in whose place they come."""
    if [(type(one), one.dtype, one.shape) for one in named.values()] == [
        (type(one), getattr(one, "dtype", None), getattr(one, "shape", None)) for one in new
    ]:
        return
    for (path, old), value in zip(named.items(), new, strict=True):
        if not same_kind(old, value):
            raise ModuleError(
                f"{operation} ({path}): {described(value)} in the place of {described(old)}: expected the same class "
                "and element type; another comes in with map"
            )
        if old.shape != value.shape:
            shapes.equal(f"{operation} ({path})", old.shape, value.shape)


def _rebuilt(value: object, change: _Change) -> object:
    """The same structure with other tensors, of a model that can be changed."""
    try:
        return _rebuild(value, change, {})
    except RecursionError:
        raise _too_deep(value) from None


def _distinct(f: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """``f`` with another object for each tensor: one object twice would be a tie that the model does not have.

    Gradients are such a case: those of ``a`` and ``b`` in ``(a + b).sum()`` are one and the same tensor."""
    given: dict[int, Tensor] = {}

    def call(tensor: Tensor) -> Tensor:
        new = f(tensor)
        if not is_tensor(new):
            raise ModuleError(
                f"map: the function gave {described(new)} for {described(tensor)}: expected a tensor for each tensor"
            )
        key = identity(new)
        if key in given:
            new = new.reshape(new.shape)
            key = identity(new)
        given[key] = new
        return new

    return call


def _each_another(new: Sequence[Tensor], old: Sequence[Tensor]) -> Sequence[Tensor]:
    """What came of the old tensors, of which none is an object that was there before."""
    classes = {one.__class__: one for one in new}
    if len(set(map(identity, new))) == len(new) and all(map(is_tensor, classes.values())):
        return tuple(new)
    return list(map(_distinct(_in_turn(new)), old))


def _rebuild(value: object, change: _Change, memo: dict[int, object]) -> object:
    """The same structure, in the order of `walk`; what is one object before is one object after, also if unchanged."""
    done = memo.get(identity(value))
    if done is not None:
        return done
    kind = kind_of(value, "")
    new = value
    if is_tensor(value):
        new = change.parameter(value)
    elif isinstance(value, State):
        new = change.state(value)
    elif kind is Kind.HELD and isinstance(value, Labels | Mask):
        new = change.other(value)
    elif kind is Kind.RECORD:
        after, changed = dict[str, object](), False
        for name in field_names(value):
            one = after[name] = getattr(value, name)
            if not is_plain(one):  # as most fields of most layers are
                after[name] = _rebuild(one, change, memo)
                changed = changed or after[name] is not one
        if changed:
            new = object.__new__(type(value))
            for name, one in {**_besides_fields(value, ""), **after}.items():
                object.__setattr__(new, name, one)
    elif isinstance(value, list):
        new = copy(value)
        new[:] = [_rebuild(one, change, memo) for one in value]
    elif isinstance(value, tuple):
        parts = tuple(_rebuild(one, change, memo) for one in value)
        if any(map(is_not, parts, value)):
            new = parts if type(value) is tuple else tuple.__new__(type(value), parts)
    elif isinstance(value, dict):
        new = copy(value)
        new.update({key: _rebuild(one, change, memo) for key, one in value.items()})
    memo[identity(value)] = new
    return new
