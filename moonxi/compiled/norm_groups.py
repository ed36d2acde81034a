"""Batch norms with the formulas around them: nodes ``normalised`` and ``normalised_gradients``, see `moonxi.norms`.

A formula that takes the result of a norm, or of two, goes with them; and so do gradients of norms with the formula that
gives the gradient of their results.
"""

from collections.abc import Sequence
from dataclasses import replace

from moonxi.compiled.clusters import fused, runs_over, sorted_nodes
from moonxi.compiled.fusion import Uses
from moonxi.compiled.graph import Graph, Node, Operand
from moonxi.formulas import Formula, Kind
from moonxi.norms import NormGradients, Norms


def with_norms(graph: Graph, /) -> Graph:
    """The graph with such groups as nodes, after `moonxi.compiled.clusters.clustered`."""
    for node in graph.nodes:
        if node.operation == "batch_norm" and _is_there(graph, node):
            graph = _with_result(graph, node)
        elif node.operation == "batch_norm_grad" and _is_there(graph, node):
            graph = _with_gradient(graph, node)
    return graph


def _is_there(graph: Graph, node: Node) -> bool:
    """Whether a node has not gone into a group before."""
    return any(one is node for one in graph.nodes)


def _merged(graph: Graph, parts: Sequence[Node], whole: Node) -> Graph | None:
    """The graph with one node for some; None if that would depend on itself."""
    if any(not set(part.results).isdisjoint(whole.inputs) for part in parts):
        return None
    gone = set(map(id, parts))
    kept = [node for node in graph.nodes if id(node) not in gone]
    found = sorted_nodes([*kept, whole])
    return replace(graph, nodes=tuple(found)) if len(found) == len(kept) + 1 else None


def _as_formula(graph: Graph, node: Node | None) -> Node | None:
    """A node as one ``fused`` of one member, which has no sums."""
    if node is None:
        return None
    if node.operation != "fused" and node.operation != "sum" and runs_over(graph, node) is not None:
        node = fused(graph, [node], set(node.results))
    if node.operation != "fused" or len(node.arguments) != 3:
        return None
    formula = node.arguments[1]
    return node if isinstance(formula, Formula) and not formula.sums else None


def _formula(node: Node) -> tuple[Formula, list[int]]:
    """The formula of such a node, and its operands."""
    formula = node.arguments[1]
    assert isinstance(formula, Formula), "a node is fused by a formula"
    return formula, list(node.inputs[1:])


# -- forward --------------------------------------------------------------------------------------------------------


def _with_result(graph: Graph, norm: Node) -> Graph:
    uses = Uses(graph)
    for user in uses.users(norm.results[0]):
        found = _with_user(graph, uses, norm, user)
        if found is not None:
            return found
    alone = Formula((Kind.EACH,), (False,), (), (0,), ())
    whole = _normalised([norm], alone, [norm.results[0]], [], [norm.results[0]], norm)
    return _merged(graph, [norm], whole) or graph


def _with_user(graph: Graph, uses: Uses, norm: Node, user: Node) -> Graph | None:
    """The graph where a norm, perhaps with another one, goes together with a formula that takes its result."""
    made = _as_formula(graph, user)
    if made is None:
        return None
    formula, operands = _formula(made)
    each = [number for number, kind in zip(operands, formula.kinds, strict=True) if kind is Kind.EACH]
    if norm.results[0] not in each:
        return None
    makers = {number: uses.maker(number, "batch_norm") for number in each if operands.count(number) == 1}
    norms = [maker for number, maker in makers.items() if maker is not None and maker.results[0] == number]
    for some in ([norm, *(one for one in norms if one is not norm)][:2], [norm]):
        parts = [*some, user]
        wanted = [one.results[0] for one in some if uses.needed(one.results[0], parts) is not None]
        whole = _normalised(some, formula, operands, wanted, [*made.results], user)
        found = _merged(graph, parts, whole)
        if found is not None:
            return found
    return None


def _normalised(
    norms: Sequence[Node], formula: Formula, operands: Sequence[int], wanted: Sequence[int], results: Sequence[int],
    last: Node,
) -> Node:  # fmt: skip
    """The node: of the formula the results of the norms come first, and ``wanted`` of them are results as well."""
    given = [norm.results[0] for norm in norms]
    order = [*(operands.index(number) for number in given)]
    order += [place for place, number in enumerate(operands) if number not in given]
    formula = _with_order(formula, order)
    formula = replace(formula, results=(*formula.results, *(given.index(number) for number in wanted)))
    eps = tuple(_eps(norm) for norm in norms)
    taken = [number for norm in norms for number in norm.inputs]
    taken += [number for number in operands if number not in given]
    made = (*results, *wanted, *(number for norm in norms for number in norm.results[1:]))
    return _node("normalised", Norms(eps, formula), taken, made, last)


def _with_order(formula: Formula, order: Sequence[int]) -> Formula:
    """The same formula with its operands in another order."""
    count = len(order)
    new = {old: place for place, old in enumerate(order)}

    def renamed(term: int | str) -> int | str:
        return new.get(term, term) if isinstance(term, int) else term

    steps = tuple(replace(step, terms=tuple(map(renamed, step.terms))) for step in formula.steps)
    results = tuple(new[value] if value < count else value for value in formula.results)
    kinds, masks = tuple(formula.kinds[place] for place in order), tuple(formula.masks[place] for place in order)
    return Formula(kinds, masks, steps, results, formula.sums)


# -- backward -------------------------------------------------------------------------------------------------------


def _with_gradient(graph: Graph, norm: Node) -> Graph:
    uses = Uses(graph)
    dy, shape = norm.inputs[1], graph.specs[norm.inputs[0]].shape
    gradients = [node for node in uses.users(dy, "batch_norm_grad") if node.inputs[1] == dy]
    gradients = [norm, *(node for node in gradients if node is not norm)][:2]
    before = uses.maker(dy)
    made = _as_formula(graph, before)
    for some in (gradients, [norm]):
        if before is not None and made is not None and graph.specs[dy].shape == shape:
            parts = [before, *some]
            formula, operands = _formula(made)
            results = [number for number in made.results if uses.needed(number, parts) is not None]
            value = formula.results[made.results.index(dy)]
            of_results = dict(zip(made.results, formula.results, strict=True))
            formula = replace(formula, results=tuple(of_results[number] for number in results))
            found = _merged(graph, parts, _gradients(some, formula, value, operands, results))
            if found is not None:
                return found
        alone = Formula((Kind.EACH,), (False,), (), (), ())
        found = _merged(graph, some, _gradients(some, alone, 0, [dy], []))
        if found is not None:
            return found
    return graph


def _gradients(
    norms: Sequence[Node], formula: Formula, value: int, operands: Sequence[int], results: Sequence[int]
) -> Node:
    eps = tuple(_eps(norm) for norm in norms)
    taken = [*operands, *(number for norm in norms for number in (norm.inputs[0], *norm.inputs[2:]))]
    made = (*results, *(number for norm in norms for number in norm.results))
    return _node("normalised_gradients", NormGradients(eps, formula, value), taken, made, norms[-1])


def _eps(norm: Node) -> float:
    eps = dict(norm.options).get("eps", 1e-5)
    assert isinstance(eps, float | int), "a number"
    return float(eps)


def _node(
    operation: str, norms: Norms | NormGradients, operands: Sequence[int], results: tuple[int, ...], last: Node
) -> Node:
    arguments = Operand(operands[0]), norms, tuple(map(Operand, operands))
    return Node(operation, arguments, (), results, (None,) * len(results), True, last.line, last.backward)
