"""Changes to operations of tensors: axes, products, reductions, shapes and parts.

An operator finds the places of one kind in a file and gives the text that each could be replaced by."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from benchmarks.mutation.source import Source

type Change = tuple[ast.expr | ast.arg | ast.keyword, str]
"""A node and the text to stand in its place."""

_REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "var", "std", "norm", "logsumexp", "argmax", "argmin"})
_WITH_SHAPE = frozenset({"reshape", "broadcast_to", "zeros", "ones", "normal", "uniform"})
_JOINING = frozenset({"concatenate", "stack", "split"})
_ALONG = frozenset({"take", "softmax", "log_softmax", "cumsum", "roll"})


def method_calls(source: Source, names: frozenset[str]) -> Iterator[tuple[ast.Call, ast.Attribute]]:
    """The calls of methods that have one of these names."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
            yield node, node.func


def number(node: ast.AST) -> int | None:
    """The integer that a node is, negative ones too."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def exchanged(source: Source, node: ast.Tuple, first: int, second: int) -> str:
    """A tuple with two of its elements exchanged."""
    parts = [source.code(one) for one in node.elts]
    parts[first], parts[second] = parts[second], parts[first]
    return f"({', '.join(parts)})"


def swapped_axes(source: Source) -> Iterator[Change]:
    """``permute((0, 2, 1))`` with two of the axes exchanged."""
    for call, _ in method_calls(source, frozenset({"permute"})):
        match call.args:
            case [ast.Tuple() as axes]:
                for first in range(len(axes.elts)):
                    for second in range(first + 1, len(axes.elts)):
                        yield axes, exchanged(source, axes, first, second)


def transposed(source: Source) -> Iterator[Change]:
    """An operand of a matrix product transposed, or left as it is where it was transposed."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            for operand in (node.left, node.right):
                yield operand, f"{source.atom(operand)}.transpose()"
    for call, function in method_calls(source, frozenset({"transpose"})):
        yield call, source.atom(function.value)


def swapped_operands(source: Source) -> Iterator[Change]:
    """``b @ a`` for ``a @ b``."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield node, f"{source.atom(node.right)} @ {source.atom(node.left)}"


def reduced_axis(source: Source) -> Iterator[Change]:
    """A reduction over another axis, over one of two, or over all."""
    for call, function in method_calls(source, _REDUCTIONS):
        match call.args:
            case [ast.Tuple() as axes]:
                for one in axes.elts:
                    yield axes, f"({source.code(one)},)"
                values = [number(one) for one in axes.elts]
                if None not in values:
                    yield axes, f"({', '.join(str(value - 1) for value in values if value is not None)},)"
            case [axis] if (value := number(axis)) is not None:
                for other in (value - 1, value + 1):
                    if -3 <= other <= 3 and (other < 0) == (value < 0):
                        yield axis, str(other)
                if value < 0 or value == 0:
                    yield axis, "1" if value == 0 else "0"
                if function.attr not in ("argmax", "argmin"):
                    yield axis, "None"
    for call, _ in method_calls(source, _ALONG):
        for axis in call.args[-1:]:
            if (value := number(axis)) is not None:
                yield axis, str(value - 1 if value <= 0 else value + 1)


def kept_axis(source: Source) -> Iterator[Change]:
    """A reduction that keeps its axes or does not, the other way round."""
    for call, function in method_calls(source, _REDUCTIONS - {"argmax", "argmin"}):
        arguments = source.arguments(call)
        if call.args:
            other = [one for one in arguments if not one.startswith("keepdims")]
            if other == arguments:
                other = [*arguments, "keepdims=True"]
            yield call, f"{source.code(function)}({', '.join(other)})"


def dropped_axis(source: Source) -> Iterator[Change]:
    """Without ``[..., None]``, ``unsqueeze`` or ``squeeze``."""
    for call, function in method_calls(source, frozenset({"unsqueeze", "squeeze"})):
        yield call, source.atom(function.value)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Tuple):
            elements = node.slice.elts
            if any(isinstance(one, ast.Constant) and one.value is None for one in elements):
                yield node, source.atom(node.value)


def added_axis(source: Source) -> Iterator[Change]:
    """A new axis of size 1 on an operand, or on what goes into a layer."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.FloorDiv | ast.Mod | ast.BitOr):
            for operand in (node.left, node.right):
                if is_tensor(source, operand):
                    yield operand, f"{source.atom(operand)}.unsqueeze(-1)"
    for call, _ in method_calls(source, frozenset({"forward"})):
        for argument in call.args[:1]:
            if is_tensor(source, argument):
                yield argument, f"{source.atom(argument)}.unsqueeze(1)"


def reordered_shape(source: Source) -> Iterator[Change]:
    """Two neighbouring sizes in ``reshape((batch, heads, width))`` exchanged."""
    for call, _ in method_calls(source, _WITH_SHAPE):
        for shape in call.args[:1]:
            if isinstance(shape, ast.Tuple) and not any(isinstance(one, ast.Starred) for one in shape.elts):
                for (first, left), (second, right) in pairwise(enumerate(shape.elts)):
                    if source.code(left) != source.code(right):
                        yield shape, exchanged(source, shape, first, second)


def resized_shape(source: Source) -> Iterator[Change]:
    """A size in ``reshape((batch, 400))`` left out, or another number."""
    for call, _ in method_calls(source, _WITH_SHAPE):
        for shape in call.args[:1]:
            if isinstance(shape, ast.Tuple):
                for place, one in enumerate(shape.elts):
                    others = [source.code(other) for other in shape.elts]
                    value = number(one)
                    if value is not None and value > 0:
                        yield one, str(value + 1)
                    elif len(others) > 1:
                        del others[place]
                        yield shape, f"({', '.join(others)},)"


def joined_axis(source: Source) -> Iterator[Change]:
    """``concatenate``, ``stack`` or ``split`` along another axis."""
    for call, _ in method_calls(source, _JOINING):
        for keyword in call.keywords:
            if keyword.arg == "axis" and (value := number(keyword.value)) is not None:
                for other in (value - 1, value + 1):
                    if (other < 0) == (value < 0):
                        yield keyword, f"axis={other}"


def moved_index(source: Source) -> Iterator[Change]:
    """``x[:, 0]`` as ``x[0]``, two parts of an index exchanged, or ``x.shape[0]`` as ``x.shape[1]``."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load) or _is_type(source, node):
            continue
        value = number(node.slice)
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and value is not None:
            for other in (value - 1, value + 1):
                if (other < 0) == (value < 0):
                    yield node.slice, str(other)
        elif isinstance(node.slice, ast.Tuple):
            parts = [source.code(one) for one in node.slice.elts]
            for place in range(len(parts) - 1):
                if parts[place] != parts[place + 1]:
                    other_parts = [*parts]
                    other_parts[place : place + 2] = parts[place + 1], parts[place]
                    yield node, f"{source.code(node.value)}[{', '.join(other_parts)}]"
            if len(parts) > 1 and parts[0] in (":", "..."):
                yield node, f"{source.code(node.value)}[{', '.join(parts[1:])}]"


def is_tensor(source: Source, node: ast.expr) -> bool:
    """Whether an expression looks like a tensor: a local name or a call, and no number or model."""
    match node:
        case ast.Name():
            return node.id in tensor_names(source, node)
        case ast.Call(func=ast.Attribute(attr=name)):
            return name not in ("init", "split", "range", "item", "fold")
        case ast.BinOp(left=left, right=right):
            return is_tensor(source, left) or is_tensor(source, right)
        case ast.Attribute(value=ast.Name(id="self")):
            return node.attr in ("weight", "bias")
        case ast.Attribute(value=ast.Name(id="batch" | "points")):
            return True
    return False


def tensor_names(source: Source, node: ast.AST) -> list[str]:
    """The names of tensors in the function around a node: annotated parameters, and what methods of them gave."""
    function = next((one for one in source.around(node) if isinstance(one, ast.FunctionDef)), None)
    if function is None:
        return []
    names = [
        one.arg
        for one in (*function.args.posonlyargs, *function.args.args)
        if one.annotation is not None and source.code(one.annotation).startswith(("Float[T", "T", "Logits[T"))
    ]
    line: int = getattr(node, "lineno", 0)
    for one in ast.walk(function):
        match one:
            case ast.Assign(targets=targets, value=ast.Call(func=ast.Attribute(attr=name))) if one.lineno < line:
                names += [target.id for target in targets if isinstance(target, ast.Name) and name != "split"]
            case ast.Assign(targets=targets, value=ast.BinOp()) if one.lineno < line:
                names += [target.id for target in targets if isinstance(target, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name)) if one.lineno < line:
                names.append(name)
    return list(dict.fromkeys(names))


def _is_type(source: Source, node: ast.Subscript) -> bool:
    """Whether square brackets are those of a type, such as ``Float[T, "batch"]``."""
    name = source.code(node.value).rpartition(".")[2]
    return name[:1].isupper() or name in ("dict", "list", "tuple", "type")
