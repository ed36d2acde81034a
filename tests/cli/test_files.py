"""Files that ``moonxi check`` is given, its exit status, and the command itself."""

import subprocess
import sys
from pathlib import Path

import pytest

from moonxi.cli import main
from tests.cli.snippets import HEAD, Check
from tests.examples.program import CHECKOUT, environment


def test_a_file_without_anything_to_check_has_the_status_2(check: Check) -> None:
    status, lines = check("print('printed by the file')\n")
    assert status == 2
    assert lines == [
        "FILE: nothing to check: no layer and no function with shapes in its annotations",
        "0 errors, 0 functions checked",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(:\n", "1: SyntaxError: invalid syntax"),
        ("raise ValueError('no data')\n", "1: the import raises ValueError: no data"),
        ("import nothing_of_this_name\n", "the import raises ModuleNotFoundError: No module named"),
        (
            "import sys\nsys.exit(3)\n",
            "2: the import raises SystemExit: 3; put what is to happen only in a run under if __name__ == '__main__'",
        ),
        ("def f():\n    raise KeyError\n\nf()\n", "2: the import raises KeyError"),
    ],
)
def test_a_file_that_cannot_be_imported_has_the_status_2(text: str, expected: str, check: Check) -> None:
    status, lines = check(text)
    assert status == 2
    assert expected in lines[0]
    assert len(lines) == 2


def test_the_status_is_that_of_the_worst_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right, wrong, empty = (tmp_path / name for name in ("right.py", "wrong.py", "empty.py"))
    right.write_text(HEAD + 'def f[T: mx.Tensor](x: Float[T, "n"]) -> T:\n    return x\n', encoding="utf-8")
    wrong.write_text(HEAD + 'def f[T: mx.Tensor](x: Float[T, "n"]) -> T:\n    return x.sum(1)\n', encoding="utf-8")
    empty.write_text("", encoding="utf-8")
    assert main(["check", str(right)]) == 0
    assert main(["check", str(right), str(empty)]) == 2
    assert main(["check", str(empty), str(wrong), str(right)]) == 1
    assert main(["check", str(right), str(tmp_path / "absent.py")]) == 2
    out = capsys.readouterr().out
    assert "1 error, 2 functions checked in 3 files\n" in out
    assert f"{tmp_path / 'absent.py'}: cannot be read: No such file or directory\n" in out


def test_a_file_sees_its_neighbours_and_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, width in (("one", 3), ("two", 4)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "neighbour.py").write_text(f"WIDTH = {width}\n", encoding="utf-8")
        (folder / "random.py").write_text(
            HEAD + "from neighbour import WIDTH\n"
            'def f[T: mx.Tensor](x: Float[T, "n 4"]) -> T:\n    return x.reshape((x.shape[0], WIDTH))\n',
            encoding="utf-8",
        )
    path, modules = list(sys.path), set(sys.modules)
    assert main(["check", str(tmp_path / "one" / "random.py")]) == 1
    assert main(["check", str(tmp_path / "two" / "random.py")]) == 0
    assert sys.path == path
    assert not {"neighbour"} & (set(sys.modules) - modules)
    assert "n*4" not in capsys.readouterr().out


def test_a_module_of_a_package_is_imported_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = tmp_path / "package_to_check" / "inner"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("", encoding="utf-8")
    (package / "width.py").write_text("WIDTH = 3\n", encoding="utf-8")
    (package / "code.py").write_text(
        HEAD + "from .width import WIDTH\n"
        'def f[T: mx.Tensor](x: Float[T, "n 4"]) -> T:\n    return x.reshape((x.shape[0], WIDTH))\n',
        encoding="utf-8",
    )
    assert main(["check", str(package / "code.py")]) == 1
    assert "reshape: (n, 4) to (n, 3)" in capsys.readouterr().out


def test_annotations_that_are_text_are_read_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "code.py"
    file.write_text(
        "from __future__ import annotations\n" + HEAD + 'def f[T: mx.Tensor](x: Float[T, "n"]) -> Float[T, ""]:\n'
        "    return x.sum(1)\n",
        encoding="utf-8",
    )
    assert main(["check", str(file)]) == 1
    assert "sum: (n,), axis 1" in capsys.readouterr().out


@pytest.mark.parametrize("example", sorted(CHECKOUT.glob("examples/*.py")), ids=lambda file: file.stem)
def test_the_examples_pass(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["check", str(example)])
    # The tutorial builds tensors of its own, without moonxi.
    assert status == (2 if example.stem == "tutorial" else 0)
    assert capsys.readouterr().out.splitlines()[-1].startswith("0 errors, ")


def test_the_command_runs_as_a_module_and_prints_no_traceback(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text("print('loud')\nraise OSError('disk')\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "moonxi", "check", "code.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == "code.py:2: the import raises OSError: disk\n0 errors, 0 functions checked\n"
    assert done.stderr == "loud\n"


def test_help_and_version_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in ((["check", "--help"], "exit status: 0 nothing wrong"), (["--version"], "moonxi 0.")):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
        assert expected in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
