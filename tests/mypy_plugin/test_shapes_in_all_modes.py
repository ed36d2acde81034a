"""What is said of shapes does not depend on how mypy is run."""

import os

import pytest

from tests.mypy_plugin.checking import Project, Report

LAYERS = """
from dataclasses import dataclass

import moonxi as mx
from jaxtyping import Float
from moonxi import F32, NpArray, nn

type Host = NpArray[F32]
type Rows = Float[Host, "n 4"]


@dataclass(frozen=True)
class Scale[T: mx.Tensor](nn.Module[T]):
    weight: Float[T, " 4"]

    def forward(self, x: Float[T, "n 4"]) -> Float[T, "n 4"]:
        return x * self.weight


def rows(x: Rows) -> Float[Host, "n"]:
    return x.sum(1)


def doubled[T: mx.Tensor](x: T) -> T:
    return x + x
"""
USE = """
from layers import Host, Rows, Scale, doubled, rows

import moonxi as mx
from jaxtyping import Float
from moonxi import nn


def apply(x: Float[Host, "m 4"], scale: Scale[Host]) -> Float[Host, "m"]:
    return rows(scale.forward(x))


def again(x: Rows) -> Float[Host, "n"]:
    return rows(doubled(x))


def main() -> None:
    like, key = mx.numpy(), mx.Key(0)
    nn.Sequential(nn.Linear.init(4, 8, like=like, key=key), nn.Linear.init(9, 2, like=like, key=mx.Key(1)))


TABLE = mx.numpy().ones((3, 4))
TABLE @ TABLE
"""
ALWAYS = ["use.py:18: [tensor-shape]", "use.py:22: [tensor-shape]"]
NARROWED = LAYERS.replace('"n 4"', '"n 5"').replace('" 4"', '" 5"')
AFTER = ["use.py:9: [tensor-shape]", *ALWAYS]


@pytest.fixture(name="pair")
def _pair(project: Project) -> Project:
    """A file with shapes, and one that uses them."""
    project.write(layers=LAYERS, use=USE)
    return project


def ordered(report: Report) -> list[str]:
    """mypy looks at what is outside of functions when it comes to the first of them."""
    return sorted(report.brief, key=lambda error: int(error.split(":")[1]))


def test_an_edit_of_shapes_alone_has_their_users_checked_again(pair: Project) -> None:
    assert ordered(pair.check()) == ALWAYS
    pair.write(layers=NARROWED)
    assert ordered(pair.check()) == AFTER
    pair.write(layers=LAYERS)
    assert ordered(pair.check()) == ALWAYS


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ("--no-incremental", "--cache-dir", os.devnull),
        ("--no-sqlite-cache",),
        ("--num-workers", "2"),
        ("--no-incremental", "--num-workers", "2"),
        ("--cache-fine-grained",),
    ],
    ids=" ".join,
)
def test_every_way_of_running_mypy_says_the_same(pair: Project, options: tuple[str, ...]) -> None:
    pair.write(layers=NARROWED)
    assert ordered(pair.check(*options)) == AFTER


@pytest.mark.slow
@pytest.mark.usefixtures("daemon")
def test_the_daemon_follows_an_edit_of_shapes_alone(pair: Project) -> None:
    assert ordered(pair.ask_daemon()) == ALWAYS
    pair.write(layers=NARROWED)
    assert ordered(pair.ask_daemon()) == AFTER
    pair.write(layers=LAYERS)
    assert ordered(pair.ask_daemon()) == ALWAYS
    pair.write(use=USE.replace("rows(scale.forward(x))", "rows(scale.forward(x).transpose())"))
    assert "use.py:9: [tensor-shape]" in pair.ask_daemon().brief
    pair.write(use=USE)
    assert ordered(pair.ask_daemon()) == ALWAYS


UNTYPED = """
import moonxi as mx

table = mx.numpy().ones((3, 4))
table.relu()
print(table)
table @ table
"""


@pytest.mark.slow
@pytest.mark.usefixtures("daemon")
def test_the_daemon_follows_the_edit_of_a_file_that_names_no_type(project: Project) -> None:
    found = ["untyped.py:4: [tensor-unused]", "untyped.py:6: [tensor-shape]"]
    project.write(untyped=UNTYPED)
    assert project.ask_daemon().brief == found
    project.write(untyped=UNTYPED.replace("(3, 4)", "(3, 5)"))
    assert project.ask_daemon().brief == found
    project.write(untyped=UNTYPED.replace("@ table", "@ table.transpose()"))
    assert project.ask_daemon().brief == found[:1]
    project.write(untyped=UNTYPED.replace("table.relu()", "print(table.relu())"))
    assert project.ask_daemon().brief == found[1:]
