"""All losses, their options, reductions and gradients against PyTorch's, from references/more_losses.npz."""

from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from numpy.typing import NDArray

import moonxi as mx
from moonxi.losses import (
    BinaryLogits,
    Logits,
    Reduction,
    binary_cross_entropy,
    cosine_embedding,
    cross_entropy,
    hinge,
    huber,
    kl_divergence,
    l1,
    mse,
    multiclass_hinge,
    nll,
    smooth_l1,
    triplet_margin,
)
from tests.losses.references.loss_cases import IGNORED, SHAPES, labels, numbers, seed, side

LIKE = mx.numpy(mx.F64)
EACH: tuple[Reduction, ...] = get_args(Reduction.__value__)
CASES = pytest.mark.parametrize("case", SHAPES)
REDUCTIONS = pytest.mark.parametrize("reduction", EACH)


@pytest.fixture(scope="module")
def reference() -> dict[str, NDArray[np.float64]]:
    with np.load(Path(__file__).parent / "references" / "more_losses.npz") as stored:
        return dict(stored)


def loss[T: mx.Tensor](case: str, operands: Mapping[str, T], reduction: Reduction) -> T:
    """The loss of a case."""
    x, y, weight = operands["x"], operands.get("y", operands["x"]), operands.get("weight")
    z = operands.get("z", x)
    scores, classes = Logits(x), x.labels(labels(case))
    marked = x.from_host(side(case)) > 0.0
    name, _, _ = case.partition(" of ")
    match name:
        case "mse":
            return mse(x, y, reduction=reduction)
        case "l1":
            return l1(x, y, reduction=reduction)
        case "huber":
            return huber(x, y, reduction=reduction)
        case "huber, narrow":
            return huber(x, y, delta=0.3, reduction=reduction)
        case "smooth_l1":
            return smooth_l1(x, y, reduction=reduction)
        case "smooth_l1, narrow":
            return smooth_l1(x, y, beta=0.3, reduction=reduction)
        case "smooth_l1, without a bend":
            return smooth_l1(x, y, beta=0.0, reduction=reduction)
        case "binary_cross_entropy":
            return binary_cross_entropy(BinaryLogits(x), y, reduction=reduction)
        case "binary_cross_entropy, positive_weight":
            return binary_cross_entropy(BinaryLogits(x), y, positive_weight=2.5, reduction=reduction)
        case "nll" | "nll, weight":
            return nll(scores.log_probs(), classes, weight=weight, reduction=reduction)
        case "nll, ignore" | "nll, weight and ignore":
            return nll(scores.log_probs(), classes, weight=weight, ignore=IGNORED, reduction=reduction)
        case "cross_entropy" | "cross_entropy, weight":
            return cross_entropy(scores, classes, weight=weight, reduction=reduction)
        case "cross_entropy, ignore":
            return cross_entropy(scores, classes, ignore=IGNORED, reduction=reduction)
        case "cross_entropy, smoothing":
            return cross_entropy(scores, classes, smoothing=0.2, reduction=reduction)
        case "cross_entropy, all options":
            return cross_entropy(scores, classes, weight=weight, ignore=IGNORED, smoothing=0.2, reduction=reduction)
        case "kl_divergence":
            return kl_divergence(scores.log_probs(), Logits(y).log_probs(), reduction=reduction)
        case "hinge":
            return hinge(x, marked, reduction=reduction)
        case "hinge, wide":
            return hinge(x, marked, margin=2.5, reduction=reduction)
        case "multiclass_hinge":
            return multiclass_hinge(scores, classes, reduction=reduction)
        case "multiclass_hinge, narrow":
            return multiclass_hinge(scores, classes, margin=0.2, reduction=reduction)
        case "cosine_embedding":
            return cosine_embedding(x, y, marked, reduction=reduction)
        case "cosine_embedding, margin":
            return cosine_embedding(x, y, marked, margin=0.2, reduction=reduction)
        case "triplet_margin":
            return triplet_margin(x, y, z, reduction=reduction)
        case "triplet_margin, order 1":
            return triplet_margin(x, y, z, order=1.0, reduction=reduction)
        case "triplet_margin, order 3":
            return triplet_margin(x, y, z, order=3.0, margin=0.5, reduction=reduction)
        case "triplet_margin, swap":
            return triplet_margin(x, y, z, swap=True, reduction=reduction)
    raise AssertionError(case)


@REDUCTIONS
@CASES
def test_values_and_gradients_are_those_of_pytorch(
    case: str, reduction: Reduction, reference: dict[str, NDArray[np.float64]]
) -> None:
    operands = {name: mx.variable(LIKE.from_host(one)) for name, one in numbers(case).items()}
    value = loss(case, operands, reduction)
    np.testing.assert_allclose(value.to_host(), reference[f"{case}/{reduction}/value"], rtol=1e-8, atol=1e-10)
    gradients = value.backward(LIKE.from_host(np.asarray(seed(case, value.shape))))
    compared = [name for name in operands if f"{case}/{reduction}/d{name}" in reference]
    assert compared == [name for name in operands if name != "weight"]
    for name in compared:
        found, expected = gradients.of(operands[name]).to_host(), reference[f"{case}/{reduction}/d{name}"]
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10, err_msg=name)


@CASES
def test_gradients_are_differentiable_again(case: str) -> None:
    def of_one[T: mx.Tensor](x: T) -> T:
        return loss(case, {"x": x}, "none")

    def of_two[T: mx.Tensor](x: T, y: T) -> T:
        return loss(case, {"x": x, "weight" if "weight" in SHAPES[case] else "y": y}, "none")

    def of_three[T: mx.Tensor](x: T, y: T, z: T) -> T:
        return loss(case, {"x": x, "y": y, "z": z}, "none")

    match [LIKE.from_host(one) for one in numbers(case).values()]:
        case [x]:
            mx.check_gradients(of_one, x, order=2)
        case [x, y]:
            mx.check_gradients(of_two, x, y, order=2)
        case [x, y, z]:
            mx.check_gradients(of_three, x, y, z, order=2)
        case _:
            raise AssertionError(case)


@pytest.mark.parametrize("case", [one for one in SHAPES if "weight" in SHAPES[one]])
def test_the_mean_over_weights_has_a_gradient_for_the_weights(case: str) -> None:
    def mean[T: mx.Tensor](x: T, weight: T) -> T:
        return loss(case, {"x": x, "weight": weight}, "mean")

    x, weight = (LIKE.from_host(one) for one in numbers(case).values())
    mx.check_gradients(mean, x, weight, order=2)


@REDUCTIONS
@CASES
def test_single_precision_stays_and_is_near(
    case: str, reduction: Reduction, reference: dict[str, NDArray[np.float64]]
) -> None:
    value = loss(case, {name: mx.numpy().from_host(one) for name, one in numbers(case).items()}, reduction)
    assert value.dtype is mx.F32
    np.testing.assert_allclose(value.to_host(), reference[f"{case}/{reduction}/value"], rtol=2e-5, atol=1e-6)


@REDUCTIONS
@CASES
def test_shapes_without_data_are_those_of_the_values(
    case: str, reduction: Reduction, reference: dict[str, NDArray[np.float64]]
) -> None:
    operands = {name: mx.ShapeTensor(one.shape) for name, one in numbers(case).items()}
    assert loss(case, operands, reduction).shape == reference[f"{case}/{reduction}/value"].shape


def test_the_cases_hold_what_goes_wrong_easily(reference: dict[str, NDArray[np.float64]]) -> None:
    assert (labels("cross_entropy, all options") == IGNORED).any()
    assert np.abs(numbers("binary_cross_entropy of large logits")["x"]).max() > 100.0
    assert set(side("hinge").ravel()) == {1.0, -1.0}
    for case in ("hinge", "multiclass_hinge, narrow", "cosine_embedding, margin", "triplet_margin"):
        assert (reference[f"{case}/none/value"] == 0.0).any(), case
        assert (reference[f"{case}/none/value"] > 0.0).any(), case
