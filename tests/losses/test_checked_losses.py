"""``moonxi check`` on code that computes losses: their shapes are symbolic as everything else's."""

from pathlib import Path
from textwrap import dedent

import pytest

from moonxi.cli import main
from tests.cli.snippets import HEAD

TEXT = dedent("""
    from jaxtyping import Bool, Int

    from moonxi import losses
    from moonxi.losses import BinaryLogits

    def numbers[T: mx.Tensor](x: Float[T, "n k"], y: Float[T, "n {k}"], z: Float[T, "n k"]) -> Float[T, ""]:
        near = losses.l1(x, y) + losses.huber(x, y) + losses.smooth_l1(x, y) + losses.triplet_margin(x, y, z, swap=True)
        return near + losses.binary_cross_entropy(BinaryLogits(x), y) + losses.cosine_similarity(x, y).mean()

    def classes[T: mx.Tensor](
        x: Float[T, "n m k"], y: Float[T, "n m k"], labels: Int[mx.Labels[T], "{n} m"], weight: Float[T, "k"]
    ) -> Float[T, "n m"]:
        p, q = Logits(x).log_probs(), Logits(y).log_probs()
        found = losses.nll(p, labels, weight=weight, ignore=-100, smoothing=0.1, reduction="none")
        found = found + cross_entropy(Logits(x), labels, ignore=0) + losses.multiclass_hinge(Logits(x), labels)
        return found + losses.kl_divergence(p, q, reduction="none")

    def sides[T: mx.Tensor](x: Float[T, "n k"], y: Float[T, "n k"], alike: Bool[mx.Mask[T], "{a}"]) -> Float[T, ""]:
        return losses.cosine_embedding(x, y, alike) + losses.hinge(x, y > 0.0)
    """)


def checked(tmp_path: Path, capsys: pytest.CaptureFixture[str], **names: str) -> tuple[int, list[str]]:
    file = tmp_path / "code.py"
    text = TEXT
    for name, value in ({"k": "k", "n": "n", "a": "n"} | names).items():
        text = text.replace(f"{{{name}}}", value)
    file.write_text(HEAD + text, encoding="utf-8")
    status = main(["check", str(file)])
    return status, capsys.readouterr().out.replace(f"{file}:", "").splitlines()


def test_right_losses_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(tmp_path, capsys) == (0, ["0 errors, 3 functions checked"])


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ({"k": "1"}, "l1 (prediction and target): (n, k) and (n, 1): the shapes must be equal"),
        ({"n": "m"}, "nll: (n, m, k), labels (m, m): labels must have the shape without its last axis"),
        ({"a": "k"}, "cosine_embedding (vectors and similar): (n,) and (k,): the shapes must be equal"),
    ],
)
def test_wrong_shapes_are_found(
    names: dict[str, str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, lines = checked(tmp_path, capsys, **names)
    assert status == 1
    assert text in lines[0]
    assert lines[1:] == ["1 error, 3 functions checked"]
