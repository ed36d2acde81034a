"""Makes metrics.npz: random predictions, and what scikit-learn says of them.

    python tests/metrics/references/make_metric_references.py

Runs wherever scikit-learn is installed, and needs nothing of moonxi. Made with scikit-learn 1.9.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

sk: Any = import_module("sklearn.metrics")


def main() -> None:
    """Writes the file beside this script."""
    rng = np.random.default_rng(5)
    arrays: dict[str, Any] = {}
    for name, samples, classes, present in (("ordinary", 203, 5, 5), ("absent", 37, 6, 4), ("pair", 101, 2, 2)):
        logits = rng.normal(size=(samples, classes))
        logits[:, present:] -= 100.0  # classes that are neither true nor predicted
        labels = rng.integers(0, present, samples)
        labels[:present] = np.arange(present)
        logits[np.arange(samples), labels] += 0.7
        store_classes(arrays, name, logits, labels, classes, present)
    for name, values in {"ordinary": rng.normal(size=151), "tied": rng.integers(0, 6, 151) / 2.0 - 1.0}.items():
        labels = rng.integers(0, 2, 151)
        scores = values + labels * 0.5
        arrays[f"auroc/{name}/scores"], arrays[f"auroc/{name}/labels"] = scores, labels
        arrays[f"auroc/{name}/value"] = sk.roc_auc_score(labels, scores)
    for name, shape, mean in (("vector", (120,), 0.0), ("matrix", (97, 3), 0.0), ("far", (90, 2), 1e6)):
        truth = rng.normal(size=shape) + mean
        predicted = truth + rng.normal(size=shape) * 0.4
        if name == "matrix":
            truth[:, 1] = 2.0  # all the same
        store_numbers(arrays, name, predicted, truth)
    np.savez_compressed(Path(__file__).with_name("metrics.npz"), **arrays)


def store_classes(arrays: dict[str, Any], name: str, logits: Any, labels: Any, classes: int, present: int) -> None:
    every = range(classes)
    ours = logits.argmax(1)
    probs = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    stored: dict[str, Any] = {
        "logits": logits,
        "labels": labels,
        "accuracy": sk.accuracy_score(labels, ours),
        "confusion": sk.confusion_matrix(labels, ours, labels=every),
        "perplexity": np.exp(sk.log_loss(labels, probs, labels=every)),
    }
    for k in range(1, classes if classes > 2 else 2):
        scores = logits if classes > 2 else logits[:, 1] - logits[:, 0]
        stored[f"top{k}"] = sk.top_k_accuracy_score(labels, scores, k=k, labels=every)
    for average in ("macro", "micro", None):
        options = {"labels": every, "average": average, "zero_division": 0}
        for kind, function in (("precision", sk.precision_score), ("recall", sk.recall_score), ("f1", sk.f1_score)):
            stored[f"{kind}_{average or 'per_class'}"] = function(labels, ours, **options)
    if present == classes > 2:
        stored["auroc"] = sk.roc_auc_score(labels, probs, multi_class="ovr", average="macro")
    elif classes == 2:
        stored["auroc"] = sk.roc_auc_score(labels, probs[:, 1])
    arrays.update({f"classes/{name}/{key}": value for key, value in stored.items()})


def store_numbers(arrays: dict[str, Any], name: str, predicted: Any, truth: Any) -> None:
    stored = {
        "predicted": predicted,
        "truth": truth,
        "mse": sk.mean_squared_error(truth, predicted),
        "mae": sk.mean_absolute_error(truth, predicted),
        "r2": sk.r2_score(truth, predicted),
    }
    arrays.update({f"numbers/{name}/{key}": value for key, value in stored.items()})


if __name__ == "__main__":
    main()
