"""The graph: shared nodes, the order of the walk, what is recorded and what is not."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonxi.autodiff import BlasGrad, Grad, constant, variable
from moonxi.autodiff.node import Node
from moonxi.autodiff.order import consumers_first
from moonxi.backends.numpy import NpArray, numpy
from moonxi.dtypes import F32, F64
from moonxi.key import Key
from moonxi.traits import MlpTensor

cpu = numpy(F64)
X = cpu.from_host(np.array([0.3, -1.2, 2.0]))


def test_a_node_used_twice_collects_both_gradients() -> None:
    x = variable(X)
    shared = x.exp()
    gradient = (shared * shared + shared).sum().backward().of(x)
    e = np.exp(X.to_host())
    np.testing.assert_allclose(gradient.to_host(), 2.0 * e * e + e, rtol=1e-15)


def test_both_operands_may_be_the_same_tensor() -> None:
    x = variable(X)
    for result, expected in (
        (x + x, np.full(3, 2.0)),
        (x - x, np.zeros(3)),
        (x * x, 2.0 * X.to_host()),
        (x / x, np.zeros(3)),
        (x.maximum(x), np.ones(3)),
        (x.where(x > 0.0, x), np.ones(3)),
    ):
        np.testing.assert_allclose(result.sum().backward().of(x).to_host(), expected, atol=1e-15)
    m = variable(cpu.from_host(np.arange(4.0).reshape(2, 2)))
    ones = np.ones((2, 2))
    expected = ones @ m.to_host().T + m.to_host().T @ ones
    np.testing.assert_allclose((m @ m).sum().backward().of(m).to_host(), expected)


def test_a_ladder_of_diamonds_is_walked_once_a_node() -> None:
    x = variable(cpu.full((), 1.0))
    calls = 0

    def counted(node: Grad[NpArray[F64]]) -> Grad[NpArray[F64]]:
        def vjp(gradient: NpArray[F64]) -> NpArray[F64]:
            nonlocal calls
            calls += 1
            return gradient

        return node._unary(node.value, vjp)

    y: Grad[NpArray[F64]] = x
    for _ in range(200):  # 2 ** 200 paths
        y = counted(y)
        y = (y + y) * 0.5
    assert y.backward().of(x).item() == 1.0
    assert calls == 200


@st.composite
def graphs(draw: st.DrawFn) -> Grad[NpArray[F64]]:
    """Sums of earlier nodes, in any pattern."""
    nodes: list[Grad[NpArray[F64]]] = [variable(cpu.full((), 1.0)), constant(cpu.full((), 1.0))]
    for _ in range(draw(st.integers(1, 12))):
        nodes.append(draw(st.sampled_from(nodes)) * 0.5 + draw(st.sampled_from(nodes)))
    return nodes[-1]


@given(graphs())
def test_every_node_comes_once_and_before_its_operands(result: Grad[NpArray[F64]]) -> None:
    order = consumers_first(result)
    place = {id(node): position for position, node in enumerate(order)}
    assert len(place) == len(order)
    assert order[0] is result
    for node in order:
        for parent, _ in node.parents or ():
            assert place[id(parent)] > place[id(node)]


@given(graphs())
def test_the_gradient_is_the_sum_over_all_paths(result: Grad[NpArray[F64]]) -> None:
    def paths(node: Node[NpArray[F64]], weight: float) -> float:
        if not node.parents:
            return weight if node.parents == () else 0.0
        return sum(paths(parent, vjp(cpu.full((), weight)).item()) for parent, vjp in node.parents)

    if result.parents is not None:
        leaves = [node for node in consumers_first(result) if node.parents == ()]
        assert len(leaves) == 1
        assert result.backward().of(leaves[0]).item() == paths(result, 1.0)


def test_a_constant_records_nothing() -> None:
    c = constant(cpu.from_host(np.ones((2, 2))))
    for result in (
        c + c,
        1.0 - c,
        c * 2.0,
        c / c,
        c**2,
        c**c,
        2.0**c,
        -c,
        c.exp().log().tanh().sqrt(),
        c.relu().square().maximum(c),
        c.where(c > 0.0, c),
        c.sum(0).mean().reshape((1,)).broadcast_to((2,)).sum_to(()),
        c.max(1),
        c.permute((1, 0))[0].put_slice(0, (2, 2)),
        c.pick(c.argmax(1)).put(c.argmax(1), 2),
        c.softmax(1).log_softmax(0),
        c @ c.transpose(),
        c.zeros((2,)),
        c.from_host(np.ones(2)),
        c.one_hot(c.argmax(0), 3),
        c.uniform((2,), Key(0)),
        c.stop_gradient(),
    ):
        assert result.parents is None


def test_a_constant_operand_is_not_recorded_beside_a_variable() -> None:
    x, c = variable(cpu.ones((2, 2))), constant(cpu.ones((2, 2)))
    for result in x + c, c + x, x * c, c * x, c / x, x**c, c**x, c.maximum(x), c.where(c > 0.0, x), c @ x, x @ c:
        assert result.parents is not None
        assert [parent for parent, _ in result.parents] == [x]


def test_a_variable_records_nothing_itself() -> None:
    assert variable(X).parents == ()


def mlp[T: MlpTensor](x: T, w: T, b: T) -> T:
    hidden = (x @ w + b).tanh()
    return (hidden @ hidden.transpose()).log_softmax(1).max(1).mean()


@pytest.mark.parametrize("like", [numpy(F32), numpy(F64)], ids=["F32", "F64"])
def test_the_same_computation_gives_the_same_bits[T: MlpTensor](like: T) -> None:
    def run() -> list[bytes]:
        variables = [variable(like.normal(shape, Key(n))) for n, shape in enumerate(((40, 30), (30, 20), (20,)))]
        found = mlp(*variables).backward()
        return [found.of(v).to_host().tobytes() for v in variables]

    assert run() == run()


def test_backward_twice_gives_the_same_and_changes_nothing() -> None:
    variables = [variable(cpu.normal(shape, Key(n))) for n, shape in enumerate(((4, 3), (3, 2), (2,)))]
    loss = mlp(*variables)
    value = loss.to_host().tobytes()
    first, second = loss.backward(), loss.backward()
    for v in variables:
        assert first.of(v).to_host().tobytes() == second.of(v).to_host().tobytes()
    assert loss.to_host().tobytes() == value


def test_two_results_share_a_graph_without_mixing_their_gradients() -> None:
    x = variable(X)
    shared = x.exp()
    a, b = shared.sum(), (shared * 2.0).sum()
    e = np.exp(X.to_host())
    np.testing.assert_array_equal(a.backward().of(x).to_host(), e)
    np.testing.assert_array_equal(b.backward().of(x).to_host(), 2.0 * e)
    np.testing.assert_array_equal(a.backward().of(x).to_host(), e)


BROADCAST: dict[str, Callable[[Grad[NpArray[F64]], Grad[NpArray[F64]]], Grad[NpArray[F64]]]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "power": lambda x, y: x**y,
    "maximum": lambda x, y: x.maximum(y),
    "where": lambda x, y: x.where(x > y, y),
}


@pytest.mark.parametrize("call", BROADCAST.values(), ids=BROADCAST.keys())
@pytest.mark.parametrize(
    ("left", "right"),
    [((128, 10), (10,)), ((10,), (128, 10)), ((2, 1, 3), (4, 1)), ((), (2, 3)), ((1, 1), (3,)), ((0, 3), (1, 3))],
    ids=str,
)
def test_every_binary_operation_undoes_broadcasting(
    call: Callable[[Grad[NpArray[F64]], Grad[NpArray[F64]]], Grad[NpArray[F64]]],
    left: tuple[int, ...],
    right: tuple[int, ...],
) -> None:
    x, y = variable(cpu.uniform(left, Key(1)) + 0.5), variable(cpu.uniform(right, Key(2)) + 0.5)
    result = call(x, y)
    gradients = result.backward(result.value.ones(result.shape))
    whole = [variable(v.value.broadcast_to(result.shape)) for v in (x, y)]
    expected = call(*whole)
    unbroadcast = expected.backward(expected.value.ones(expected.shape))
    for v, w in zip((x, y), whole, strict=True):
        assert gradients.of(v).shape == v.shape
        np.testing.assert_allclose(
            gradients.of(v).to_host(), unbroadcast.of(w).sum_to(v.shape).to_host(), rtol=1e-12, atol=1e-13
        )


def test_a_node_says_what_it_is() -> None:
    x = BlasGrad.variable(cpu.full((), 2.0))
    assert repr(x) == "BlasGrad(variable, NpArray[F64] () 2.)"
    assert repr(x * 2.0) == "BlasGrad(result, NpArray[F64] () 4.)"
    assert repr(BlasGrad.constant(x)) == "BlasGrad(constant, BlasGrad(variable, NpArray[F64] () 2.))"
