"""What tensor-shape and its neighbours do not say: programs that are right, or whose mistake cannot be proved."""

from tests.mypy_plugin.checking import Project

HEAD = """
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import moonxi as mx
from jaxtyping import Float
from moonxi import F32, NpArray, nn

type Host = NpArray[F32]


"""
QUIET = {
    "pairs whose matrix is annotated": """
def distances[T: mx.MlpTensor](x: Float[T, "n d"]) -> Float[T, "n n"]:
    square = x.square().sum(-1)
    return (square.unsqueeze(1) + square - 2.0 * (x @ x.transpose())).clip(0.0, 1e9).sqrt()


def gaps(x: Float[Host, " n"], y: Float[Host, " n"]) -> Host:
    between: Float[Host, "n n"] = (x.unsqueeze(1) - y).abs()
    return between.mean()


def nearest(pairs: Float[Host, "n n"]) -> Host:
    return pairs.min(1)


def of_another(x: Float[Host, " n"], y: Float[Host, " n"]) -> Host:
    return nearest(-(x.unsqueeze(1) - y)) + nearest((x.unsqueeze(1) / y)[:, :])
""",
    "pairs that are used as a matrix": """
def smoothed(x: Float[Host, " n"], y: Float[Host, " n"], values: Float[Host, "n d"]) -> Float[Host, "n d"]:
    return (-(x.unsqueeze(1) - y).square()).exp() @ values


def hinge(x: Float[Host, " n"], y: Float[Host, " n"], counts: Float[Host, "n n"]) -> Host:
    return ((x.unsqueeze(1) - y).relu() * counts).mean()


def symmetric(x: Float[Host, " n"], y: Float[Host, " n"]) -> Host:
    pairs = x.unsqueeze(1) - y
    return pairs - pairs.transpose()
""",
    "each element of a vector with every other": """
def spread(x: Float[Host, " n"]) -> Host:
    return (x.unsqueeze(1) - x).abs().mean() + (x[:, None] - x).square().mean() + (x.reshape((-1, 1)) * x).sum()
""",
    "vectors whose names are another's": """
def gaps[T: mx.Tensor](x: Float[T, " n"], y: Float[T, " m"]) -> T:
    return (x.unsqueeze(1) - y).abs().mean()


def own_gaps[T: mx.Tensor](x: Float[T, " k"]) -> T:
    return gaps(x, x)
""",
    "weights of clusters, and of features": """
def slots(q: Float[Host, "batch slots d"], k: Float[Host, "batch points d"]) -> Host:
    weights = (q @ k.transpose()).softmax(1)
    return (weights / weights.sum(-1, keepdims=True)) @ k


def clusters(scores: Float[Host, "batch clusters points"], x: Float[Host, "batch points d"]) -> Host:
    return scores.softmax(1) @ x


def linear(q: Float[Host, "batch time d"], k: Float[Host, "batch time d"], v: Float[Host, "batch time e"]) -> Host:
    return q.softmax(-1) @ (k.softmax(-2).transpose() @ v)
""",
    "rows for samples that were drawn before": """
def noisy(x: Float[Host, "batch d"], drawn: Float[Host, "many d"]) -> Host:
    return x + drawn[: x.shape[0]]
""",
    "reshapes that keep the order": """
def stacked(x: Float[Host, "batch frames mel"], every: int) -> Host:
    return x.reshape((x.shape[0], x.shape[1] // every, every * x.shape[2]))


def shuffled(x: Float[Host, "batch c h w"], groups: int) -> Float[Host, "batch h w c"]:
    b, c, h, w = x.shape
    y = x.reshape((b, groups, c // groups, h, w)).permute((0, 2, 1, 3, 4)).reshape((1, b * c, h, w))
    z = y.reshape((b * c, h * w)).reshape((b, c, -1))
    return z.permute((0, 2, 1)).reshape((b * h * w, c)).reshape((b, h, w, c))
""",
    "sizes that are one for some remainders": """
def down(x: Float[Host, "batch c h w"], weight: Float[Host, "c c 3 3"]) -> Float[Host, "batch c h//2 w//2"]:
    return x.conv2d(weight, stride=2, padding=1)


def up(x: Float[Host, "batch c h w"]) -> Float[Host, "batch c h w"]:
    small = x.avg_pool2d(2).avg_pool2d(2)
    return small.upsample_nearest2d((4 * small.shape[2], 4 * small.shape[3]))
""",
    "rows that are shifted, each by one more": """
def shifted(scores: Float[Host, "batch heads queries keys"]) -> Float[Host, "batch heads queries keys"]:
    batch, heads, queries, keys = scores.shape
    padded = scores.zeros((batch, heads, queries, 1)).concatenate(scores, axis=3)
    return padded.reshape((batch, heads, keys + 1, queries))[:, :, 1:].reshape(scores.shape)


def shifted_square(scores: Float[Host, "time time"]) -> Float[Host, "time time"]:
    time = scores.shape[0]
    padded = scores.pad(((0, 0), (1, 0))).reshape((time + 1, time))
    kept = padded[1:]
    return kept.reshape((time, time))
""",
    "an integer that may count from the end": """
def at(x: Float[Host, "batch time"], offset: int) -> Host:
    return x[:, x.shape[1] + offset]


def lagged(x: Float[Host, " n"], lag: int) -> Host:
    if lag >= 0:
        return x
    return x.zeros((-lag,)).concatenate(x[: x.shape[0] + lag], axis=0)
""",
    "a first pass that does something else": """
def f(x: Float[Host, "n d"], w: Float[Host, "d k"], steps: int) -> Host:
    out = x
    for step in range(steps):
        if step == 0:
            out = x @ w
        else:
            out = out + x @ w
    return out
""",
    "a loop that is left in between": """
def f(x: Float[Host, "n d"], w: Float[Host, "d k"], steps: int) -> Host:
    out = x
    for step in range(steps):
        if step == 1:
            out = x @ w
            continue
        if step == 2:
            break
    return out @ w.transpose() if steps > 1 else out + x
""",
    "layers of widths that come as a tuple": """
def build(*widths: int, like: Host, key: mx.Key) -> list[nn.Linear[Host]]:
    return [nn.Linear.init(i, o, like=like, key=key) for i, o in pairwise(widths)]


def run(layers: list[nn.Linear[Host]], x: Float[Host, "n d"]) -> Host:
    h: Host = x
    for layer in layers:
        h = layer.forward(h).relu()
    return layers[1].forward(layers[0].forward(x)) + h


LAYERS = build(3, 4, 5, like=mx.numpy(), key=mx.Key(0))
run(LAYERS, mx.numpy().ones((2, 3)))
""",
    "an inner function that is made for what is around it": """
def f(x: Float[Host, "n d"]) -> Host:
    w = x.ones((4, 5))

    def apply(rows: Float[Host, "batch features"]) -> Float[Host, "batch outputs"]:
        return rows @ w

    return apply(x.ones((3, 4)))
""",
    "an integer that is compared with a number": """
def f(x: Float[Host, "n 12"], heads: int) -> Host:
    if heads == 1:
        return x.reshape((x.shape[0], 1, 12))
    if heads > 3:
        return x.reshape((x.shape[0], heads, -1)) + x.reshape((x.shape[0], 4, 3))
    return x.reshape((x.shape[0], heads, 12 // heads))
""",
    "a constructor whose numbers are written in an annotation": """
@dataclass(frozen=True)
class Net[T: mx.MlpTensor](nn.Module[T]):
    hidden: nn.Linear[T]
    out: nn.Linear[T]

    @classmethod
    def init(cls, inputs: int, outputs: int, *, like: T, key: mx.Key) -> "Net[T]":
        hidden = nn.Linear.init(inputs, 32, like=like, key=key)
        return cls(hidden, nn.Linear.init(32, outputs, like=like, key=key.fold(1)))

    def forward(self, x: Float[T, "batch 784"]) -> Float[T, "batch 10"]:
        return self.out.forward(self.hidden.forward(x))
""",
    "a branch of a model that is left out": """
@dataclass(frozen=True)
class Block[T: mx.MlpTensor](nn.Module[T]):
    body: nn.Linear[T]
    shortcut: nn.Linear[T] | None

    @classmethod
    def init(cls, inputs: int, outputs: int, *, like: T, key: mx.Key) -> "Block[T]":
        shortcut = None if inputs == outputs else nn.Linear.init(inputs, outputs, like=like, key=key.fold(1))
        return cls(nn.Linear.init(inputs, outputs, like=like, key=key), shortcut)

    def forward(self, x: Float[T, "batch {self.body.inputs}"]) -> Float[T, "batch {self.body.outputs}"]:
        kept = x if self.shortcut is None else self.shortcut.forward(x)
        return self.body.forward(x) + kept


Block.init(3, 3, like=mx.numpy(), key=mx.Key(0)).forward(mx.numpy().ones((2, 3)))
""",
    "a method that a subclass replaces": """
@dataclass(frozen=True)
class Base[T: mx.MlpTensor](nn.Module[T]):
    out: nn.Linear[T]

    def prepared(self, x: T) -> T:
        return x

    def forward(self, x: Float[T, "batch 4 4"]) -> Float[T, "batch 10"]:
        return self.out.forward(self.prepared(x).mean(1))


@dataclass(frozen=True)
class Wider[T: mx.MlpTensor](Base[T]):
    def prepared(self, x: T) -> T:
        return x.concatenate(x, axis=2)

    def forward(self, x: Float[T, "n rows columns"]) -> Float[T, "n 10"]:
        return self.out.forward(self.prepared(x).mean(1))


Wider(nn.Linear.init(8, 10, like=mx.numpy(), key=mx.Key(0))).forward(mx.numpy().ones((2, 4, 4)))
""",
    "every element with every other": """
def f(x: Float[Host, "n d"], y: Float[Host, " n"]) -> Float[Host, "n n"]:
    apart = (x.unsqueeze(0) - x.unsqueeze(1)).square().sum(2)
    return apart + y.unsqueeze(0) * y.unsqueeze(1) + y.unsqueeze(0)
""",
    "reshapes that join and split": """
def f(x: Float[Host, "batch time 4*d"], rows: Float[Host, "batch*time d"]) -> Host:
    batch, time, width = x.shape
    parts = x.reshape((batch, time, 4, width // 4))
    images = parts.reshape((batch * time, 2, 2, -1))
    back = images.reshape((batch, time * 4, width // 4)).reshape(x.shape)
    return back + x + rows.reshape((batch, time, 1, -1)).sum()
""",
    "a list of which an element is replaced": """
def f(x: Float[Host, "n d"], w: Float[Host, "d k"]) -> Host:
    parts = [x, x]
    parts[1] = x @ w
    more: list[Host] = []
    more.append(x)
    more.append(x @ w)
    return parts[1] @ w.transpose() + (more[1] @ w.transpose() + more[0])
""",
    "a name of the module that changes": """
TABLE: Host = mx.numpy().ones((3, 4))
TABLE = TABLE.transpose()
STATE: Host = mx.numpy().ones((2, 2))


def change() -> None:
    global STATE
    STATE = mx.numpy().ones((3, 3))


def product() -> Host:
    return TABLE @ mx.numpy().ones((3, 5)) + STATE @ mx.numpy().ones((3, 5)).sum()
""",
    "helpers that look at their arguments": """
def either(x: Host, y: Host) -> Host:
    if len(x.shape) == 2 and x.shape[1] == y.shape[0]:
        return x @ y
    return x * y


def f(x: Float[Host, "n d"], y: Float[Host, "n d"], first: bool) -> Host:
    scale: Callable[[Host], Host] = (lambda rows: rows * 2.0) if first else (lambda rows: rows.sum(0, keepdims=True))
    return either(x, y) + scale(x) + x
""",
    "two layers that are shared by two widths": """
@dataclass(frozen=True)
class Twice[T: mx.MlpTensor](nn.Module[T]):
    layer: nn.Linear[T]

    def forward(self, x: Float[T, "batch d"]) -> Float[T, "batch d"]:
        return self.layer.forward(self.layer.forward(x))


def f(x: Float[Host, "batch 6"], model: Twice[Host]) -> Float[Host, "batch 6"]:
    return model.forward(x)
""",
    "a state that has the shape of the first input": """
def f(xs: list[Float[Host, "n d"]], ys: list[Host]) -> Host:
    total = xs[0]
    for x, y in zip(xs, ys, strict=True):
        total = total + x * y
    while total.mean().item() > 1.0:
        total = total * 0.5
    return total
""",
}


def test_what_is_right_or_cannot_be_proved_is_not_said(project: Project) -> None:
    programs = enumerate(QUIET.values())
    project.write(**{f"quiet{number}": HEAD + text.lstrip() for number, text in programs})
    assert [error for error in project.check().errors if "[tensor-" in error] == []


def test_a_module_that_ends_in_an_exit_has_no_statement_more(project: Project) -> None:
    project.configure("warn_unreachable = True")
    project.write(ends="import sys\n\nimport moonxi as mx\n\nprint(mx.numpy())\nsys.exit(0)\n")
    both = "import sys\n\nimport moonxi as mx\n\nif mx.numpy().shape:\n    sys.exit(0)\nelse:\n    sys.exit(1)\n"
    project.write(both=both)
    assert project.check().errors == []
