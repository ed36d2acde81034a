"""A graph is drawn: every operation with shape, element type, layout and line, and what is computed together."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn
from moonxi.compiled import Graph, dot, draw
from moonxi.errors import CompileError

type Host = mx.NpArray[mx.F32]

CPU = mx.numpy()


def loss[T: mx.ImageModelTensor](model: nn.Conv2d[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return model.forward(batch.x).square().mean()


def graph() -> Graph:
    def step(model: nn.Conv2d[Host], batch: mx.Labelled[Host], key: mx.Key) -> tuple[Host, nn.Conv2d[Host]]:
        noisy = batch.map(lambda x: x + x.uniform(x.shape, key) if len(x.shape) == 4 else x)
        return nn.value_and_grad(loss, model, noisy, nn.Eval())

    compiled = mx.compile(step)
    model = nn.Conv2d.init(2, 3, 3, like=CPU, key=mx.Key(0), padding=1)
    batch = mx.Labelled(CPU.normal((2, 2, 5, 5), mx.Key(1)), CPU.labels(np.array([0, 1])))
    compiled(model, batch, mx.Key(2))
    return mx.compile_report(compiled).traces[0].graph


def test_every_operation_is_a_box_with_what_is_known_of_it() -> None:
    drawn, text = graph(), dot(graph())
    assert text.count("shape=box, style=") == 1
    assert text.count(", shape=box]") == len(drawn.nodes)
    assert re.search(r'label="conv2d.*\\n%\d+ F32\[2, 3, 5, 5\] channels last\\n[a-z_]+\.py:\d+"', text)
    line = loss.__code__.co_firstlineno + 1
    assert re.search(rf'label="mul \(2\.0\)\\n%\d+ F32\[2, 3, 5, 5\].*\\ntest_drawing\.py:{line} backward"', text)
    assert text.count(" -> out") == len(drawn.outputs)
    assert re.search(r'v\d+ \[label="input key"', text)


def test_the_printed_graph_has_layouts() -> None:
    assert re.search(r"^%\d+ = conv2d\(.*\) F32\[2, 3, 5, 5\] channels last  # ", str(graph()), re.MULTILINE)


def test_what_is_computed_together_stands_in_a_frame() -> None:
    plain = graph()
    first, second = (node.results[0] for node in plain.nodes[:2])
    framed = replace(plain, together={first: "block by block 1", second: "block by block 1"})
    frames = re.findall(r"subgraph cluster_0 \{\n    label=\"block by block 1\";\n(.*?)\n  \}", dot(framed), re.DOTALL)
    assert [frame.count("shape=box]") for frame in frames] == [2]
    assert str(framed).count(", block by block 1\n") == 2


def test_the_text_is_written_and_a_picture_where_graphviz_is_installed(tmp_path: Path) -> None:
    draw(graph(), tmp_path / "step.dot")
    assert (tmp_path / "step.dot").read_text() == dot(graph())
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed")
    draw(graph(), tmp_path / "step.svg")
    assert (tmp_path / "step.svg").read_text().count("<g ") > 10


def test_without_graphviz_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(CompileError, match=r"step\.svg: the program dot of Graphviz is not installed: install it, or"):
        draw(graph(), tmp_path / "step.svg")


def test_a_failure_of_graphviz_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **options: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(command, 1, "", 'Format: "abc" not recognized\n')

    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/dot")
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(CompileError, match=r'step\.abc: dot failed: Format: "abc" not recognized'):
        draw(graph(), tmp_path / "step.abc")
