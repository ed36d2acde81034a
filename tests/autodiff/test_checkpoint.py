"""`checkpoint`: the same gradients, with less memory and one more call."""

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn
from moonxi.errors import GradientError

cpu = mx.numpy(mx.F64)


def segment[T: mx.Tensor](x: T) -> T:
    """Eight operations, each with a result to remember."""
    for _ in range(4):
        x = (x.sin() * 1.5).tanh()
    return x


def chain[T: mx.Tensor](x: T, parts: int) -> T:
    for _ in range(parts):
        x = segment(x)
    return x.sum()


def checkpointed[T: mx.Tensor](x: T, parts: int) -> T:
    for _ in range(parts):
        x = mx.checkpoint(segment, x)
    return x.sum()


def mixed[T: mx.MlpTensor](x: T, w: T) -> T:
    return ((x @ w).tanh() * x.sum()).softmax(1)


def test_the_gradients_are_the_same_bits() -> None:
    x, w = cpu.normal((3, 4), mx.Key(0)), cpu.normal((4, 2), mx.Key(1))
    expected = mx.grad(lambda x, w: mixed(x, w).square().sum(), x, w)
    found = mx.grad(lambda x, w: mx.checkpoint(mixed, x, w).square().sum(), x, w)
    for left, right in zip(expected, found, strict=True):
        np.testing.assert_array_equal(left.to_host(), right.to_host())
    assert (
        mx.grad(lambda x: checkpointed(x, 3), x).to_host().tolist()
        == mx.grad(lambda x: chain(x, 3), x).to_host().tolist()
    )


def test_they_are_differentiated_again() -> None:
    x, w = cpu.normal((2, 2), mx.Key(0)), cpu.normal((2, 2), mx.Key(1))
    mx.check_gradients(lambda x, w: mx.checkpoint(mixed, x, w), x, w, order=2)
    expected = mx.hessian(lambda x: chain(x, 2), x).to_host()
    np.testing.assert_allclose(mx.hessian(lambda x: checkpointed(x, 2), x).to_host(), expected, rtol=1e-13)


def test_one_within_another() -> None:
    x = cpu.normal((3,), mx.Key(0))
    outer = mx.grad(lambda x: mx.checkpoint(lambda z: checkpointed(z, 2), x), x)
    assert outer.to_host().tolist() == mx.grad(lambda x: chain(x, 2), x).to_host().tolist()


def peak(f: Callable[[mx.Grad[mx.NpArray[mx.F64]]], mx.Grad[mx.NpArray[mx.F64]]], x: mx.NpArray[mx.F64]) -> int:
    """The most bytes held at once while the gradient is computed."""
    mx.grad(f, x)
    gc.collect()
    tracemalloc.start()
    mx.grad(f, x)
    bytes_held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return bytes_held


def test_it_takes_the_memory_of_the_parts_and_of_one_of_them() -> None:
    x = cpu.normal((50_000,), mx.Key(0))
    size, parts = x.to_host().nbytes, 10
    whole = peak(lambda x: chain(x, parts), x)
    some = peak(lambda x: checkpointed(x, parts), x)
    assert whole > 8 * parts * size
    assert some < (parts + 20) * size
    assert some < 0.4 * whole


def live() -> int:
    """How many tensors under differentiation there are."""
    gc.collect()
    return sum(issubclass(type(one), mx.Grad) for one in gc.get_objects())  # whatever objects say of themselves


def test_the_graph_of_a_part_goes_away_at_once_and_after_each_backward_pass() -> None:
    x = mx.variable(cpu.normal((3,), mx.Key(0)))
    before = live()
    result = mx.checkpoint(segment, x)
    assert live() == before + 1
    assert result.parents is not None
    assert [node for node, _ in result.parents] == [x]
    gradients = result.sum().backward()
    assert live() == before + 1
    assert gradients.of(x).shape == (3,)
    plain = segment(x)
    assert live() >= before + 1 + 12
    assert plain.shape == result.shape


def test_the_function_is_called_once_more_for_each_backward_pass() -> None:
    calls = list[str]()

    def counted[T: mx.Tensor](x: T) -> T:
        calls.append(type(x).__name__)
        return x.exp()

    x = mx.variable(cpu.ones((2,)))
    loss = mx.checkpoint(counted, x).sum()
    assert len(calls) == 1
    loss.backward()
    assert len(calls) == 2
    loss.backward()
    assert len(calls) == 3
    mx.checkpoint(counted, cpu.ones((2,)))
    mx.checkpoint(counted, mx.constant(cpu.ones((2,))))
    assert len(calls) == 5


def test_a_variable_that_the_function_holds_gets_its_gradient() -> None:
    x, w = mx.variable(cpu.normal((3,), mx.Key(0))), mx.variable(cpu.normal((3,), mx.Key(1)))
    h = w.exp()
    plain = (x * h).tanh().sum().backward()
    found = mx.checkpoint(lambda z: (z * h).tanh(), x).sum().backward()
    for one in (x, w):
        np.testing.assert_array_equal(found.of(one).to_host(), plain.of(one).to_host())
    alone = mx.checkpoint(lambda z: (z * h).tanh(), mx.constant(x.value)).sum().backward()
    np.testing.assert_array_equal(alone.of(w).to_host(), plain.of(w).to_host())


def test_a_function_may_give_back_what_it_gets_or_holds() -> None:
    x, w = mx.variable(cpu.ones((2,))), mx.variable(cpu.ones((2,)))
    assert (mx.checkpoint(lambda z: z, x) * 3.0).sum().backward().of(x).to_host().tolist() == [3.0, 3.0]
    gradients = (mx.checkpoint(lambda z: w, x) * 3.0).sum().backward()
    assert gradients.of(w).to_host().tolist() == [3.0, 3.0]
    assert gradients.of(x).to_host().tolist() == [0.0, 0.0]
    assert mx.checkpoint(lambda z: z * 2.0, mx.constant(x.value)).parents is None


@dataclass(frozen=True)
class Block[T: mx.ImageModelTensor](nn.Module[T]):
    conv: nn.Conv2d[T]
    norm: nn.BatchNorm2d[T]
    drop: nn.Dropout

    def forward(self, x: T, mode: mx.Mode) -> T:
        return self.drop.forward(self.norm.forward(self.conv.forward(x), mode).relu(), mode)


@dataclass(frozen=True)
class Net[T: mx.ImageModelTensor](nn.Module[T]):
    first: Block[T]
    second: Block[T]
    thrifty: bool

    def forward(self, x: T, mode: mx.Mode) -> T:
        for block in (self.first, self.second, self.second):
            x = mx.checkpoint(block.forward, x, mode) if self.thrifty else block.forward(x, mode)
        return x


def squares[T: mx.ImageModelTensor](model: Net[T], batch: mx.Labelled[T], mode: mx.Mode) -> T:
    return (model.forward(batch.x, mode) - 0.3).square().mean()


def net(thrifty: bool) -> Net[mx.NpArray[mx.F64]]:
    def block(key: mx.Key) -> Block[mx.NpArray[mx.F64]]:
        return Block(
            nn.Conv2d.init(3, 3, 3, like=cpu, padding=1, key=key), nn.BatchNorm2d.init(3, like=cpu), nn.Dropout(0.4)
        )

    return Net(block(mx.Key(0)), block(mx.Key(1)), thrifty)


def test_layers_draw_the_same_numbers_again_and_keep_their_state() -> None:
    """Dropout draws under the layer's name and how often it has drawn; batch normalisation notes its statistics."""
    batch = mx.Labelled(cpu.normal((4, 3, 6, 6), mx.Key(3)), cpu.labels(np.zeros(4, np.int64)))
    mode = mx.Train(mx.Key(5))
    value, plain = mx.value_and_grad(squares, net(False), batch, mode)
    same, found = mx.value_and_grad(squares, net(True), batch, mode)
    assert value.item() == same.item()
    for left, right in zip(plain.parameters(), found.parameters(), strict=True):
        np.testing.assert_allclose(left.to_host(), right.to_host(), rtol=1e-12, atol=1e-14)
    for mine, other in ((plain.first, found.first), (plain.second, found.second)):
        np.testing.assert_array_equal(mine.norm.mean.value.to_host(), other.norm.mean.value.to_host())
        np.testing.assert_array_equal(mine.norm.variance.value.to_host(), other.norm.variance.value.to_host())


def test_statistics_that_layers_note_keep_no_graph() -> None:
    batch = mx.Labelled(cpu.normal((4, 3, 6, 6), mx.Key(3)), cpu.labels(np.zeros(4, np.int64)))
    alive = list[int]()

    def watched[T: mx.ImageModelTensor](model: Net[T], batch: mx.Labelled[T], mode: mx.Mode) -> T:
        before = live()
        y = model.forward(batch.x, mode)
        alive.append(live() - before)
        return y.square().mean()

    for thrifty in (False, True):
        mx.value_and_grad(watched, net(thrifty), batch, mx.Train(mx.Key(5)))
    # Where each moves to and where it comes to; of the block that is called twice also those of its first call.
    results, statistics = 3, 2 * 2 * 3
    assert alive[1] == results + statistics
    assert alive[0] > 1.5 * alive[1]


def test_a_result_of_another_level_is_refused() -> None:
    x = cpu.ones((2,))
    with pytest.raises(GradientError, match=r"^checkpoint: the function gave NpArray\[F64\] for ImageGrad\[NpArray"):
        mx.checkpoint(lambda z: x, mx.variable(x))  # type: ignore[arg-type, return-value, tensor-mix]  # the mistake
