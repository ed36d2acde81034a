"""Other tensor classes than `NpArray`, and what is special about a class, is replayed as it is."""

from typing import Self, override

import numpy as np
import pytest

import moonxi as mx
from moonxi import losses, nn
from moonxi.dtypes import Floating

type Host = mx.NpArray[mx.F32]

CPU = mx.numpy()
calls: list[str] = []


class Own[D: Floating](mx.NpArray[D]):
    """An array with an exponential of its own, and a softmax."""

    __slots__ = ()

    @override
    def exp(self) -> Self:
        calls.append("exp")
        return type(self)(np.exp2(self.data))

    @override
    def softmax(self, axis: int, /) -> Self:
        calls.append("softmax")
        return super().softmax(axis)


def test_a_subclass_is_replayed_by_its_own_methods() -> None:
    def step[T: mx.Tensor](x: T) -> T:
        return x.exp() + x.softmax(0)

    compiled = mx.compile(step)
    x = Own[mx.F32](np.array([1.0, 2.0, 3.0], np.float32))
    expected = step(x).to_host()
    compiled(x)
    for _ in range(2):
        calls.clear()
        result = compiled(x)
        assert type(result) is Own
        assert np.array_equal(result.to_host(), expected)
        assert calls == ["exp", "softmax", "exp"]
    graph = mx.compile_report(compiled).traces[0].graph
    assert [node.operation for node in graph.nodes] == ["exp", "softmax", "__add__"]


def test_what_a_backend_has_from_the_base_is_traced_as_its_parts() -> None:
    def step(x: Host) -> Host:
        return x.softmax(0)

    compiled = mx.compile(step)
    compiled(CPU.ones((3,)))
    operations = [node.operation for node in mx.compile_report(compiled).traces[0].graph.nodes]
    assert "softmax" not in operations
    assert "exp" in operations


def test_a_class_without_kernels_is_replayed_node_by_node() -> None:
    times = mx.Profile()

    def step[T: mx.MlpTensor](x: T) -> T:
        return (x @ x).relu()

    compiled = mx.compile(step)
    x = mx.profile(CPU.normal((3, 3), mx.Key(0)), into=times)
    for _ in range(2):
        times.clear()
        assert np.array_equal(compiled(x).to_host(), step(x.value).to_host())
        assert {row.operation for row in times.rows} == {"matmul", "relu", "to_host"}
    assert mx.compile_report(compiled).traces[0].peak_bytes == 0


def test_a_key_comes_out_as_a_key() -> None:
    def step(x: Host, key: mx.Key) -> tuple[Host, mx.Key, mx.Key]:
        own, following = key.fold("step").split()
        return x + x.uniform(x.shape, own), following, key

    compiled = mx.compile(step)
    for number in range(3):
        key = mx.Key(number)
        found, *keys = compiled(CPU.zeros((2,)), key)
        expected, *others = step(CPU.zeros((2,)), key)
        assert np.array_equal(found.to_host(), expected.to_host())
        assert keys == others


def test_channels_last_stay_where_the_backend_has_put_them() -> None:
    def step(x: Host, weight: Host) -> tuple[Host, Host]:
        y = x.conv2d(weight, padding=1)
        return y, (y * 2.0).relu()

    compiled = mx.compile(step)
    x, weight = CPU.normal((2, 3, 8, 8), mx.Key(0)), CPU.normal((4, 3, 3, 3), mx.Key(1))
    expected = step(x, weight)
    compiled(x, weight)
    for mine, theirs in zip(compiled(x, weight), expected, strict=True):
        assert np.array_equal(mine.to_host(), theirs.to_host())
        assert mine.data.strides == theirs.data.strides


type Wide = mx.NpArray[mx.F64]


def test_parameters_are_kept_in_one_element_type_and_used_in_another() -> None:
    def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Paired[T], mode: mx.Mode) -> T:
        return losses.mse(model.forward(batch.x), batch.y)

    optimizer = mx.Sgd(lr=0.1, momentum=0.9)

    def step(
        model: nn.Linear[Wide], state: mx.OptimizerState[Wide, nn.Linear[Wide]], batch: mx.Paired[Host]
    ) -> tuple[nn.Linear[Wide], mx.OptimizerState[Wide, nn.Linear[Wide]], Host]:
        value, gradients = mx.value_and_grad(loss, model.map(lambda x: x.cast(mx.F32)), batch, mx.Eval())
        return (*optimizer.update(model, gradients.map(lambda x: x.cast(mx.F64)), state), value)

    results = []
    for run in (step, mx.compile(step)):
        model = nn.Linear.init(3, 2, like=mx.numpy(mx.F64), key=mx.Key(0))
        state, value = optimizer.init(model), CPU
        for number in range(4):
            x, y = CPU.normal((5, 3), mx.Key(number)), CPU.normal((5, 2), mx.Key(10 + number))
            model, state, value = run(model, state, mx.Paired(x, y))
        assert (model.weight.dtype, value.dtype) == (mx.F64, mx.F32)
        results.append((model.weight.to_host(), value.item()))
    np.testing.assert_allclose(results[1][0], results[0][0], rtol=1e-6)
    assert results[1][1] == pytest.approx(results[0][1], rel=1e-6)
