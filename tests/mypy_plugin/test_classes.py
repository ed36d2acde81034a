"""tensor-axis: a softmax over samples or past the classes; and what can be meant, of which nothing is said."""

from tests.mypy_plugin.checking import Project

HEAD = """
import moonxi as mx
from jaxtyping import Float
from moonxi.losses import Logits, LogProbs, Probs


"""
WRONG = """
def over_samples[T: mx.Tensor](x: Float[T, "batch 10"], y: Float[T, "*batch options"]) -> None:
    _ = x.softmax(0)  # here
    _ = y.log_softmax(0)  # here


def over_few_samples[T: mx.Tensor](x: Float[T, "n classes"]) -> Float[T, "n classes"]:
    return x.softmax(0)  # here


def past_the_classes[T: mx.Tensor](x: Float[T, "batch classes h w"], y: Float[T, "pixels n_classes"]) -> None:
    _ = x.softmax(-1)  # here
    _ = y.softmax(-2)  # here
    Logits(x)  # here
    Probs(x.permute((0, 2, 1, 3)).softmax(2))  # here


def of_another_axis[T: mx.Tensor](x: Float[T, "images texts"]) -> None:
    over_images = x.softmax(0)
    Probs(over_images)  # here
    LogProbs(x.log_softmax(-2))  # here
"""
SILENT = """
def of_pairs[T: mx.MlpTensor](x: Float[T, "batch d"], y: Float[T, "batch d"]) -> Float[T, "batch batch"]:
    return (x @ y.transpose()).softmax(0)


def of_attention[T: mx.MlpTensor](q: Float[T, "batch time d"], k: Float[T, "batch keys d"]) -> T:
    return (q @ k.transpose()).softmax(-1)


def of_points_along_a_ray[T: mx.Tensor](densities: Float[T, "batch rays samples"]) -> T:
    return densities.softmax(-1)


def of_classes[T: mx.Tensor](x: Float[T, "batch classes h w"], axis: int) -> None:
    _ = x.softmax(1)
    _ = x.softmax(axis)
    Logits(x.permute((0, 2, 3, 1))).probs()


def of_one_axis[T: mx.Tensor](x: Float[T, "batch"], y: Float[T, "10 batch"], z: T) -> None:
    _ = x.softmax(0)
    _ = y[:, 0].softmax(0)
    _ = z.softmax(0)
    Logits(z)


def of_queries_and_classes[T: mx.Tensor](
    queries: Float[T, "batch queries classes"],
    class_queries: Float[T, "batch classes keys"],
    per_class_over_time: Float[T, "time n_classes"],
    slots: Float[T, "batch slots num_classes"],
) -> None:
    _ = queries.softmax(1)
    _ = class_queries.softmax(-1)
    _ = per_class_over_time.softmax(0)
    _ = slots.softmax(-2)


def of_another_axis_on_purpose[T: mx.MlpTensor](x: Float[T, "images texts"]) -> tuple[Probs[T], LogProbs[T]]:
    columns = x.softmax(0).transpose()
    return Probs(columns), LogProbs(x.log_softmax(1))


def of_numbers[T: mx.Tensor](x: Float[T, "128 120"]) -> Float[T, "128 120"]:
    return x.softmax(0)
"""


def test_a_softmax_over_samples_or_past_the_classes_is_reported(project: Project) -> None:
    program = HEAD.lstrip() + WRONG
    project.write(program=program)
    marked = [f"program.py:{n}: [tensor-axis]" for n, line in enumerate(program.splitlines(), 1) if "# here" in line]
    assert project.check().brief == marked


def test_nothing_is_said_of_what_can_be_meant(project: Project) -> None:
    project.write(program=HEAD + SILENT)
    assert project.check().errors == []


def test_a_line_can_be_ignored_by_the_code(project: Project) -> None:
    project.write(program=HEAD + WRONG.replace("# here", "# type: ignore[tensor-axis]"))
    assert project.check().errors == []
