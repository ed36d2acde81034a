"""What ``moonxi check`` makes of layers, models and their losses."""

import pytest

from tests.cli.snippets import Check


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
            def init(cls, channels: int, *, like: T, key: mx.Key) -> "Block[T]":
                return cls(nn.Conv2d.init(channels, channels, 3, like=like, key=key, padding=1))

            def forward(self, x: Float[T, "batch c h w"]) -> Float[T, "batch c h w"]:
                return nn.residual(self.convolution.forward(x, nn.Eval()), x).max_pool2d(2)
        """
    )
    assert status == 1
    assert lines == [
        (
            '26: Block.forward: result: expected Float[T, "batch c h w"] where c=channels, '
            "got ShapeTensor[F32] (batch, channels, h//2, w//2)"
        ),
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
    assert lines[0].startswith("14: cross_entropy: (batch, ")
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


PAIR = """
@dataclass(frozen=True)
class Points[T: mx.Tensor]:
    x: T
    y: T

@dataclass(frozen=True)
class Spread[T: mx.MlpTensor](nn.Module[T]):
    a: Float[T, "5 2"]

    def forward(self, x: Float[T, "n 5"]) -> tuple[Float[T, "n 1"], Float[T, "n {width}"]]:
        y = x @ self.a
        return y[:, :1], y[:, {first}:]

def loss[T: mx.MlpTensor](model: Spread[T], points: Points[T]) -> T:
    mean, spread = model.forward(points.x)
    return mse(mean, points.y{cut}) + {other}
"""


@pytest.mark.parametrize(
    ("width", "first", "cut", "other", "error"),
    [
        (1, 1, "", "spread.mean()", None),
        (1, 1, "[1:]", "spread.mean()", "17: mse"),
        (2, 0, "", "spread.mean()", None),
        (2, 0, "", "mean.sum(3)", "17: sum: "),
    ],
)
def test_a_target_is_like_one_of_several_results(  # of two shapes either will do
    width: int, first: int, cut: str, other: str, error: str | None, check: Check
) -> None:
    status, lines = check(PAIR.format(width=width, first=first, cut=cut, other=other))
    assert status == (error is not None)
    assert lines[0].startswith(error or "0 errors")


def test_numbers_that_an_init_asks_for_can_be_any(check: Check) -> None:
    status, lines = check(
        """
        @dataclass(frozen=True)
        class Deep[T: mx.MlpTensor](nn.Module[T]):
            first: nn.Linear[T]
            second: nn.Linear[T]

            @classmethod
            def init(cls, inputs: int, width: int, *, like: T, key: mx.Key) -> "Deep[T]":
                second = nn.Linear.init(48, 10, like=like, key=key)
                return cls(nn.Linear.init(inputs, width, like=like, key=key), second)

            def forward(self, x: Float[T, "batch {self.first.inputs}"]) -> Float[T, "batch 10"]:
                return self.second.forward(self.first.forward(x))

        @dataclass(frozen=True)
        class Turn[T: mx.MlpTensor](nn.Module[T]):
            layer: nn.Linear[T]

            @classmethod
            def init(cls, inputs: int, outputs: int, *, like: T, key: mx.Key) -> "Turn[T]":
                return cls(nn.Linear.init(outputs, inputs, like=like, key=key))

            def forward(self, x: Float[T, "batch {self.layer.inputs}"]) -> Float[T, "batch {self.layer.outputs}"]:
                return self.layer.forward(x) + self.layer.weight.sum(1)
        """
    )
    assert status == 1
    assert lines == [
        '13: second (Linear).forward: argument x: expected Float[T, "*batch 48"], got ShapeTensor[F32] (batch, width)',
        "24: Turn: add: (batch, inputs) and (outputs,): axis -1 has sizes inputs and outputs, which are not equal or 1",
        "2 errors, 2 functions checked",
    ]


def test_a_loop_over_an_axis_runs_although_nothing_states_the_widths(check: Check) -> None:
    recurrent = """
        @dataclass(frozen=True)
        class Recurrent[T: mx.MlpTensor](nn.Module[T]):
            layer: nn.Linear[T]

            @classmethod
            def init(cls, width: int, *, like: T, key: mx.Key) -> "Recurrent[T]":
                return cls(nn.Linear.init(width, width, like=like, key=key))

            def forward(self, x: Float[T, "batch time {self.layer.inputs}"]) -> Float[T, "batch {self.layer.inputs}"]:
                h = x.zeros((x.shape[0], self.layer.inputs))
                for step in range(x.shape[1]):
                    h = self.layer.forward(h) + x[:, step]
                return h
        """
    assert check(recurrent) == (0, ["0 errors, 1 function checked"])
    status, lines = check(recurrent.replace("x[:, step]", "x[step]"))
    assert status == 1
    assert lines == [
        (
            "13: Recurrent: add: (batch, width) and (time, width): axis -2 has sizes batch and time, "
            "which are not equal or 1"
        ),
        "1 error, 1 function checked",
    ]
