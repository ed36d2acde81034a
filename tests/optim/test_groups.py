"""Groups of parameters by predicate, weight-decay masks, and Muon's division into matrices and the rest."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.errors import ModuleError, OptionError
from moonxi.optim import Group, Grouped, matrices, named

type Array = mx.NpArray[mx.F64]

LIKE = mx.numpy(mx.F64)


@dataclass(frozen=True)
class Block[T: mx.Tensor](nn.Module[T]):
    weight: T
    bias: T


@dataclass(frozen=True)
class Net[T: mx.Tensor](nn.Module[T]):
    blocks: list[Block[T]]
    norm: Block[T]
    named: dict[str, T]


def net(value: float = 1.0) -> Net[Array]:
    def block(*shape: int) -> Block[Array]:
        return Block(LIKE.full(shape, value), LIKE.full(shape[-1:], value))

    return Net([block(2, 3), block(3, 2)], block(2), {"scale": LIKE.full((), value)})


def after(optimizer: optim.Optimizer | optim.Muon, steps: int = 3) -> dict[str, list[float]]:
    model = net()
    state = optimizer.init(model)
    for step in range(steps):
        model, state = optimizer.update(model, net(float(step + 1)), state)
    return {path: one.to_host().reshape(-1).tolist() for path, one in model.named_parameters().items()}


def test_patterns_match_parts_of_the_path_or_all_of_it() -> None:
    paths = list(net().named_parameters())
    picked = {
        ("bias",): ["blocks[0].bias", "blocks[1].bias", "norm.bias"],
        ("norm*",): ["norm.weight", "norm.bias"],
        ("0",): ["blocks[0].weight", "blocks[0].bias"],
        ("norm.weight",): ["norm.weight"],
        ("scale", "norm.b?as"): ["norm.bias", "named['scale']"],
        ("nor",): [],
        ("blocks[0]",): ["blocks[0].weight", "blocks[0].bias"],
        ("[1].weight", "named['scale']"): ["blocks[1].weight", "named['scale']"],
        ("blocks.*.bias",): ["blocks[0].bias", "blocks[1].bias"],
    }
    for patterns, expected in picked.items():
        assert [path for path in paths if named(*patterns)(path, ())] == expected
    assert named("bias") == named("bias")
    with pytest.raises(OptionError, match=r"^named: no pattern: give at least one, such as named\('bias', 'norm\*'\)$"):
        named()


def test_each_parameter_is_updated_as_by_the_optimizer_of_its_first_group() -> None:
    biases, norms, rest = optim.Adam(lr=0.1), optim.Sgd(lr=0.01, momentum=0.9), optim.RmsProp(lr=0.02)
    found = after(Grouped(groups=(Group(named("bias"), biases), Group(named("norm"), norms)), rest=rest))
    alone = {optimizer: after(optimizer) for optimizer in (biases, norms, rest)}
    for path, values in found.items():
        optimizer = biases if path.endswith("bias") else norms if path.startswith("norm") else rest
        assert values == alone[optimizer][path]


def test_groups_that_say_the_same_are_no_groups() -> None:
    adam = optim.Adam(lr=0.1, weight_decay=0.1)
    assert after(Grouped(groups=(Group(named("bias"), adam), Group(matrices, adam)), rest=adam)) == after(adam)


def test_groups_remember_only_what_their_parameters_need() -> None:
    optimizer = Grouped(groups=(Group(matrices, optim.Adam(lr=0.1)),), rest=optim.Sgd(lr=0.1, momentum=0.9))
    state = optimizer.init(net())
    assert {slot: len(tensors) for slot, tensors in state.slots.items()} == {
        "first_moment": 2,
        "second_moment": 2,
        "velocity": 5,
    }
    other = replace(optimizer, rest=optim.Sgd(lr=0.1))
    with pytest.raises(ModuleError, match=r"^Grouped\.update: the state belongs to another model or optimizer"):
        other.update(net(), net(), state)


def test_the_whole_is_clipped_first_and_then_each_group() -> None:
    inner = optim.Sgd(lr=1.0, clip_norm=0.5)
    optimizer = Grouped(groups=(Group(named("scale"), inner),), rest=optim.Sgd(lr=1.0), clip_norm=3.0)
    model, gradients = net(0.0), net(1.0)
    moved, _ = optimizer.update(model, gradients, optimizer.init(model))
    norm = np.sqrt(sum(one.to_host().size for one in gradients.parameters()))
    assert moved.named["scale"].item() == pytest.approx(-0.5, rel=1e-5)
    assert moved.norm.bias.to_host() == pytest.approx(-3.0 / norm, rel=1e-5)


def test_no_groups_are_refused() -> None:
    with pytest.raises(OptionError, match=r"^Grouped: no groups: give at least one Group, or use the rest alone$"):
        Grouped(groups=(), rest=optim.Sgd(lr=0.1))


@pytest.mark.parametrize(
    "optimizer",
    [
        optim.Sgd(lr=0.1, weight_decay=0.5),
        optim.Adam(lr=0.1, weight_decay=0.5),
        optim.AdamW(lr=0.1, weight_decay=0.5),
        optim.RmsProp(lr=0.1, weight_decay=0.5),
        optim.Adagrad(lr=0.1, weight_decay=0.5),
        optim.NAdam(lr=0.1, weight_decay=0.5),
        optim.Lion(lr=0.01, weight_decay=0.5),
        optim.Lamb(lr=0.1, weight_decay=0.5),
    ],
    ids=lambda optimizer: type(optimizer).__name__,
)
def test_weight_decay_is_for_the_parameters_that_the_mask_picks(optimizer: optim.RuleOptimizer) -> None:
    def masked(path: str, shape: tuple[int, ...]) -> bool:
        return not named("bias", "norm", "scale")(path, shape)

    decayed, plain = after(optimizer), after(replace(optimizer, weight_decay=0.0))
    found = after(replace(optimizer, decay_where=masked))
    for path, values in found.items():
        assert values == (decayed if path.startswith("blocks") and "weight" in path else plain)[path]
    assert decayed != plain


def test_muon_makes_matrices_orthogonal_and_leaves_the_others_to_the_rest() -> None:
    rest = optim.AdamW(lr=0.1)
    found = after(optim.Muon(lr=0.1, rest=rest))
    alone = after(rest)
    for path, values in found.items():
        assert (values == alone[path]) == (not path.startswith("blocks") or path.endswith("bias"))


def test_the_rest_of_muon_may_have_groups_and_muon_other_matrices() -> None:
    rest = Grouped(groups=(Group(named("bias"), optim.Sgd(lr=0.1)),), rest=optim.Adam(lr=0.1))
    found = after(optim.Muon(lr=0.1, rest=rest, where=named("blocks[0].weight")))
    alone = after(rest)
    assert [path for path in found if found[path] != alone[path]] == ["blocks[0].weight"]


def test_muon_refuses_what_is_no_matrix_and_settings_that_make_no_sense() -> None:
    rest = optim.Sgd(lr=0.1)
    text = (
        r"^Muon: norm\.weight has 1 axes: only matrices can be made orthogonal; leave it to the rest, with "
        r"where=optim\.matrices$"
    )
    with pytest.raises(OptionError, match=text):
        optim.Muon(lr=0.1, rest=rest, where=named("weight")).init(net())
    with pytest.raises(OptionError, match=r"^Muon: momentum=1.0: must be at least 0 and less than 1$"):
        optim.Muon(lr=0.1, rest=rest, momentum=1.0)
    with pytest.raises(OptionError, match=r"^Muon: steps=0: must be at least 1$"):
        optim.Muon(lr=0.1, rest=rest, steps=0)
    with pytest.raises(OptionError, match=r"^Muon: lr=-1.0: must be finite and not negative$"):
        optim.Muon(lr=-1.0, rest=rest)
    with pytest.raises(OptionError, match=r"^Muon: clip_value=0.0: must be positive$"):
        optim.Muon(lr=1.0, rest=rest, clip_value=0.0)


@pytest.mark.parametrize("shape", [(4, 4), (3, 7), (7, 3), (1, 5)])
def test_orthogonalized_keeps_the_singular_vectors_and_draws_the_values_to_one(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(sum(shape))
    u, _, vt = np.linalg.svd(rng.normal(size=shape), full_matrices=False)
    values = np.geomspace(0.012, 1.0, min(shape)) / np.linalg.norm(np.geomspace(0.012, 1.0, min(shape)))
    found = optim.orthogonalized(LIKE.from_host(u * values @ vt)).to_host()
    within = u.T @ found @ vt.T
    np.testing.assert_allclose(within, np.diag(np.diag(within)), atol=1e-12)
    assert np.diag(within).min() > 0.68
    assert np.diag(within).max() < 1.14


def test_orthogonalized_of_zeros_is_zeros() -> None:
    assert not optim.orthogonalized(LIKE.zeros((3, 2))).to_host().any()
