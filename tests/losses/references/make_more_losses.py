"""Makes more_losses.npz beside this file, with PyTorch: losses and their gradients, in float64.

    python -m tests.losses.references.make_more_losses

Run from the root of the project by an interpreter that has torch. Made with PyTorch 2.13.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tests.losses.references.loss_cases import IGNORED, SHAPES, labels, numbers, seed, side

torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")


def classes(loss: str, **options: Any) -> Callable[..., Any]:
    """A loss of classes, which PyTorch has along the second axis."""

    def run(o: Any, r: str) -> Any:
        x, targets = o["x"].reshape(-1, o["x"].shape[-1]), o["labels"].reshape(-1)
        if loss == "nll_loss":
            x = functional.log_softmax(x, -1)
        weight = {"weight": o["weight"].detach()} if "weight" in o else {}
        found = getattr(functional, loss)(x, targets, reduction=r, **weight, **options)
        return found.reshape(o["labels"].shape) if r == "none" else found

    return run


def kl(o: Any, r: str) -> Any:
    x, y = (functional.log_softmax(o[name], -1) for name in "xy")
    each = functional.kl_div(x, y, reduction="none", log_target=True).sum(-1)
    whole = {"mean": "batchmean", "sum": "sum"}
    return each if r == "none" else functional.kl_div(x, y, reduction=whole[r], log_target=True)


def hinge(margin: float) -> Callable[..., Any]:
    def run(o: Any, r: str) -> Any:
        each = torch.clamp(margin - o["side"] * o["x"], min=0.0)
        return each if r == "none" else getattr(each, r)()

    return run


def two(loss: str, **options: Any) -> Callable[..., Any]:
    return lambda o, r: getattr(functional, loss)(o["x"], o["y"], reduction=r, **options)


def embedding(**options: Any) -> Callable[..., Any]:
    return lambda o, r: functional.cosine_embedding_loss(o["x"], o["y"], o["side"], reduction=r, **options)


def triplet(**options: Any) -> Callable[..., Any]:
    return lambda o, r: functional.triplet_margin_loss(o["x"], o["y"], o["z"], reduction=r, **options)


ALL = {"label_smoothing": 0.2, "ignore_index": IGNORED}
LOSSES: dict[str, Callable[..., Any]] = {
    "mse": two("mse_loss"),
    "l1": two("l1_loss"),
    "l1 of one": two("l1_loss"),
    "huber": two("huber_loss"),
    "huber, narrow": two("huber_loss", delta=0.3),
    "huber of scalars": two("huber_loss"),
    "smooth_l1": two("smooth_l1_loss"),
    "smooth_l1, narrow": two("smooth_l1_loss", beta=0.3),
    "smooth_l1, without a bend": two("smooth_l1_loss", beta=0.0),
    "binary_cross_entropy": two("binary_cross_entropy_with_logits"),
    "binary_cross_entropy, positive_weight": two(
        "binary_cross_entropy_with_logits", pos_weight=torch.tensor(2.5, dtype=torch.float64)
    ),
    "binary_cross_entropy of large logits": two("binary_cross_entropy_with_logits"),
    "nll": classes("nll_loss"),
    "nll, weight": classes("nll_loss"),
    "nll, ignore": classes("nll_loss", ignore_index=IGNORED),
    "nll, weight and ignore": classes("nll_loss", ignore_index=IGNORED),
    "cross_entropy": classes("cross_entropy"),
    "cross_entropy of sequences": classes("cross_entropy"),
    "cross_entropy, weight": classes("cross_entropy"),
    "cross_entropy, ignore": classes("cross_entropy", ignore_index=IGNORED),
    "cross_entropy, smoothing": classes("cross_entropy", label_smoothing=0.2),
    "cross_entropy, smoothing of one class": classes("cross_entropy", label_smoothing=0.2),
    "cross_entropy, all options": classes("cross_entropy", **ALL),
    "cross_entropy, all options of sequences": classes("cross_entropy", **ALL),
    "kl_divergence": kl,
    "hinge": hinge(1.0),
    "hinge, wide": hinge(2.5),
    "multiclass_hinge": classes("multi_margin_loss"),
    "multiclass_hinge, narrow": classes("multi_margin_loss", margin=0.2),
    "multiclass_hinge of one class": classes("multi_margin_loss"),
    "cosine_embedding": embedding(),
    "cosine_embedding, margin": embedding(margin=0.2),
    "triplet_margin": triplet(),
    "triplet_margin, order 1": triplet(p=1),
    "triplet_margin, order 3": triplet(p=3, margin=0.5),
    "triplet_margin, swap": triplet(swap=True),
}


def main() -> None:
    """Writes the file."""
    arrays: dict[str, Any] = {}
    for case in SHAPES:
        for reduction in ("mean", "sum", "none"):
            floats = {name: torch.from_numpy(one).requires_grad_() for name, one in numbers(case).items()}
            others = {"labels": torch.from_numpy(labels(case)), "side": torch.from_numpy(side(case))}
            value = LOSSES[case](floats | others, reduction)
            value.backward(torch.as_tensor(seed(case, tuple(value.shape))))
            arrays[f"{case}/{reduction}/value"] = value.detach().numpy()
            for name, one in floats.items():
                if one.grad is not None:  # PyTorch does not differentiate the weights of classes
                    arrays[f"{case}/{reduction}/d{name}"] = one.grad.numpy()
    np.savez_compressed(Path(__file__).with_name("more_losses.npz"), **arrays)


if __name__ == "__main__":
    main()
