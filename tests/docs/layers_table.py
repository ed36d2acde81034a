"""Makes docs/layers-and-losses.md: what there is, in a sentence each, and what it is called in PyTorch.

python -m tests.docs.layers_table
"""

import inspect
import re
from pathlib import Path
from typing import Final

from moonxi import losses, nn
from moonxi.nn import activation_functions

PAGE: Final = Path(__file__).parents[2] / "docs" / "layers-and-losses.md"
HEAD: Final = """# Layers and losses

Formulas, defaults and first values of parameters are PyTorch's unless the sentence says otherwise; `Linear` and the
convolutions start from `kaiming_uniform` and `kaiming_normal`, with a bias of zeros. Tests hold values and gradients
against PyTorch's in float64. All of them can be differentiated more than once.

```python
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

import moonxi as mx
from moonxi import nn
from moonxi.losses import Logits, cross_entropy


@dataclass(frozen=True)
class Tagger[T: mx.MlpTensor](nn.Module[T]):
    words: nn.Embedding[T]
    norm: nn.LayerNorm[T]
    out: nn.Linear[T]

    def forward(self, words: Int[mx.Labels[T], "batch time"]) -> Logits[T]:
        return Logits(self.out.forward(nn.gelu(self.norm.forward(self.words.forward(words)))))


like = mx.numpy()
first, second = mx.Key(0).split(2)
tagger = Tagger(
    nn.Embedding.init(100, 16, like=like, key=first, padding=0),
    nn.LayerNorm.init(16, like=like),
    nn.Linear.init(16, 5, like=like, key=second),
)
tags = like.labels(np.array([[1, 4, -1], [2, -1, -1]]))
scores = tagger.forward(like.labels(np.array([[7, 8, 0], [9, 0, 0]])))
print(cross_entropy(scores, tags, ignore=-1, smoothing=0.1))
```

The last argument of a forward is the mode, `Train(key)` in a step and `Eval()` elsewhere. `BatchNorm2d`, `Dropout`,
`Dropout2d` and `Sequential` must be given it. The other layers take it and can do without, so that each may stand in a
`Sequential`. A model of yours takes it if one of its layers must have it, and hands it on. The share of right answers
is `logits.predicted().equal(labels).to_tensor(logits.value).mean()`, a tensor that a loss may give besides.

Shapes of operands must be equal: a loss never broadcasts. `reduction=` is `"mean"` (default), `"sum"` or `"none"`. The
mean over an empty batch is a `ShapeError`; where each label is the ignored one it is NaN. Answers of yes and no are a
mask such as `target > 0`, so that 0 and 1 cannot be taken for -1 and 1. A layer works along the last axis where PyTorch
has several choices: reshape to normalise over more. There is no CTC loss.

A tensor in a field, in lists, tuples, dicts and dataclasses there, is a parameter. In other objects (a set, a closure,
a key of a dict, an iterator, an enumeration, an attribute of a class) nothing would train it or bring it to another
device, so a model that has one there is refused, with advice. What a function reads from its module and what a property
computes is not looked at.

Written by `python -m tests.docs.layers_table`; a test fails when it is out of date.
"""
LOSSES: Final = {
    "binary_cross_entropy": "binary_cross_entropy_with_logits",
    "cosine_embedding": "cosine_embedding_loss",
    "cosine_similarity": "cosine_similarity",
    "cross_entropy": "cross_entropy",
    "hinge": "",
    "huber": "huber_loss",
    "kl_divergence": "kl_div",
    "l1": "l1_loss",
    "mse": "mse_loss",
    "multiclass_hinge": "multi_margin_loss",
    "nll": "nll_loss",
    "smooth_l1": "smooth_l1_loss",
    "triplet_margin": "triplet_margin_loss",
}
FUNCTIONS: Final = ("dropout", "residual", *(name for name in nn.__all__ if hasattr(activation_functions, name)))
PYTORCH: Final = {
    "Elu": "ELU",
    "Gelu": "GELU",
    "Relu": "ReLU",
    "LeakyRelu": "LeakyReLU",
    "Silu": "SiLU",
    "UpsampleBilinear2d": "Upsample",
    "UpsampleNearest2d": "Upsample",
    "GlobalAvgPool2d": "AdaptiveAvgPool2d",
    "Lambda": "",
    "Layer": "",
    "residual": "",
}
"""Where the name is another one."""


def layers() -> list[str]:
    """The layers that are exported."""
    return [name for name in nn.__all__ if isinstance(vars(nn)[name], type) and issubclass(vars(nn)[name], nn.Layer)]


def scores() -> list[str]:
    """The types of what losses take."""
    return [name for name in losses.__all__ if isinstance(vars(losses)[name], type)]


def sentence(value: object) -> str:
    """The first sentence of a description, without its full stop."""
    text = " ".join((inspect.getdoc(value) or "").split())
    found = re.split(r"\.(?= [A-Z`(\"]|$)", text, maxsplit=1)[0]
    return found.replace("``", "`").replace("|", "\\|")


def page() -> str:
    """The whole page."""
    parts = [HEAD, "## Losses", "", "| `moonxi.losses` | what | `torch.nn.functional` |", "|---|---|---|"]
    for name in LOSSES:
        parts.append(f"| `{name}` | {sentence(vars(losses)[name])} | {code(LOSSES[name])} |")
    parts += ["", "## What losses take", "", "| `moonxi.losses` | what |", "|---|---|"]
    parts += [f"| `{name}` | {sentence(vars(losses)[name])} |" for name in scores()]
    parts += ["", "## Layers", "", "| `moonxi.nn` | what | `torch.nn` |", "|---|---|---|"]
    parts += [f"| `{name}` | {sentence(vars(nn)[name])} | {code(PYTORCH.get(name, name))} |" for name in layers()]
    parts += ["", "## Functions", "", "| `moonxi.nn` | what | `torch.nn.functional` |", "|---|---|---|"]
    parts += [f"| `{name}` | {sentence(vars(nn)[name])} | {code(PYTORCH.get(name, name))} |" for name in FUNCTIONS]
    return "\n".join([*parts, ""])


def code(name: str) -> str:
    """A name as code, or nothing."""
    return f"`{name}`" if name else ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
