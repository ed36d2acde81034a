"""Activations and the layers of text, given what is not theirs."""

from dataclasses import dataclass

import numpy as np

import moonxi as mx
from moonxi import F32, F64, BlasGrad, GpuTensor, Labels, NpArray, nn
from moonxi.losses import Logits, Probs

type Host = NpArray[F32]
type Device = GpuTensor[F32]


def x() -> Host:
    return mx.numpy().ones((2, 4))


def words() -> Labels[Host]:
    return mx.numpy().labels(np.array([[1, 2, 0], [3, 3, 1]]))


def wrong_numbers_for_words(layer: nn.Embedding[Host], x: Host) -> None:
    layer.forward(x)  # E: [arg-type]


def right_numbers_for_words() -> None:
    assert nn.Embedding.init(5, 4, like=x(), key=mx.Key(0)).forward(words()).shape == (2, 3, 4)


def wrong_words_on_the_device(layer: nn.Embedding[Host], words: Labels[Device]) -> Host:
    return layer.forward(words)  # E: [arg-type]


def right_words_on_the_device() -> Host:
    return nn.Embedding.init(5, 4, like=x(), key=mx.Key(0)).forward(words())


def wrong_words_beside_a_lifted_table(layer: nn.Embedding[Host], words: Labels[Host]) -> None:
    print(layer.map(mx.variable).forward(words).shape)  # E: [arg-type]


def right_words_beside_a_lifted_table() -> None:
    layer = nn.Embedding.init(5, 4, like=x(), key=mx.Key(0), padding=0)
    print(layer.map(mx.variable).forward(words().map(mx.constant)).shape)


def wrong_array_of_words(layer: nn.Embedding[Host]) -> None:
    layer.forward(np.array([[1, 2]]))  # E: [arg-type]


def right_array_of_words() -> None:
    layer = nn.Embedding.init(5, 4, like=x(), key=mx.Key(0))
    layer.forward(mx.numpy().labels(np.array([[1, 2]])))


def wrong_embedding_in_a_sequence(table: nn.Embedding[Host], layer: nn.Linear[Host]) -> None:
    nn.Sequential(table, layer)  # E: [misc]


def right_embedding_in_a_sequence() -> None:
    layers = nn.Sequential[Host](nn.LayerNorm.init(4, like=x()), nn.Silu())
    assert layers.forward(nn.Embedding.init(5, 4, like=x(), key=mx.Key(0)).forward(words()), nn.Eval()).shape == (
        2,
        3,
        4,
    )


def wrong_batch_for_a_layer_norm(norm: nn.LayerNorm[Host], x: Device) -> None:
    norm.forward(x)  # E: [arg-type]


def right_batch_for_a_layer_norm() -> None:
    assert nn.LayerNorm.init(4, like=x()).forward(x()).shape == (2, 4)


def wrong_bias_of_a_layer_norm(weight: Host, bias: Device) -> None:
    nn.LayerNorm(weight, bias)  # E: [tensor-mix] NpArray[F32] (weight) and GpuTensor[F32] (bias)


def right_bias_of_a_layer_norm() -> None:
    assert nn.LayerNorm(mx.numpy().ones((4,)), None).features == 4


def wrong_precision_for_an_rms_norm(norm: nn.RMSNorm[Host], x: NpArray[F64]) -> None:
    print(norm.forward(x, nn.Eval()).item())  # E: [arg-type]


def right_precision_for_an_rms_norm() -> None:
    print(nn.RMSNorm.init(4, like=mx.numpy(F64)).forward(mx.numpy(F64).ones((1, 4)), nn.Eval()).sum().item())


def wrong_sizes_of_an_rms_norm() -> None:
    nn.RMSNorm.init((4,), like=mx.numpy())  # E: [arg-type]


def right_sizes_of_an_rms_norm() -> None:
    assert nn.RMSNorm.init(4, like=mx.numpy()).weight.shape == (4,)


def wrong_second_input(layer: nn.Bilinear[Host], x: Host, y: BlasGrad[Host]) -> None:
    layer.forward(x, y)  # E: [arg-type]


def right_second_input() -> None:
    layer = nn.Bilinear.init(4, 4, 3, like=x(), key=mx.Key(0))
    assert layer.forward(x(), x()).shape == (2, 3)


def wrong_bilinear_in_a_sequence(layer: nn.Bilinear[Host]) -> None:
    nn.Sequential(layer, nn.Mish())  # E: [arg-type]


def right_bilinear_in_a_sequence() -> None:
    h = nn.Bilinear.init(4, 4, 3, like=x(), key=mx.Key(0)).forward(x(), x())
    nn.Sequential[Host](nn.Mish()).forward(h, nn.Eval())


def wrong_result_of_an_identity(x: BlasGrad[Host]) -> Host:
    return nn.Identity().forward(x)  # E: [arg-type]


def right_result_of_an_identity() -> Host:
    return nn.Identity().forward(x())


def host_only(x: Host) -> Host:
    return x.relu()


def wrong_function_of_one_class() -> None:
    nn.Lambda(host_only)  # E: [arg-type]


def right_function_of_one_class() -> None:
    assert nn.Lambda(lambda y: y.relu() * 2.0).forward(x()).shape == (2, 4)


def row[T: mx.Tensor](x: T) -> Labels[T]:
    return x.argmax(-1)


def wrong_function_that_gives_labels() -> None:
    nn.Lambda(row).forward(mx.numpy())  # E: [arg-type]


def right_function_that_gives_labels() -> None:
    nn.Lambda(nn.silu).forward(mx.numpy())


def wrong_array_for_an_activation() -> None:
    nn.silu(np.ones(3))  # E: [type-var]


def right_array_for_an_activation() -> None:
    assert nn.silu(mx.numpy().from_host(np.ones(3))).shape == (3,)


def wrong_form_of_gelu(x: Host) -> None:
    nn.gelu(x, form="none")  # E: [arg-type]


def right_form_of_gelu() -> None:
    assert nn.gelu(x(), form="tanh").shape == (2, 4)


def wrong_layer_of_gelu() -> None:
    nn.Gelu("exact")  # E: [arg-type]


def right_layer_of_gelu() -> None:
    assert nn.Gelu("erf") == nn.Gelu()


def wrong_slope_that_is_a_tensor(x: Host) -> None:
    nn.leaky_relu(x, slope=x)  # E: [arg-type]


def right_slope_that_is_a_tensor() -> None:
    assert nn.leaky_relu(x(), slope=0.2).shape == (2, 4)


def wrong_slope_of_a_layer(x: Host) -> None:
    nn.LeakyRelu(x.item)  # E: [arg-type]


def right_slope_of_a_layer() -> None:
    assert nn.LeakyRelu(mx.numpy().ones(()).item()).slope == 1.0


def wrong_alpha_that_is_positional(x: Host) -> None:
    nn.elu(x, 0.5)  # E: [call-arg]


def right_alpha_that_is_positional() -> None:
    assert nn.elu(x(), alpha=0.5).shape == (2, 4)


def wrong_alpha_of_a_layer() -> None:
    nn.Elu(alpha="1")  # E: [arg-type]


def right_alpha_of_a_layer() -> None:
    assert nn.Elu(alpha=0.5).forward(x()).shape == (2, 4)


def wrong_class_out_of_softplus(x: BlasGrad[Host]) -> Host:
    return nn.softplus(x, beta=2.0)  # E: [arg-type]


def right_class_out_of_softplus() -> BlasGrad[Host]:
    return nn.softplus(mx.variable(x()), beta=2.0)


def wrong_layer_of_softplus(x: Host) -> None:
    nn.Softplus().forward(x > 0.0)  # E: [type-var]


def right_layer_of_softplus() -> None:
    assert nn.Softplus(2.0).forward(x()).shape == (2, 4)


def wrong_labels_for_mish(x: Host) -> None:
    nn.mish(x.argmax(0))  # E: [type-var]


def right_labels_for_mish() -> None:
    assert nn.mish(x().max(0)).shape == (4,)


def wrong_layer_instead_of_its_function(x: Host) -> None:
    nn.Silu(x)  # E: [call-arg]


def right_layer_instead_of_its_function() -> None:
    assert nn.Silu().forward(x()).shape == (2, 4)


def wrong_mode_of_mish(x: Host) -> None:
    nn.Mish().forward(x, True)  # E: [arg-type]


def right_mode_of_mish() -> None:
    assert nn.Mish().forward(x(), nn.Eval()).shape == (2, 4)


def wrong_number_for_hardswish() -> None:
    print(nn.hardswish(1.0))  # E: [type-var]


def right_number_for_hardswish() -> None:
    print(nn.hardswish(mx.numpy().full((), 1.0)))


def wrong_layers_after_hardswish(x: Device) -> Host:
    return nn.Hardswish().forward(x)  # E: [arg-type]


def right_layers_after_hardswish() -> Host:
    return nn.Hardswish().forward(x())


def wrong_sigmoid_within_a_model(like: Host) -> None:
    linear = nn.Linear.init(4, 4, like=like, key=mx.Key(0))
    nn.Sequential[Host](linear, nn.Sigmoid(), nn.Tanh())  # E: [arg-type] "Sigmoid"


def right_sigmoid_within_a_model() -> None:
    linear = nn.Linear.init(4, 4, like=x(), key=mx.Key(0))
    net = nn.Sequential[Host](linear, nn.Lambda(lambda one: one.sigmoid()), nn.Tanh())
    assert net.forward(x(), nn.Eval()).shape == x().shape


def wrong_class_of_a_softmax(x: Host) -> Logits[Host]:
    return nn.Softmax().forward(x)  # E: [return-value]


def right_class_of_a_softmax() -> Probs[Host]:
    return nn.Softmax().forward(x(), nn.Train(mx.Key(0)))


@dataclass(frozen=True)
class Reader[T: mx.MlpTensor](nn.Module[T]):
    table: nn.Embedding[T]
    norm: nn.RMSNorm[T]

    def forward(self, words: Labels[T]) -> T:
        return nn.gelu(self.norm.forward(self.table.forward(words)))


def wrong_parts_of_a_reader(table: nn.Embedding[Host], norm: nn.RMSNorm[Device]) -> None:
    Reader(table, norm)  # E: [misc]  # E: [tensor-mix] NpArray[F32] (table) and GpuTensor[F32] (norm)


def right_parts_of_a_reader() -> None:
    reader = Reader(nn.Embedding.init(5, 4, like=x(), key=mx.Key(0)), nn.RMSNorm.init(4, like=x()))
    assert reader.forward(words()).shape == (2, 3, 4)
