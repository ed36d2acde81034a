"""What L-BFGS promises on functions with a known minimum."""

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.errors import OptionError

LIKE = mx.numpy(mx.F64)


def test_a_quadratic_is_minimised_to_rounding_in_few_steps() -> None:
    rng = np.random.default_rng(0)
    q, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    hessian = LIKE.from_host(q * np.geomspace(1.0, 30.0, 6) @ q.T)
    minimum = LIKE.from_host(rng.normal(size=(6, 1)))
    optimizer = optim.Lbfgs()
    model = nn.Linear(LIKE.zeros((6, 1)), LIKE.zeros((1,)))
    state = optimizer.init(model)
    for _ in range(40):
        gradients = nn.Linear(hessian @ (model.weight - minimum), LIKE.zeros((1,)))
        model, state = optimizer.update(model, gradients, state)
    np.testing.assert_allclose(model.weight.to_host(), minimum.to_host(), atol=1e-9)


def test_a_gradient_of_zero_moves_nothing() -> None:
    model = nn.Linear(LIKE.ones((2, 2)), LIKE.ones((2,)))
    zeros = nn.Linear(LIKE.zeros((2, 2)), LIKE.zeros((2,)))
    state = optim.Lbfgs().init(model)
    after = model
    for _ in range(3):
        after, state = optim.Lbfgs().update(after, zeros, state)
    assert after.weight.to_host().tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(OptionError, match=r"^Lbfgs: history=0: must be at least 1$"):
        optim.Lbfgs(history=0)
    with pytest.raises(OptionError, match=r"^Lbfgs: lr=-1.0: must be finite and not negative$"):
        optim.Lbfgs(lr=-1.0)
