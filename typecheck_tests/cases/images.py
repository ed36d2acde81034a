"""Images: convolution, pooling, normalisation and the models made of them, given what is not theirs."""

from dataclasses import dataclass

import numpy as np

import moonxi as mx
from moonxi import F32, F64, BlasGrad, GpuTensor, ImageGrad, NpArray, nn
from moonxi.data import Labelled
from moonxi.losses import cross_entropy
from moonxi.nn.models import LeNet, ResNet18

type Host = NpArray[F32]
type Device = GpuTensor[F32]


def pictures() -> Host:
    return mx.numpy().ones((2, 3, 8, 8))


def convolution() -> nn.Conv2d[Host]:
    return nn.Conv2d.init(3, 4, 3, like=mx.numpy(), key=mx.Key(0), padding="same")


def wrong_convolution_weight_on_the_device(x: Host, weight: Device) -> None:
    x.conv2d(weight, stride=2)  # E: [arg-type]


def right_convolution_weight_on_the_device() -> None:
    assert pictures().conv2d(convolution().weight, stride=2).shape == (2, 4, 3, 3)


def wrong_convolution_bias_without_gradient(x: ImageGrad[Host], weight: ImageGrad[Host], bias: Host) -> None:
    print(x.conv2d(weight, bias, padding=1).shape)  # E: [arg-type]


def right_convolution_bias_without_gradient() -> None:
    layer = convolution().map(mx.variable)
    assert layer.bias is not None
    assert mx.constant(pictures()).conv2d(layer.weight, layer.bias, padding=1).shape == (2, 4, 8, 8)


def wrong_padding_mode(x: Host, weight: Host) -> None:
    x.conv2d(weight, padding="valid")  # E: [arg-type]


def right_padding_mode() -> None:
    assert pictures().conv2d(convolution().weight, padding="same").shape == (2, 4, 8, 8)


def wrong_stride_as_a_word(x: Host) -> None:
    x.max_pool2d(3, stride="two")  # E: [arg-type]


def right_stride_as_a_word() -> None:
    assert pictures().max_pool2d(3, stride=2).shape == (2, 3, 3, 3)


def wrong_kernel_of_three_numbers(x: Host) -> None:
    x.avg_pool2d((2, 2, 2))  # E: [arg-type]


def right_kernel_of_three_numbers() -> None:
    assert pictures().avg_pool2d((2, 4)).shape == (2, 3, 4, 2)


def wrong_places_for_values(x: Host) -> Host:
    return x.max_pool2d_indices(2)  # E: [return-value]


def right_places_for_values() -> Host:
    return pictures().max_pool2d(2)


def wrong_normalised_result_with_its_statistics(x: Host, weight: Host, bias: Host) -> Host:
    return x.batch_norm(weight, bias)  # E: [return-value]


def right_normalised_result_with_its_statistics() -> Host:
    y, mean, variance = pictures().batch_norm(mx.numpy().ones((3,)), mx.numpy().zeros((3,)))
    assert mean.shape == variance.shape == (3,)
    return y


def wrong_image_operation_on_a_lesser_level(x: BlasGrad[Host], weight: BlasGrad[Host]) -> None:
    layer = nn.Conv2d(weight, None)  # E: [type-var]
    layer.forward(x)


def right_image_operation_on_a_lesser_level() -> None:
    layer = nn.Conv2d(mx.variable(convolution().weight), None, padding=1)
    assert layer.forward(mx.constant(pictures())).shape == (2, 4, 8, 8)


def wrong_trait_for_a_convolution[T: mx.MlpTensor](weight: T) -> None:
    nn.Conv2d(weight, None)  # E: [type-var]


def right_trait_for_a_convolution() -> None:
    def layer[T: mx.ImageModelTensor](weight: T) -> nn.Conv2d[T]:
        return nn.Conv2d(weight, None)

    assert layer(convolution().weight).outputs == 4


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
    nn.value_and_grad(residual_loss, model, batch, nn.Eval())  # E: [misc] "Batch"  # E: [misc] "Up"


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
