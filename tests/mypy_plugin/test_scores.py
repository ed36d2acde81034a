"""tensor-scores: what the plugin knows of where a wrapped tensor comes from, and where it says nothing."""

from tests.mypy_plugin.checking import Project

HEAD = """
from dataclasses import dataclass

import moonxi as mx
from moonxi import nn
from moonxi.losses import BinaryLogits, BinaryProbs, Logits, LogProbs, Probs


"""
WRONG = """
def through_other_shapes[T: mx.Tensor](x: T) -> BinaryLogits[T]:
    gate = x.sigmoid().reshape((2, -1))
    return BinaryLogits(gate[:, 0])  # here


def in_a_branch[T: mx.Tensor](x: T, deep: bool) -> Logits[T]:
    if deep:
        x = x.softmax(-1)
        return Logits(x)  # here
    return Logits(x)


def in_a_loop[T: mx.Tensor](x: T) -> list[Logits[T]]:
    found = []
    for _ in range(3):
        y = x * 2.0
        y = y.sigmoid()
        found.append(Logits(y))  # here
    return found


def of_layers[T: mx.ImageModelTensor](linear: nn.Linear[T], convolution: nn.Conv2d[T], x: T) -> list[object]:
    return [
        Probs(linear.forward(x)),  # here
        LogProbs(convolution.forward(x).permute((0, 2, 3, 1))),  # here
        BinaryProbs(x.log_softmax(1)),  # here
        Probs(x.sigmoid()),  # here
    ]


@dataclass(frozen=True)
class Ends[T: mx.MlpTensor](nn.Module[T]):
    hidden: nn.Linear[T]
    out: nn.Linear[T]

    def forward(self, x: T) -> T:
        x = self.hidden.forward(x).relu()
        return self.out.forward(x).softmax(-1)

    def scores(self, x: T, twice: bool) -> T:
        if twice:
            return self.out.forward(self.hidden.forward(x))
        return self.out.forward(x)

    def through(self, x: T) -> T:
        return self.forward(x).squeeze(0)


def gate[T: mx.Tensor](x: T) -> T:
    return x.sigmoid()


def of_models_and_functions[T: mx.MlpTensor](model: Ends[T], x: T) -> list[object]:
    return [
        Logits(model.forward(x)),  # here
        LogProbs(model.scores(x, True)),  # here
        Logits(model.through(x)),  # here
        BinaryLogits(gate(x)),  # here
    ]
"""
SILENT = """
@dataclass(frozen=True)
class Either[T: mx.MlpTensor](nn.Module[T]):
    out: nn.Linear[T]

    def forward(self, x: T, probabilities: bool) -> T:
        x = self.out.forward(x)
        return x.softmax(-1) if probabilities else x

    def branches(self, x: T, probabilities: bool) -> T:
        if probabilities:
            return self.out.forward(x).softmax(-1)
        return self.out.forward(x)

    def again(self, x: T) -> T:
        return self.again(x)


def of_models[T: mx.MlpTensor](model: Either[T], x: T) -> list[object]:
    return [Logits(model.forward(x, True)), Logits(model.branches(x, True)), Logits(model.again(x))]


def not_certain[T: mx.Tensor](x: T, deep: bool) -> Logits[T]:
    y = x
    if deep:
        y = x.softmax(-1)
    return Logits(y)


def another_value[T: mx.Tensor](x: T) -> Logits[T]:
    y = x.softmax(-1)
    print(y.shape)
    y = y.log() * 2.0
    return Logits(y)


def changed_later_in_a_loop[T: mx.Tensor](x: T) -> list[Logits[T]]:
    found = []
    for _ in range(3):
        found.append(Logits(x))
        x = x.softmax(-1)
    return found


def weighted[T: mx.MlpTensor](x: T, values: T) -> Logits[T]:
    return Logits(x.softmax(-1) @ values)


def right[T: mx.MlpTensor](linear: nn.Linear[T], x: T) -> list[object]:
    y = linear.forward(x)
    return [Logits(y), BinaryLogits(y), Probs(y.softmax(-1)), LogProbs(y.log_softmax(-1)), BinaryProbs(y.sigmoid())]


def logarithms_are_scores[T: mx.Tensor](x: T, y: T) -> Logits[T]:
    return Logits(x.log_softmax(-1)) if x.shape else Logits((x.log_softmax(-1) + y.log_softmax(-1)) / 2.0)


def of_two_classes[T: mx.Tensor](x: T) -> BinaryProbs[T]:
    return BinaryProbs(x.softmax(-1)[:, 1])


def shared[T: mx.Tensor](x: T) -> None:
    y = x.softmax(-1)

    def inner(y: T) -> Logits[T]:
        return Logits(y)

    print(inner(y))
"""


def test_scores_made_from_what_they_are_not_are_found_where_they_are_made(project: Project) -> None:
    project.write(program=HEAD.lstrip() + WRONG)
    lines = (HEAD.lstrip() + WRONG).splitlines()
    marked = [f"program.py:{number}: [tensor-scores]" for number, line in enumerate(lines, 1) if "# here" in line]
    assert len(marked) == 11
    report = project.check()
    assert report.brief == marked
    assert "and softmax, in Ends.forward, gives probabilities" in report.errors[-4]


def test_nothing_is_said_of_what_is_right_or_not_certain(project: Project) -> None:
    project.write(program=HEAD + SILENT)
    assert project.check().errors == []


def test_a_line_can_be_ignored_by_the_code(project: Project) -> None:
    project.write(program=HEAD + WRONG.replace("# here", "# type: ignore[tensor-scores]"))
    assert project.check().errors == []


def test_a_model_in_another_file_is_not_looked_into_so_that_a_second_run_says_the_same(project: Project) -> None:
    model = """
        from dataclasses import dataclass

        import moonxi as mx
        from moonxi import nn


        @dataclass(frozen=True)
        class Ends[T: mx.MlpTensor](nn.Module[T]):
            out: nn.Linear[T]

            def forward(self, x: T) -> T:
                return self.out.forward(x).softmax(-1)
    """
    program = """
        import moonxi as mx
        from model import Ends
        from moonxi.losses import Logits


        def loss[T: mx.MlpTensor](model: Ends[T], x: T) -> Logits[T]:
            return Logits(model.forward(x))
    """
    project.write(model=model, program=program)
    assert project.check().errors == []
    project.write(program=program + "\n")
    assert project.check().errors == []
