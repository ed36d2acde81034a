"""Layers of images and the models made of them, given what is not theirs."""

from dataclasses import dataclass

import numpy as np

import moonxi as mx
from moonxi import F32, F64, GpuTensor, ImageGrad, NpArray, nn
from moonxi.data import Labelled
from moonxi.losses import Logits, Probs, cross_entropy
from moonxi.nn.models import BasicBlock, ConvNorm, LeNet, Mlp, ResNet18

type Host = NpArray[F32]
type Device = GpuTensor[F32]


def pictures() -> Host:
    return mx.numpy().ones((2, 3, 8, 8))


def convolution() -> nn.Conv2d[Host]:
    return nn.Conv2d.init(3, 4, 3, like=mx.numpy(), key=mx.Key(0), padding="same")


def wrong_pictures_for_a_convolution(layer: nn.Conv2d[Host], x: Device) -> None:
    h = layer.forward(x)  # E: [arg-type]
    h.relu().max_pool2d(2)


def right_pictures_for_a_convolution() -> None:
    h = convolution().forward(pictures())
    assert h.relu().max_pool2d(2).shape == (2, 4, 4, 4)


def wrong_convolution_that_grows(layer: nn.ConvTranspose2d[Host], x: ImageGrad[Host]) -> ImageGrad[Host]:
    return layer.forward(x)  # E: [return-value]  # E: [arg-type]


def right_convolution_that_grows() -> None:
    layer = nn.ConvTranspose2d.init(3, 4, 2, like=mx.numpy(), key=mx.Key(0), stride=2)
    assert layer.map(mx.variable).forward(mx.constant(pictures())).shape == (2, 4, 16, 16)


def wrong_weights_of_a_convolution_that_grows(key: mx.Key) -> None:
    nn.ConvTranspose2d.init(3, 4, 2, like=mx.numpy(), key=key, output_padding="same")  # E: [arg-type]


def right_weights_of_a_convolution_that_grows() -> None:
    layer = nn.ConvTranspose2d.init(3, 4, 3, like=mx.numpy(), key=mx.Key(0), stride=2, output_padding=1)
    assert layer.forward(pictures()).shape == (2, 4, 18, 18)


def wrong_groups_that_are_tensors(weight: Host, bias: Host, groups: Host) -> None:
    nn.GroupNorm(weight, bias, groups)  # E: [arg-type]


def right_groups_that_are_tensors() -> None:
    norm = nn.GroupNorm.init(3, 3, like=mx.numpy())
    assert norm.forward(pictures()).shape == (2, 3, 8, 8)


def wrong_group_norm_on_two_devices(weight: Host, bias: Device) -> None:
    print(nn.GroupNorm(weight, bias, 1).channels)  # E: [tensor-mix] NpArray[F32] (weight) and GpuTensor[F32] (bias)


def right_group_norm_on_two_devices() -> None:
    assert nn.GroupNorm(mx.numpy().ones((3,)), mx.numpy().zeros((3,)), 1).channels == 3


def wrong_window_as_a_word() -> None:
    nn.MaxPool2d("3x3", stride=2)  # E: [arg-type]


def right_window_as_a_word() -> None:
    assert nn.MaxPool2d((3, 3), stride=2).forward(pictures()).shape == (2, 3, 3, 3)


def wrong_array_to_pool(x: Host) -> None:
    nn.MaxPool2d(2).forward(x.to_host())  # E: [type-var]


def right_array_to_pool() -> None:
    assert nn.MaxPool2d(2).forward(pictures()).to_host().shape == (2, 3, 4, 4)


def wrong_result_of_pooling_on_the_device(x: Host) -> Device:
    return nn.AvgPool2d(2, count_include_pad=False).forward(x)  # E: [arg-type]


def right_result_of_pooling_on_the_device() -> Host:
    return nn.AvgPool2d(2, count_include_pad=False).forward(pictures())


def wrong_size_that_is_a_pair_of_pairs() -> None:
    nn.AdaptiveAvgPool2d(((1, 1), (1, 1)))  # E: [arg-type]


def right_size_that_is_a_pair_of_pairs() -> None:
    assert nn.AdaptiveAvgPool2d((2, 1)).forward(pictures()).shape == (2, 3, 2, 1)


def wrong_size_of_the_global_mean() -> None:
    nn.GlobalAvgPool2d(1)  # E: [call-arg]


def right_size_of_the_global_mean() -> None:
    assert nn.GlobalAvgPool2d().forward(pictures()).shape == (2, 3)


def wrong_head_on_the_device(pool: nn.GlobalAvgPool2d, head: nn.Linear[Device], x: Host) -> None:
    head.forward(pool.forward(x))  # E: [arg-type]


def right_head_on_the_device() -> None:
    head = nn.Linear.init(3, 2, like=mx.numpy(), key=mx.Key(0))
    assert head.forward(nn.GlobalAvgPool2d().forward(pictures())).shape == (2, 2)


def wrong_dropout_of_channels_without_mode(x: Host) -> None:
    nn.Dropout2d(0.5).forward(x)  # E: [call-arg]


def right_dropout_of_channels_without_mode() -> None:
    assert nn.Dropout2d(0.5).forward(pictures(), nn.Eval()).shape == (2, 3, 8, 8)


def wrong_key_for_a_mode(x: Host, key: mx.Key) -> None:
    nn.Dropout2d(0.5).forward(x, key)  # E: [arg-type]


def right_key_for_a_mode() -> None:
    assert nn.Dropout2d(0.5).forward(pictures(), nn.Train(mx.Key(0))).shape == (2, 3, 8, 8)


def wrong_fraction_for_a_scale() -> None:
    nn.UpsampleNearest2d(1.5)  # E: [arg-type]


def right_fraction_for_a_scale() -> None:
    assert nn.UpsampleNearest2d((2, 3)).forward(pictures()).shape == (2, 3, 16, 24)


def wrong_corners_as_a_mode(x: Host) -> None:
    nn.UpsampleBilinear2d(2).forward(x, align_corners=True)  # E: [call-arg]


def right_corners_as_a_mode() -> None:
    assert nn.UpsampleBilinear2d(2, align_corners=True).forward(pictures()).shape == (2, 3, 16, 16)


def wrong_sequence_on_two_devices(first: nn.Conv2d[Host], last: nn.ConvTranspose2d[Device]) -> None:
    nn.Sequential(first, nn.MaxPool2d(2), last)  # E: [misc] Cannot infer  # E: [tensor-mix] (layers)


def right_sequence_on_two_devices() -> None:
    last = nn.ConvTranspose2d.init(4, 3, 2, like=mx.numpy(), key=mx.Key(0), stride=2)
    model = nn.Sequential(convolution(), nn.MaxPool2d(2), last)
    assert model.forward(pictures(), nn.Eval()).shape == (2, 3, 8, 8)


def wrong_probabilities_of_a_perceptron(model: Mlp[Host], x: Host) -> Probs[Host]:
    return model.forward(x)  # E: [return-value]


def right_probabilities_of_a_perceptron() -> Probs[Host]:
    model = Mlp.init(3, 2, like=mx.numpy(), key=mx.Key(0))
    return model.forward(mx.numpy().ones((4, 3))).probs()


def wrong_sizes_of_a_perceptron_in_a_list(key: mx.Key) -> None:
    Mlp.init([784, 128, 10], like=mx.numpy(), key=key)  # E: [arg-type]


def right_sizes_of_a_perceptron_in_a_list() -> None:
    assert Mlp.init(*[784, 128, 10], like=mx.numpy(), key=mx.Key(0)).outputs == 10


def wrong_layers_of_a_perceptron(first: nn.Linear[Host], second: nn.Linear[NpArray[F64]]) -> None:
    Mlp((first, second))  # E: [misc] Cannot infer  # E: [tensor-mix] NpArray[F32] (layers) and NpArray[F64] (layers)


def right_layers_of_a_perceptron() -> None:
    layers = tuple(nn.Linear.init(3, 3, like=mx.numpy(F64), key=key) for key in mx.Key(0).split(2))
    assert Mlp(layers).forward(mx.numpy(F64).ones((4, 3))).value.shape == (4, 3)


def wrong_residual_network_without_mode(model: ResNet18[Host], x: Host) -> Logits[Host]:
    return model.forward(x)  # E: [call-arg]


def right_residual_network_without_mode() -> Logits[Host]:
    model = ResNet18.init(like=mx.numpy(), key=mx.Key(0), small=True)
    return model.forward(pictures(), nn.Eval())


def wrong_pictures_for_a_block(block: BasicBlock[ImageGrad[Host]], x: Host, mode: nn.Mode) -> None:
    block.forward(x, mode)  # E: [arg-type]


def right_pictures_for_a_block() -> None:
    block = BasicBlock.init(3, 4, like=mx.numpy(), key=mx.Key(0), stride=2).map(mx.variable)
    assert block.forward(mx.constant(pictures()), nn.Train(mx.Key(0))).shape == (2, 4, 4, 4)


def wrong_norm_of_another_class(conv: nn.Conv2d[Host], norm: nn.BatchNorm2d[ImageGrad[Host]]) -> None:
    ConvNorm(conv, norm)  # E: [misc] Cannot infer  # E: [tensor-mix] (conv)


def right_norm_of_another_class() -> None:
    layer = ConvNorm(convolution(), nn.BatchNorm2d.init(4, like=mx.numpy()))
    assert layer.forward(pictures(), nn.Eval()).shape == (2, 4, 8, 8)


def wrong_normalisation_without_mode(norm: nn.BatchNorm2d[Host], x: Host) -> None:
    norm.forward(x)  # E: [call-arg]


def right_normalisation_without_mode() -> None:
    norm = nn.BatchNorm2d.init(3, like=mx.numpy())
    assert norm.forward(pictures(), nn.Eval()).shape == (2, 3, 8, 8)


def wrong_flag_for_a_mode(norm: nn.BatchNorm2d[Host], x: Host) -> None:
    norm.forward(x, True)  # E: [arg-type]


def right_flag_for_a_mode() -> None:
    norm = nn.BatchNorm2d.init(3, like=mx.numpy())
    assert norm.forward(pictures(), nn.Train(mx.Key(0))).shape == (2, 3, 8, 8)


def wrong_running_statistics_as_parameters(weight: Host) -> None:
    nn.BatchNorm2d(weight, weight, nn.State(weight), weight)  # E: [arg-type]


def right_running_statistics_as_parameters() -> None:
    ones, zeros = mx.numpy().ones((3,)), mx.numpy().zeros((3,))
    norm = nn.BatchNorm2d(ones, zeros, nn.State(zeros), nn.State(ones))
    assert len(norm.parameters()) == 2


def wrong_running_statistics_of_another_class(norm: nn.BatchNorm2d[Host], mean: nn.State[NpArray[F64]]) -> None:
    nn.BatchNorm2d[Host](norm.weight, norm.bias, mean, norm.variance)  # E: [arg-type]


def right_running_statistics_of_another_class() -> None:
    norm = nn.BatchNorm2d.init(3, like=mx.numpy(F64))
    assert norm.named_states().keys() == {"mean", "variance"}


def wrong_scores_beside_pictures(model: LeNet[Host], x: Host) -> Host:
    return model.forward(x)  # E: [return-value]


def right_scores_beside_pictures() -> Host:
    model = LeNet.init(like=mx.numpy(), key=mx.Key(0))
    return model.forward(mx.numpy().ones((1, 1, 28, 28))).value


def residual_loss[T: mx.ImageModelTensor](model: ResNet18[T], batch: Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


def lenet_loss[T: mx.ImageModelTensor](model: LeNet[T], batch: Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


def digits() -> Labelled[Host]:
    like = mx.numpy()
    return Labelled(like.ones((2, 1, 28, 28)), like.labels(np.array([3, 4])))


def wrong_loss_of_another_model(model: LeNet[Host], batch: Labelled[Host]) -> None:
    nn.value_and_grad(residual_loss, model, batch, nn.Eval())  # E: [misc] "LossModel"


def right_loss_of_another_model() -> None:
    model = LeNet.init(like=mx.numpy(), key=mx.Key(0))
    value, gradients = nn.value_and_grad(lenet_loss, model, digits(), nn.Eval())
    assert value.shape == ()
    assert gradients.head.inputs == 400


def wrong_pictures_on_the_device(model: LeNet[Host], batch: Labelled[Device]) -> None:
    trainer = mx.Trainer(model, lenet_loss, mx.Sgd(lr=0.1), key=mx.Key(0))
    trainer.step(batch)  # E: [arg-type]


def right_pictures_on_the_device() -> None:
    model = LeNet.init(like=mx.numpy(), key=mx.Key(0))
    trainer = mx.Trainer(model, lenet_loss, mx.Sgd(lr=0.1), key=mx.Key(0))
    assert trainer.step(digits())["loss"] > 0.0


@dataclass(frozen=True)
class TwoTowers[T: mx.ImageModelTensor](nn.Module[T]):
    left: nn.Conv2d[T]
    right: nn.Conv2d[T]


def wrong_towers_on_two_devices(left: nn.Conv2d[Host], right: nn.Conv2d[Device]) -> None:
    TwoTowers(left, right)  # E: [misc] Cannot infer  # E: [tensor-mix] NpArray[F32] (left)


def right_towers_on_two_devices() -> None:
    assert len(TwoTowers(convolution(), convolution()).parameters()) == 4
