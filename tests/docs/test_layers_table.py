"""docs/layers-and-losses.md: complete, up to date, and its program runs."""

import inspect
import re
import subprocess
import sys

from moonxi import losses, nn
from tests.docs.layers_table import FUNCTIONS, LOSSES, PAGE, PYTORCH, layers, page, scores
from tests.examples.program import environment


def test_the_table_of_layers_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: python -m tests.docs.layers_table"


def test_every_loss_and_every_type_of_scores_is_listed() -> None:
    assert {*LOSSES, *scores(), "Reduction"} == set(losses.__all__)


def test_every_layer_and_every_activation_is_listed() -> None:
    text = page()
    assert {"Embedding", "Lambda", "Conv2d", "Relu"} <= set(layers())
    assert {"elu", "gelu", "hardswish", "leaky_relu", "mish", "silu", "softplus", "residual"} <= set(FUNCTIONS)
    for name in (*layers(), *FUNCTIONS):
        assert re.search(rf"^\| `{name}` \| [^|]+", text, re.MULTILINE)
    assert set(PYTORCH) <= {*layers(), *FUNCTIONS}
    assert set(FUNCTIONS) <= set(nn.__all__)
    assert "|  |  |" not in text


def test_the_page_names_the_layers_that_must_have_the_mode() -> None:
    forwards = {name: vars(nn)[name].forward for name in layers() if hasattr(vars(nn)[name], "forward")}
    needing = [
        name
        for name, forward in sorted(forwards.items())
        if (mode := inspect.signature(forward).parameters.get("mode")) and mode.default is inspect.Parameter.empty
    ]
    sentences = page().split("The last argument of a forward is the mode")[1]
    assert re.findall(r"`(\w+)`", sentences.split(".")[1]) == needing


def test_the_program_of_layers_and_losses_runs() -> None:
    [program] = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.match(r"NpArray\[F32\] \(\) \d\.\d+", done.stdout)
