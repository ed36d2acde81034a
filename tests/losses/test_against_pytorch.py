"""Losses and softmaxes, and their gradients, against PyTorch's, from references/losses.npz."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import moonxi as mx
from moonxi.losses import Logits, cross_entropy, mse


def stored() -> dict[str, NDArray[Any]]:
    with np.load(Path(__file__).parent / "references" / "losses.npz") as file:
        return {name: file[name] for name in file.files}


REFERENCES = stored()
LIKE = mx.numpy(mx.F64)


def cases(operation: str) -> list[str]:
    return sorted({name.rsplit("/", 1)[0] for name in REFERENCES if name.startswith(f"{operation}/")})


def close(found: NDArray[np.floating], expected: NDArray[np.floating]) -> None:
    """To 1e-8 of each element, and to rounding where the exact result is 0."""
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-15)


@pytest.mark.parametrize("case", cases("cross_entropy"))
def test_cross_entropy_and_its_gradient(case: str) -> None:
    logits = mx.variable(LIKE.from_host(REFERENCES[f"{case}/logits"]))
    labels = LIKE.labels(REFERENCES[f"{case}/labels"]).map(mx.constant)
    loss = cross_entropy(Logits(logits), labels)
    close(loss.to_host(), REFERENCES[f"{case}/value"])
    close(loss.backward().of(logits).to_host(), REFERENCES[f"{case}/gradient"])


@pytest.mark.parametrize("case", cases("softmax"))
def test_softmax_and_its_gradient(case: str) -> None:
    x = mx.variable(LIKE.from_host(REFERENCES[f"{case}/x"]))
    y = x.softmax(int(case.rsplit("/", 1)[1]))
    close(y.to_host(), REFERENCES[f"{case}/value"])
    close(y.backward(LIKE.from_host(REFERENCES[f"{case}/seed"])).of(x).to_host(), REFERENCES[f"{case}/gradient"])


@pytest.mark.parametrize("case", cases("log_softmax"))
def test_log_softmax_and_its_gradient(case: str) -> None:
    x = mx.variable(LIKE.from_host(REFERENCES[f"{case}/x"]))
    y = x.log_softmax(int(case.rsplit("/", 1)[1]))
    close(y.to_host(), REFERENCES[f"{case}/value"])
    close(y.backward(LIKE.from_host(REFERENCES[f"{case}/seed"])).of(x).to_host(), REFERENCES[f"{case}/gradient"])


@pytest.mark.parametrize("case", cases("mse"))
def test_mse_and_its_gradients(case: str) -> None:
    x, y = (mx.variable(LIKE.from_host(REFERENCES[f"{case}/{name}"])) for name in ("x", "y"))
    loss = mse(x, y)
    close(loss.to_host(), REFERENCES[f"{case}/value"])
    gradients = loss.backward()
    close(gradients.of(x).to_host(), REFERENCES[f"{case}/dx"])
    close(gradients.of(y).to_host(), REFERENCES[f"{case}/dy"])


@pytest.mark.parametrize("case", cases("cross_entropy"))
def test_cross_entropy_in_float32(case: str) -> None:
    like = mx.numpy()
    logits = Logits(like.from_host(REFERENCES[f"{case}/logits"]))
    loss = cross_entropy(logits, like.labels(REFERENCES[f"{case}/labels"]))
    assert loss.dtype is mx.F32
    np.testing.assert_allclose(loss.to_host(), REFERENCES[f"{case}/value"], rtol=1e-5, atol=1e-6)


def test_the_references_hold_the_cases_that_go_wrong_easily() -> None:
    assert np.isinf(REFERENCES["cross_entropy/masked/value"])
    assert np.isneginf(REFERENCES["cross_entropy/masked_finite/logits"]).any()
    assert np.isfinite(REFERENCES["cross_entropy/masked_finite/value"])
    assert np.abs(REFERENCES["cross_entropy/extreme/logits"]).max() == 1e4
    assert REFERENCES["cross_entropy/one_class/logits"].shape[-1] == 1
    assert REFERENCES["cross_entropy/one_sample/logits"].shape[0] == 1
    assert REFERENCES["cross_entropy/single/logits"].ndim == 1
    assert REFERENCES["cross_entropy/image/logits"].ndim == 4
