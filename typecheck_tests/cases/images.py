"""Operations on images, given what is not theirs."""

import moonxi as mx
from moonxi import F32, F64, BlasGrad, GpuTensor, ImageGrad, NpArray, nn

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


def wrong_gradient_of_images_from_a_weight_on_the_device(dy: Host, weight: Device) -> None:
    dy.conv2d_input_grad(weight, (2, 3, 8, 8))  # E: [arg-type]


def right_gradient_of_images_from_a_weight_on_the_device() -> None:
    dy = mx.numpy().ones((2, 4, 8, 8))
    assert dy.conv2d_input_grad(convolution().weight, (2, 3, 8, 8), padding=1).shape == (2, 3, 8, 8)


def wrong_gradient_of_a_weight_without_its_shape(x: Host, dy: Host) -> None:
    x.conv2d_weight_grad(dy, padding=1)  # E: [call-arg]


def right_gradient_of_a_weight_without_its_shape() -> None:
    dy = mx.numpy().ones((2, 4, 8, 8))
    assert pictures().conv2d_weight_grad(dy, (4, 3, 3, 3), padding=1).shape == (4, 3, 3, 3)


def wrong_transposed_convolution_that_keeps_the_size(x: Host, weight: Host) -> None:
    x.conv_transpose2d(weight, padding="same")  # E: [arg-type]


def right_transposed_convolution_that_keeps_the_size() -> None:
    weight = mx.numpy().ones((3, 4, 3, 3))
    assert pictures().conv_transpose2d(weight, padding=1).shape == (2, 4, 8, 8)


def wrong_transposed_convolution_of_doubles(x: Host, weight: Host, bias: NpArray[F64]) -> None:
    x.conv_transpose2d(weight, bias, stride=2)  # E: [arg-type]


def right_transposed_convolution_of_doubles() -> None:
    weight, bias = mx.numpy().ones((3, 4, 2, 2)), mx.numpy().zeros((4,))
    assert pictures().conv_transpose2d(weight, bias, stride=2).shape == (2, 4, 16, 16)


def wrong_gradient_of_pooling_without_gradient(x: ImageGrad[Host], dy: Host) -> ImageGrad[Host]:
    return x.max_pool2d_grad(dy, 2)  # E: [arg-type]


def right_gradient_of_pooling_without_gradient() -> None:
    dy = mx.numpy().ones((2, 3, 4, 4))
    assert pictures().max_pool2d_grad(dy, 2).shape == (2, 3, 8, 8)


def wrong_kernel_of_fractions(x: Host) -> None:
    x.sum_pool2d(8 / 4)  # E: [arg-type]


def right_kernel_of_fractions() -> None:
    assert pictures().sum_pool2d(8 // 4).shape == (2, 3, 4, 4)


def wrong_shape_of_the_images_pooled(dy: Host, x: Host) -> None:
    dy.sum_pool2d_grad(x, 2)  # E: [arg-type]


def right_shape_of_the_images_pooled() -> None:
    assert mx.numpy().ones((2, 3, 4, 4)).sum_pool2d_grad(pictures().shape, 2).shape == (2, 3, 8, 8)


def wrong_size_of_adaptive_pooling(x: Host) -> None:
    x.adaptive_avg_pool2d(1, 1)  # E: [call-arg] Too many


def right_size_of_adaptive_pooling() -> None:
    assert pictures().adaptive_avg_pool2d((1, 1)).shape == (2, 3, 1, 1)


def wrong_factor_for_a_size(x: Host) -> None:
    x.upsample_nearest2d(1.5)  # E: [arg-type]


def right_factor_for_a_size() -> None:
    assert pictures().upsample_nearest2d((12, 12)).shape == (2, 3, 12, 12)


def wrong_word_for_interpolation(x: Host) -> None:
    x.upsample_bilinear2d(16, align_corners="edges")  # E: [arg-type]


def right_word_for_interpolation() -> None:
    assert pictures().upsample_bilinear2d(16, align_corners=True).shape == (2, 3, 16, 16)


def wrong_mode_of_padding(x: Host) -> None:
    x.pad2d(1, mode="mirror")  # E: [arg-type]


def right_mode_of_padding() -> None:
    assert pictures().pad2d(1, mode="reflect").shape == (2, 3, 10, 10)


def wrong_fill_that_is_a_tensor(x: Host, fill: Host) -> None:
    x.pad2d(((1, 2), (3, 4)), fill=fill)  # E: [arg-type]


def right_fill_that_is_a_tensor() -> None:
    assert pictures().pad2d(((1, 2), (3, 4)), fill=0.5).shape == (2, 3, 11, 15)


def wrong_gradient_of_normalisation_by_statistics_elsewhere(x: Host, dy: Host, weight: Host, mean: Device) -> None:
    x.batch_norm_grad(dy, weight, mean, mean)  # E: [arg-type] Argument 3  # E: [arg-type] Argument 4


def right_gradient_of_normalisation_by_statistics_elsewhere() -> None:
    x, ones = pictures(), mx.numpy().ones((3,))
    _, mean, variance = x.batch_norm(ones, ones)
    dx, dweight, dbias = x.batch_norm_grad(x, ones, mean, variance)
    assert (dx.shape, dweight.shape, dbias.shape) == ((2, 3, 8, 8), (3,), (3,))


def wrong_statistics_as_states(x: Host, mean: nn.State[Host], weight: Host) -> Host:
    return x.batch_norm_with(mean, mean.value, weight, weight)  # E: [arg-type]


def right_statistics_as_states() -> None:
    ones = mx.numpy().ones((3,))
    mean = nn.State(ones)
    assert pictures().batch_norm_with(mean.value, mean.value, ones, ones).shape == (2, 3, 8, 8)


def wrong_groups_after_the_weight(x: Host, weight: Host, bias: Host) -> None:
    x.group_norm(weight, bias, 3)  # E: [arg-type] Argument 1  # E: [arg-type] Argument 3


def right_groups_after_the_weight() -> None:
    assert pictures().group_norm(3, mx.numpy().ones((3,)), mx.numpy().zeros((3,))).shape == (2, 3, 8, 8)
