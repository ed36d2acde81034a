"""The training step written by hand in plain NumPy, gradients included: a worker of ``benchmarks/mlp.py``.

It is what the step costs when there are no layers, no graph and no checks. What has the size of the weights lives in
buffers that are kept: new ones at each step may cost more in page faults than all the arithmetic with them.
"""

from collections.abc import Callable

import numpy as np

from benchmarks import mlp_task
from benchmarks.machine import numpy_version, python_version
from benchmarks.mlp_task import BATCH, CLIP_NORM, LEARNING_RATE, MOMENTUM, WEIGHT_DECAY, Task


def make_step(task: Task) -> Callable[[int], np.floating]:
    w1, w2, w3 = (weight.copy() for weight in task.weights)
    b1, b2, b3 = (np.zeros(weight.shape[1], np.float32) for weight in task.weights)
    parameters = (w1, b1, w2, b2, w3, b3)
    velocities = [np.zeros_like(parameter) for parameter in parameters]
    gradients = [np.empty_like(parameter) for parameter in parameters]
    spares = [np.empty_like(parameter) for parameter in parameters]
    rows = np.arange(BATCH)

    def step(number: int) -> np.floating:
        x, labels = task.images[number], task.labels[number]
        h1 = np.maximum(x @ w1 + b1, 0.0)
        h2 = np.maximum(h1 @ w2 + b2, 0.0)
        z = h2 @ w3 + b3

        z = z - z.max(axis=1, keepdims=True)
        e = np.exp(z)
        total = e.sum(axis=1, keepdims=True)
        loss: np.floating = (np.log(total[:, 0]) - z[rows, labels]).mean()

        g3 = e / total
        g3[rows, labels] -= 1.0
        g3 /= BATCH
        g2 = (g3 @ w3.T) * (h2 > 0.0)
        g1 = (g2 @ w2.T) * (h1 > 0.0)
        for layer, (inputs, g) in enumerate(((x, g1), (h1, g2), (h2, g3))):
            np.matmul(inputs.T, g, out=gradients[2 * layer])
            np.sum(g, axis=0, out=gradients[2 * layer + 1])

        norm = np.sqrt(sum(np.vdot(gradient, gradient) for gradient in gradients))
        factor = min(1.0, float(CLIP_NORM / (norm + 1e-6)))
        for parameter, gradient, velocity, spare in zip(parameters, gradients, velocities, spares, strict=True):
            velocity *= MOMENTUM
            gradient *= factor
            velocity += gradient
            velocity += np.multiply(parameter, WEIGHT_DECAY, out=spare)
            parameter -= np.multiply(velocity, LEARNING_RATE, out=spare)
        return loss

    return step


if __name__ == "__main__":
    mlp_task.run("NumPy by hand", {"python": python_version(), "numpy": numpy_version()}, make_step)
