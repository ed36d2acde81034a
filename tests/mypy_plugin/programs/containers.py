"""Lists, tuples, dicts and records of one tensor class, or of several that nothing combines: right programs."""

import itertools
import operator
from collections import ChainMap, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from typing import ClassVar, NamedTuple, Self, TypedDict

import moonxi as mx
from moonxi import F32, Labels, NpArray, ShapeTensor, Tensor, nn

type Host = NpArray[F32]


def joined[T: Tensor](x: T, y: T) -> T:
    return x + y


def folded[T: Tensor](xs: Iterable[T], start: T, f: Callable[[T, T], T] = lambda a, b: a + b) -> T:
    for x in xs:
        start = f(start, x)
    return start


def swapped[T: Tensor, U: Tensor](pair: tuple[T, U]) -> tuple[U, T]:
    return pair[1], pair[0]


def nested[T: Tensor](xs: dict[str, list[tuple[T, T]]]) -> T:
    return xs["a"][0][0] + xs["b"][0][1]


def listed[X](*xs: X) -> list[X]:
    return list(xs)


class Box[T: Tensor]:
    count: ClassVar[int] = 0

    def __init__(self, *items: T, **named: T) -> None:
        self.items = list(items)
        self.named = dict(named)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __getitem__(self, i: int) -> T:
        return self.items[i]

    def __setitem__(self, i: int, x: T) -> None:
        self.items[i] = x

    def __contains__(self, x: T) -> bool:
        return any(x is y for y in self.items)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def added(self, other: "Box[T]") -> "Box[T]":
        return Box(*self.items, *other.items)

    def mapped[U: Tensor](self, f: Callable[[T], U]) -> "Box[U]":
        return Box(*map(f, self.items), **{name: f(x) for name, x in self.named.items()})

    @classmethod
    def of(cls, x: T) -> "Box[T]":
        return cls(x, x)

    @staticmethod
    def two[U: Tensor](x: U, y: U) -> "Box[U]":
        return Box(x, y)

    @property
    def total(self) -> T:
        return reduce(lambda a, b: a + b, self.items)

    @cached_property
    def largest(self) -> T:
        return max(self.items, key=lambda x: x.shape)


class Named[T: Tensor](NamedTuple):
    x: T
    y: T


class Typed[T: Tensor](TypedDict):
    x: T
    y: T


@dataclass
class Running[T: Tensor]:
    mean: T
    history: list[T] = field(default_factory=list)
    by_name: dict[str, T] = field(default_factory=dict)
    last: T | None = None

    def update(self, x: T) -> Self:
        self.mean = self.mean * 0.9 + x * 0.1
        self.history.append(x)
        self.by_name["last"] = x
        self.last = x if self.last is None else self.last + x
        return self


@dataclass(frozen=True)
class Net[T: mx.MlpTensor](nn.Module[T]):
    w: T
    biases: list[T]
    table: dict[str, T]
    pair: tuple[T, T]
    maybe: T | None
    name: str = "net"

    def forward(self, x: T, /) -> T:
        y = reduce(lambda h, b: h + b, self.biases, x.matmul(self.w))
        for value in self.table.values():
            y = y * value
        return y if self.maybe is None else y + self.maybe


@dataclass(frozen=True)
class Deep[T: mx.MlpTensor](nn.Module[T]):
    nets: list[Net[T]]
    head: Net[T]
    extra: dict[str, Net[T]]

    def forward(self, x: T, /) -> T:
        return self.head.forward(reduce(lambda h, net: net.forward(h), self.nets, x))


@dataclass(frozen=True)
class Batch[T: Tensor]:
    x: T
    y: Labels[T]
    weight: T | None = None

    def map[U: Tensor](self, f: Callable[[T], U], /) -> "Batch[U]":
        return Batch(f(self.x), self.y.map(f), None if self.weight is None else f(self.weight))


def inside[T: mx.MlpTensor](x: T, y: T, more: Sequence[T], named: Mapping[str, T]) -> list[T]:
    """The same where the class is itself a variable."""
    box = Box(x, y).added(Box(*more, **named)).mapped(lambda t: t * 2.0)
    net = Net(x, list(more), dict(named), (x, y), None)
    deep = Deep([net], net, {"a": net}).map(lambda t: t + x)
    return [*box, Running(x).update(y).mean, folded(more, x, joined), deep.forward(y), *net.map(lambda t: t).biases]


def main() -> None:
    host, other, shape = mx.numpy().ones((2, 2)), mx.numpy().zeros((2, 2)), ShapeTensor((2, 2))
    xs, by_name, mixed = [host, other], {"a": host, "b": other}, (host, shape)
    box = Box(host, other, a=host)
    box[0] = other
    seen: list[object] = [joined(*xs), other in box, box.total, box.largest, Box.of(host).added(Box.two(host, other))]
    with box as entered:
        seen.append(entered.added(Box(host)).mapped(mx.variable).total.backward)
    empty: Box[ShapeTensor] = Box()
    seen += [empty.added(Box(shape)), Named(host, other).x + host, Named(x=shape, y=shape)._replace(x=shape).y]
    typed: Typed[Host] = {"x": host, "y": other}
    seen += [
        joined(**typed),
        joined(typed["x"], typed["y"]),
        joined(**by_name | {"y": host, "x": other}) if not xs else 0,
    ]
    running = Running(host).update(other)
    seen += [replace(running, mean=other), Running(shape, [shape], {"a": shape}).update(shape)]
    net = Net(host, [host], {"a": host}, (host, host), None)
    symbolic = Net(w=shape, biases=[], table={}, pair=(shape, shape), maybe=shape)
    deep = Deep([net], net, {"a": net})
    seen += [net.map(mx.variable).forward(mx.constant(host)), deep.map(lambda x: x * 2.0).forward(host)]
    seen += [Deep([symbolic], symbolic, {}).forward(shape), deep.map(mx.variable).map(mx.variable)]
    seen += [
        Batch(host, host.argmax(0)).map(mx.variable).map(lambda x: x.value).weight,
        inside(host, other, xs, by_name),
    ]
    seen += [folded(xs, host), folded(by_name.values(), host), folded(map(lambda x: x * 2.0, xs), host)]  # noqa: C417
    seen += [folded((x for x in xs), host, joined), folded([], host), folded(deque(xs), host, joined)]
    seen += [folded(itertools.chain(xs, [host]), host), folded(itertools.chain.from_iterable([[host], xs]), host)]
    seen += [partial(joined, host)(other), partial(folded, xs)(host), partial(folded, f=joined)(xs, host)]
    seen += [joined(x, y) for x, y in zip(xs, [other, host], strict=True)]
    seen += [joined(x, y) for x, y in itertools.pairwise(xs)]
    seen += [joined(x, xs[i]) for i, x in enumerate(xs)]
    seen += [joined(x, x) for x, _ in [mixed, mixed]] + [joined(y, y) for _, y in [mixed, mixed]]
    seen += [sorted(xs, key=lambda x: x.sum().item()), max(xs, key=lambda x: x.sum().item()), sum(xs, start=host)]
    grouped: defaultdict[str, list[Host]] = defaultdict(list)
    grouped["a"].append(host)
    seen += [folded(grouped["a"], host), *map(joined, [host], [other]), reduce(joined, xs), operator.add(host, other)]
    seen += [joined(*OrderedDict(a=host, b=other).values()), ChainMap(by_name, {"c": host})["c"] + host]
    seen += [swapped(mixed)[0].exp(), swapped(mixed)[1] + host, nested({"a": [(host, other)], "b": [(host, other)]})]
    functions: dict[str, Callable[[Host, Host], Host]] = {"a": joined, "b": operator.add, "c": lambda x, y: x}
    seen += [f(host, other) for f in functions.values()]
    # Of several classes, where nothing combines them.
    places: dict[str, Host | ShapeTensor] = {"host": host, "shapes": shape}
    places.setdefault("more", shape)
    seen += [listed(host, shape), [host, shape], {"a": host, "b": shape}, {name: x.shape for name, x in places.items()}]
    seen += [*mixed, len([host, shape]), *zip(*[mixed, mixed], strict=True), [isinstance(x, NpArray) for x in mixed]]
    maybe = host if xs else None
    seen += [joined(maybe, host) if maybe is not None else None]
    first, *rest = xs
    seen += [joined(first, rest[0]), joined((kept := host), kept), joined(host if xs else other, other)]
    with ThreadPoolExecutor(1) as pool:
        seen += [*pool.map(joined, [host], [other]), pool.submit(joined, host, other).result() + host]
    assert seen
