"""What mypy remembers between runs does not change what it says."""

import pytest

from tests.mypy_plugin.checking import Project

CALLEE = """
import moonxi as mx


def joined[T: mx.Tensor](x: T, y: T) -> T:
    return x + y
"""
APART = """
import moonxi as mx


def joined[T: mx.Tensor, U: mx.Tensor](x: T, y: U) -> T:
    return x
"""
BETWEEN = """
from callee import joined as joined
"""
CALLER = """
from between import joined
from moonxi import F32, GpuTensor, NpArray


def run(host: NpArray[F32], device: GpuTensor[F32]) -> None:
    joined(host, device)
"""
MIX = ["caller.py:6: [tensor-mix]"]

LOOSE = """
from typing import Protocol


class Anything(Protocol):
    @property
    def shape(self) -> tuple[int, ...]: ...
"""
TRAIT = """
from typing import Protocol

from moonxi import Tensor


class Anything(Tensor, Protocol): ...
"""
BOUNDED = """
from bound import Anything


def joined[T: Anything](x: T, y: T) -> int:
    return len(x.shape) + len(y.shape)


def one(x: Anything) -> int:
    return len(x.shape)
"""

MODEL = """
from dataclasses import dataclass

from moonxi import Tensor, nn


@dataclass(frozen=True)
class Net[T: Tensor](nn.Module[T]):
    weight: T
"""
MAPPING = """
from model import Net
from moonxi import F32, F64, NpArray


def double(net: Net[NpArray[F32]], like: NpArray[F64]) -> Net[NpArray[F64]]:
    return net.map(lambda x: like.from_host(x.to_host()))
"""


@pytest.fixture(name="chain")
def _chain(project: Project) -> Project:
    """A call that mixes, of a function that comes through a third module."""
    project.write(callee=CALLEE, between=BETWEEN, caller=CALLER)
    return project


def test_an_edited_callee_has_its_callers_checked_again(chain: Project) -> None:
    assert chain.check().brief == MIX
    chain.write(callee=APART)
    assert chain.check().errors == []
    chain.write(callee=CALLEE)
    assert chain.check().brief == MIX


def test_an_error_is_repeated_where_nothing_was_edited(chain: Project) -> None:
    first = chain.check()
    assert first.brief == MIX
    assert chain.check() == first


def test_a_bound_that_becomes_a_trait_has_its_users_checked_again(project: Project) -> None:
    project.write(bound=LOOSE, callee=BOUNDED, between=BETWEEN, caller=CALLER)
    assert project.check().errors == []
    project.write(bound=TRAIT)
    assert project.check().brief == ["callee.py:8: [tensor-mix]", *MIX]
    project.write(bound=LOOSE)
    assert project.check().errors == []


def test_the_map_of_an_edited_model_is_that_of_the_new_one(project: Project) -> None:
    project.write(model=MODEL, use=MAPPING)
    assert project.check().errors == []
    project.write(model=MODEL.replace("Tensor", "MlpTensor"))
    assert project.check().errors == []
    project.write(model=MODEL.replace("nn.Module[T]", "object"))
    assert project.check().brief == ["use.py:6: [no-any-return]", "use.py:6: [attr-defined]"]
    project.write(model=MODEL)
    assert project.check().errors == []


def test_a_run_that_remembers_nothing_says_the_same(chain: Project) -> None:
    assert chain.check_cold() == chain.check()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"callee": APART, "between": BETWEEN, "caller": CALLER}, {"callee": CALLEE}),
        ({"bound": LOOSE, "callee": BOUNDED, "between": BETWEEN, "caller": CALLER}, {"bound": TRAIT}),
        ({"model": MODEL, "use": MAPPING}, {"model": MODEL.replace("[T: Tensor]", "[T: Tensor, U]")}),
    ],
    ids=["callee", "bound", "model"],
)
def test_what_is_said_after_an_edit_is_what_a_first_run_says(
    project: Project, before: dict[str, str], after: dict[str, str]
) -> None:
    project.write(**before)
    assert project.check().errors == []
    project.write(**after)
    found = project.check()
    assert found.errors != []
    assert found == project.check_cold()


@pytest.mark.slow
@pytest.mark.usefixtures("daemon")
def test_the_daemon_follows_each_edit(chain: Project) -> None:
    assert chain.ask_daemon().brief == MIX
    chain.write(callee=APART)
    assert chain.ask_daemon().errors == []
    chain.write(callee=CALLEE)
    assert chain.ask_daemon().brief == MIX
    chain.write(caller=CALLER.replace("joined(host, device)", "joined(host, host)"))
    assert chain.ask_daemon().errors == []
