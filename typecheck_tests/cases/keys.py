"""One key for several layers of a model."""

from dataclasses import dataclass

from jaxtyping import Float

import moonxi as mx
from moonxi import F32, NpArray, nn

type Host = NpArray[F32]

LIKE = mx.numpy()


@dataclass(frozen=True)
class Deep[T: mx.MlpTensor](nn.Module[T]):
    first: nn.Linear[T]
    rest: tuple[nn.Linear[T], ...]

    @classmethod
    def wrong(cls, *, like: T, key: mx.Key) -> "Deep[T]":
        first, rest = key.split(2)
        return cls(
            nn.Linear.init(3, 4, like=like, key=first),
            tuple(nn.Linear.init(4, 4, like=like, key=rest) for _ in range(3)),  # E: [tensor-key] "rest"
        )

    @classmethod
    def right(cls, *, like: T, key: mx.Key) -> "Deep[T]":
        first, rest = key.split(2)
        return cls(
            nn.Linear.init(3, 4, like=like, key=first),
            tuple(nn.Linear.init(4, 4, like=like, key=one) for one in rest.split(3)),
        )


def wrong_key_of_two_layers(key: mx.Key) -> None:
    hidden = nn.Linear.init(3, 4, like=LIKE, key=key)
    nn.Sequential(hidden, nn.Relu(), nn.Linear.init(4, 2, like=LIKE, key=key))  # E: [tensor-key] of two layers


def right_key_of_two_layers() -> None:
    first, second = mx.Key(0).split(2)
    hidden = nn.Linear.init(3, 4, like=LIKE, key=first)
    nn.Sequential(hidden, nn.Relu(), nn.Linear.init(4, 2, like=LIKE, key=second))


def wrong_part_of_a_key(key: mx.Key) -> None:
    keys = key.split(3)
    nn.Sequential(
        nn.Linear.init(9, 4, like=LIKE, key=keys[0]),
        nn.Linear.init(4, 4, like=LIKE, key=keys[1]),
        nn.Linear.init(4, 4, like=LIKE, key=keys[1]),  # E: [tensor-key] "keys[1]"
    )


def right_part_of_a_key() -> None:
    keys = mx.Key(0).split(3)
    layer = nn.Linear.init(4, 4, like=LIKE, key=keys[1])
    nn.Sequential(nn.Linear.init(9, 4, like=LIKE, key=keys[0]), layer, layer)


def wrong_key_in_a_loop(key: mx.Key) -> None:
    nn.Sequential(*[nn.Linear.init(2, 2, like=LIKE, key=key) for _ in range(2)])  # E: [tensor-key] of many layers


def right_key_in_a_loop() -> None:
    model = nn.Sequential(*[nn.Linear.init(2, 2, like=LIKE, key=mx.Key(0).fold(number)) for number in range(2)])
    assert model.forward(LIKE.ones((1, 2)), nn.Eval()).shape == (1, 2)
    assert len(Deep.right(like=LIKE, key=mx.Key(0)).rest) == 3


# -- annotations that are no shapes: here on local names, which Python does not look at ---------------------------


def wrong_commas(x: Host) -> Host:
    y: Float[Host, "batch, 3"] = x  # E: [tensor-shape] separated with spaces, not commas
    return y


def right_commas() -> None:
    y: Float[Host, "batch 3"] = LIKE.ones((2, 3))
    assert y.shape == (2, 3)


def wrong_stars(x: Host) -> Host:
    y: Float[Host, "*batch *more"] = x.relu()  # E: [tensor-shape] variadic
    return y


def right_stars() -> None:
    y: Float[Host, "*batch more"] = LIKE.ones((2, 3)).relu()
    assert y.shape == (2, 3)


def wrong_braces(x: Host) -> Host:
    y: Float[Host, "batch {x.shape[0]"] = x.exp()  # E: [tensor-shape] do not match
    return y


def right_braces() -> None:
    x = LIKE.ones((2, 2))
    y: Float[Host, "batch {x.shape[0]}"] = x.exp()
    assert y.shape == (2, 2)
