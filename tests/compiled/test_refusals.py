"""What cannot be compiled is refused at the user's line, and what changes is traced anew."""

import copy
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from beartype import beartype
from jaxtyping import Float, jaxtyped
from numpy.typing import NDArray

import moonxi as mx
from moonxi.errors import CompileError, LabelError, OperandError, ShapeError

type Host = mx.NpArray[mx.F32]

CPU = mx.numpy()
counter = 0
scale = 2.0
captured = CPU.ones((2,))


@dataclass(frozen=True)
class Scaled[T: mx.Tensor](mx.nn.Module[T]):
    """A layer that reads a global."""

    weight: T

    def forward(self, x: T) -> T:
        return x * self.weight * scale


def reads_item(x: Host) -> Host:
    return x * x.sum().item()


def reads_host(x: Host) -> Host:
    return x.from_host(x.to_host() + 1)


def decides(x: Host) -> Host:
    return x if bool(x.sum()) else -x


def uses_numpy(x: Host) -> Host:
    return x.from_host(np.abs(np.asarray(x)))


def uses_data(x: Host) -> Host:
    return x.from_host(x.data * 2)


def counts(x: Host) -> Host:
    count: int = int(x.sum())  # type: ignore[call-overload]  # that is the mistake
    return x * count


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (reads_item, "item: TracedTensor .* return the tensor as a result and read it outside of the step"),
        (reads_host, "to_host: TracedTensor .* return the tensor as a result"),
        (decides, r"bool: TracedTensor .* choose with mask.select\(a, b\)"),
        (uses_numpy, "NumPy: TracedTensor .* NumPy's own functions cannot be recorded; use operations of the tensor"),
        (uses_data, "data: TracedTensor .* raw arrays cannot be recorded"),
        (counts, "int: TracedTensor .* must be a Python argument"),
    ],
)
def test_reading_an_element_is_an_error_that_names_the_users_line(step: Callable[[Host], Host], text: str) -> None:
    line = step.__code__.co_firstlineno + 1
    with pytest.raises(CompileError, match=text) as caught:
        mx.compile(step)(CPU.ones((3,)))
    assert f"test_refusals.py:{line}" in str(caught.value)


def test_a_traced_tensor_is_one_of_its_backend_to_isinstance_and_annotations() -> None:
    def step(x: Host, layer: mx.nn.Linear[Host]) -> Host:
        classes: list[type] = [mx.NpArray, mx.ShapeTensor]
        y = only_on_numpy(layer.forward(x))
        return y * 3.0 if [isinstance(x, one) for one in classes] == [True, False] else y

    x, layer = CPU.normal((2, 3), mx.Key(0)), mx.nn.Linear.init(3, 2, like=CPU, key=mx.Key(1))
    compiled = mx.compile(step)
    for _ in range(2):
        assert np.array_equal(compiled(x, layer).to_host(), step(x, layer).to_host())


@jaxtyped(typechecker=beartype)
def only_on_numpy(x: Float[mx.NpArray[mx.F32], "batch 2"]) -> Float[mx.NpArray[mx.F32], "2 batch"]:
    return x.permute((1, 0))


def test_a_traced_tensor_may_be_copied_and_not_pickled() -> None:
    def step(x: Host) -> tuple[Host, Host]:
        return copy.copy(x), copy.deepcopy(x) * 2.0

    one, other = mx.compile(step)(CPU.full((), 3.0))
    assert (one.item(), other.item()) == (3.0, 6.0)

    def pickles(x: Host) -> Host:
        result: Host = pickle.loads(pickle.dumps(x))
        return result

    with pytest.raises(CompileError, match=r"pickle: TracedTensor .* store tensors outside of the step"):
        mx.compile(pickles)(CPU.ones(()))


def test_what_only_the_backend_has_is_refused_with_advice() -> None:
    def numpy(x: Host) -> Host:
        array: NDArray[np.float32] = np.from_dlpack(x).astype(np.float32)
        return x.from_host(array)

    with pytest.raises(
        CompileError, match=r"NumPy: TracedTensor .*test_refusals.py:\d+ .* use operations of the tensor"
    ):
        mx.compile(numpy)(CPU.ones(()))

    def own(x: Host) -> Host:
        return x.from_host(np.array(x.kernel("exp") is None))

    with pytest.raises(CompileError, match=r"kernel: at .*test_refusals.py:\d+: NpArray has it and other"):
        mx.compile(own)(CPU.ones(()))

    def nothing(x: Host) -> Host:
        result: Host = x.no_such_thing  # type: ignore[attr-defined]  # that is the mistake
        return result

    with pytest.raises(AttributeError, match="'NpArray' object has no attribute 'no_such_thing'"):
        mx.compile(nothing)(CPU.ones(()))


def test_errors_name_the_class_that_the_user_has() -> None:
    def step(x: Host) -> Host:
        result: Host = x * np.float32(2.0)  # type: ignore[operator]  # that is the mistake
        return result

    with pytest.raises(OperandError, match=r"multiply: NpArray\[F32\] with float32: both operands must be NpArray"):
        mx.compile(step)(CPU.ones(()))


def test_the_error_says_where_the_value_was_made() -> None:
    def step(x: Host) -> Host:
        total = x.sum()
        return x * total.item()

    line = step.__code__.co_firstlineno + 1
    with pytest.raises(CompileError, match=re.escape("(made at ") + f".*test_refusals.py:{line}\\)"):
        mx.compile(step)(CPU.ones((3,)))


def test_the_truth_of_a_mask_is_refused_as_it_is_eagerly() -> None:
    def step(x: Host) -> Host:
        return x if x > 0.0 else -x

    with pytest.raises(OperandError, match=r"bool\(Mask\)"):
        mx.compile(step)(CPU.ones(()))


def test_a_traced_key_has_no_words_to_read() -> None:
    def step(x: Host, key: mx.Key) -> Host:
        return x * float(key.low)

    with pytest.raises(CompileError, match=r"Key.low: TracedKey .* fold it, split it or draw from it"):
        mx.compile(step)(CPU.ones(()), mx.Key(0))


def test_a_step_that_reads_a_tensor_from_outside_is_refused() -> None:
    def step(x: Host) -> Host:
        return x * captured

    with pytest.raises(CompileError, match=r"captured of .* holds a tensor .* pass it to the step as an argument"):
        mx.compile(step)(CPU.ones((2,)))


def test_a_step_that_reads_a_random_key_from_outside_is_refused() -> None:
    key = mx.Key(0)

    def step(x: Host) -> Host:
        return x + x.uniform(x.shape, key)

    with pytest.raises(CompileError, match=r"key of .* holds a random key .* pass the key to the step as an argument"):
        mx.compile(step)(CPU.ones((2,)))


def test_a_step_that_reads_an_unknown_object_from_outside_is_refused() -> None:
    generator = np.random.default_rng(0)

    def step(x: Host) -> Host:
        return x * float(generator.random())

    with pytest.raises(CompileError, match=r"generator of .* is of class Generator"):
        mx.compile(step)(CPU.ones((2,)))


def test_a_number_read_from_outside_that_changes_is_traced_anew() -> None:
    rate = 2.0

    def step(x: Host) -> Host:
        return x * rate * scale

    compiled = mx.compile(step)
    assert compiled(CPU.ones(())).item() == 4.0
    rate = 3.0
    assert compiled(CPU.ones(())).item() == 6.0
    assert len(mx.compile_report(compiled).traces) == 2
    rate = 2.0
    assert compiled(CPU.ones(())).item() == 4.0
    assert len(mx.compile_report(compiled).traces) == 2


def test_what_a_function_among_the_arguments_reads_belongs_to_the_graph_too() -> None:
    rate = 2.0

    def scaled(x: Host) -> Host:
        return x * rate

    def step(x: Host, f: Callable[[Host], Host]) -> Host:
        return f(x)

    compiled = mx.compile(step)
    assert compiled(CPU.ones(()), scaled).item() == 2.0
    rate = 3.0
    assert compiled(CPU.ones(()), scaled).item() == 3.0


def test_two_functions_of_one_name_are_two() -> None:
    def made(rate: float) -> tuple[Callable[[Host], Host], Callable[[float], None]]:
        def scaled(x: Host) -> Host:
            return x * rate

        def change(new: float) -> None:
            nonlocal rate
            rate = new

        return scaled, change

    (one, _), (other, change) = made(2.0), made(3.0)
    both = one, other

    def step(x: Host) -> Host:
        return both[0](x) + both[1](x)

    compiled = mx.compile(step)
    assert compiled(CPU.ones(())).item() == 5.0
    change(4.0)
    assert compiled(CPU.ones(())).item() == 6.0


def test_what_the_forward_of_a_model_reads_belongs_to_the_graph_too(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = mx.compile(Scaled(CPU.ones(())).forward)
    assert compiled(CPU.ones(())).item() == 2.0
    monkeypatch.setitem(globals(), "scale", 5.0)
    assert compiled(CPU.ones(())).item() == 5.0


def test_a_step_that_changes_a_global_is_refused_by_its_name() -> None:
    def step(x: Host) -> Host:
        global counter
        counter += 1
        return x * 2.0

    with pytest.raises(CompileError, match=r"the step changes counter of .* return the new value as a result"):
        mx.compile(step)(CPU.ones(()))


def test_a_step_that_changes_an_argument_is_refused() -> None:
    def step(x: Host, seen: list[float]) -> Host:
        seen.append(1.0)
        return x * 2.0

    with pytest.raises(CompileError, match="the step changes one of its arguments"):
        mx.compile(step)(CPU.ones(()), [])


def test_a_step_that_is_random_in_python_is_refused_at_its_line() -> None:
    import random

    def step(x: Host) -> Host:
        return x * random.random()

    line = step.__code__.co_firstlineno + 1
    with pytest.raises(CompileError, match=f"__mul__ at .*test_refusals.py:{line}: traced twice, the step does"):
        mx.compile(step)(CPU.ones(()))


def test_a_result_that_is_not_computed_from_the_arguments_is_refused() -> None:
    def step(x: Host) -> tuple[Host, Host]:
        return x * 2.0, mx.numpy().ones(())

    with pytest.raises(CompileError, match="returns a NpArray that it has not computed from its arguments"):
        mx.compile(step)(CPU.ones(()))


def test_a_traced_tensor_is_of_no_use_after_the_step() -> None:
    kept: list[Host] = []

    def step(x: Host, keep: Callable[[Host], None]) -> Host:
        keep(x)
        return x * 2.0

    mx.compile(step)(CPU.ones(()), kept.append)
    with pytest.raises(CompileError, match="exp: a traced tensor after its step was traced"):
        kept[0].exp()


def test_arguments_of_two_backends_are_refused() -> None:
    def step(x: Host, y: mx.ImageProfiled[Host]) -> Host:
        return x * 2.0

    with pytest.raises(CompileError, match="the tensors among the arguments are NpArray and ImageProfiled"):
        mx.compile(step)(CPU.ones(()), mx.profile(CPU.ones(()), into=mx.Profile()))


def test_another_shape_or_element_type_is_traced_anew_and_checked_anew() -> None:
    def step[T: mx.MlpTensor](x: T, y: T) -> T:
        return x @ y

    compiled = mx.compile(step)
    assert compiled(CPU.ones((2, 3)), CPU.ones((3, 4))).shape == (2, 4)
    with pytest.raises(ShapeError, match="matmul"):
        compiled(CPU.ones((2, 3)), CPU.ones((2, 3)))
    double = mx.numpy(mx.F64)
    assert compiled(double.ones((2, 3)), double.ones((3, 4))).dtype is mx.F64
    assert len(mx.compile_report(compiled).traces) == 2


def test_graphs_are_bounded() -> None:
    def step(x: Host, rate: float) -> Host:
        return x * rate

    compiled = mx.compile(step)
    for number in range(16):
        assert compiled(CPU.ones(()), float(number)).item() == number
    with pytest.raises(CompileError, match=r"16 graphs, and these arguments need another one.*as a tensor"):
        compiled(CPU.ones(()), 100.0)


def test_zero_and_minus_zero_are_two_settings() -> None:
    def step(x: Host, low: float) -> Host:
        return x * low

    compiled = mx.compile(step)
    assert np.signbit(compiled(CPU.ones(()), 0.0).item()) != np.signbit(compiled(CPU.ones(()), -0.0).item())


def test_labels_are_checked_at_each_replay_with_the_users_line() -> None:
    def step(x: Host, labels: mx.Labels[Host]) -> Host:
        return x.pick(labels)

    compiled = mx.compile(step)
    x = CPU.ones((2, 3))
    assert compiled(x, CPU.labels(np.array([0, 2]))).shape == (2,)
    with pytest.raises(LabelError, match=r"label 3 at .* is not a class from 0 to 2") as caught:
        compiled(x, CPU.labels(np.array([0, 3])))
    line = step.__code__.co_firstlineno + 1
    assert any(f"test_refusals.py:{line}" in note for note in caught.value.__notes__)
    assert compiled(x, CPU.labels(np.array([1, 1]))).shape == (2,)


@dataclass(frozen=True)
class Pair:
    """Two tensors that may be one."""

    one: Host
    other: Host


def test_what_is_tied_before_is_tied_after_and_nothing_else() -> None:
    def step(pair: Pair) -> tuple[Pair, Pair]:
        return pair, Pair(pair.one * 2.0, pair.other * 2.0)

    compiled = mx.compile(step)
    x, y = CPU.ones((2,)), CPU.ones((2,))
    for pair in (Pair(x, x), Pair(x, y)) * 2:
        same, doubled = compiled(pair)
        assert same.one is pair.one
        assert same.other is pair.other
        assert doubled.one is not doubled.other
    assert len(mx.compile_report(compiled).traces) == 2


def test_a_compiled_step_within_another_or_under_differentiation_is_plain_python() -> None:
    def square[T: mx.Tensor](x: T) -> T:
        return x.square()

    inner = mx.compile(square)

    def step(x: Host) -> Host:
        return inner(x) + 1.0

    assert mx.compile(step)(CPU.full((), 3.0)).item() == 10.0
    assert mx.grad(inner, CPU.full((), 3.0)).item() == 6.0


def test_a_method_of_a_model_is_compiled_with_the_model_as_an_argument() -> None:
    model = mx.nn.Linear.init(3, 2, like=CPU, key=mx.Key(0))
    x = CPU.normal((4, 3), mx.Key(1))
    compiled = mx.compile(model.forward)
    for _ in range(2):
        assert np.array_equal(compiled(x).to_host(), model.forward(x).to_host())


@dataclass
class Unhashable:
    """A step that stands in no dictionary."""

    def __call__(self, x: Host, state: Host, batch: Host, key: mx.Key) -> tuple[Host, Host]:
        return x + batch.sum(), state


def test_a_report_is_of_a_compiled_step_only() -> None:
    with pytest.raises(CompileError, match="is not compiled: give what compile"):
        mx.compile_report(len)
    others: Any = [Unhashable(), 3]
    for one in others:
        with pytest.raises(CompileError, match="is not compiled: give what compile"):
            mx.compile_report(one)
    assert mx.repeat(Unhashable(), 2)(CPU.ones(()), CPU.ones(()), CPU.ones((2,)), mx.Key(0))[0].item() == 3.0


def test_a_graph_is_printed_with_the_users_lines() -> None:
    def step(x: Host) -> Host:
        y = x.exp()
        return y * 2.0

    compiled = mx.compile(step)
    assert str(mx.compile_report(compiled)) == "not traced yet"
    compiled(CPU.ones((2, 3)))
    (trace,) = mx.compile_report(compiled).traces
    first = step.__code__.co_firstlineno + 1
    assert str(trace.graph).splitlines() == [
        "%0 = input F32[2, 3]",
        f"%1 = exp(%0) F32[2, 3]  # {__file__}:{first}",
        f"%2 = mul(%1, 2.0) F32[2, 3]  # {__file__}:{first + 1}",
        "return %2",
    ]
    assert str(trace).startswith("the first call: 2 operations traced, 2 left, no fusions")
