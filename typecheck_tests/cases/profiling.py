"""Tensors that are profiled: a class of their own, whatever they wrap."""

import moonxi as mx
from moonxi import F32, F64, GpuTensor, ImageProfiled, NpArray, Profile, Tensor

type Host = NpArray[F32]
type Device = GpuTensor[F32]


def wrong_plain_operand(timed: ImageProfiled[Host], host: Host) -> None:
    timed.exp() * host  # E: [operator]


def right_plain_operand() -> None:
    times = Profile()
    host = mx.numpy().ones((2,))
    assert (mx.profile(host, into=times).exp() * mx.profile(host, into=times)).shape == (2,)


def wrong_backend_beneath(timed: ImageProfiled[Host], device: Device, times: Profile) -> None:
    timed.maximum(mx.profile(device, into=times))  # E: [arg-type]


def right_backend_beneath() -> None:
    times = Profile()
    x = mx.profile(mx.numpy().ones(()), into=times)
    assert x.maximum(mx.profile(mx.numpy().zeros(()), into=times)).item() == 1.0


def difference[T: Tensor](x: T, y: T) -> T:
    return (x - y).square()


def wrong_generic_function(times: Profile, host: Host) -> None:
    timed = mx.profile(host, into=times)
    print(difference(host, timed))  # E: [tensor-mix] NpArray[F32] (x) and ImageProfiled[NpArray[F32]] (y)


def right_generic_function() -> None:
    times = Profile()
    timed = mx.profile(mx.numpy().ones(()), into=times)
    assert difference(timed, timed).value.item() == 0.0


def wrong_order_of_wrapping(times: Profile, host: Host) -> None:
    below = mx.variable(mx.profile(host, into=times))
    above = mx.profile(mx.variable(host), into=times)
    difference(below, above)  # E: [tensor-mix] ImageGrad[ImageProfiled[NpArray[F32]]] (x)


def right_order_of_wrapping() -> None:
    times = Profile()
    below = mx.variable(mx.profile(mx.numpy().ones(()), into=times))
    assert difference(below, mx.variable(below.value)).backward().of(below).value.item() == 0.0


def wrong_labels(timed: ImageProfiled[Host], host: Host) -> None:
    timed.pick(host.argmax(1))  # E: [arg-type]


def right_labels() -> None:
    timed = mx.profile(mx.numpy().ones((2, 3)), into=Profile())
    assert timed.pick(timed.argmax(1)).shape == (2,)


def wrong_element_type(times: Profile, single: NpArray[F32]) -> ImageProfiled[NpArray[F64]]:
    return mx.profile(single, into=times)  # E: [return-value] [NpArray[F32]]", expected "ImageProfiled[NpArray[F64]]"


def right_element_type() -> None:
    timed: ImageProfiled[NpArray[F64]] = mx.profile(mx.numpy(F64).zeros(()), into=Profile())
    assert timed.dtype is F64


def wrong_profile(host: Host) -> None:
    mx.profile(host)  # E: [call-arg] Missing named argument "into"


def right_profile() -> None:
    assert mx.profile(mx.numpy(), into=Profile()).shape == ()
