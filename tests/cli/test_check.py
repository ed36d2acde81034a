"""``moonxi check`` on small files: what is run, what is reported, and the exit status."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from moonxi.cli import main
from tests.examples.program import CHECKOUT, environment

HEAD = """\
from dataclasses import dataclass
from typing import Literal
from jaxtyping import Float
import moonxi as mx
from moonxi import nn
from moonxi.losses import Logits, cross_entropy, mse
"""

LINES = HEAD.count("\n")

type Check = Callable[[str], tuple[int, list[str]]]


@pytest.fixture(name="check")
def _check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    """Check a file with this text: the exit status and the lines printed, numbered as in the text."""

    def run(text: str) -> tuple[int, list[str]]:
        file = tmp_path / "code.py"
        file.write_text(HEAD + dedent(text), encoding="utf-8")
        status = main(["check", str(file)])
        lines = capsys.readouterr().out.splitlines()
        for number in range(100, 0, -1):
            lines = [line.replace(f"{file}:{number + LINES}:", f"{number}:") for line in lines]
        return status, [line.replace(str(file), "FILE") for line in lines]

    return run


# -- functions ---------------------------------------------------------------------------------------------------------


def test_a_function_is_run_on_symbols_and_its_result_compared(check: Check) -> None:
    status, lines = check(
        """
        def right[T: mx.BlasTensor](x: Float[T, "batch d"], w: Float[T, "d out"]) -> Float[T, "batch out"]:
            return x @ w

        def wrong[T: mx.MlpTensor](x: Float[T, "batch d"], w: Float[T, "d out"]) -> Float[T, "batch d"]:
            y = x @ w
            return y

        def also_wrong[T: mx.MlpTensor](x: Float[T, "batch d"], w: Float[T, "out d"]) -> Float[T, "batch out"]:
            return x @ w
        """
    )
    assert status == 1
    assert lines == [
        '7: wrong: result: expected Float[T, "batch d"], got ShapeTensor[F32] (batch, out)',
        "10: matmul: (batch, d) @ (out, d): inner dimensions differ (d and out)",
        "2 errors, 3 functions checked",
    ]


@pytest.mark.parametrize(
    ("annotation", "body"),
    [
        ("*batch d", "x.sum(-1, keepdims=True) + x"),
        ("... d", "x.softmax(-1)"),
        ("2*c h//2", "x.reshape((2, -1, x.shape[1]))[0]"),
        ("a _ 1", "x[:, :, 0]"),
        ("n rows=4", "x.reshape((x.shape[0], 2, 2))"),
        ("#n n", "x + x.permute((1, 0))"),
        ("n", "x[: x.shape[0] // 2]"),
        ("", "x.exp()"),
        ("batch seq d", "x.reshape((*x.shape[:2], 8, x.shape[2] // 8))"),
        ("batch c h w", "x.avg_pool2d(x.shape[2:]).upsample_nearest2d(x.shape[2:]) + x"),
        ("batch c h w", "x.max_pool2d(2).upsample_nearest2d(x.shape[2:]) + x"),
        ("batch c h w", "x.group_norm(4, x.ones(x.shape[1:2]), x.zeros(x.shape[1:2]))"),
        ("batch n", "sum(x[:, i] for i in range(x.shape[1]))"),
        ("batch n", "x * (1.0 if x.shape[1] < 3 else 1.0 / x.shape[1])"),
        ("batch n", "mx.numpy and x.from_host(__import__('numpy').zeros(x.shape)) + x"),
    ],
)
def test_right_code_passes(annotation: str, body: str, check: Check) -> None:
    status, lines = check(
        f"""
        def function[T: mx.ImageModelTensor](x: Float[T, "{annotation}"]) -> T:
            return {body}
        """
    )
    assert (status, lines) == (0, ["0 errors, 1 function checked"])


def test_one_name_is_one_size_and_two_names_are_two(check: Check) -> None:
    status, lines = check(
        """
        def same[T: mx.Tensor](x: Float[T, "n d"], y: Float[T, "n d"]) -> T:
            return x + y

        def other[T: mx.Tensor](x: Float[T, "n d"], y: Float[T, "n e"]) -> T:
            return x + y
        """
    )
    assert status == 1
    assert lines[0] == "6: add: (n, d) and (n, e): axis -1 has sizes d and e, which are not equal or 1"


def test_the_backward_is_run_where_the_result_is_a_number(check: Check) -> None:
    status, lines = check(
        """
        from moonxi.autodiff import Grad

        class Broken:
            pass

        def loss[T: mx.Tensor](x: Float[T, "n d"]) -> T:
            y = x.sum()
            if isinstance(y, Grad):
                x.sum(2)
            return y
        """
    )
    assert (status, lines[0]) == (1, "10: sum: (n, d), axis 2: axes run from -2 to 1")


def test_containers_options_and_labels_are_made(check: Check) -> None:
    status, lines = check(
        """
        type Image[T] = Float[T, "batch 3 h w"]

        @dataclass(frozen=True)
        class Sides[T: mx.Tensor]:
            left: Float[T, "n d"]
            right: Float[T, "n d"]

        def function[T: mx.MlpTensor](
            pair: tuple[Float[T, "n d"], Float[T, "d 10"]],
            many: list[Float[T, "n d"]],
            sides: Sides[T],
            image: Image[T],
            scores: Logits[Float[T, "n 10"]],
            mask: Float[T, "n d"] | None = None,
            /,
            *,
            key: mx.Key,
            rate: float,
            mode: nn.Mode,
            how: Literal["sum", "mean"] = "sum",
            flag: bool = False,
        ) -> Float[T, "n 10"]:
            total = sum(many, pair[0]) + sides.left - sides.right
            if mask is not None:
                total = total * mask
            return nn.dropout(total @ pair[1], rate, key) + scores.value
        """
    )
    assert (status, lines) == (0, ["0 errors, 1 function checked"])


def test_both_alternatives_of_an_argument_are_run(check: Check) -> None:
    status, lines = check(
        """
        def function[T: mx.MlpTensor](x: Float[T, "n d"], mask: Float[T, "n d"] | None, mode: nn.Mode) -> T:
            if mask is None:
                return x @ x
            return x + mask

        def other[T: mx.MlpTensor](x: Float[T, "n d"], mode: nn.Mode = nn.Eval()) -> T:
            match mode:
                case nn.Train():
                    return x.sum(3)
                case nn.Eval():
                    return x.sum(2)
        """
    )
    assert status == 1
    assert [line.partition(":")[0] for line in lines] == ["4", "10", "12", "3 errors, 2 functions checked"]


# -- layers and models -------------------------------------------------------------------------------------------------


def test_a_layer_is_made_from_the_annotations_of_its_fields(check: Check) -> None:
    status, lines = check(
        """
        @dataclass(frozen=True)
        class Dense[T: mx.MlpTensor](nn.Module[T]):
            weight: Float[T, "inputs outputs"]
            bias: Float[T, "outputs"]
            scale: float = 1.0

            def forward(self, x: Float[T, "*batch {self.weight.shape[0]}"]) -> Float[T, "*batch outputs"]:
                return (x @ self.weight + self.bias) * self.scale

            def back(self, y: Float[T, "batch outputs"]) -> Float[T, "batch inputs"]:
                return y @ self.weight
        """
    )
    assert status == 1
    assert lines == [
        "12: matmul: (batch, outputs) @ (inputs, outputs): inner dimensions differ (outputs and inputs)",
        "1 error, 2 functions checked",
    ]


def test_sizes_that_nothing_states_are_found(check: Check) -> None:
    status, lines = check(
        """
        @dataclass(frozen=True)
        class Deep[T: mx.MlpTensor](nn.Module[T]):
            first: nn.Linear[T]
            second: nn.Linear[T]

            def forward(self, x: Float[T, "batch 784"]) -> Float[T, "batch 10"]:
                return self.second.forward(self.first.forward(x).relu())

        @dataclass(frozen=True)
        class Looped[T: mx.MlpTensor](nn.Module[T]):
            first: nn.Linear[T]

            def forward(self, x: Float[T, "batch 784"]) -> Float[T, "batch 10"]:
                return self.first.forward(self.first.forward(x))

        @dataclass(frozen=True)
        class Turned[T: mx.MlpTensor](nn.Module[T]):
            first: nn.Linear[T]

            def forward(self, x: Float[T, "batch 784"]) -> T:
                return self.first.forward(x.permute((1, 0)))
        """
    )
    assert status == 1
    assert lines == [
        '15: Looped.forward: result: expected Float[T, "batch 10"], got ShapeTensor[F32] (batch, 784)',
        (
            '22: first (Linear).forward: argument x: expected Float[T, "*batch first.inputs"], '
            "got ShapeTensor[F32] (784, batch)"
        ),
        "2 errors, 3 functions checked",
    ]


def test_a_layer_is_made_by_its_init_in_preference(check: Check) -> None:
    status, lines = check(
        """
        @dataclass(frozen=True)
        class Net[T: mx.ImageModelTensor](nn.Module[T]):
            convolution: nn.Conv2d[T]
            head: nn.Linear[T]

            @staticmethod
            def init[U: mx.ImageModelTensor](like: U, key: mx.Key, width: int = 8) -> "Net[U]":
                return Net(
                    nn.Conv2d.init(3, width, 3, like=like, key=key), nn.Linear.init(width * 16, 10, like=like, key=key)
                )

            def forward(self, x: Float[T, "batch c h w"], mode: nn.Mode) -> Logits[T]:
                h = self.convolution.forward(x).relu().adaptive_avg_pool2d(4)
                return Logits(self.head.forward(h.reshape((h.shape[0], -1))))

        @dataclass(frozen=True)
        class Block[T: mx.ImageModelTensor](nn.Module[T]):
            convolution: nn.Conv2d[T]

            @classmethod
            def init(cls, inputs: int, outputs: int, *, like: T, key: mx.Key) -> "Block[T]":
                return cls(nn.Conv2d.init(inputs, outputs, 3, like=like, key=key, padding=1))

            def forward(self, x: Float[T, "batch c h w"]) -> Float[T, "batch c h w"]:
                return nn.residual(self.convolution.forward(x, nn.Eval()), x).max_pool2d(2)
        """
    )
    assert status == 1
    assert lines == [
        '26: Block.forward: result: expected Float[T, "batch c h w"], got ShapeTensor[F32] (batch, c, h//2, w//2)',
        "1 error, 2 functions checked",
    ]


def test_an_init_is_checked_as_well(check: Check) -> None:
    status, lines = check(
        """
        @dataclass(frozen=True)
        class Dense[T: mx.MlpTensor](nn.Module[T]):
            weight: Float[T, "inputs outputs"]
            bias: Float[T, "outputs"]

            @classmethod
            def init(cls, *, like: T, key: mx.Key) -> "Dense[T]":
                return cls(like.normal((784, 10), key), like.zeros((784,)))

            def forward(self, x: Float[T, "batch 784"]) -> Float[T, "batch 10"]:
                return x @ self.weight + self.bias
        """
    )
    assert status == 1
    assert lines == [
        (
            '9: Dense: field bias: expected Float[T, "outputs"], got ShapeTensor[F32] (784,): sizes of one name must '
            "be the same in all fields"
        ),
        "1 error, 1 function checked",
    ]


LOSS = """
        @dataclass(frozen=True)
        class Net[T: mx.MlpTensor](nn.Module[T]):
            out: nn.Linear[T]

            @classmethod
            def init(cls, like: T, key: mx.Key) -> "Net[T]":
                return cls(nn.Linear.init(784, 10, like=like, key=key))

            def forward(self, x: Float[T, "{shape} 784"], mode: nn.Mode) -> Logits[T]:
                return Logits(self.out.forward(nn.Dropout(0.5).forward(x, mode)))

        def loss[T: mx.MlpTensor](model: Net[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
            return cross_entropy(model.forward(batch.x, mode), batch.labels{labels})
"""


@pytest.mark.parametrize("shape", ["batch", "batch words"])
def test_a_loss_gets_a_batch_that_its_model_takes(shape: str, check: Check) -> None:
    assert check(LOSS.format(shape=shape, labels="")) == (0, ["0 errors, 2 functions checked"])
    status, lines = check(LOSS.format(shape=shape, labels="[1:]"))
    assert status == 1
    assert lines[0].startswith("14: pick: (batch, ")
    assert lines[1] == "1 error, 2 functions checked"


def test_a_target_is_like_the_result(check: Check) -> None:
    status, lines = check(
        """
        @dataclass(frozen=True)
        class Points[T: mx.Tensor]:
            x: T
            y: T

        @dataclass(frozen=True)
        class Line[T: mx.MlpTensor](nn.Module[T]):
            a: Float[T, "1 1"]

            def forward(self, x: Float[T, "n 1"]) -> Float[T, "n 1"]:
                return x @ self.a

        def loss[T: mx.MlpTensor](model: Line[T], points: Points[T]) -> T:
            return mse(model.forward(points.x), points.y)

        def penalty[T: mx.MlpTensor](model: Line[T]) -> T:
            return model.a.square().sum() + model.forward(model.a @ model.a).sum(3)
        """
    )
    assert (status, lines) == (
        1,
        ["18: sum: (1, 1), axis 3: axes run from -2 to 1", "1 error, 3 functions checked"],
    )


# -- what is not checked -----------------------------------------------------------------------------------------------


def test_what_cannot_be_checked_is_said_with_the_reason(check: Check) -> None:
    status, lines = check(
        """
        import numpy as np

        def first[T: mx.Tensor](x: Float[T, "n"]) -> T:
            return x

        def unshaped[T: mx.Tensor](x: T) -> T:
            return x

        def host[T: mx.Tensor](x: Float[np.ndarray, "n d"], y: Float[T, "n"]) -> T:
            return y

        def reads[T: mx.Tensor](x: Float[T, "n"]) -> float:
            total = x.sum()
            return total.item()

        def opened[T: mx.Tensor](x: Float[T, "n"], path: str) -> T:
            return x

        def picky[T: mx.Tensor](x: Float[T, "n d"]) -> T:
            if x.shape[1] < 10_000:
                raise ValueError("too narrow")
            return x

        def fit[T: mx.Tensor](like: T, epochs: int = 10) -> T:
            raise AssertionError("this would train")
        """
    )
    assert status == 0
    assert lines == [
        "7: note: unshaped is not checked: x has no shape in its annotation",
        "10: note: host is not checked: x is a ndarray: only code for any tensor class can be checked",
        f"13: note: reads is not checked: line {15 + LINES} reads the value of an element",
        "17: note: opened is not checked: no value can be made for path: str",
        f"20: note: picky is not checked: line {22 + LINES} raises ValueError: too narrow",
        "25: note: fit is not checked: it takes no tensors but those that it makes or a model has",
        "0 errors, 1 function checked, 6 not checked",
    ]


def test_a_layer_that_cannot_be_made_is_checked_as_a_part_of_another(check: Check) -> None:
    status, lines = check(
        """
        @dataclass(frozen=True)
        class Part[T: mx.ImageModelTensor](nn.Module[T]):
            convolution: nn.Conv2d[T]

            @classmethod
            def init(cls, kernel: int, *, like: T, key: mx.Key) -> "Part[T]":
                shape = (8, 3, *[kernel] * len(range(kernel)))[:4]
                return cls(nn.Conv2d(like.zeros(shape), None))

            def forward(self, x: Float[T, "batch 3 h w"]) -> Float[T, "batch 8 _ _"]:
                return self.convolution.forward(x)

        @dataclass(frozen=True)
        class Whole[T: mx.ImageModelTensor](nn.Module[T]):
            part: Part[T]

            @classmethod
            def init(cls, *, like: T, key: mx.Key) -> "Whole[T]":
                return cls(Part.init(5, like=like, key=key))

            def forward(self, x: Float[T, "batch 3 h w"]) -> T:
                return self.part.forward(x)

        @dataclass(frozen=True)
        class Other[T: mx.ImageModelTensor](nn.Module[T]):
            name: str

            def forward(self, x: Float[T, "batch 3 h w"]) -> T:
                return x
        """
    )
    assert (status, lines) == (
        0,
        [
            "29: note: Other.forward is not checked: no value can be made for name: str",
            "0 errors, 2 functions checked, 1 not checked",
        ],
    )


def test_an_error_that_is_no_misfit_is_an_error_too(check: Check) -> None:
    status, lines = check(
        """
        def function[T: mx.Tensor](x: Float[T, "n d"]) -> T:
            return x.relu(1).sums()

        def other[T: mx.Tensor](x: Float[T, "n d"]) -> T:
            return x + undefined
        """
    )
    assert status == 1
    assert lines[0].startswith("3: TypeError: ")
    assert lines[1:] == ["6: NameError: name 'undefined' is not defined", "2 errors, 2 functions checked"]


# -- files -------------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("example", ["mnist.py", "linear.py", "mnist_cnn.py"])
def test_the_examples_pass(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(CHECKOUT / "examples" / example)]) == 0
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
