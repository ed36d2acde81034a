"""What is particular to the GPU: element types, TF32, casting, memory shared with other libraries."""

import numpy as np

import moonxi as mx
from moonxi import BF16, F16, F32, F64, GpuTensor, NpArray

type Host = NpArray[F32]
type Single = GpuTensor[F32]
type Half = GpuTensor[F16]


def wrong_tf32() -> None:
    mx.gpu(F64, tf32=True)  # E: [arg-type]


def right_tf32() -> None:
    def make() -> Single:
        return mx.gpu(F32, tf32=True)

    assert callable(make)


def wrong_device() -> None:
    mx.gpu(F32, device="cuda")  # E: [arg-type] expected "int"


def right_device() -> None:
    def make() -> Half:
        return mx.gpu(F16, device=1)

    assert callable(make)


def wrong_mixed_precision(weights: Single, images: Half) -> None:
    images @ weights  # E: [operator]


def right_mixed_precision() -> None:
    def product(weights: Single, images: Half) -> Half:
        return images @ weights.cast(F16)

    assert callable(product)


def wrong_cast(x: Single) -> Single:
    y = x.cast(BF16)
    print(y.shape)
    return y  # E: [return-value] "GpuTensor[BF16]", expected "GpuTensor[F32]"


def right_cast() -> None:
    def there_and_back(x: Single) -> Single:
        return x.cast(BF16).cast(F32)

    assert callable(there_and_back)


def wrong_labels(logits: Single, host: Host) -> None:
    logits.pick(host.argmax(1))  # E: [arg-type]


def right_labels() -> None:
    def chosen(logits: Single, labels: list[int]) -> Single:
        return logits.pick(logits.labels(np.array(labels)))

    assert callable(chosen)


def wrong_shared_memory(x: Single, host: Host) -> None:
    x.from_dlpack(host)  # E: [arg-type]


def right_shared_memory() -> None:
    def shared(x: Single, y: Single) -> Single:
        return x.from_dlpack(y) + x

    assert callable(shared)


def wrong_way_home(x: Single) -> Host:
    return x.to_host()  # E: [return-value]


def right_way_home() -> None:
    def home(x: Single) -> Host:
        return mx.numpy().from_host(x.to_host())

    assert callable(home)
