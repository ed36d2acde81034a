"""Transformations of functions, and contractions: levels, element types and devices that do not go together."""

import moonxi as mx
from moonxi import F32, F64, BlasGrad, GpuTensor, Grad, NpArray, Tensor

type Host = NpArray[F32]
type Device = GpuTensor[F32]


def cubes[T: Tensor](x: T) -> T:
    return (x * x * x).sum()


def gram[T: mx.MlpTensor](x: T) -> T:
    return (x @ x.transpose()).sum()


def ones() -> Host:
    return mx.numpy().ones((2, 2))


def wrong_function_of_one_class(x: Host) -> None:
    def energy(z: Host) -> Host:
        return z.square().sum()

    mx.grad(energy, x)  # E: [arg-type] expected "Callable[[ImageGrad[NpArray[F32]]], Grad[NpArray[F32]]]"


def right_function_of_one_class() -> None:
    def energy[T: Tensor](z: T) -> T:
        return z.square().sum()

    assert mx.grad(energy, ones()).to_host().sum() == 8.0


def wrong_result_of_grad(x: Host) -> None:
    gradient: NpArray[F64] = mx.grad(cubes, x)  # E: [arg-type]
    print(gradient)


def right_result_of_grad() -> None:
    gradient: NpArray[F32] = mx.grad(cubes, ones())
    assert gradient.sum().item() == 12.0


def wrong_gradients_of_two_inputs(x: Host) -> None:
    gradient: Host = mx.grad(lambda y, z: (y * z).sum(), x, x)  # E: [assignment]
    print(gradient)


def right_gradients_of_two_inputs() -> None:
    first, second = mx.grad(lambda y, z: (y * z).sum(), ones(), ones() * 2.0)
    assert (first - second).sum().item() == 4.0


def wrong_inputs_of_two_devices(host: Host, device: Device) -> None:
    mx.grad(lambda y, z: (y * z).sum(), host, device)  # E: [tensor-mix] NpArray[F32] and GpuTensor[F32]


def right_inputs_of_two_devices() -> None:
    first, _ = mx.grad(lambda y, z: (y * z).sum(), ones(), ones())
    assert first.shape == (2, 2)


def wrong_plain_tensor_is_held(x: Host) -> None:
    mx.hessian(lambda z: (z * x).sum(), x)  # E: [operator]


def right_plain_tensor_is_held() -> None:
    x = ones()
    assert mx.hessian(lambda z: (z * z * mx.constant(mx.constant(x))).sum(), x).shape == (2, 2, 2, 2)


def wrong_level_that_is_held(x: Host) -> None:
    held = mx.constant(x)
    mx.hvp(lambda z: (z * held).sum(), x, x)  # E: [operator]


def right_level_that_is_held() -> None:
    held = mx.constant(mx.constant(ones()))
    assert mx.hvp(lambda z: (z * z * held).sum(), ones(), ones()).sum().item() == 8.0


def wrong_element_type_of_the_tangent(x: Host, tangent: NpArray[F64]) -> None:
    mx.jvp(cubes, x, tangent)  # E: [tensor-mix] NpArray[F32] and NpArray[F64]


def right_element_type_of_the_tangent() -> None:
    assert mx.jvp(cubes, ones(), ones())[1].item() == 12.0


def wrong_level_of_the_cotangent(x: Host, cotangent: BlasGrad[Host]) -> None:
    value, product = mx.vjp(cubes, x, cotangent)  # E: [tensor-mix] NpArray[F32] and BlasGrad[NpArray[F32]]
    print(value, product)


def right_level_of_the_cotangent() -> None:
    value, product = mx.vjp(cubes, ones(), ones().sum())
    assert (value.item(), product.sum().item()) == (4.0, 48.0)


def wrong_device_of_the_vector(host: Host, device: Device) -> None:
    print(mx.hvp(gram, host, device))  # E: [tensor-mix] NpArray[F32] and GpuTensor[F32]


def right_device_of_the_vector() -> None:
    assert mx.hvp(gram, ones(), ones()).shape == (2, 2)


def wrong_trait_of_generic_code[T: Tensor](x: T) -> T:
    return mx.jacobian(gram, x)  # E: [arg-type]


def right_trait_of_generic_code() -> None:
    def jacobian[T: mx.MlpTensor](x: T) -> T:
        return mx.jacobian(gram, x)

    assert jacobian(ones()).shape == (2, 2)


def wrong_level_of_the_result(x: Host) -> None:
    z = mx.variable(x)
    y: Host = mx.checkpoint(cubes, z)  # E: [arg-type]
    print(y)


def right_level_of_the_result() -> None:
    z = mx.variable(ones())
    y: Grad[Host] = mx.checkpoint(cubes, z)
    assert y.backward().of(z).sum().item() == 12.0


def wrong_arguments_of_a_part(x: Host, layer: mx.nn.Linear[Device]) -> None:
    mx.checkpoint(layer.forward, x)  # E: [tensor-mix] GpuTensor[F32] and NpArray[F32]
    # E: [arg-type]


def right_arguments_of_a_part() -> None:
    layer = mx.nn.Linear.init(2, 3, like=mx.numpy(), key=mx.Key(0))
    assert mx.checkpoint(layer.forward, ones()).shape == (2, 3)


def wrong_backward_of_two_inputs[T: Tensor](x: T, y: T) -> T:
    return mx.custom_vjp(lambda x, y: x * y, lambda g, _, x, y: g * y, x, y)  # E: [arg-type]
    # E: [return-value]


def right_backward_of_two_inputs() -> None:
    def product[T: Tensor](x: T, y: T) -> T:
        return mx.custom_vjp(lambda x, y: x * y, lambda g, _, x, y: (g * y, g * x), x, y)

    mx.check_gradients(product, mx.numpy(F64).ones((2,)), mx.numpy(F64).ones((2,)))


def wrong_examples_of_another_device(host: Host, device: Device) -> None:
    mx.per_example_grad(lambda w, e: (w * e).sum(), host, device)  # E: [tensor-mix] NpArray[F32] and GpuTensor[F32]


def right_examples_of_another_device() -> None:
    assert mx.per_example_grad(lambda w, e: (w * e).sum(), ones()[0], ones()).shape == (2, 2)


def wrong_operands_of_einsum(host: Host, device: Device) -> None:
    mx.einsum("ij,jk,kl->il", host, host, device)  # E: [tensor-mix] NpArray[F32] and GpuTensor[F32]


def right_operands_of_einsum() -> None:
    assert mx.einsum("ij,jk,kl->il", ones(), ones(), ones()).sum().item() == 16.0


def wrong_operands_of_tensordot(x: NpArray[F64], y: Host) -> None:
    print(mx.tensordot(x, y, 1).shape)  # E: [tensor-mix] NpArray[F64] and NpArray[F32]


def right_operands_of_tensordot() -> None:
    assert mx.tensordot(ones(), ones(), 1).shape == (2, 2)


def wrong_operands_of_outer(x: BlasGrad[Host], y: Host) -> None:
    mx.outer(x, y).backward()  # E: [tensor-mix] BlasGrad[NpArray[F32]] and NpArray[F32]


def right_operands_of_outer() -> None:
    x = mx.variable(mx.numpy().ones((2,)))
    assert mx.outer(x, mx.constant(x.value)).sum().backward().of(x).sum().item() == 4.0
