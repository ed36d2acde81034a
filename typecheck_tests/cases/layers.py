"""Layers and models given what is not theirs."""

from dataclasses import dataclass

import numpy as np

import moonxi as mx
from moonxi import F32, F64, BlasGrad, GpuTensor, NpArray, nn

type Host = NpArray[F32]
type Device = GpuTensor[F32]


@dataclass(frozen=True)
class Perceptron[T: mx.MlpTensor](nn.Module[T]):
    hidden: nn.Linear[T]
    out: nn.Linear[T]

    def forward(self, x: T) -> T:
        return self.out.forward(self.hidden.forward(x).relu())


def linear() -> nn.Linear[Host]:
    return nn.Linear.init(3, 2, like=mx.numpy(), key=mx.Key(0))


def batch() -> Host:
    return mx.numpy().ones((4, 3))


def wrong_batch_on_the_device(layer: nn.Linear[Host], x: Device) -> None:
    layer.forward(x)  # E: [arg-type]


def right_batch_on_the_device() -> None:
    assert linear().forward(batch()).shape == (4, 2)


def right_gpu_batch_on_the_device() -> None:
    layer = nn.Linear.init(3, 2, like=mx.gpu(), key=mx.Key(0))
    assert layer.forward(mx.gpu().ones((4, 3))).shape == (4, 2)


def wrong_double_precision_batch(layer: nn.Linear[Host], x: NpArray[F64]) -> None:
    print(layer.forward(x, nn.Eval()).shape)  # E: [arg-type]


def right_double_precision_batch() -> None:
    double = nn.Linear.init(3, 2, like=mx.numpy(F64), key=mx.Key(0))
    assert double.forward(mx.numpy(F64).ones((4, 3)), nn.Eval()).shape == (4, 2)


def wrong_ndarray_batch(layer: nn.Linear[Host]) -> None:
    layer.forward(np.ones((4, 3), np.float32))  # E: [arg-type]


def right_ndarray_batch() -> None:
    assert linear().forward(mx.numpy().from_host(np.ones((4, 3)))).shape == (4, 2)


def wrong_plain_batch_for_a_lifted_model(model: Perceptron[Host], x: Host) -> None:
    model.map(mx.variable).forward(x)  # E: [arg-type]


def right_plain_batch_for_a_lifted_model() -> None:
    model = linear().map(mx.variable)
    assert model.forward(mx.constant(batch())).shape == (4, 2)


def wrong_lifted_batch_for_a_plain_model(model: Perceptron[Host], x: Host) -> None:
    y: Host = model.forward(mx.constant(x))  # E: [arg-type]
    print(y)


def right_lifted_batch_for_a_plain_model() -> None:
    y: Host = linear().forward(batch())
    assert y.shape == (4, 2)


def wrong_weight_and_bias() -> None:
    nn.Linear(mx.gpu().ones((3, 2)), mx.numpy().zeros((2,)))  # E: [tensor-mix] GpuTensor[F32] (weight) and NpArray[F32]


def right_weight_and_bias() -> None:
    assert nn.Linear(mx.numpy().ones((3, 2)), mx.numpy().zeros((2,))).inputs == 3


def wrong_layers_of_two_backends(key: mx.Key, other: mx.Key) -> None:
    Perceptron(  # E: [misc] # E: [tensor-mix] "Perceptron" mixes tensor classes for T: NpArray[F32] (hidden)
        nn.Linear.init(3, 8, like=mx.numpy(), key=key),
        nn.Linear.init(8, 2, like=mx.gpu(), key=other),
    )


def right_layers_of_two_backends() -> None:
    first, second = mx.Key(0).split(2)
    model = Perceptron(
        nn.Linear.init(3, 8, like=mx.numpy(), key=first),
        nn.Linear.init(8, 2, like=mx.numpy(), key=second),
    )
    assert model.forward(batch()).shape == (4, 2)


def wrong_layer_built_elsewhere(key: mx.Key) -> nn.Linear[Host]:
    return nn.Linear.init(3, 2, like=mx.gpu(), key=key)  # E: [arg-type]


def right_layer_built_elsewhere() -> nn.Linear[Host]:
    return nn.Linear.init(3, 2, like=mx.numpy(), key=mx.Key(0))


def wrong_seed_for_a_key() -> None:
    nn.Linear.init(3, 2, like=mx.numpy(), key=0)  # E: [arg-type]


def right_seed_for_a_key() -> None:
    assert nn.Linear.init(3, 2, like=mx.numpy(), key=mx.Key(0)).inputs == 3


def wrong_array_library_for_like() -> None:
    nn.Linear.init(3, 2, like=np, key=mx.Key(0))  # E: [type-var]


def right_array_library_for_like() -> None:
    assert nn.Linear.init(3, 2, like=mx.numpy(F64), key=mx.Key(0)).weight.dtype is F64


def wrong_sequence_of_layers(on_host: nn.Linear[Host], on_device: nn.Linear[Device]) -> None:
    nn.Sequential(on_host, nn.Relu(), on_device)  # E: [misc] Cannot infer  # E: [tensor-mix] NpArray[F32] (layers)


def right_sequence_of_layers() -> None:
    model = nn.Sequential(linear(), nn.Relu(), nn.Linear.init(2, 1, like=mx.numpy(), key=mx.Key(1)))
    assert model.forward(batch(), nn.Eval()).shape == (4, 1)


def wrong_layer_that_is_a_function() -> None:
    nn.Sequential(linear(), lambda x: x.relu())  # E: [arg-type]


def right_layer_that_is_a_function() -> None:
    assert nn.Sequential(linear(), nn.Relu()).forward(batch(), nn.Eval()).shape == (4, 2)


def wrong_model_of_another_backend(model: Perceptron[Host]) -> Perceptron[Device]:
    return model  # E: [return-value]


def right_model_of_another_backend() -> None:
    double = mx.numpy(F64)
    model: nn.Linear[NpArray[F64]] = linear().map(lambda x: double.from_host(x.to_host()))
    assert model.weight.dtype is F64


def wrong_shortcut(x: Host, branch: BlasGrad[Host]) -> None:
    nn.residual(branch, x)  # E: [tensor-mix] BlasGrad[NpArray[F32]] and NpArray[F32]; bring the plain one in


def right_shortcut() -> None:
    assert nn.residual(batch().relu(), batch()).shape == (4, 3)


def wrong_parameters_in_a_list(model: Perceptron[Host], device: Device) -> None:
    _ = model.with_parameters([x + device for x in model.parameters()])  # E: [operator]


def right_parameters_in_a_list() -> None:
    model = linear()
    assert model.with_parameters([x * 2.0 for x in model.parameters()]).inputs == 3


def wrong_frozen_field(model: Perceptron[Host]) -> None:
    model.hidden = model.out  # E: [misc] Property "hidden" defined in "Perceptron" is read-only


def right_frozen_field() -> None:
    from dataclasses import replace

    model = linear()
    assert replace(model, bias=None).bias is None


def wrong_state_of_another_class(running: nn.State[Host], x: BlasGrad[Host], key: mx.Key) -> None:
    nn.Train(key).update(running, x)  # E: [misc] # E: [tensor-mix] NpArray[F32] and BlasGrad[NpArray[F32]]


@dataclass(frozen=True)
class Counting[T: mx.Tensor](nn.Module[T]):
    seen: nn.State[T]

    def forward(self, x: T, mode: nn.Mode) -> T:
        if isinstance(mode, nn.Train):
            mode.update(self.seen, self.seen.value + 1.0)
        return x


def right_state_of_another_class() -> None:
    model = Counting(nn.State(mx.numpy()))
    assert model.forward(batch(), nn.Train(mx.Key(0))).shape == (4, 3)


def wrong_class_in_a_sequence() -> None:
    nn.Sequential(linear(), nn.Relu)  # E: [misc] "Sequential"


def right_class_in_a_sequence() -> None:
    nn.Sequential(linear(), nn.Relu())


def wrong_sizes_in_place_of_weights() -> None:
    print(nn.Linear(3, 4))  # E: [type-var] "int"


def right_sizes_in_place_of_weights() -> None:
    print(nn.Linear.init(3, 4, like=mx.numpy(), key=mx.Key(0)))


def wrong_model_that_can_be_assigned_to() -> None:
    @dataclass
    class Changeable[T: mx.Tensor](nn.Module[T]):  # E: [misc] write @dataclass(frozen=True)
        weight: T

    print(Changeable)


def right_model_that_can_be_assigned_to() -> None:
    @dataclass(frozen=True)
    class Fixed[T: mx.Tensor](nn.Module[T]):
        weight: T

    assert Fixed(batch()).weight.shape == (4, 3)
