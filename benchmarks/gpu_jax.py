"""JAX's training step on the GPU, for `benchmarks.train_step`: the whole step in one ``jit``, its state donated.

Images are channels-last, as XLA's convolutions like them best; the rest is the task as PyTorch and moonxi have it.
"""

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks import mlp_task, resnet_task

type Arrays = Any
"""A nest of JAX arrays."""
type Loss = Callable[[Arrays, Arrays, Any, Any], tuple[Any, Arrays]]
"""From parameters, running statistics, images and labels to the loss and new statistics."""

MATMUL = {"fp32": "highest", "tf32": "tensorfloat32", "bf16": "default"}


def jax_beside_others() -> Any:
    """JAX, told to leave memory to others."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    return import_module("jax")


def step(task: mlp_task.Task | resnet_task.Task, precision: str) -> Callable[[], Any]:
    """A step at a call, which gives its loss."""
    jax, (update, state, x, y) = jax_beside_others(), _prepared(task, precision)
    one = jax.jit(update, donate_argnums=0)
    number = 0

    def call() -> Any:
        nonlocal state, number
        with jax.default_matmul_precision(MATMUL[precision]):
            state, loss = one(state, x[number % len(x)], y[number % len(y)])
        number += 1
        return loss

    return call


def scan(task: mlp_task.Task | resnet_task.Task, precision: str, count: int) -> Callable[[], Any]:
    """``count`` steps at a call, which gives the last loss."""
    jax, (update, state, x, y) = jax_beside_others(), _prepared(task, precision)
    images, labels = jax.numpy.stack(x), jax.numpy.stack(y)

    def steps(state: Arrays, images: Any, labels: Any) -> tuple[Arrays, Any]:
        def body(state: Arrays, number: Any) -> tuple[Arrays, Any]:
            state, loss = update(state, images[number % len(x)], labels[number % len(y)])
            return state, loss

        state, losses = jax.lax.scan(body, state, jax.numpy.arange(count))
        return state, losses[-1]

    many = jax.jit(steps, donate_argnums=0)

    def call() -> Any:
        nonlocal state
        with jax.default_matmul_precision(MATMUL[precision]):
            state, loss = many(state, images, labels)
        return loss

    return call


def _prepared(task: mlp_task.Task | resnet_task.Task, precision: str) -> tuple[Any, Arrays, list[Any], list[Any]]:
    """The update, the state it starts from, and the batches on the device."""
    jax = jax_beside_others()
    dtype = jax.numpy.bfloat16 if precision == "bf16" else jax.numpy.float32
    images = task.images
    if isinstance(task, mlp_task.Task):
        parameters: Arrays = [(weight, np.zeros(weight.shape[1], np.float32)) for weight in task.weights]
        statistics: Arrays = {}
        loss: Loss = _mlp
    else:
        parameters = {name: _channels_last(weight) for name, weight in task.weights.items()}
        norms = [name for name in parameters if _is_norm(name)]
        ones = {name: np.ones_like(parameters[name]) for name in norms}
        statistics = {name: (np.zeros_like(one), one) for name, one in ones.items()}
        loss, images = _resnet, np.ascontiguousarray(images.transpose(0, 1, 3, 4, 2))
    on_device: Any = jax.tree.map(lambda array: jax.numpy.asarray(array, dtype), (parameters, statistics))
    parameters, statistics = on_device
    velocities = jax.tree.map(jax.numpy.zeros_like, parameters)
    x = [jax.numpy.asarray(one, dtype) for one in images]
    y = [jax.numpy.asarray(one, jax.numpy.int32) for one in task.labels]
    return _updating(loss), (parameters, velocities, statistics), x, y


def _is_norm(name: str) -> bool:
    """Whether it is the weight of a normalisation, by torchvision's names."""
    layer = name.removesuffix(".weight").split(".")[-1]
    return name.endswith(".weight") and (layer.startswith("bn") or name.endswith("downsample.1.weight"))


def _channels_last(weight: Any) -> Any:
    """The weight of a convolution with its taps first, of a linear layer with its inputs first."""
    return np.ascontiguousarray(weight.transpose(2, 3, 1, 0) if weight.ndim == 4 else weight.T)


def _updating(loss: Loss) -> Callable[[Arrays, Any, Any], tuple[Arrays, Any]]:
    """Forward, backward, clipping and SGD, as PyTorch computes them."""
    jax = jax_beside_others()
    jnp = jax.numpy
    rate, momentum, decay = resnet_task.LEARNING_RATE, resnet_task.MOMENTUM, resnet_task.WEIGHT_DECAY

    def update(state: Arrays, x: Any, y: Any) -> tuple[Arrays, Any]:
        parameters, velocities, statistics = state
        differentiated = jax.value_and_grad(loss, has_aux=True)
        (value, statistics), gradients = differentiated(parameters, statistics, x, y)
        squares = [jnp.sum(jnp.square(one.astype(jnp.float32))) for one in jax.tree.leaves(gradients)]
        scale = jnp.minimum(1.0, resnet_task.CLIP_NORM / (jnp.sqrt(sum(squares)) + 1e-6))
        velocities = jax.tree.map(
            lambda v, g, p: momentum * v + (g * scale).astype(p.dtype) + decay * p, velocities, gradients, parameters
        )
        parameters = jax.tree.map(lambda p, v: p - rate * v, parameters, velocities)
        return (parameters, velocities, statistics), value

    return update


def _cross_entropy(scores: Any, labels: Any) -> Any:
    jax = jax_beside_others()
    picked = jax.numpy.take_along_axis(jax.nn.log_softmax(scores.astype(jax.numpy.float32)), labels[:, None], 1)
    return -picked.mean()


def _mlp(parameters: Arrays, statistics: Arrays, x: Any, y: Any) -> tuple[Any, Arrays]:
    for number, (weight, bias) in enumerate(parameters):
        x = (jax_beside_others().nn.relu(x) if number else x) @ weight + bias
    return _cross_entropy(x, y), statistics


def _resnet(parameters: Arrays, statistics: Arrays, x: Any, y: Any) -> tuple[Any, Arrays]:
    """By torchvision's names. What a normalisation sums up is float32."""
    jax = jax_beside_others()
    jnp, relu, new = jax.numpy, jax.nn.relu, {}

    def layer(conv: str, norm: str, x: Any, stride: int, padding: int) -> Any:
        pads, names = [(padding, padding)] * 2, ("NHWC", "HWIO", "NHWC")
        weight, bias = parameters[f"{conv}.weight"], parameters[f"{conv}.bias"]
        x = jax.lax.conv_general_dilated(x, weight, (stride, stride), pads, dimension_numbers=names) + bias
        wide = x.astype(jnp.float32)
        mean = wide.mean((0, 1, 2))
        variance = jnp.square(wide).mean((0, 1, 2)) - jnp.square(mean)
        values = wide.size // wide.shape[-1]
        found = mean, variance * (values / (values - 1))
        old = statistics[f"{norm}.weight"]
        new[f"{norm}.weight"] = tuple((0.9 * a + 0.1 * b).astype(a.dtype) for a, b in zip(old, found, strict=True))
        scaled = (wide - mean) * jax.lax.rsqrt(variance + 1e-5)
        return (scaled * parameters[f"{norm}.weight"] + parameters[f"{norm}.bias"]).astype(x.dtype)

    x = relu(layer("conv1", "bn1", x, 2, 3))
    x = jax.lax.reduce_window(x, -np.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (1, 1), (0, 0)])
    for stage in range(1, 5):
        for number in range(2):
            name, stride = f"layer{stage}.{number}", 2 if stage > 1 and number == 0 else 1
            h = relu(layer(f"{name}.conv1", f"{name}.bn1", x, stride, 1))
            h = layer(f"{name}.conv2", f"{name}.bn2", h, 1, 1)
            if f"{name}.downsample.0.weight" in parameters:
                x = layer(f"{name}.downsample.0", f"{name}.downsample.1", x, stride, 0)
            x = relu(h + x)
    scores = x.mean((1, 2)) @ parameters["fc.weight"] + parameters["fc.bias"]
    return _cross_entropy(scores, y), new
