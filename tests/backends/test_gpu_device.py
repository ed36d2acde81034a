"""What is particular to `GpuTensor`: labels found on the device, memory, streams, sharing, element types."""

import gc
import pickle
from collections.abc import Callable
from copy import copy, deepcopy
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from moonxi.backends.cupy import convolution, plans
from moonxi.backends.cupy.device import Device
from moonxi.backends.numpy import numpy
from moonxi.dtypes import BF16, F16, F32, F64
from moonxi.errors import DeviceError, LabelError, OperandError
from moonxi.key import Key
from tests.backends.on_gpu import ON_HOST, gpu_or_skip

pytestmark = pytest.mark.gpu
no_device_behind = pytest.mark.skipif(ON_HOST, reason="needs a true GPU")
ELEMENTS = [pytest.param(element, id=element.__name__) for element in (F32, F64, F16, BF16)]


@pytest.fixture
def like() -> Any:
    return gpu_or_skip(F32)()


# -- labels ----------------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[Callable[[Any, Any], Any], int]] = {
    "pick": (lambda x, labels: x.pick(labels), 3),
    "gather": (lambda x, labels: x.gather(labels[:, None]), 3),
    "put": (lambda x, labels: x[:, 0].put(labels, 3), 3),
    "scatter_add": (lambda x, labels: x[:, :1].scatter_add(labels[:, None], 3), 3),
    "one_hot": (lambda x, labels: x.one_hot(labels, 3), 3),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("label", [3, -1, 2**40])
def test_a_label_that_is_no_class_is_found_when_a_result_is_read(like: Any, name: str, label: int) -> None:
    call, classes = WRONG[name]
    x = like.ones((4, 3))
    wrong = call(x, like.labels(np.array([0, 1, label, 2])))
    with pytest.raises(LabelError) as raised:
        wrong.sum().to_host()
    assert str(raised.value) == (
        f"{name}: label {label}, number 2 of the labels, is not a class from 0 to {classes - 1}. It was found before "
        "this result was read, and what was computed from it is wrong; make tensors with gpu(debug=True) to be told at "
        "the operation itself"
    )
    assert call(x, like.labels(np.array([0, 1, 2, 2]))).sum().item() in (4.0,)
    assert x.sum().item() == 12.0


def test_with_debug_the_operation_itself_reports(like: Any) -> None:
    x = gpu_or_skip(F32, debug=True)().ones((4, 3))
    with pytest.raises(LabelError) as raised:
        x.pick(x.labels(np.array([0, 1, 3, 2])))
    assert str(raised.value) == (
        "pick: labels (4,): label 3 at [2] is not a class from 0 to 2 (1 of 4 labels are outside)"
    )


# -- memory --------------------------------------------------------------------------------------------------------


def test_out_of_memory_says_what_was_asked_used_and_free(like: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(size: int) -> Any:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(Device, "_alloc", property(lambda self: refuse), raising=False)
        if ON_HOST:
            with pytest.raises(
                DeviceError, match=r"out of memory: asked for 4\.00 MiB, with 3\.00 GiB in use by"
            ) as error:
                like.zeros((1 << 20,))
            assert "and 1.00 GiB of 4.00 GiB free; make the batch smaller" in str(error.value)
    if not ON_HOST:
        with pytest.raises(
            DeviceError, match=r"GPU 0: out of memory: asked for 4096\.00 GiB, with .* in use by .* free"
        ):
            like.zeros((1 << 40,))
    assert (like.ones((3,)) + 1.0).sum().item() == 6.0


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("duplicate", [copy, deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_tensor_is_copied_and_pickled_as_itself(element: Any, duplicate: Any) -> None:
    x = gpu_or_skip(element)().from_host(np.arange(6.0).reshape(2, 3)).transpose()
    again = duplicate(x)
    assert type(again) is type(x)
    assert again.dtype is element
    assert again.space is x.space
    np.testing.assert_array_equal(again.to_host(), x.to_host())


def test_moving_elements_copies_nothing(like: Any) -> None:
    x = like.zeros((2, 3, 4))
    for view in (
        x.reshape((6, 4)),
        x.permute((2, 0, 1)),
        x.broadcast_to((5, 2, 3, 4)),
        x[1:, ::2],
        x.transpose(),
        x[None],
    ):
        assert view.data.owner is x.data.owner


def test_results_lie_as_their_operands_do(like: Any) -> None:
    x = like.ones((2, 3, 4, 5)).conv2d(like.ones((6, 3, 1, 1)))
    assert x.data.strides == (120, 1, 30, 6)
    for y in (
        x + x,
        x.relu(),
        x * 2.0,
        like.ones((6, 1, 1)) * x,
        x.max_pool2d(2),
        x.batch_norm(*[like.ones((6,))] * 2)[0],
    ):
        assert y.data.strides[1] == 1


@no_device_behind
def test_memory_stays_flat_over_many_steps(like: Any) -> None:
    import cupy

    from benchmarks import gpu_tasks, train_step

    gpu_or_skip(F32)()
    own = train_step.steps(gpu_tasks.mlp("fp32", autotune=False).own(), compiled=False)
    pool = cupy.get_default_memory_pool()

    def used(steps: int) -> int:
        for _ in range(steps):
            own()
        gc.collect()
        train_step.synchronize()
        return pool.used_bytes()

    before = used(50)
    assert used(2000) <= before


# -- element types and devices -----------------------------------------------------------------------------------


def test_element_types_do_not_mix_and_are_cast(like: Any) -> None:
    x, y = like.ones((2,)), gpu_or_skip(F64)().ones((2,))
    with pytest.raises(OperandError) as raised:
        x + y
    assert str(raised.value) == (
        "add: GpuTensor[F32] with GpuTensor[F64]: both operands must be GpuTensor[F32]; convert it with y.cast(x.dtype)"
    )
    assert (x + y.cast(F32)).dtype is F32


def test_a_host_tensor_does_not_mix_in(like: Any) -> None:
    cpu = numpy().ones((2,))
    with pytest.raises(
        OperandError, match=r"add: GpuTensor\[F32\] with NpArray\[F32\]: both operands must be GpuTensor"
    ):
        like.ones((2,)) + cpu
    with pytest.raises(OperandError, match=r"add: NpArray\[F32\] with GpuTensor\[F32\]: both operands must be NpArray"):
        cpu + like.ones((2,))
    labels = numpy().labels(np.array([0, 1]))
    with pytest.raises(OperandError, match=r"pick: GpuTensor\[F32\] with Labels of NpArray\[I64\]: both must live in"):
        like.ones((2, 2)).pick(labels)


@pytest.mark.parametrize("source", ELEMENTS)
@pytest.mark.parametrize("target", ELEMENTS)
def test_casting_rounds_to_the_element_type(source: Any, target: Any) -> None:
    array = np.random.default_rng(0).normal(size=(50, 7))
    x = gpu_or_skip(source)().from_host(array)
    found = x.transpose().cast(target)
    assert found.dtype is target
    np.testing.assert_array_equal(found.to_host(), gpu_or_skip(target)().from_host(x.to_host()).to_host().T)


def test_tf32_rounds_the_operands_of_products_only() -> None:
    if ON_HOST:
        pytest.skip("needs a true GPU")
    exact, coarse = gpu_or_skip(F32)(), gpu_or_skip(F32, tf32=True)()
    array = np.random.default_rng(0).normal(size=(256, 256)).astype(np.float32)
    expected = array.astype(np.float64) @ array
    errors = [
        np.abs((x @ x).to_host() - expected).max() / np.abs(expected).max()
        for x in (exact.from_host(array), coarse.from_host(array))
    ]
    assert errors[0] < 2e-6 < errors[1] < 2e-3
    x = coarse.from_host(array)
    np.testing.assert_array_equal((x * x).to_host(), array * array)
    np.testing.assert_array_equal((x + exact.from_host(array)).to_host(), array + array)


def test_random_bits_are_those_of_the_cpu(like: Any) -> None:
    for element in F32, F64:
        for shape in (1,), (7,), (33, 65):
            for key in Key(0), Key(2**64 - 1, 2**63):
                found = gpu_or_skip(element)().uniform(shape, key).to_host()
                np.testing.assert_array_equal(found, numpy(element).uniform(shape, key).to_host())


@pytest.mark.parametrize("element", ELEMENTS)
def test_what_is_computed_along_has_the_bits_of_what_is_computed_alone(element: Any) -> None:
    like = gpu_or_skip(element)()
    rng = np.random.default_rng(0)
    x, y = (like.from_host(rng.normal(size=(37, 41)) * 10.0) for _ in range(2))
    row = like.from_host(rng.normal(size=41))
    for k, m in (0.1, -3.7), (1e-4, 1.0), (0.0, 2.0):
        alone = [one * k for one in (x, y, row)] + [one * m for one in (x, y, row)]
        for one in alone:
            one.to_host()
        kx, ky, _, mx_, my, mrow = alone
        np.testing.assert_array_equal((x * k + y).to_host(), (kx + y).to_host())
        np.testing.assert_array_equal((x * k - y * m).to_host(), (kx - my).to_host())
        np.testing.assert_array_equal((x - y * k).to_host(), (x - ky).to_host())
        np.testing.assert_array_equal((y * m + row * m).to_host(), (my + mrow).to_host())
        np.testing.assert_array_equal((x.transpose() * m - y.transpose()).to_host(), (mx_ - y).transpose().to_host())
    one = like.from_host(np.array(0.37))
    one_row = like.from_host(np.array([[-1.3]]))
    alone = [x * one, one_row * y]
    for each in alone:
        each.to_host()
    np.testing.assert_array_equal((x * one - one_row * y).to_host(), (alone[0] - alone[1]).to_host())
    np.testing.assert_array_equal((x * one + y * 0.1).to_host(), (alone[0] + y * 0.1).to_host())
    np.testing.assert_array_equal(((x * one)[3:] + row).to_host(), (alone[0][3:] + row).to_host())
    assert (row * like.from_host(np.ones((1, 1, 1)))).shape == (1, 1, 41)
    loose = {F64: 1e-12, F32: 1e-5, F16: 5e-3, BF16: 3e-2}[element]
    squares = x.square()
    np.testing.assert_allclose(squares.sum(0).to_host(), (x * x).sum(0).to_host(), rtol=loose)
    np.testing.assert_array_equal(squares.to_host(), (x * x).to_host())


def test_a_product_that_nobody_asks_for_is_not_computed(like: Any) -> None:
    x = like.ones((3,))
    later = x * 2.0
    assert later.data.base is x.data
    assert (later + later).sum().item() == 12.0
    assert later.data.base is x.data
    np.testing.assert_array_equal(later[1:].to_host(), [2.0, 2.0])
    assert later.data.base is None
    assert (later + 1.0).sum().item() == 9.0


# -- large arrays: several blocks, splits and tiles ------------------------------------------------------------------


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((1000003,), None),
        ((3, 70001), 1),
        ((70001, 3), 0),
        ((513, 1025), 0),
        ((513, 1025), 1),
        ((40, 31, 17, 19), (0, 2, 3)),
        ((20000, 7), 1),
        ((5, 4, 3, 6000), (1, 3)),
    ],
    ids=str,
)
def test_sums_and_maxima_of_large_arrays(element: Any, shape: Any, axes: Any) -> None:
    x = gpu_or_skip(element)().from_host(np.random.default_rng(0).normal(size=shape))
    host = x.to_host().astype(np.float64)
    loose = {F64: 1e-12, F32: 3e-6, F16: 1e-3, BF16: 8e-3}[element]
    for tensor, array in (x, host), (x.permute(tuple(reversed(range(x.data.shape.__len__())))), host.T):
        over = axes if tensor is x or axes is None else tuple(len(shape) - 1 - a for a in np.atleast_1d(axes))
        np.testing.assert_array_equal(tensor.max(over).to_host(), array.max(over))
        expected = array.sum(over)
        np.testing.assert_allclose(
            tensor.sum(over).to_host(), expected, rtol=loose, atol=loose * np.abs(array).sum(over).max() ** 0.5 * 4
        )


@pytest.mark.parametrize("shape", [(5, 3, 33, 65), (2, 64, 31, 2), (3, 1, 4, 4), (1, 100, 1, 300)], ids=str)
def test_images_are_rearranged_and_back(like: Any, shape: Any) -> None:
    host = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    x = like.from_host(host)
    last = x.permute((0, 2, 3, 1)).reshape((-1, shape[1]))
    np.testing.assert_array_equal(last.to_host(), host.transpose(0, 2, 3, 1).reshape(-1, shape[1]))
    back = last.reshape((shape[0], *shape[2:], shape[1])).permute((0, 3, 1, 2)).reshape((shape[0], -1))
    np.testing.assert_array_equal(back.to_host(), host.reshape(shape[0], -1))


@pytest.mark.parametrize("length", [1, 10, 17, 1000, 5000])
@pytest.mark.parametrize("axis", [0, 1])
def test_softmax_and_argmax_of_rows_of_any_length(like: Any, length: int, axis: int) -> None:
    host = np.random.default_rng(0).normal(size=(300, length) if axis else (length, 300)).astype(np.float32)
    x = like.from_host(host)
    e = np.exp(host.astype(np.float64))
    expected = e / e.sum(axis, keepdims=True)
    np.testing.assert_allclose(x.softmax(axis).to_host(), expected, rtol=1e-5)
    np.testing.assert_allclose(x.log_softmax(axis).to_host(), np.log(expected), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(x.argmax(axis).to_host(), host.argmax(axis))


def test_a_scatter_over_many_classes_adds_every_element(like: Any) -> None:
    labels = np.random.default_rng(0).integers(0, 3000, 4000)
    host = np.random.default_rng(1).normal(size=(3, 4000)).astype(np.float32)
    expected = np.stack([np.bincount(labels, row, 3000) for row in host.astype(np.float64)])
    found = like.from_host(host).scatter_add(like.labels(labels), 3000)
    np.testing.assert_allclose(found.to_host(), expected, rtol=1e-5, atol=1e-5)


# -- convolution -----------------------------------------------------------------------------------------------------

CONVOLUTIONS = [
    ((8, 3, 33, 32), (16, 3, 7, 7), {"stride": 2, "padding": 3}),
    ((8, 16, 17, 16), (32, 16, 3, 3), {"padding": 1}),
    ((8, 16, 16, 16), (32, 16, 1, 1), {"stride": 2}),
    ((4, 32, 8, 8), (64, 32, 3, 3), {"stride": 2, "padding": 1}),
    ((4, 32, 9, 8), (32, 8, 3, 3), {"padding": 2, "dilation": 2, "groups": 4}),
    ((4, 16, 8, 8), (16, 1, 3, 3), {"padding": 1, "groups": 16}),
    ((4, 8, 8, 8), (8, 8, 2, 2), {"padding": "same"}),
]


WAYS = [
    pytest.param(element, planned, id=f"{element.__name__} {'cuDNN' if planned else 'products'}")
    for element in (F32, F64, F16, BF16)
    for planned in ((False,) if element is F64 else (True, False))  # cuDNN is not asked for float64
]


@pytest.mark.parametrize(("element", "planned"), WAYS)
@pytest.mark.parametrize(("images", "weight", "options"), CONVOLUTIONS, ids=str)
def test_convolutions_are_those_of_the_cpu(
    element: Any, planned: bool, images: Any, weight: Any, options: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = gpu_or_skip(element)()
    if planned and not plans._is_there():
        pytest.skip("cuDNN is not installed")
    if not planned:
        monkeypatch.setattr(plans.Convolution, "plan", lambda self, kind, space: None)
    if images == CONVOLUTIONS[1][0]:
        monkeypatch.setattr(convolution, "_CHUNK", 1 << 20)  # several parts of the batch
    cpu, rng = numpy(F64), np.random.default_rng(0)
    x, w = (make.from_host(rng.normal(size=shape)) for shape in (images, weight))
    hx, hw = (cpu.from_host(one.to_host().astype(np.float64)) for one in (x, w))
    y = hx.conv2d(hw, **options)
    dy = make.from_host(rng.normal(size=y.shape))
    hdy = cpu.from_host(dy.to_host().astype(np.float64))
    pairs = [
        (x.conv2d(w, **options), y),
        (dy.conv2d_input_grad(w, images, **options), hdy.conv2d_input_grad(hw, images, **options)),
        (x.conv2d_weight_grad(dy, weight, **options), hx.conv2d_weight_grad(hdy, weight, **options)),
    ]
    loose = {F64: 1e-12, F32: 1e-5, F16: 3e-3, BF16: 2e-2}[element]
    for found, expected in pairs:
        array = expected.to_host()
        assert found.shape == array.shape
        assert np.abs(found.to_host() - array).max() <= loose * np.abs(array).max()


def test_a_weight_is_rearranged_once_for_a_step(like: Any) -> None:
    x, weight = like.ones((2, 3, 5, 5)), like.normal((4, 3, 3, 3), Key(0))
    y = x.conv2d(weight, padding=1)
    rearranged = weight.data.last
    assert rearranged is not None
    assert rearranged.strides == (27, 1, 9, 3)
    y.conv2d_input_grad(weight, x.shape, padding=1)
    assert weight.data.last is rearranged
    np.testing.assert_array_equal((weight + 0.0).to_host(), weight.to_host())


# -- streams and waiting -----------------------------------------------------------------------------------------------


@no_device_behind
def test_a_training_step_does_not_wait_for_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import gpu_tasks, train_step

    gpu_or_skip(F32)()
    own = train_step.steps(gpu_tasks.mlp("fp32", autotune=False).own(), compiled=False)
    loss = own()
    own()

    def refuse(*_: object) -> None:
        raise AssertionError("the step has waited for the device")

    monkeypatch.setattr(Device, "download", refuse)
    for _ in range(3):
        loss = own()
    monkeypatch.undo()
    assert np.isfinite(loss.item())


@no_device_behind
def test_work_goes_to_the_current_stream(like: Any) -> None:
    import cupy

    cuda: Any = cupy.cuda
    stream = cuda.Stream(non_blocking=True)
    with stream:
        x = like.ones((1 << 24,))
        for _ in range(20):
            x = x + 1.0
        assert not stream.done
        assert x.sum().item() == 21.0 * 2**24
        y = x.reshape((1 << 12, 1 << 12)) @ x.reshape((1 << 12, 1 << 12))
        assert y[0, 0].item() == 441.0 * 2**12


# -- other libraries ---------------------------------------------------------------------------------------------------


@no_device_behind
@pytest.mark.parametrize("element", ELEMENTS)
def test_memory_is_shared_with_pytorch_both_ways(element: Any) -> None:
    if find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    torch: Any = import_module("torch")
    like = gpu_or_skip(element)()
    x = like.from_host(np.arange(12.0).reshape(3, 4)).transpose()
    theirs = torch.from_dlpack(x)
    assert theirs.data_ptr() == x.data.pointer
    assert tuple(theirs.shape) == (4, 3)
    np.testing.assert_array_equal(theirs.float().cpu().numpy(), x.to_host())
    dtype = {F32: torch.float32, F64: torch.float64, F16: torch.float16, BF16: torch.bfloat16}[element]
    source = torch.arange(6, device="cuda").to(dtype).reshape(2, 3)
    mine = like.from_dlpack(source)
    assert mine.data.pointer == source.data_ptr()
    np.testing.assert_array_equal((mine + 1.0).to_host(), np.arange(6).reshape(2, 3) + 1)
    if element is not BF16:
        assert torch.as_tensor(x, device="cuda").data_ptr() == x.data.pointer
    del theirs
    gc.collect()
    np.testing.assert_array_equal(x.to_host(), np.arange(12.0).reshape(3, 4).T)


@no_device_behind
def test_memory_is_shared_with_cupy(like: Any) -> None:
    import cupy

    asarray: Any = getattr(cupy, "asarray")  # noqa: B009  # not among what the backend calls
    x = like.from_host(np.arange(12.0).reshape(3, 4))
    for theirs in cupy.from_dlpack(x), asarray(x):
        assert theirs.data.ptr == x.data.pointer
    assert like.from_dlpack(asarray(x)).data.pointer == x.data.pointer
    assert cupy.from_dlpack(x.argmax(1).carrier).dtype == np.int64


@no_device_behind
@pytest.mark.parametrize("element", [F32, F16, BF16])  # JAX has F64 only where it is told to, for a whole process
def test_memory_is_shared_with_jax_both_ways(element: Any) -> None:
    if find_spec("jax") is None:
        pytest.skip("JAX is not installed")
    from benchmarks.gpu_jax import jax_beside_others

    jax = jax_beside_others()
    like = gpu_or_skip(element)()
    x = like.from_host(np.arange(12.0).reshape(3, 4))
    theirs = jax.dlpack.from_dlpack(x)
    assert theirs.unsafe_buffer_pointer() == x.data.pointer
    np.testing.assert_array_equal(np.asarray(theirs.astype(np.float32)), x.to_host())
    source = jax.numpy.arange(6, dtype=theirs.dtype).reshape(2, 3) + 0
    source.block_until_ready()
    mine = like.from_dlpack(source)
    assert mine.data.pointer == source.unsafe_buffer_pointer()
    np.testing.assert_array_equal((mine + 1.0).to_host(), np.arange(6).reshape(2, 3) + 1)


def test_memory_given_out_and_not_taken_is_let_go(like: Any) -> None:
    from moonxi.backends.cupy import sharing

    x = like.ones((3,))
    capsule = x.__dlpack__(stream=-1)
    assert sharing._given_out
    del capsule
    gc.collect()
    assert not sharing._given_out


def test_only_arrays_of_this_gpu_and_element_type_are_shared(like: Any) -> None:
    with pytest.raises(
        OperandError, match=r"from_dlpack: numpy.ndarray on device \(1, 0\): expected an array on GPU 0"
    ):
        like.from_dlpack(np.ones(3))
    with pytest.raises(BufferError, match="it shares memory and copies nothing"):
        like.__dlpack__(copy=True)
    with pytest.raises(AttributeError, match="__cuda_array_interface__: BF16 is unknown to it; use __dlpack__"):
        vars(type(like))["__cuda_array_interface__"].fget(gpu_or_skip(BF16)())
