"""tensor-unused: a call that only gives a new value, as a statement."""

from tests.mypy_plugin.checking import Project

PROGRAM = """
from dataclasses import dataclass
from functools import partial

import pytest

import moonxi as mx
from moonxi import F32, NpArray, nn, optim
from moonxi.losses import Logits

type Host = NpArray[F32]


def dropped(model: nn.Linear[Host], gradients: nn.Linear[Host]) -> None:
    sgd, ema = optim.Sgd(lr=0.1), optim.Ema()
    state, averages = sgd.init(model), ema.init(model)
    sgd.update(model, gradients, state)  # here
    for _ in range(3):
        ema.update(model, averages)  # here
    model.map(mx.variable)  # here
    if model.inputs > 3:
        model.with_state(gradients)  # here
    nn.load(model, "weights.safetensors")  # here


def doubled(x: Host) -> Host:
    if x.shape:
        two = 2.0
        return x * two
    return x


@dataclass(frozen=True)
class Net[T: mx.MlpTensor](nn.Module[T]):
    out: nn.Linear[T]

    def halved(self) -> "Net[T]":
        return Net(self.out.map(lambda x: x / 2.0))

    def noted(self) -> "Net[T]":
        print(self.out.inputs)
        return self


def dropped_by_its_own(model: Net[Host], like: Host) -> None:
    model.halved()  # here
    model.out.map(doubled)  # here
    model.map(lambda x: like.from_host(x.to_host()))  # here
    model.map(partial(mx.constant))  # here


def in_place(scores: Host, mask: mx.Mask[Host], model: Net[Host]) -> Host:
    scores.masked_fill(mask, -1e9)  # here
    model.out.weight.clip(-1.0, 1.0)  # here
    if mask.shape:
        scores.relu()  # here
    print(model.out.weight)
    return scores.softmax(-1)


def in_place_of_any[T: mx.Tensor](scores: T) -> T:
    scores.exp()  # here
    return scores


def timed(scores: Host, count: int) -> None:
    for _ in range(count):
        scores.exp()
    scores.relu()
    scores + scores


class Best:
    def keep(self, model: Net[Host]) -> Net[Host]:
        self.model = model
        return model


def for_its_effect(model: Net[Host], best: Best, seen: list[Host], sizes: dict[str, int]) -> int:
    count = 0

    def see(x: Host) -> Host:
        nonlocal count
        count += 1
        return x

    def note(x: Host) -> Host:
        seen.append(x)
        sizes["largest"] = max(sizes["largest"], len(x.shape))
        return x

    def say(x: Host) -> Host:
        return note(x) if x.shape else x

    model.map(see)
    model.out.map(note)
    model.map(say)
    model.map(lambda x: (seen.append(x), x)[1])  # type: ignore[func-returns-value]
    model.map(lambda x: print(x.shape) or x)
    model.noted()
    best.keep(model)
    return count


def kept(model: nn.Linear[Host], gradients: nn.Linear[Host], x: Host) -> None:
    sgd = optim.Sgd(lr=0.1)
    state = sgd.init(model)
    _ = sgd.update(model, gradients, state)
    model, state = sgd.update(model, gradients, state)
    print(model.map(mx.variable))
    model.forward(x)
    Logits(x).probs()
    with pytest.raises(ValueError, match="x"):
        sgd.update(model, gradients, state)
    try:
        sgd.update(model, gradients, state)
    except ValueError:
        pass
"""


def test_what_gives_a_new_value_is_found_where_that_is_dropped(project: Project) -> None:
    project.write(program=PROGRAM)
    lines = PROGRAM.lstrip().splitlines()
    marked = [f"program.py:{number}: [tensor-unused]" for number, line in enumerate(lines, 1) if "# here" in line]
    assert len(marked) == 13
    assert project.check().brief == marked


def test_a_line_can_be_ignored_by_the_code(project: Project) -> None:
    project.write(program=PROGRAM.replace("# here", "# type: ignore[tensor-unused]"))
    assert project.check().errors == []


UNTYPED = """
import moonxi as mx
from moonxi import nn

net = nn.Linear.init(3, 4, like=mx.numpy(), key=mx.Key(0))
net.map(lambda p: p + p)
table = mx.numpy().ones((3, 4))
for _ in range(3):
    table.relu()
    print(net, table)
"""


def test_a_file_need_not_name_a_type(project: Project) -> None:
    project.write(program=UNTYPED)
    assert project.check().brief == ["program.py:5: [tensor-unused]", "program.py:8: [tensor-unused]"]
