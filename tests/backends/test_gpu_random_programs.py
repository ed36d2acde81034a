"""Random programs on the GPU: compiled they compute what they compute eagerly, and what was given out stays.

Three kinds: operations of every sort with a gradient and a second one, images, and training steps. Each is replayed
without passes, with all of them, and with one alone. ``MOONXI_RANDOM_PROGRAMS`` sets how many, if not all.
"""

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from examples import linear
from moonxi import nn, optim
from moonxi.compiled import Pass
from moonxi.dtypes import F32, F64
from tests.backends.on_gpu import gpu_or_skip
from tests.compiled import test_image_programs, test_random_programs, test_random_steps
from tests.compiled.test_random_programs import COLUMNS, PASSES, ROWS, variants

pytestmark = pytest.mark.gpu

COUNT = int(os.environ.get("MOONXI_RANDOM_PROGRAMS", "0"))
type Values = list[np.ndarray[Any, Any]]
type Draw = random.Random


def numbers(all_of_them: int) -> pytest.MarkDecorator:
    """Each number is a program, which it draws."""
    return pytest.mark.parametrize("number", range(min(COUNT, all_of_them) if COUNT else all_of_them))


def drawn(draw: Draw, names: list[str], most: int, others: int) -> tuple[Any, ...]:
    """Operations, each with numbers that choose its operands."""
    return tuple(
        (draw.choice(names), *(draw.randrange(10) for _ in range(others))) for _ in range(draw.randint(1, most))
    )


def chosen(draw: Draw) -> tuple[tuple[Pass, ...], ...]:
    """What is left out."""
    return variants(draw.choice(PASSES))


def check(
    step: Callable[..., Any],
    arguments: Callable[[Any, int], tuple[Any, ...]],
    draw: Draw,
    element: Any,
    calls: int = 3,
) -> None:
    """Compiled results are as far from those in float64 as eager ones, and those of earlier calls stay.

    In F64 that is the tolerance of rounding; in F32 ten times what the eager step is off by."""
    on = gpu_or_skip(element)()
    exact = gpu_or_skip(F64)()
    compiled = [mx.compile(step, without=without) for without in chosen(draw)]
    given_out: list[tuple[Any, Values]] = []
    for number in range(calls):
        given = arguments(on, number)
        eager = flat(step(*given))
        right = eager if element is F64 else flat(step(*arguments(exact, number)))
        for one in compiled:
            result = one(*given)
            found = flat(result)
            for mine, theirs, best in zip(found, eager, right, strict=True):
                largest = np.abs(best).max(initial=1.0)
                bound = 1e-10 if element is F64 else 1e-5 + 10.0 * np.abs(theirs / largest - best / largest).max()
                np.testing.assert_allclose(mine / largest, best / largest, rtol=0.0, atol=bound)
            given_out.append((result, found))
    for result, before in given_out:
        for mine, theirs in zip(flat(result), before, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def flat(result: Any) -> Values:
    """The tensors in a result, as arrays."""
    if isinstance(result, tuple):
        return [array for one in result for array in flat(one)]
    if hasattr(result, "parameters"):
        return [one.to_host().astype(np.float64) for one in result.parameters()]
    if hasattr(result, "slots"):
        return flat((result.step, *(one for slot in result.slots.values() for one in slot)))
    return [result.to_host().astype(np.float64)]


@numbers(220)
def test_a_program_its_gradient_and_a_second_one(number: int) -> None:
    draw = random.Random(number)
    program = drawn(draw, test_random_programs.NAMES, 8, 2)

    def arguments(on: Any, call: int) -> tuple[Any, ...]:
        x, y = (on.normal((ROWS, COLUMNS), key) for key in mx.Key(call).split())
        return program, x, y, on.labels(np.array([call, 3 - call, 1]))

    check(test_random_programs.step, arguments, draw, F64)


@pytest.mark.parametrize("element", [F32, F64])
@numbers(40)
def test_a_program_on_images_and_its_update(number: int, element: Any) -> None:
    draw = random.Random(number)
    program = drawn(draw, test_image_programs.NAMES, 6, 1)

    def arguments(on: Any, call: int) -> tuple[Any, ...]:
        weights, x = test_image_programs.drawn(on, call)
        return program, weights, x

    check(test_image_programs.step, arguments, draw, element)


@numbers(80)
def test_a_training_step_whose_model_goes_from_call_to_call(number: int) -> None:
    draw = random.Random(number)
    program = drawn(draw, test_random_programs.NAMES, 8, 2)
    calls = draw.randint(3, 6)
    plan = test_random_steps.Plan(
        program,
        draw.random() < 0.3,
        draw.choice(test_random_steps.OPTIMIZERS),
        tuple(draw.random() < 0.4 for _ in range(calls)),
    )
    test_random_steps.check(plan, chosen(draw), gpu_or_skip(F64)())


def test_a_line_of_two_numbers_is_fitted_as_it_is_eagerly() -> None:
    """Its gradients are single numbers of several shapes."""
    optimizer = optim.Sgd(lr=0.1, momentum=0.9, weight_decay=1e-4, clip_norm=1.0)

    def step(model: Any, state: Any, points: Any) -> Any:
        value, gradients = nn.value_and_grad(linear.loss, model, points, nn.Eval())
        return (*optimizer.update(model, gradients, state), value)

    on: Any = gpu_or_skip(F64)()
    x = np.linspace(-1.0, 1.0, 16).reshape(16, 1)
    points = linear.Points(on.from_host(x), on.from_host(3.0 * x + 1.0))
    found: list[list[float]] = []
    for one in step, mx.compile(step):
        model: Any = nn.Linear.init(1, 1, like=on, key=mx.Key(0))
        state: Any = optimizer.init(model)
        found.append([])
        for _ in range(5):
            model, state, value = one(model, state, points)
            found[-1].append(value.item())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)
