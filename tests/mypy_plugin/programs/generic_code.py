"""Generic code of a user's own: traits, decorators, overloads, callbacks. None of it may be reported."""

import asyncio
import functools
from collections.abc import Callable, Generator, Hashable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Concatenate, Generic, Literal, ParamSpec, Protocol, Self, TypeVar, overload

from typing_extensions import TypeIs

import moonxi as mx
from moonxi import F32, F64, BlasTensor, Grad, NpArray, ShapeTensor, Tensor
from moonxi.losses import mse

type Host = NpArray[F32]

P = ParamSpec("P")
R = TypeVar("R")
Old = TypeVar("Old", bound=Tensor)
Listed = TypeVar("Listed", NpArray[F32], NpArray[F64])


class ModelTensor(Tensor, BlasTensor, Protocol):
    """An intersection of traits."""


class Loud(Protocol):
    """A Protocol that is no trait, and speaks of no Self."""

    def shout(self) -> str: ...


class LoudTensor(Tensor, Loud, Protocol):
    """A trait with a method of the user's."""


class Shouting(NpArray[F32]):
    """A tensor class with that method."""

    __slots__ = ()

    def shout(self) -> str:
        return f"{self.sum().item():.0f}!"


class Loss(Protocol):
    """A callback that is generic by itself."""

    def __call__[T: Tensor](self, x: T, y: T, /) -> T: ...


class Metric[T](Protocol):
    """A callback for one class."""

    def __call__(self, x: T, y: T, /) -> float: ...


def logged(f: Callable[P, R]) -> Callable[P, R]:  # noqa: UP047 - the older way is meant
    @functools.wraps(f)
    def inner(*args: P.args, **kwargs: P.kwargs) -> R:
        return f(*args, **kwargs)

    return inner


def logged_anew[**Q, S](f: Callable[Q, S], /) -> Callable[Q, S]:
    def inner(*args: Q.args, **kwargs: Q.kwargs) -> S:
        return f(*args, **kwargs)

    return inner


def with_host[**Q, S](f: Callable[Concatenate[Host, Q], S]) -> Callable[Q, S]:
    def inner(*args: Q.args, **kwargs: Q.kwargs) -> S:
        return f(mx.numpy(), *args, **kwargs)

    return inner


def repeated(times: int) -> Callable[[Callable[P, R]], Callable[P, list[R]]]:
    def decorate(f: Callable[P, R]) -> Callable[P, list[R]]:
        def inner(*args: P.args, **kwargs: P.kwargs) -> list[R]:
            return [f(*args, **kwargs) for _ in range(times)]

        return inner

    return decorate


@logged
def joined[T: Tensor](x: T, y: T) -> T:
    return x + y


@logged_anew
def joined_anew[T: Tensor](x: T, y: T) -> T:
    return x + y


@with_host
def beside_host[T: Tensor](like: Host, x: T, n: int) -> T:
    return x * float(n)


@repeated(3)
def on_host(x: Host, y: Host) -> Host:
    return x + y


@functools.cache
def made(n: int) -> Host:
    return mx.numpy().zeros((n,))


def old_style(x: Old, y: Old) -> Old:  # noqa: UP047
    return x + y


def one_of_two(x: Listed, y: Listed) -> Listed:  # noqa: UP047
    return x + y


class OldBox(Generic[Old]):  # noqa: UP046
    def __init__(self, x: Old) -> None:
        self.x = x

    def plus(self, y: Old) -> Old:
        return self.x + y


@overload
def pick[T: Tensor](x: T, y: None = None) -> T: ...
@overload
def pick[T: Tensor](x: T, y: T) -> tuple[T, T]: ...
def pick[T: Tensor](x: T, y: T | None = None) -> T | tuple[T, T]:
    return x if y is None else (x, y)


@overload
def either(x: Host, y: Host) -> Host: ...
@overload
def either(x: Host, y: ShapeTensor) -> tuple[Host, ShapeTensor]: ...
def either(x: Host, y: Host | ShapeTensor) -> object:
    return x, y


@contextmanager
def scope[T: Tensor](x: T) -> Iterator[T]:
    yield x


def twice[T: Tensor](f: Callable[[T], T], x: T) -> T:
    return f(f(x))


def deep[T: Tensor](f: Callable[[Callable[[T], T]], Callable[[T], T]], x: T) -> T:
    return f(lambda y: y)(x)


def applied[T: Tensor, *As](f: Callable[[T, *As], T], x: T, *args: *As) -> T:
    return f(x, *args)


def moved[T: Tensor, U: Tensor](x: T, like: U) -> U:
    return like.zeros(x.shape)


def options[T: Tensor](x: T, y: T | None = None, *rest: T, z: list[T] | None = None, **more: T) -> T:
    return x


def reduced[T: Tensor](x: T, how: Literal["sum", "mean"]) -> T:
    match how:
        case "sum":
            return x.sum()
        case "mean":
            return x.mean()


def evaluated[T: Tensor](loss: Loss, metric: Metric[T], x: T, y: T) -> tuple[T, float]:
    return loss(x, y), metric(x, y)


def distance[T: Tensor](x: T, y: T, /) -> float:
    return float(len((x - y).shape))


def shouted[T: LoudTensor](x: T, y: T) -> str:
    return (x + y).shout()


def both_shout[T: Loud](x: T, y: T) -> str:
    return x.shout() + y.shout()


def hashes[T: Hashable](x: T, y: T) -> int:
    return hash(x) ^ hash(y)


def is_host(x: Host | ShapeTensor) -> TypeIs[Host]:
    return isinstance(x, NpArray)


def of_class[T: Tensor](kind: type[T], x: T) -> bool:
    return isinstance(x, kind)


async def later[T: Tensor](x: T) -> T:
    return x


async def both[T: Tensor](x: T, y: T) -> tuple[T, T]:
    first, second = await asyncio.gather(later(x), later(y))
    return first, second


def generator[T: Tensor](x: T) -> Generator[T, T, T]:
    y = yield x
    return y


class Chained[T: Tensor]:
    def __init__(self, *steps: Callable[[T], T]) -> None:
        self.steps = steps

    def then(self, step: Callable[[T], T]) -> Self:
        return type(self)(*self.steps, step)

    def __call__(self, x: T) -> T:
        for step in self.steps:
            x = step(x)
        return x


def inside[T: ModelTensor](x: T, y: T) -> T:
    """The same calls where the class is itself a variable."""
    total = joined(x, joined_anew(x, y)) + old_style(x, y)
    lifted = joined(Grad.variable(x), Grad.constant(y))
    seen: list[object] = [lifted, pick(x, y), pick(x), options(x, y, x, z=[y]), moved(x, lifted)]
    seen += [functools.partial(joined, x)(y), twice(lambda a: a + x, y), asyncio.run(both(x, y)), OldBox(x).plus(y)]
    return total.matmul(reduced(x, "sum").broadcast_to(total.shape)) if seen else total


def main() -> None:
    host, other, shape = mx.numpy().ones((2, 2)), mx.numpy().zeros((2, 2)), ShapeTensor((2, 2))
    loud = Shouting(host.data)
    seen: list[object] = [joined(host, other), joined(x=host, y=other), joined_anew(shape, shape)]
    seen += [beside_host(shape, 3), beside_host(n=3, x=host), on_host(host, other), made(3) + made(3)]
    seen += [old_style(host, other), old_style(shape, shape), one_of_two(host, other), OldBox(host).plus(other)]
    seen += [pick(host), pick(host, other)[1], pick(shape, None), either(host, host), either(host, shape)[1].exp()]
    with scope(host) as h, scope(shape) as s, nullcontext(other) as o:
        seen += [joined(h, o), joined(s, shape)]
    seen += [twice(lambda x: x + host, other), twice(ShapeTensor.exp, shape), deep(lambda f: lambda x: f(f(x)), host)]
    seen += [applied(lambda x, n: x * n, host, 3.0), applied(joined, host, other), moved(host, shape) + shape]
    seen += [options(host), options(host, None), options(host, other, host, z=[host], a=host), options(shape, z=[])]
    seen += [
        reduced(host, "sum"),
        evaluated(mse, distance, host, other),
        evaluated(mse, lambda a, b: 0.0, shape, shape),
    ]
    seen += [shouted(loud, loud), joined(loud, loud), both_shout(loud, loud), hashes(host, shape), hashes(1, "a")]
    seen += [of_class(NpArray, host), asyncio.run(both(host, other)), next(generator(host))]
    seen += [Chained[Host](NpArray.exp).then(lambda x: x + host)(other), inside(host, other)]
    for one in (host, shape):
        seen.append(joined(one, host) if is_host(one) else joined(one, shape))
        match one:
            case NpArray():
                seen.append(joined(one, host))
            case ShapeTensor():
                seen.append(joined(one, shape))
    assert all(one is not None for one in seen)
