"""What ``moonxi check`` makes of code that cannot do with a symbol: NumPy, loops, and code for one tensor class."""

import pytest

from tests.cli.snippets import LINES, Check

LANGUAGE = """
        import numpy as np
        from jaxtyping import Int

        def waves[T: mx.Tensor](like: T, length: int, dim: int) -> Float[T, "length dim"]:
            table = np.zeros((length, dim))
            table[:, 0::2] = np.sin(np.arange(length)[:, None] * np.arange(0, dim, 2))
            return like.from_host(table)

        @dataclass(frozen=True)
        class Language[T: mx.MlpTensor](nn.Module[T]):
            words: nn.Embedding[T]
            mix: nn.Linear[T]

            def forward(self, words: Int[mx.Labels[T], "batch time"]) -> Float[T, "batch time vocabulary"]:
                h = self.words.forward(words)
                h = h + waves(h, h.shape[1], h.shape[2])
                h = self.mix.forward(h).relu()
                return h @ self.words.weight.transpose()
"""


def test_numpy_is_given_numbers_for_the_sizes_of_a_model_too(check: Check) -> None:
    assert check(LANGUAGE) == (0, ["0 errors, 2 functions checked"])


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        (
            "h.shape[1], h.shape[2])",
            "h.shape[2], h.shape[1])",
            "17: Language: add: (batch, time, words.features) and (64, 24): axis -2 ",
        ),
        ("self.mix.forward(h)", "self.mix.forward(h.permute((1, 0, 2)))", "19: Language.forward: result: expected "),
    ],
)
def test_mistakes_beside_it_are_found(right: str, wrong: str, line: str, check: Check) -> None:
    status, lines = check(LANGUAGE.replace(right, wrong))
    assert status == 1
    assert lines[0].startswith(line)


def test_sizes_stay_apart_although_they_are_numbers(check: Check) -> None:
    status, lines = check(
        """
        import numpy as np

        def right[T: mx.Tensor](x: Float[T, "batch time dim"]) -> T:
            return x + x.from_host(np.arange(x.shape[1]))[:, None]

        def wrong[T: mx.Tensor](x: Float[T, "batch time dim"]) -> T:
            return x + x.from_host(np.arange(x.shape[1]))

        def also[T: mx.Tensor](x: Float[T, "batch time dim"], y: Float[T, "batch dim time"]) -> T:
            if x.shape[1] > 2:
                return x + y
            return x
        """
    )
    assert status == 1
    assert [line.partition(":")[0] for line in lines] == ["8", "12", "2 errors, 3 functions checked"]


def test_a_size_of_the_model_is_still_found_where_numbers_stand_for_it(check: Check) -> None:
    text = """
        @dataclass(frozen=True)
        class Summed[T: mx.MlpTensor](nn.Module[T]):
            first: nn.Linear[T]
            second: nn.Linear[T]

            def forward(self, x: Float[T, "batch 784"]) -> Float[T, "batch 10"]:
                scale = sum(1.0 for _ in range(self.second.inputs))
                return self.second.forward(self.first.forward(x).relu() * scale)
        """
    assert check(text) == (0, ["0 errors, 1 function checked"])
    status, lines = check(text.replace("self.first.forward(x)", "self.first.forward(x.permute((1, 0)))"))
    assert status == 1
    assert lines[0] == (
        '9: first (Linear).forward: argument x: expected Float[T, "*batch first.inputs"], '
        "got ShapeTensor[F32] (784, batch)"
    )
    failing = text.replace("sum(1.0 for _ in range(self.second.inputs))", "[1.0][len(range(self.second.inputs))]")
    assert check(failing) == (
        2,
        [
            (
                f"7: note: Summed.forward is not checked: line {8 + LINES} raises with numbers for first.inputs, "
                "first.outputs, second.inputs, second.outputs: IndexError: list index out of range"
            ),
            "0 errors, 0 functions checked, 1 not checked",
        ],
    )


def test_a_length_that_is_compared_with_that_of_a_table(check: Check) -> None:
    text = """
        @dataclass(frozen=True)
        class Positions[T: mx.Tensor](nn.Module[T]):
            table: Float[T, "longest dim"]

            @classmethod
            def init(cls, longest: int, dim: int, *, like: T, key: mx.Key) -> "Positions[T]":
                return cls(like.normal((longest, dim), key))

            def forward(self, x: Float[T, "batch time dim"]) -> Float[T, "batch time dim"]:
                if x.shape[1] > self.table.shape[0]:
                    raise ValueError("too long")
                return x + self.table[: x.shape[1]]
        """
    assert check(text) == (0, ["0 errors, 1 function checked"])


def test_code_for_one_tensor_class_is_run_on_shapes(check: Check) -> None:
    status, lines = check(
        """
        import numpy as np
        from moonxi.dtypes import F32
        type Host = mx.NpArray[F32]

        def right(x: Float[Host, "n d"], w: Float[mx.NpArray[F32], "d e"], like: Host) -> Float[Host, "n e"]:
            return x @ w + like.zeros((1, w.shape[1]))

        def wrong(x: Float[Host, "n d"], w: Float[Host, "e d"]) -> Float[Host, "n e"]:
            return x @ w

        def other(x: Float[Host, "n d"]) -> Float[Host, "n"]:
            return x.sum(0)

        def read(x: Float[Host, "n d"], picked: int) -> float:
            best, _ = x.topk(picked, -1)
            return float(best.sum().to_host())

        def own(x: Float[Host, "n d"]) -> Host:
            return x + mx.numpy().ones((1, 1))

        def evaluated(model: nn.Linear[Host], batch: mx.Labelled[Host]) -> Float[Host, ""]:
            return cross_entropy(Logits(model.forward(batch.x)), batch.labels)

        def lost(x: Host) -> Host:
            return x
        """
    )
    assert status == 1
    assert [line.split(": operands")[0] for line in lines] == [
        (
            f"19: note: own is not checked: line {20 + LINES} needs more of x than a shape: add: ShapeTensor[F32] with "
            "NpArray[F32]: both operands must be ShapeTensor[F32]"
        ),
        "25: note: lost is not checked: x has no shape in its annotation",
        f"15: note: read is checked up to line {17 + LINES}, which reads an element",
        "10: matmul: (n, d) @ (e, d): inner dimensions differ (d and e)",
        '13: other: result: expected Float[T, "n"], got ShapeTensor[F32] (d,)',
        "2 errors, 5 functions checked, 2 not checked",
    ]


def test_arrays_of_the_host_are_ones(check: Check) -> None:
    status, lines = check(
        """
        import numpy as np
        from jaxtyping import UInt8

        def windows(series: Float[np.ndarray, "steps channels"], past: int) -> Float[np.ndarray, "_ {past} channels"]:
            return np.stack([series[i : i + past] for i in range(len(series) - past + 1)])

        def wrong(x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "n"]) -> Float[np.ndarray, "d"]:
            return x.mean(1) + y

        def prepared[T: mx.Tensor](x: UInt8[np.ndarray, "batch rows columns 3"], like: T) -> Float[T, "batch 3 rows _"]:
            return (like.from_host(x) / 255.0).permute((0, 3, 2, 1))

        def chosen(x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "d"]:
            return x[np.flatnonzero(x[:, 0] > 1.0)[0]]
        """
    )
    assert status == 1
    assert lines == [
        (
            f"14: note: chosen is not checked: line {15 + LINES} raises with ones for x: IndexError: index 0 is out of "
            "bounds for axis 0 with size 0"
        ),
        "5: note: windows is checked for one example of series, all ones",
        '9: wrong: result: expected Float[T, "d"], got ndarray (8,)',
        '11: prepared: result: expected Float[T, "batch 3 rows _"], got ShapeTensor[F32] (8, 3, 40, 24)',
        "2 errors, 3 functions checked, 1 not checked",
    ]


def test_what_fails_with_symbols_just_so_is_no_matter_of_numbers(check: Check) -> None:
    status, lines = check(
        """
        @dataclass(frozen=True)
        class Pooled[T: mx.MlpTensor](nn.Module[T]):
            out: nn.Linear[T]

            def forward(self, x: Float[T, "batch time d"]) -> Float[T, "batch e"]:
                h = self.out.forward(x.mean(1))
                return h * h.shape[2]
        """
    )
    assert (status, lines) == (1, ["8: IndexError: tuple index out of range", "1 error, 1 function checked"])


def test_two_axes_of_the_result_are_not_the_same(check: Check) -> None:
    text = """
        @dataclass(frozen=True)
        class Elman[T: mx.MlpTensor](nn.Module[T]):
            cell: nn.Linear[T]

            @classmethod
            def init(cls, inputs: int, width: int, *, like: T, key: mx.Key) -> "Elman[T]":
                return cls(nn.Linear.init(inputs, width, like=like, key=key))

            def forward(self, x: Float[T, "batch time inputs"]) -> Float[T, "batch time width"]:
                states = [self.cell.forward(x[:, step]).tanh() for step in range(x.shape[1])]
                return states[0].stack(*states[1:], axis=1)
        """
    assert check(text) == (0, ["0 errors, 1 function checked"])
    status, lines = check(text.replace("axis=1", "axis=2"))
    assert (status, lines[-1]) == (1, "1 error, 1 function checked")
