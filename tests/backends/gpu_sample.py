"""A program that runs every kernel, for ``compute-sanitizer python -m tests.backends.gpu_sample``.

Each array has memory of its own, not a part of a pool, so that a step beyond it is seen.
"""

from importlib import import_module
from typing import Any

import numpy as np

from moonxi.backends.cupy import gpu, sources
from moonxi.dtypes import BF16, F16, F32, F64
from moonxi.key import Key


def every_kernel(like: Any) -> None:
    """Call the operations that stand on each kernel, on sizes that fill no block."""
    x = like.uniform((37, 43), Key(0)) + 0.5
    y = like.normal((37, 43), Key(1))
    row = x[0]
    for result in (x + y, x - row, x * y, x / (row + 1.0), x**y, x.maximum(row), 2.0 - x, 1.0 / x, 2.0**x, x * 2.0 + y):
        result.sum().item()
    for result in (-x, x.exp(), x.log(), x.tanh(), x.sqrt(), x.floor(), x.square(), x.relu(), x.softmax(1)):
        result.max().item()
    for mask in (x < y, x <= row, x > y, x >= 0.5, x.equal(y), x.equal(1.0)):
        x.where(mask, y).where(mask, 0.0).sum(0).sum().item()
    for axes in (0, 1, None):
        for result in (x.sum(axes), x.max(axes), x.square().sum(axes), x.transpose().sum(axes)):
            result.to_host()
    big = like.uniform((69993,), Key(2))
    for result in (big.sum(), big.max(), big.square().sum(), big.reshape((-1, 7)).sum(0), x.log_softmax(0)):
        result.to_host()
    x.argmax(0).to_host()
    labels = x.argmax(1)
    x.pick(labels).put(labels, 43).to_host()
    x.one_hot(labels, 43).to_host()
    x.gather(labels[:, None]).scatter_add(labels[:, None], 43).to_host()
    big.reshape((1, -1)).scatter_add(like.labels(np.arange(69993) % 5), 5).to_host()
    x.put_slice((slice(1, 38), slice(0, 86, 2)), (40, 90)).to_host()
    (x @ y.transpose()).to_host()
    images, weight = like.normal((3, 4, 11, 10), Key(3)), like.normal((6, 2, 3, 3), Key(4))
    options: Any = {"groups": 2, "padding": 1, "stride": 2}
    z = images.conv2d(weight, like.ones((6,)), **options)
    z.conv2d_input_grad(weight, images.shape, **options).to_host()
    images.conv2d_weight_grad(z, weight.shape, **options).to_host()
    images.conv2d(like.ones((5, 4, 2, 2)), padding="same").to_host()
    images.max_pool2d(3, stride=2, padding=1).to_host()
    images.max_pool2d_grad(images.max_pool2d(2), 2).to_host()
    images.sum_pool2d(2).sum_pool2d_grad(images.shape, 2).to_host()
    vector = like.ones((4,))
    for one in images, images.permute((0, 2, 3, 1)).reshape((-1, 4)):
        out, mean, variance = one.batch_norm(vector, vector)
        one.batch_norm_grad(out, vector, mean, variance)[0].to_host()
    for element in sources.FLOATING:
        x.cast(element).to_host()


def main() -> None:
    """Run it for every element type, with the kernels alone and with cuDNN where it is."""
    cuda: Any = import_module("cupy.cuda")
    cuda.set_allocator(None)
    for element in F32, F64, F16, BF16:
        every_kernel(gpu(element))
        every_kernel(gpu(element, debug=True))
    print("every kernel ran")


if __name__ == "__main__":
    main()
