"""What Embedding, LayerNorm, RMSNorm, Bilinear, Identity and Lambda promise and refuse."""

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Int

import moonxi as mx
from moonxi import nn
from moonxi.cli import main
from moonxi.dims import symbol
from moonxi.errors import AxisError, LabelError, ModuleError, OperandError, OptionError, ShapeError
from tests.cli.snippets import HEAD
from tests.nn.models import CPU, Array, numbers

sizes = st.integers(0, 4)
KEY = mx.Key(3)


@given(st.lists(sizes, max_size=3), st.integers(1, 5), sizes, st.integers(0, 2**32 - 1))
def test_an_embedding_is_numpys_indexing(batch: list[int], words: int, features: int, seed: int) -> None:
    layer = nn.Embedding(numbers(words, features))
    labels = np.random.default_rng(seed).integers(0, words, batch)
    found = layer.forward(CPU.labels(labels))
    assert found.shape == (*batch, features)
    np.testing.assert_array_equal(found.to_host(), layer.weight.to_host()[labels])


def test_a_new_embedding_is_standard_normal_with_zeros_for_the_padding() -> None:
    layer = nn.Embedding.init(200, 50, like=CPU, key=KEY)
    assert (layer.words, layer.features) == (200, 50)
    assert abs(layer.weight.mean().item()) < 0.05
    assert layer.weight.std().item() == pytest.approx(1.0, abs=0.05)
    for padding in (0, 7, 199):
        padded = nn.Embedding.init(200, 50, like=CPU, key=KEY, padding=padding).weight.to_host()
        assert not padded[padding].any()
        np.testing.assert_array_equal(np.delete(padded, padding, 0), np.delete(layer.weight.to_host(), padding, 0))


@pytest.mark.parametrize("padding", [-1, 4])
def test_a_padding_that_is_no_row_is_refused(padding: int) -> None:
    text = rf"^Embedding: padding {padding}, 4 words: it must be the number of a row$"
    with pytest.raises(OptionError, match=text):
        nn.Embedding.init(4, 2, like=CPU, key=KEY, padding=padding)
    with pytest.raises(OptionError, match=text):
        nn.Embedding(numbers(4, 2), padding)


def test_a_label_without_a_row_is_refused_by_its_place() -> None:
    layer = nn.Embedding(numbers(4, 2))
    with pytest.raises(LabelError, match=r"label 4 at \[1\]") as caught:
        layer.forward(CPU.labels(np.array([0, 4])))
    assert caught.value.__notes__ == ["in the forward of Embedding"]


def test_numbers_for_labels_are_refused() -> None:
    layer: Any = nn.Embedding(numbers(4, 2))
    text = r'^Embedding\.forward: argument labels: expected Int\[Labels\[T\], "\*batch"\], got NpArray\[F64\] \(3,\)'
    with pytest.raises(OperandError, match=text):
        layer.forward(numbers(3))


def test_labels_of_another_shape_than_annotated_are_refused() -> None:
    @dataclass(frozen=True)
    class Pairs[T: mx.Tensor](nn.Module[T]):
        table: nn.Embedding[T]

        def forward(self, labels: Int[mx.Labels[T], "batch 2"]) -> T:
            return self.table.forward(labels)

    model = Pairs(nn.Embedding(numbers(4, 2)))
    assert model.forward(CPU.labels(np.zeros((5, 2), int))).shape == (5, 2, 2)
    text = (
        r'^Pairs\.forward: argument labels: expected Int\[Labels\[T\], "batch 2"\] where batch=5, got Labels \(5, 3\)'
    )
    with pytest.raises(ShapeError, match=text):
        model.forward(CPU.labels(np.zeros((5, 3), int)))


@given(st.lists(sizes, max_size=3), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_layer_norm_gives_mean_0_and_variance_1(batch: list[int], features: int, seed: int) -> None:
    layer = nn.LayerNorm.init(features, like=CPU, eps=0.0)
    assert layer.features == features
    y = layer.forward(CPU.from_host(np.random.default_rng(seed).normal(size=(*batch, features)) * 5.0 + 3.0)).to_host()
    np.testing.assert_allclose(y.mean(-1), np.zeros(batch), atol=1e-9)
    np.testing.assert_allclose((y**2).mean(-1), np.ones(batch), rtol=1e-9)


@given(st.lists(sizes, max_size=3), st.integers(1, 6), st.floats(0.1, 10.0))
def test_rms_norm_does_not_depend_on_the_scale(batch: list[int], features: int, scale: float) -> None:
    layer = nn.RMSNorm.init(features, like=CPU, eps=0.0)
    assert layer.features == features
    x = numbers(*batch, features)
    y = layer.forward(x * scale).to_host()
    np.testing.assert_allclose((y**2).mean(-1), np.ones(batch), rtol=1e-9)
    np.testing.assert_allclose(y, layer.forward(x).to_host(), rtol=1e-9)


def test_norms_take_no_features_and_no_samples() -> None:
    for shape in ((2, 0), (0,), (0, 0)):
        assert nn.LayerNorm.init(0, like=CPU).forward(CPU.zeros(shape)).shape == shape
        assert nn.RMSNorm.init(0, like=CPU).forward(CPU.zeros(shape)).shape == shape
    assert nn.LayerNorm.init(3, like=CPU).forward(CPU.zeros((0, 3))).shape == (0, 3)
    assert nn.RMSNorm.init(3, like=CPU).forward(CPU.zeros((0, 3))).shape == (0, 3)


def test_constant_features_are_normalised_to_0_with_a_finite_gradient() -> None:
    x = mx.variable(CPU.full((2, 3), 7.0))
    y = nn.LayerNorm.init(3, like=CPU).map(mx.constant).forward(x)
    assert not y.to_host().any()
    assert np.isfinite(y.sum().backward().of(x).to_host()).all()


def test_parameters_start_as_pytorchs() -> None:
    norm, rms = nn.LayerNorm.init(3, like=mx.numpy()), nn.RMSNorm.init(3, like=mx.numpy())
    assert norm.bias is not None
    assert norm.weight.to_host().tolist() == rms.weight.to_host().tolist() == [1.0] * 3
    assert norm.bias.to_host().tolist() == [0.0] * 3
    assert norm.weight.dtype is rms.weight.dtype is mx.F32
    assert nn.LayerNorm.init(3, like=CPU, bias=False).bias is None
    both = nn.Bilinear.init(16, 7, 50, like=CPU, key=KEY)
    assert (both.left, both.right, both.outputs, both.weight.shape) == (16, 7, 50, (50, 16, 7))
    assert both.bias is not None
    for one in (both.weight, both.bias):
        assert 0.2 < one.abs().max().item() <= 0.25
        assert abs(one.mean().item()) < 0.1
    assert nn.Bilinear.init(2, 3, 4, like=CPU, key=KEY, bias=False).bias is None


@given(st.lists(sizes, max_size=2), sizes, sizes, sizes, st.booleans())
def test_bilinear_is_a_sum_over_both_inputs(batch: list[int], left: int, right: int, outputs: int, bias: bool) -> None:
    layer = nn.Bilinear.init(left, right, outputs, like=CPU, key=KEY, bias=bias)
    x, y = numbers(*batch, left, seed=1), numbers(*batch, right, seed=2)
    expected = np.einsum("...i,kij,...j->...k", x.to_host(), layer.weight.to_host(), y.to_host())
    expected = expected + (layer.bias.to_host() if layer.bias is not None else 0.0)
    np.testing.assert_allclose(layer.forward(x, y).to_host(), expected, rtol=1e-12, atol=1e-13)


def test_widths_that_do_not_fit_are_refused() -> None:
    norms: list[Any] = [nn.LayerNorm.init(3, like=CPU), nn.RMSNorm.init(3, like=CPU)]
    for layer in norms:
        name = type(layer).__name__
        text = rf'^{name}\.forward: argument x: expected Float\[T, "\*batch 3"\], got NpArray\[F64\] \(2, 4\)'
        with pytest.raises(ShapeError, match=text):
            layer.forward(numbers(2, 4))
    both = nn.Bilinear.init(3, 2, 4, like=CPU, key=KEY)
    with pytest.raises(ShapeError, match=r'^Bilinear\.forward: argument y: expected Float\[T, "\*batch 2"\]'):
        both.forward(numbers(5, 3), numbers(5, 3))
    with pytest.raises(ShapeError, match=r'^Bilinear\.forward: argument y: expected Float\[T, "\*batch 2"\]'):
        both.forward(numbers(5, 3), numbers(1, 2))  # which would broadcast


def test_parameters_that_do_not_fit_each_other_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^LayerNorm: field bias: "):
        nn.LayerNorm(CPU.ones((3,)), CPU.ones((4,)))
    with pytest.raises(ShapeError, match=r"^Bilinear: field bias: "):
        nn.Bilinear(CPU.ones((4, 3, 2)), CPU.ones((3,)))


def test_options_of_activations_out_of_range_are_refused() -> None:
    wrong: Any = "none"
    with pytest.raises(OptionError, match=r"""^gelu: form='none': must be "erf" or "tanh"$"""):
        nn.gelu(numbers(2), form=wrong)
    with pytest.raises(OptionError, match=r"^softplus: beta=0\.0: must be positive and finite$"):
        nn.softplus(numbers(2), beta=0.0)
    with pytest.raises(OptionError, match=r"^Softplus: beta=-1\.0: must be positive and finite$"):
        nn.Softplus(-1.0)
    with pytest.raises(AxisError, match=r"^softmax: \(2,\), axis 1: "):
        numbers(2).softmax(1)


def test_identity_is_its_input_and_lambda_its_function() -> None:
    x = numbers(2, 3)
    assert nn.Identity().forward(x) is x
    chain = nn.Sequential[Array](nn.Identity(), nn.Lambda(nn.silu), nn.Lambda(lambda y: y * 2.0))
    np.testing.assert_array_equal(chain.forward(x, mx.Eval()).to_host(), (nn.silu(x) * 2.0).to_host())
    lifted = chain.map(mx.variable)
    assert type(lifted.forward(mx.variable(x), mx.Eval()).value) is mx.NpArray


def test_a_lambda_that_hides_a_tensor_is_refused() -> None:
    scale: Any = numbers(3)
    model = nn.Sequential[Array](nn.Lambda(lambda y: y * scale))
    with pytest.raises(ModuleError, match=r"hides a NpArray, which would never be trained"):
        model.map(mx.variable)


def test_the_layers_are_listed_in_the_summary() -> None:
    @dataclass(frozen=True)
    class Text[T: mx.MlpTensor](nn.Module[T]):
        table: nn.Embedding[T]
        norm: nn.LayerNorm[T]
        rms: nn.RMSNorm[T]
        both: nn.Bilinear[T]
        end: tuple[nn.Gelu, nn.Lambda]

    like, key = mx.numpy(), mx.Key(0)
    model = Text(
        nn.Embedding.init(9, 4, like=like, key=key),
        nn.LayerNorm.init(4, like=like),
        nn.RMSNorm.init(4, like=like),
        nn.Bilinear.init(4, 4, 2, like=like, key=mx.Key(1)),
        (nn.Gelu(), nn.Lambda(nn.mish)),
    )
    assert model.summary() == dedent("""
        layer   class      tensors                      parameters
        table   Embedding  weight (9, 4)                        36
        norm    LayerNorm  weight (4,), bias (4,)                8
        rms     RMSNorm    weight (4,)                           4
        both    Bilinear   weight (2, 4, 4), bias (2,)          34
        end[0]  Gelu                                             0
        end[1]  Lambda                                           0
        82 parameters, 0 elements of state, 328 bytes
        """).strip("\n")


BATCH, TIME = symbol("batch", least=1), symbol("time", least=1)


LIKE = mx.ShapeTensor((BATCH, TIME, 4))


@pytest.mark.parametrize(
    ("result", "size"),
    [
        (lambda: nn.Embedding.init(9, 5, like=LIKE, key=KEY, padding=0).forward(LIKE.argmax(-1)), 5),
        (lambda: nn.LayerNorm.init(4, like=LIKE).forward(LIKE), 4),
        (lambda: nn.RMSNorm.init(4, like=LIKE).forward(LIKE), 4),
        (lambda: nn.Bilinear.init(4, 4, 2, like=LIKE, key=KEY).forward(LIKE, LIKE), 2),
    ],
)
def test_symbolic_sizes_pass_through(result: Callable[[], mx.ShapeTensor], size: int) -> None:
    expected: tuple[object, ...] = (BATCH, TIME, size)
    assert result().shape == expected


def test_check_finds_a_width_that_does_not_fit(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "code.py"
    text = dedent("""
        from jaxtyping import Int

        @dataclass(frozen=True)
        class Text[T: mx.MlpTensor](nn.Module[T]):
            table: nn.Embedding[T]
            norm: nn.LayerNorm[T]

            @classmethod
            def init(cls, *, like: T, key: mx.Key) -> "Text[T]":
                table = nn.Embedding.init(9, 4, like=like, key=key, padding=0)
                return cls(table, nn.LayerNorm.init({width}, like=like))

            def forward(self, words: Int[mx.Labels[T], "batch time"]) -> Float[T, "batch time 4"]:
                return nn.gelu(self.norm.forward(self.table.forward(words)))
        """)
    file.write_text(HEAD + text.format(width=4), encoding="utf-8")
    assert main(["check", str(file)]) == 0
    assert "0 errors, 1 function checked" in capsys.readouterr().out
    file.write_text(HEAD + text.format(width=5), encoding="utf-8")
    assert main(["check", str(file)]) == 1
    found = capsys.readouterr().out
    assert (
        'norm (LayerNorm).forward: argument x: expected Float[T, "*batch 5"], got ShapeTensor[F32] (batch, time, 4)'
    ) in found
