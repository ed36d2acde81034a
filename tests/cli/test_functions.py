"""What ``moonxi check`` runs of functions, and what it reports."""

import pytest

from tests.cli.snippets import Check


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


def test_an_axis_that_meets_itself_is_an_error(check: Check) -> None:
    status, lines = check(
        """
        def error[T: mx.Tensor](prediction: Float[T, "batch 1"], target: Float[T, "batch"]) -> T:
            return (prediction - target).square().mean()

        def later[T: mx.Tensor](x: Float[T, "time"]) -> mx.Mask[T]:
            hidden = x[:, None] < x
            for _ in range(x.shape[0]):
                hidden = hidden | hidden
            return hidden

        def pairs[T: mx.Tensor](x: Float[T, "batch"]) -> Float[T, "batch batch"]:
            return x[:, None] - x[None, :]

        def grid[T: mx.Tensor](rows: Float[T, "h"], columns: Float[T, "w"]) -> Float[T, "h w"]:
            return rows[:, None] + columns
        """
    )
    assert status == 1
    assert lines == [
        "3: subtract: (batch, 1) and (batch,) give (batch, batch): batch meets itself; give both equally many axes",
        "6: less: (time, 1) and (time,) give (time, time): time meets itself; give both equally many axes",
        "2 errors, 4 functions checked",
    ]


def test_any_number_of_arguments_are_two(check: Check) -> None:
    status, lines = check(
        """
        def total[T: mx.Tensor](*parts: Float[T, "n d"], scale: float = 1.0) -> Float[T, "n d"]:
            return sum(parts[1:], parts[0]) * scale

        def joined[T: mx.Tensor](*parts: Float[T, "n d"], **options: int) -> Float[T, "n d"]:
            return parts[0].concatenate(*parts[1:], axis=1)

        def unshaped[T: mx.Tensor](*parts: T) -> T:
            return parts[0]
        """
    )
    assert status == 1
    assert lines == [
        "8: note: unshaped is not checked: parts[0] has no shape in its annotation",
        '6: joined: result: expected Float[T, "n d"], got ShapeTensor[F32] (n, 2*d)',
        "1 error, 2 functions checked, 1 not checked",
    ]


def test_an_alias_that_has_itself_as_a_part_is_no_obstacle(check: Check) -> None:
    status, lines = check(
        """
        type Json = dict[str, Json] | list[Json] | None

        @dataclass(frozen=True)
        class Run:
            settings: Json

        def scaled[T: mx.Tensor](x: Float[T, "n d"], settings: Json, run: Run) -> Float[T, "n d"]:
            return x
        """
    )
    assert (status, lines) == (0, ["0 errors, 1 function checked"])  # it is None
