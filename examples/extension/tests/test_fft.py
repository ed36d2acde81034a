"""The row: transforms on NumPy and under differentiation, and a layer that is trained with them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moonxi_more import FftArray, FftGrad, FftProfiled, FftTensor, SpectralFilter, fft

import moonxi as mx
from moonxi import nn
from moonxi.errors import CompileWarning, ShapeError

HOST = fft(mx.F64)
sizes = st.integers(1, 9)
seeds = st.integers(0, 1000)


def signals(*shape: int, seed: int = 0) -> FftArray[mx.F64]:
    return HOST.normal(shape, mx.Key(seed))


def filtered[T: FftTensor](x: T, gain: T) -> T:
    """Something curved in both, through both transforms."""
    return ((x.rfft() * gain).irfft(x.shape[-1])).tanh()


@given(sizes, seeds)
def test_the_transform_is_the_sum_that_defines_it(size: int, seed: int) -> None:
    x = signals(2, size, seed=seed)
    k, j = np.arange(size // 2 + 1)[:, None], np.arange(size)
    terms = x.to_host()[:, None, :] * np.exp(-2j * np.pi * k * j / size)
    expected = terms.sum(-1)
    np.testing.assert_allclose(x.rfft().to_host(), np.stack((expected.real, expected.imag), -1), atol=1e-12)


@given(sizes, seeds)
def test_the_inverse_gives_the_numbers_back(size: int, seed: int) -> None:
    x = signals(3, size, seed=seed)
    np.testing.assert_allclose(x.rfft().irfft(size).to_host(), x.to_host(), atol=1e-13)


@settings(max_examples=20, deadline=None)
@given(sizes, seeds)
def test_gradients_are_central_differences_and_so_are_their_gradients(size: int, seed: int) -> None:
    x, gain = signals(2, size, seed=seed), signals(size // 2 + 1, 2, seed=seed + 1)
    mx.check_gradients(filtered, x, gain, variable=FftGrad.variable, order=3 if size < 4 else 2, tolerance=1e-5)


@given(sizes, seeds)
def test_each_transform_is_the_transpose_of_the_gradient_of_the_other(size: int, seed: int) -> None:
    x, y = FftGrad.variable(signals(size, seed=seed)), signals(size // 2 + 1, 2, seed=seed + 1)
    across = (x.rfft().value * y).sum().item()
    assert (x.value * x.rfft().backward(y).of(x)).sum().item() == pytest.approx(across, abs=1e-10)


def test_a_wrong_gradient_would_be_blamed_on_the_transform() -> None:
    class Wrong[T: FftTensor](FftGrad[T]):
        __slots__ = ()

        def rfft(self) -> "Wrong[T]":
            size = self.shape[-1]
            return Wrong(self.value.rfft(), ((self, lambda g: g.irfft(size) * size),))

    with pytest.raises(mx.errors.GradientError, match=r"Wrong\.rfft of \(5,\) is to blame"):
        mx.check_gradients(lambda x: x.rfft(), signals(5), variable=Wrong.variable)


def test_the_transforms_are_timed_forward_and_backward() -> None:
    times = mx.Profile()
    x = FftGrad.variable(FftProfiled(signals(2, 6), times))
    y = x.rfft()
    assert y.value.value.to_host().tobytes() == signals(2, 6).rfft().to_host().tobytes()
    y.sum().backward()
    calls = {(row.operation, row.direction): row.calls for row in times.rows if "fft" in row.operation}
    assert calls == {("rfft", "forward"): 1, ("irfft", "backward"): 1}


def test_results_keep_class_and_element_type() -> None:
    x = fft().ones((2, 6))
    assert type(x.rfft()) is type(x.rfft().irfft(6)) is FftArray
    assert x.rfft().dtype is x.rfft().irfft(6).dtype is mx.F32
    assert type((x * 2.0).relu()) is FftArray
    lifted = FftGrad.variable(FftGrad.constant(x)).rfft()
    assert isinstance(lifted, FftGrad)
    assert isinstance(lifted.value, FftGrad)
    assert lifted.value.parents is None


@pytest.mark.parametrize(
    ("shape", "text"), [((), r"rfft: \(\): there must be numbers"), ((2, 0), r"rfft: \(2, 0\): there must be numbers")]
)
def test_there_is_something_to_transform(shape: tuple[int, ...], text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        HOST.zeros(shape).rfft()


def test_a_spectrum_has_the_size_of_its_numbers() -> None:
    with pytest.raises(ShapeError, match=r"^irfft: \(3, 2\) to 6: 6 numbers have a spectrum of shape \(..., 4, 2\)$"):
        HOST.zeros((3, 2)).irfft(6)


def loss[T: FftTensor](model: SpectralFilter[T], batch: mx.Labelled[T], mode: mx.Mode) -> tuple[T, dict[str, T]]:
    """How much of the mean is left, and of the rest is lost."""
    kept = model.forward(batch.x) - (batch.x - batch.x.mean(1, keepdims=True))
    return kept.square().mean(), {"mean": model.forward(batch.x).mean()}


def test_a_filter_learns_to_remove_the_mean() -> None:
    like = fft()
    model = SpectralFilter.init(8, like=like, key=mx.Key(0))
    batch = mx.Labelled(like.normal((32, 8), mx.Key(1)) + 0.5, like.labels(np.zeros(32, np.int64)))
    trainer = mx.Trainer(model, loss, mx.Sgd(lr=2.0), key=mx.Key(2), variable=FftGrad.variable)
    losses = [trainer.step(batch)["loss"] for _ in range(60)]
    assert losses[-1] < 1e-6 < losses[0]
    gains = trainer.model.gain.to_host()[:, 0]
    np.testing.assert_allclose(gains, [0.0, 1.0, 1.0, 1.0, 1.0], atol=0.02)


def test_a_compiled_trainer_runs_an_operation_of_ones_own_eagerly_and_says_so() -> None:
    like = fft()
    model = SpectralFilter.init(8, like=like, key=mx.Key(0))
    batch = mx.Labelled(like.normal((32, 8), mx.Key(1)) + 0.5, like.labels(np.zeros(32, np.int64)))
    trainer = mx.Trainer(model, loss, mx.Sgd(lr=2.0), key=mx.Key(2), variable=FftGrad.variable, compile=True)
    with pytest.warns(CompileWarning, match=r"rfft: at .* FftArray has it and other tensor classes have not"):
        first = trainer.step(batch)
    assert trainer.step(batch)["loss"] < first["loss"]


def test_value_and_grad_gives_a_filter_of_the_same_class() -> None:
    model = SpectralFilter(HOST.ones((3, 1)))
    batch = mx.Labelled(signals(4, 5), HOST.labels(np.zeros(4, np.int64)))
    (value, kept), gradient = mx.value_and_grad(loss, model, batch, nn.Eval(), variable=FftGrad.variable)
    assert type(gradient.gain) is type(value) is type(kept["mean"]) is FftArray
    assert gradient.gain.to_host()[0, 0] == pytest.approx(2 * value.item())
    np.testing.assert_allclose(gradient.gain.to_host()[1:], 0.0, atol=1e-12)
