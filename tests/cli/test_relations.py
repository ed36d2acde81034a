"""What ``moonxi check`` takes for a relation between sizes, and what for a mistake."""

import pytest

from tests.cli.snippets import Check

HALF = """
        @dataclass(frozen=True)
        class Half[T: mx.MlpTensor](nn.Module[T]):
            inner: nn.Linear[T]

            @classmethod
            def init(cls, half: int, *, like: T, key: mx.Key) -> "Half[T]":
                return cls(nn.Linear.init(half, 2 * half, like=like, key=key))

            def forward(self, x: Float[T, "batch features"]) -> Float[T, "batch features"]:
                left = x[:, : x.shape[-1] // 2]
                return self.inner.forward(left)
"""


def test_the_size_of_features_may_follow_from_one_of_the_model(check: Check) -> None:
    assert check(HALF) == (0, ["0 errors, 1 function checked"])
    assert check(HALF.replace("(half, 2 * half", "(8, 16")) == (0, ["0 errors, 1 function checked"])
    status, lines = check(HALF.replace("half, 2 * half", "half, 3 * half"))
    assert status == 1
    assert lines[0] == (
        '12: Half.forward: result: expected Float[T, "batch features"] where features=2*half, '
        "got ShapeTensor[F32] (batch, 3*half)"
    )


@pytest.mark.parametrize(
    "wrong",
    [
        HALF.replace("x[:, : x.shape[-1] // 2]", "x.permute((1, 0))[:, : x.shape[0] // 2]"),
        HALF.replace("self.inner.forward(left)", "self.inner.forward(self.inner.forward(left))"),
    ],
)
def test_a_size_of_the_model_does_not_follow_from_the_batch_nor_from_itself(wrong: str, check: Check) -> None:
    status, lines = check(wrong)
    assert (status, lines[-1]) == (1, "1 error, 1 function checked")


POSITIONS = """
        @dataclass(frozen=True)
        class Positions[T: mx.Tensor](nn.Module[T]):
            table: Float[T, "longest dim"]

            def forward(self, x: Float[T, "batch time dim"]) -> Float[T, "batch time dim"]:
                return x + self.table[: x.shape[1]]
"""


def test_a_slice_is_taken_to_be_as_long_as_it_says_where_it_can(check: Check) -> None:
    assert check(POSITIONS) == (0, ["0 errors, 1 function checked"])
    first = POSITIONS.replace("batch time dim", "time batch dim").replace(
        "self.table[: x.shape[1]]", "self.table[: x.shape[0]].unsqueeze(1)"
    )
    assert check(first) == (0, ["0 errors, 1 function checked"])
    status, lines = check(POSITIONS.replace("x.shape[1]]", "x.shape[1] + 1]"))
    assert (status, lines[-1]) == (1, "1 error, 1 function checked")
    status, lines = check(POSITIONS.replace("x.shape[1]]", "x.shape[2]]"))
    assert (status, lines[-1]) == (1, "1 error, 1 function checked")


SKIP = """
        def joined[T: mx.ImageModelTensor](
            low: Float[T, "batch deep h w"], skip: Float[T, "batch shallow height width"]
        ) -> Float[T, "batch _ height width"]:
            up = low.upsample_nearest2d((2 * low.shape[2], 2 * low.shape[3]))
            return up.concatenate(skip, axis=1)
"""


def test_the_size_of_one_argument_may_follow_from_that_of_another(check: Check) -> None:
    assert check(SKIP) == (0, ["0 errors, 1 function checked"])
    status, lines = check(SKIP.replace("2 * low.shape[2]", "low.shape[2]"))
    assert status == 1  # if they were the same they would have the same name
    assert lines[0].startswith("6: concatenate: (batch, deep, h, 2*w) and (batch, shallow, height, width), axis 1: ")
    flattened = """
        from jaxtyping import Int

        def loss[T: mx.MlpTensor](scores: Float[T, "batch time words"], right: Int[mx.Labels[T], "tokens"]) -> T:
            return cross_entropy(Logits(scores.reshape((-1, scores.shape[2]))), right)

        def pairs[T: mx.MlpTensor](x: Float[T, "batch d"], mask: Float[T, "both d"]) -> T:
            return x.concatenate(x, axis=0) * mask
        """
    assert check(flattened) == (0, ["0 errors, 2 functions checked"])


def test_axes_of_one_argument_do_not_follow_from_each_other(check: Check) -> None:
    status, lines = check(
        """
        def grams[T: mx.MlpTensor](x: Float[T, "batch c h w"]) -> Float[T, "batch c c"]:
            flat = x.reshape((x.shape[0], x.shape[1], -1))
            return flat.transpose() @ flat

        def wrong[T: mx.MlpTensor](x: Float[T, "batch time d"], y: Float[T, "batch e"]) -> T:
            return x.reshape((-1, x.shape[2])) + y
        """
    )
    assert status == 1
    assert [line.partition(":")[0] for line in lines] == ["4", "7", "2 errors, 2 functions checked"]


def test_what_a_model_takes_of_other_axes_is_up_to_whoever_makes_it(check: Check) -> None:
    text = """
        @dataclass(frozen=True)
        class Flat[T: mx.MlpTensor](nn.Module[T]):
            out: nn.Linear[T]

            @classmethod
            def init(cls, pixels: int, classes: int, *, like: T, key: mx.Key) -> "Flat[T]":
                return cls(nn.Linear.init(pixels, classes, like=like, key=key))

            def forward(self, x: Float[T, "batch c h w"]) -> Float[T, "batch classes"]:
                return self.out.forward(x.reshape((x.shape[0], -1)))
        """
    assert check(text) == (0, ["0 errors, 1 function checked"])
    status, _ = check(text.replace("(x.shape[0], -1)", "(x.shape[1], -1)"))
    assert status == 1


def test_a_number_of_the_init_may_have_the_name_of_another_size(check: Check) -> None:
    text = """
        @dataclass(frozen=True)
        class Crop[T: mx.ImageModelTensor](nn.Module[T]):
            convolution: nn.Conv2d[T]

            @classmethod
            def init(cls, width: int, *, like: T, key: mx.Key) -> "Crop[T]":
                return cls(nn.Conv2d.init(width, width, 3, like=like, key=key))

            def forward(self, low: Float[T, "batch c h w"], skip: Float[T, "batch c height width"]) -> T:
                y = self.convolution.forward(low)
                top, left = (skip.shape[2] - y.shape[2]) // 2, (skip.shape[3] - y.shape[3]) // 2
                return y + skip[:, :, top : top + y.shape[2], left : left + y.shape[3]]
        """
    assert check(text) == (0, ["0 errors, 1 function checked"])
