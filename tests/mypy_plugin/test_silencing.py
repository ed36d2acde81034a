"""tensor-mix is an error code like mypy's own: it can be ignored, switched off, and on again."""

import pytest

from tests.mypy_plugin.checking import Project

PROGRAM = """
import moonxi as mx
from moonxi import F32, GpuTensor, NpArray


def joined[T: mx.Tensor](x: T, y: T) -> T:
    return x + y


def run(host: NpArray[F32], device: GpuTensor[F32]) -> None:
    joined(host, device)MARK


def keep(x: mx.Tensor) -> None: ...MARK
"""
IGNORE = "  # type: ignore[tensor-mix]"
BOTH = ["program.py:10: [tensor-mix]", "program.py:13: [tensor-mix]"]


def test_both_are_errors(project: Project) -> None:
    project.write(program=PROGRAM.replace("MARK", ""))
    assert project.check().brief == BOTH


def test_a_line_can_be_ignored_by_the_code(project: Project) -> None:
    project.write(program=PROGRAM.replace("MARK", IGNORE))
    assert project.check().errors == []


def test_an_ignore_that_ignores_nothing_is_said(project: Project) -> None:
    project.write(program=PROGRAM.replace("MARK", IGNORE).replace("(host, device)  ", "(host, host)  "))
    assert project.check().errors == ['program.py:10: [unused-ignore] Unused "type: ignore" comment']


def test_another_code_does_not_ignore_it(project: Project) -> None:
    project.write(program=PROGRAM.replace("MARK", "  # type: ignore[arg-type]"))
    assert {error for error in project.check().brief if "tensor-mix" in error} == set(BOTH)


def test_the_line_of_the_call_is_the_one_to_ignore(project: Project) -> None:
    long = f"joined({IGNORE}\n        host,\n        device,\n    )"
    project.write(program=PROGRAM.replace("joined(host, device)MARK", long).replace("MARK", IGNORE))
    assert project.check().errors == []


@pytest.mark.parametrize(
    "where",
    [
        "section",
        "file",
        pytest.param("configuration", marks=pytest.mark.slow),  # for all modules, so that all are checked anew
        pytest.param("command line", marks=pytest.mark.slow),
    ],
)
def test_the_code_can_be_disabled(project: Project, where: str) -> None:
    program, options = PROGRAM.replace("MARK", ""), list[str]()
    if where == "configuration":
        project.configure("disable_error_code = tensor-mix")
    elif where == "section":
        project.configure("[mypy-program]", "disable_error_code = tensor-mix")
    elif where == "file":
        program = '# mypy: disable-error-code="tensor-mix"\n' + program
    else:
        options = ["--disable-error-code", "tensor-mix"]
    project.write(program=program)
    assert project.check(*options).errors == []


def test_a_module_can_be_left_out_and_another_not(project: Project) -> None:
    project.configure("[mypy-other]", "ignore_errors = True")
    project.write(program=PROGRAM.replace("MARK", ""), other=PROGRAM.replace("MARK", ""))
    assert project.check().brief == BOTH


def test_a_disabled_call_has_the_type_that_mypy_gives_it(project: Project) -> None:
    project.configure("[mypy-program]", "disable_error_code = tensor-mix")
    project.write(
        program=PROGRAM.replace("    joined(host, device)", "    reveal_type(joined(host, device))").replace("MARK", "")
    )
    assert project.check().notes == ['program.py:10: Revealed type is "moonxi.traits.tensor.Tensor"']


def test_functions_without_annotations_are_left_alone(project: Project) -> None:
    project.configure("[mypy-program]", "disallow_untyped_defs = False", "disallow_untyped_calls = False")
    project.write(
        program=PROGRAM.replace("host: NpArray[F32], device: GpuTensor[F32]) -> None", "host, device)", 1).replace(
            "MARK", ""
        )
    )
    assert project.check().brief == BOTH[1:]
