"""Which model is being computed: paths in messages, one scope for each thread, and models beside each other."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

import moonxi as mx
from moonxi import nn
from moonxi.errors import ShapeError
from moonxi.nn.scope import active
from tests.nn.models import Array, Mlp, line, numbers
from tests.nn.test_value_and_grad import POINTS, Points, squared_error


@dataclass(frozen=True)
class Deep[T: mx.MlpTensor](nn.Module[T]):
    blocks: dict[str, list[nn.Sequential[T]]]

    def forward(self, x: T, mode: nn.Mode) -> T:
        for blocks in self.blocks.values():
            for block in blocks:
                x = block.forward(x, mode)
        return x


def deep(*widths: int) -> Deep[Array]:
    layers = [nn.Sequential(line(inputs, 4), nn.Tanh()) for inputs in widths]
    return Deep({"first": layers[:1], "second": layers[1:]})


def test_an_error_names_the_path_of_the_layer_from_the_outermost_model() -> None:
    model = deep(3, 4, 5)
    text = (
        r"^blocks\['second'\]\[1\]\.layers\[0\] \(Linear\)\.forward: argument x: "
        r'expected Float\[T, "\*batch 5"\], got NpArray\[F64\] \(2, 4\)\n'
    )
    with pytest.raises(ShapeError, match=text):
        model.forward(numbers(2, 3), mx.Eval())


def test_under_value_and_grad_the_path_is_that_in_the_whole_model() -> None:
    def inner_layer[T: mx.MlpTensor](model: Deep[T], batch: Points[T], mode: nn.Mode) -> T:
        return model.blocks["second"][0].layers[0].forward(batch.x, mode).sum()

    with pytest.raises(ShapeError, match=r"^blocks\['second'\]\[0\]\.layers\[0\] \(Linear\)\.forward: argument x: "):
        mx.value_and_grad(inner_layer, deep(3, 4), POINTS, mx.Eval())


def test_the_outermost_layer_goes_by_its_class() -> None:
    with pytest.raises(ShapeError, match=r"^Linear\.forward: argument x: "):
        line(3, 4).forward(numbers(2, 5))


def test_an_error_from_an_operation_gets_the_innermost_layer_as_a_note() -> None:
    @dataclass(frozen=True)
    class Wrong(nn.Layer):
        def forward[T: mx.Tensor](self, x: T, mode: nn.Mode, /) -> T:
            return x.reshape((7,))

    model = nn.Sequential[Array](nn.Relu(), Wrong())
    with pytest.raises(ShapeError, match=r"^reshape: ") as caught:
        model.forward(numbers(2, 3), mx.Eval())
    assert caught.value.__notes__ == ["in the forward of layers[1] (Wrong)"]


def test_the_scope_closes_after_a_forward_and_after_an_error() -> None:
    layer = line(3, 4)
    layer.forward(numbers(2, 3))
    assert active() is None
    with pytest.raises(ShapeError):
        layer.forward(numbers(2, 5))
    assert active() is None


def test_the_scope_around_is_back_after_an_inner_one() -> None:
    seen: list[object] = []

    def outer[T: mx.MlpTensor](model: Mlp[T], batch: Points[T], mode: nn.Mode) -> T:
        seen.append(active())
        _, gradients = mx.value_and_grad(squared_error, model, batch, mode)
        seen.append(active())
        with pytest.raises(ShapeError):
            mx.value_and_grad(squared_error, model, Points(batch.y, batch.y), mode)
        seen.append(active())
        return gradients.out.weight.square().sum()

    mx.value_and_grad(outer, Mlp(line(3, 4), line(4, 2)), POINTS, mx.Eval())
    assert seen[0] is not None
    assert seen[0] is seen[1] is seen[2]
    assert active() is None


def test_a_layer_that_is_not_of_the_model_goes_by_its_class() -> None:
    stranger = line(7, 2)

    def wrong(model: Any, batch: Any, mode: nn.Mode) -> Any:
        lifted: Any = stranger.map(mx.constant)
        return lifted.forward(batch.x).sum()

    with pytest.raises(ShapeError, match=r"^Linear\.forward: argument x: "):
        mx.value_and_grad(wrong, Mlp(line(3, 4), line(4, 2)), POINTS, mx.Eval())


def test_two_models_in_one_loss_each_have_their_paths() -> None:
    @dataclass(frozen=True)
    class Both[T: mx.MlpTensor](nn.Module[T]):
        student: Mlp[T]
        teacher: Mlp[T]

    def distance[T: mx.MlpTensor](model: Both[T], batch: Points[T], mode: nn.Mode) -> T:
        target = model.teacher.forward(batch.x, mode).stop_gradient()
        return (model.student.forward(batch.x, mode) - target).square().mean()

    model = Both(Mlp(line(3, 4), line(4, 2)), Mlp(line(3, 4, 5), line(4, 2, 6)))
    _, gradients = mx.value_and_grad(distance, model, POINTS, mx.Eval())
    assert all(one.to_host().any() for one in gradients.student.parameters())
    assert not any(one.to_host().any() for one in gradients.teacher.parameters())
    wrong = Both(model.student, Mlp(line(3, 4), line(5, 2)))
    with pytest.raises(ShapeError, match=r"^teacher\.out \(Linear\)\.forward: argument x: "):
        mx.value_and_grad(distance, wrong, POINTS, mx.Eval())


def test_threads_do_not_see_each_others_scopes() -> None:
    inside, go_on = threading.Event(), threading.Event()
    seen: list[object] = []

    @dataclass(frozen=True)
    class Waiting(nn.Layer):
        def forward[T: mx.Tensor](self, x: T, mode: nn.Mode, /) -> T:
            inside.set()
            assert go_on.wait(10.0)
            return x

    thread = threading.Thread(target=lambda: Waiting().forward(numbers(2), mx.Eval()))
    thread.start()
    assert inside.wait(10.0)
    seen.append(active())
    with pytest.raises(ShapeError, match=r"^Linear\.forward"):
        line(3, 4).forward(numbers(2, 5))
    go_on.set()
    thread.join()
    assert seen == [None]


def test_many_threads_get_the_gradients_of_one() -> None:
    models = [Mlp(line(3, 4, seed), line(4, 2, seed + 50)) for seed in range(16)]
    key = mx.Key(4)

    def noisy[T: mx.MlpTensor](model: Mlp[T], batch: Points[T], mode: nn.Mode) -> T:
        dropped = nn.Dropout(0.5).forward(batch.x, mode)
        return squared_error(model, Points(dropped, batch.y), mode)

    def gradient(model: Mlp[Array]) -> bytes:
        value, gradients = mx.value_and_grad(noisy, model, POINTS, mx.Train(key))
        return value.to_host().tobytes() + b"".join(one.to_host().tobytes() for one in gradients.parameters())

    alone = [gradient(model) for model in models]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(gradient, models * 3)) == alone * 3
