"""What ``moonxi check`` cannot check, and says why."""

from tests.cli.snippets import LINES, Check


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
        "17: note: opened is not checked: no value can be made for path: str",
        f"20: note: picky is not checked: line {22 + LINES} raises ValueError: too narrow",
        "25: note: fit is not checked: it takes no tensors but those that it makes or a model has",
        "10: note: host is checked for one example of x, all ones",
        f"13: note: reads is checked up to line {15 + LINES}, which reads an element",
        "0 errors, 3 functions checked, 4 not checked",
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


def test_a_size_that_nothing_determines_does_not_hide_an_error(check: Check) -> None:
    status, lines = check(
        """
        @dataclass(frozen=True)
        class Needy[T: mx.MlpTensor](nn.Module[T]):
            layer: nn.Linear[T]

            def forward(self, x: Float[T, "batch d"]) -> T:
                return x * sum(range(self.layer.outputs))

        @dataclass(frozen=True)
        class Faulty[T: mx.MlpTensor](nn.Module[T]):
            layer: nn.Linear[T]

            def forward(self, x: Float[T, "batch d"]) -> T:
                return x * undefined
        """
    )
    assert status == 1
    assert lines == [
        "14: NameError: name 'undefined' is not defined",
        "1 error, 2 functions checked",
    ]


def test_an_operation_that_shapes_do_not_have_is_named(check: Check) -> None:
    status, lines = check(
        """
        from typing import Protocol, Self, runtime_checkable

        @runtime_checkable
        class Sortable(mx.Tensor, Protocol):
            def bitonic(self) -> Self: ...

        def sorted_rows[T: Sortable](x: Float[T, "n d"]) -> Float[T, "n d"]:
            return x.bitonic()

        @dataclass(frozen=True)
        class Sorted[T: Sortable](nn.Module[T]):
            gain: Float[T, " d"]

            @classmethod
            def init(cls, size: int, *, like: T) -> "Sorted[T]":
                return cls(like.ones((size,)))

            def forward(self, x: Float[T, "n d"]) -> Float[T, "n d"]:
                return (x * self.gain).bitonic()
        """
    )
    assert status == 2
    assert lines == [
        "8: note: sorted_rows is not checked: it is for a Sortable, and there is none of shapes alone",
        "19: note: Sorted.forward is not checked: Sorted is for a Sortable, and there is none of shapes alone",
        "0 errors, 0 functions checked, 2 not checked",
    ]
