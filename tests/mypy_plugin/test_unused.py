"""tensor-unused: a call that only gives a new value, as a statement."""

from tests.mypy_plugin.checking import Project

PROGRAM = """
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
    assert len(marked) == 5
    assert project.check().brief == marked


def test_a_line_can_be_ignored_by_the_code(project: Project) -> None:
    project.write(program=PROGRAM.replace("# here", "# type: ignore[tensor-unused]"))
    assert project.check().errors == []
