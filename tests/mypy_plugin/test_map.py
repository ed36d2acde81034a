"""The `map` that the plugin gives to a `Module` that writes none."""

from tests.mypy_plugin.checking import Project

HEAD = """
from collections.abc import Callable
from dataclasses import dataclass

import moonxi as mx
from moonxi import F32, F64, NpArray, nn

type Host = NpArray[F32]
type Double = NpArray[F64]


def widen(x: Host) -> Double:
    return mx.numpy(F64).from_host(x.to_host())
"""
HOST = "moonxi.backends.numpy.array.NpArray[moonxi.dtypes.F32]"
DOUBLE = "moonxi.backends.numpy.array.NpArray[moonxi.dtypes.F64]"


def revealed(project: Project, classes: str, *expressions: str, parameters: str) -> tuple[list[str], list[str]]:
    """The types of the expressions and the errors, in a file with these classes."""
    lines = "".join(f"    reveal_type({one})\n" for one in expressions)
    project.write(program=f"{HEAD}{classes}\n\ndef run({parameters}) -> None:\n{lines}")
    report = project.check()
    return [note.partition('"')[2].rstrip('"') for note in report.notes if "Revealed type" in note], report.errors


NET = """
@dataclass(frozen=True)
class Net[T: mx.Tensor](nn.Module[T]):
    weight: T
"""


def test_a_model_maps_to_itself_of_another_class(project: Project) -> None:
    types, errors = revealed(
        project,
        NET,
        "net.map(widen)",
        "net.map(lambda x: x.exp())",
        "net.map(mx.variable)",
        parameters="net: Net[Host]",
    )
    assert errors == []
    assert types == [
        f"program.Net[{DOUBLE}]",
        f"program.Net[{HOST}]",
        f"program.Net[moonxi.autodiff.image.ImageGrad[{HOST}]]",
    ]


def test_a_function_of_another_class_is_refused(project: Project) -> None:
    _, errors = revealed(project, NET, "net.map(widen)", parameters="net: Net[Double]")
    assert [error.partition("]")[0] for error in errors] == ["program.py:20: [arg-type"]


def test_a_result_outside_the_bound_is_refused(project: Project) -> None:
    _, errors = revealed(project, NET, "net.map(lambda x: 3.0)", parameters="net: Net[Host]")
    assert len(errors) == 1
    assert "[type-var]" in errors[0] or "[arg-type]" in errors[0] or "[misc]" in errors[0]


def test_a_model_derived_from_another_maps_to_its_own_class(project: Project) -> None:
    classes = NET + "\n\n@dataclass(frozen=True)\nclass Wide[U: mx.MlpTensor](Net[U]):\n    bias: U\n"
    classes += "\n\n@dataclass(frozen=True)\nclass Wider[V: mx.ImageModelTensor](Wide[V]):\n    scale: V\n"
    calls = ("net.map(widen)", "wider.map(widen)", "wider.map(mx.variable).map(lambda x: x.value)")
    types, errors = revealed(project, classes, *calls, parameters="net: Wide[Host], wider: Wider[Host]")
    assert errors == []
    assert types == [f"program.Wide[{DOUBLE}]", f"program.Wider[{DOUBLE}]", f"program.Wider[{HOST}]"]
    assert project.check() == project.check()


def test_a_map_that_is_written_stays(project: Project) -> None:
    written = """
    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Net[U]":
        return Net(f(self.weight))
"""
    types, errors = revealed(project, NET + written, "net.map(widen)", "net.map", parameters="net: Net[Host]")
    assert errors == []
    assert types[0] == f"program.Net[{DOUBLE}]"


def test_a_model_of_one_class_only_is_left_alone(project: Project) -> None:
    classes = "\n@dataclass(frozen=True)\nclass Fixed(nn.Module[Host]):\n    weight: Host\n"
    types, errors = revealed(project, classes, "net.weight", parameters="net: Fixed")
    assert (types, errors) == ([HOST], [])


def test_models_inside_containers_and_generic_functions_map(project: Project) -> None:
    classes = (
        NET
        + """

@dataclass(frozen=True)
class Deep[T: mx.Tensor](nn.Module[T]):
    nets: list[Net[T]]
    by_name: dict[str, Net[T]]


def lifted[T: mx.Tensor](net: Deep[T]) -> Deep[mx.Grad[T]]:
    return net.map(mx.Grad[T].variable)
"""
    )
    types, errors = revealed(
        project, classes, "deep.map(widen).nets[0]", "lifted(deep).by_name", parameters="deep: Deep[Host]"
    )
    assert errors == []
    assert types == [
        f"program.Net[{DOUBLE}]",
        f"dict[str, program.Net[moonxi.autodiff.tensor.Grad[{HOST}]]]",
    ]
