"""Why arguments need another graph: the first place where two structures differ, in words."""

from collections.abc import Iterator

from moonxi.compiled.structure import Again, Bound, Entries, Items, KeyLeaf, Record, Static, Structure, TensorLeaf, same


def difference(before: Structure, now: Structure, names: tuple[str, ...] = ()) -> str:
    """The first difference of the arguments of two calls; ``names`` are those of the arguments by position."""
    return next(_differences(before, now, _Path(names)), "")


class _Path:
    """Where a part stands, for people: ``batch.x``."""

    def __init__(self, names: tuple[str, ...], text: str = "", depth: int = 0) -> None:
        self._names = names
        self.text = text
        self._depth = depth

    def item(self, number: int) -> "_Path":
        """The part of this number. A call is a pair: the arguments by position, and those by name."""
        if self._depth == 0:
            return _Path(self._names, "", 1)
        if self._depth == 1 and not self.text:
            name = self._names[number] if number < len(self._names) else f"argument {number + 1}"
            return _Path(self._names, name, 2)
        return _Path(self._names, f"{self.text}[{number}]", 2)

    def entry(self, key: object) -> "_Path":
        """The part of this key."""
        return _Path(self._names, f"{self.text}[{key!r}]" if self.text else str(key), 2)

    def attribute(self, name: str) -> "_Path":
        """The part of this name."""
        return _Path(self._names, f"{self.text}.{name}", 2)


def _differences(before: Structure, now: Structure, path: _Path) -> Iterator[str]:
    match before, now:
        case TensorLeaf(one, cls, spec, alike), TensorLeaf(other, new, found, setting):
            if (cls, spec) != (new, found):
                yield f"{path.text} is {_told(now)}, and was {_told(before)}"
            elif alike != setting:
                yield f"{path.text} is computed with other settings, such as another device"
            elif one != other:
                yield f"{path.text} is the same object as another argument in one call, and not in the other"
        case Static(value), Static(new):
            if not same(value, new):
                yield f"{path.text} is {_told(now)}, and was {_told(before)}"
        case Items(cls, parts), Items(other, others) if cls is other and len(parts) == len(others):
            for number, (part, new) in enumerate(zip(parts, others, strict=True)):
                yield from _differences(part, new, path.item(number))
        case Entries(keys, parts), Entries(others, news) if keys == others:
            for key, part, new in zip(keys, parts, news, strict=True):
                yield from _differences(part, new, path.entry(key))
        case Record(_, cls, names, parts), Record(_, other, others, news) if cls is other and names == others:
            for name, part, new in zip(names, parts, news, strict=True):
                yield from _differences(part, new, path.attribute(name))
        case Bound(cls, names, parts), Bound(other, _, news) if cls is other:
            for name, part, new in zip(names, parts, news, strict=True):
                yield from _differences(part, new, path.attribute(name))
        case Items(_, parts), Items(_, others) if not path.text:
            yield f"the call has {len(others)} arguments by position, and had {len(parts)}"
        case _:
            if before != now:
                yield f"{path.text or 'what the call has by name'} is {_told(now)}, and was {_told(before)}"


def _told(structure: Structure) -> str:
    match structure:
        case TensorLeaf(_, cls, spec, _):
            return f"{cls.__name__} {spec}"
        case KeyLeaf():
            return "a key"
        case Static(value):
            text = getattr(value, "__qualname__", None) or repr(value)
            return text if len(text) <= 40 else f"{text[:37]}..."
        case Items(cls, parts):
            return f"a {cls.__name__} of {len(parts)}"
        case Entries(keys, _):
            return f"a dict of {', '.join(map(repr, keys[:8]))}" if keys else "an empty dict"
        case Record(_, cls, _, _):
            return cls.__name__
        case Bound():
            return "a bound function"
        case Again():
            return "the same object as another argument"
        case _:
            raise TypeError(f"no such structure: {type(structure).__name__}")
